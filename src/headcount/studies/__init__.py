"""The studies, one line each: every question, figure and theorem of the notes in runnable form."""

from headcount.core.errors import BadArgument
from headcount.studies.a_billion import ABillion
from headcount.studies.amplification import Amplification
from headcount.studies.answers import Answers
from headcount.studies.composition import Composition
from headcount.studies.data_sets import DataSets
from headcount.studies.dropouts import Dropouts
from headcount.studies.errata import Errata
from headcount.studies.error_and_ones import ErrorAndOnes
from headcount.studies.fixed_sample import FixedSample
from headcount.studies.good_events import GoodEvents
from headcount.studies.local_oracles import LocalOracles
from headcount.studies.local_sums import LocalSums
from headcount.studies.lower_bounds import LowerBounds
from headcount.studies.meaning import Meaning
from headcount.studies.messages import Messages
from headcount.studies.sampling_as_noise import SamplingAsNoise
from headcount.studies.sampling_rate import SamplingRate
from headcount.studies.separation import Separation
from headcount.studies.smallest_crowd import SmallestCrowd
from headcount.studies.smallest_crowds import SmallestCrowds
from headcount.studies.statements import Statements
from headcount.studies.study import Study
from headcount.studies.survey_counts import SurveyCounts
from headcount.studies.survey_histograms import SurveyHistograms
from headcount.studies.survey_sums import SurveySums
from headcount.studies.survey_table import SurveyTable
from headcount.studies.theorems.binary_theorem import BinaryTheorem
from headcount.studies.theorems.flipping_or_sampling import FlippingOrSampling
from headcount.studies.theorems.histogram_theorem import HistogramTheorem
from headcount.studies.theorems.more_people import MorePeople
from headcount.studies.theorems.multi_message import MultiMessage
from headcount.studies.theorems.sampling_theorem import SamplingTheorem
from headcount.studies.theorems.single_message import SingleMessage
from headcount.studies.theorems.smooth_binomial import SmoothBinomial
from headcount.studies.theorems.smooth_noise import SmoothNoise
from headcount.studies.theorems.warner import Warner
from headcount.studies.thresholding import Thresholding
from headcount.studies.too_sparse import TooSparse
from headcount.studies.why_five import WhyFive

STUDIES: tuple[type[Study], ...] = (
    SmallestCrowd,
    SmallestCrowds,
    ErrorAndOnes,
    SamplingRate,
    WhyFive,
    DataSets,
    TooSparse,
    Thresholding,
    Dropouts,
    Messages,
    GoodEvents,
    FixedSample,
    SamplingAsNoise,
    SurveyCounts,
    SurveySums,
    SurveyHistograms,
    SurveyTable,
    Separation,
    LocalOracles,
    LocalSums,
    Amplification,
    LowerBounds,
    Composition,
    Meaning,
    ABillion,
    SmoothBinomial,
    SmoothNoise,
    SingleMessage,
    MultiMessage,
    BinaryTheorem,
    HistogramTheorem,
    FlippingOrSampling,
    Warner,
    SamplingTheorem,
    MorePeople,
    Statements,
    Errata,
    Answers,
)


def study(name: str) -> Study:
    """The study of this name."""
    for found in STUDIES:
        if found.name == name:
            return found()
    raise BadArgument("name", f"is {name!r}", f"use one of {', '.join(found.name for found in STUDIES)}")
