"""The studies, one line each: every question, figure and theorem of the notes in runnable form."""

from headcount.core.errors import BadArgument
from headcount.studies.answers import Answers
from headcount.studies.errata import Errata
from headcount.studies.smallest_crowd import SmallestCrowd
from headcount.studies.statements import Statements
from headcount.studies.study import Study
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

STUDIES: tuple[type[Study], ...] = (
    SmallestCrowd,
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
