"""Everything that is imported from `headcount` itself, which loads it when the first of it is asked for."""

from __future__ import annotations

from headcount.ask import certify, count, fraction, histogram, mean, protocol, sum, verify
from headcount.comparing import compare
from headcount.core.budget import Budget, Neighbours
from headcount.core.coins import Coins, SecretCoins, SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import HeadcountError, Refused
from headcount.core.estimate import Estimate
from headcount.core.histogram import Histogram
from headcount.core.loss import PrivacyLoss
from headcount.core.model import Model
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.core.tally import Batch, Tally
from headcount.core.task import Count, Fraction, Mean, Sum
from headcount.ledger.ledger import Ledger
from headcount.planner.advice import Advice
from headcount.planner.advise import advise, smallest_detectable, smallest_n
from headcount.planner.comparison import Comparison
from headcount.planner.frontier import Frontier, frontier
from headcount.planner.glossary import explain
from headcount.planner.map import Map, map
from headcount.privacy.certificate import Certificate
from headcount.protocols import CATALOGUE
from headcount.protocols.saved import load_plan, plan_from_json
from headcount.running import run

__all__ = [
    "CATALOGUE", "Advice", "Batch", "Budget", "Certificate", "Coins", "Comparison", "Count", "Crowd", "Estimate",
    "Fraction", "Frontier", "HeadcountError", "Histogram", "Ledger", "Map", "Mean", "Model", "Neighbours", "Plan",
    "PrivacyLoss", "Protocol", "Refused", "SecretCoins", "SeededCoins", "Sum", "Tally", "advise", "certify",
    "compare", "count", "explain", "fraction", "frontier", "histogram", "load_plan", "map", "mean",
    "plan_from_json", "protocol", "run", "smallest_detectable", "smallest_n", "sum", "verify",
]  # fmt: skip
