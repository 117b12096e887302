"""The public names of `headcount` itself, which loads them on first use.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from headcount import errors
from headcount.answers.arrivals import ArrivalsEstimate
from headcount.answers.difference import Difference
from headcount.answers.distribution import DistributionEstimate, QuantileEstimate
from headcount.answers.estimate import Estimate
from headcount.answers.grouped import GroupedEstimate
from headcount.answers.margin import Margin
from headcount.answers.rate import Rate
from headcount.answers.ratio import Ratio
from headcount.answers.table import TableEstimate
from headcount.answers.top import Top
from headcount.answers.two_runs import Pairs
from headcount.asking import Options, ask
from headcount.asking_in_rounds import series
from headcount.audit.attacks.lower_bound import Attack, attack
from headcount.certifying import certify, verify
from headcount.comparing import compare
from headcount.errors import HeadcountError, Refused
from headcount.figures.picture import Picture
from headcount.ledger.ledger import Ledger
from headcount.planner.advice import Advice
from headcount.planner.advise import advise
from headcount.planner.comparison import Comparison
from headcount.planner.frontier import Frontier
from headcount.planner.frontier_points import frontier
from headcount.planner.glossary import explain
from headcount.planner.limits import most_rounds, smallest_detectable, smallest_n
from headcount.planner.map import Map
from headcount.planner.map_panels import map as map
from headcount.planner.planning import protocol
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.compose import compose
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model
from headcount.programme.coins import Coins, SecretCoins, SeededCoins
from headcount.programme.tally import Batch, Tally
from headcount.protocols import CATALOGUE
from headcount.protocols.base.certificate import Certificate
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.saved import load_answer, load_plan, plan_from_json
from headcount.question_functions import count, distribution, fraction, histogram, mean, median, quantile, table
from headcount.question_functions import sum as sum
from headcount.questions.arrivals import Arrivals
from headcount.questions.count import Count, Fraction
from headcount.questions.distribution import Distribution
from headcount.questions.histogram import Histogram
from headcount.questions.quantile import Quantile
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table
from headcount.randomisers import Randomiser, randomiser
from headcount.rounds import Series
from headcount.running import run

__all__ = [
    "CATALOGUE",
    "Advice",
    "Arrivals",
    "ArrivalsEstimate",
    "Attack",
    "Batch",
    "Budget",
    "Certificate",
    "Coins",
    "Comparison",
    "Count",
    "Crowd",
    "Difference",
    "Distribution",
    "DistributionEstimate",
    "Estimate",
    "Fraction",
    "Frontier",
    "GroupedEstimate",
    "HeadcountError",
    "Histogram",
    "Ledger",
    "Map",
    "Margin",
    "Mean",
    "Model",
    "Neighbours",
    "Options",
    "Pairs",
    "Picture",
    "Plan",
    "PrivacyLoss",
    "Protocol",
    "Quantile",
    "QuantileEstimate",
    "Randomiser",
    "Rate",
    "Ratio",
    "Refused",
    "SecretCoins",
    "SeededCoins",
    "Series",
    "Sum",
    "Table",
    "TableEstimate",
    "Tally",
    "Top",
    "advise",
    "ask",
    "attack",
    "certify",
    "compare",
    "compose",
    "count",
    "distribution",
    "errors",
    "explain",
    "fraction",
    "frontier",
    "histogram",
    "load_answer",
    "load_plan",
    "mean",
    "median",
    "most_rounds",
    "plan_from_json",
    "protocol",
    "quantile",
    "randomiser",
    "run",
    "series",
    "smallest_detectable",
    "smallest_n",
    "table",
    "verify",
]
SHADOWING = ("map", "sum")  # public as attributes: `from headcount import *` must not replace the builtins
