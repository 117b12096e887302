"""The studies, one line each: every question, figure and theorem of the notes in runnable form."""

from headcount.core.errors import BadArgument
from headcount.studies.data_sets import DataSets
from headcount.studies.dropouts import Dropouts
from headcount.studies.error_and_ones import ErrorAndOnes
from headcount.studies.fixed_sample import FixedSample
from headcount.studies.good_events import GoodEvents
from headcount.studies.messages import Messages
from headcount.studies.sampling_as_noise import SamplingAsNoise
from headcount.studies.sampling_rate import SamplingRate
from headcount.studies.smallest_crowd import SmallestCrowd
from headcount.studies.study import Study
from headcount.studies.thresholding import Thresholding
from headcount.studies.too_sparse import TooSparse
from headcount.studies.why_five import WhyFive

STUDIES: tuple[type[Study], ...] = (
    SmallestCrowd,
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
)


def study(name: str) -> Study:
    """The study of this name."""
    for found in STUDIES:
        if found.name == name:
            return found()
    raise BadArgument("name", f"is {name!r}", f"use one of {', '.join(found.name for found in STUDIES)}")
