"""The studies, one line each: every question, figure and theorem of the notes in runnable form."""

from collections.abc import Mapping

from headcount.errors import BadArgument
from headcount_survey.answers import Answers
from headcount_survey.errata import Errata
from headcount_survey.statements import Statements
from headcount_survey.studies.a_billion import ABillion
from headcount_survey.studies.amplification import Amplification
from headcount_survey.studies.composition import Composition
from headcount_survey.studies.data_sets import DataSets
from headcount_survey.studies.dropouts import Dropouts
from headcount_survey.studies.error_and_ones import ErrorAndOnes
from headcount_survey.studies.fixed_sample import FixedSample
from headcount_survey.studies.good_events import GoodEvents
from headcount_survey.studies.local_oracles import LocalOracles
from headcount_survey.studies.local_sums import LocalSums
from headcount_survey.studies.lower_bounds import LowerBounds
from headcount_survey.studies.meaning import Meaning
from headcount_survey.studies.messages import Messages
from headcount_survey.studies.ranges import Ranges
from headcount_survey.studies.rounds import Rounds
from headcount_survey.studies.sampling_as_noise import SamplingAsNoise
from headcount_survey.studies.sampling_rate import SamplingRate
from headcount_survey.studies.separation import Separation
from headcount_survey.studies.smallest_crowd import SmallestCrowd
from headcount_survey.studies.smallest_crowds import SmallestCrowds
from headcount_survey.studies.survey_counts import SurveyCounts
from headcount_survey.studies.survey_histograms import SurveyHistograms
from headcount_survey.studies.survey_sums import SurveySums
from headcount_survey.studies.survey_table import SurveyTable
from headcount_survey.studies.thresholding import Thresholding
from headcount_survey.studies.too_sparse import TooSparse
from headcount_survey.studies.why_five import WhyFive
from headcount_survey.study import Study
from headcount_survey.theorems.binary_theorem import BinaryTheorem
from headcount_survey.theorems.flipping_or_sampling import FlippingOrSampling
from headcount_survey.theorems.histogram_theorem import HistogramTheorem
from headcount_survey.theorems.more_people import MorePeople
from headcount_survey.theorems.multi_message import MultiMessage
from headcount_survey.theorems.sampling_theorem import SamplingTheorem
from headcount_survey.theorems.single_message import SingleMessage
from headcount_survey.theorems.smooth_binomial import SmoothBinomial
from headcount_survey.theorems.smooth_noise import SmoothNoise
from headcount_survey.theorems.warner import Warner

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
    Ranges,
    Amplification,
    LowerBounds,
    Composition,
    Rounds,
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


def study(name: str, parameters: Mapping[str, float] | None = None) -> Study:
    """The study of this name, with these parameters in place of its own."""
    for found in STUDIES:
        if found.name == name:
            return found.of(parameters or {})
    raise BadArgument("name", f"is {name!r}", f"use one of {', '.join(found.name for found in STUDIES)}")
