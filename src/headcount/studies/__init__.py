"""The studies, one line each: every question, figure and theorem of the notes in runnable form."""

from headcount.core.errors import BadArgument
from headcount.studies.amplification import Amplification
from headcount.studies.composition import Composition
from headcount.studies.local_oracles import LocalOracles
from headcount.studies.local_sums import LocalSums
from headcount.studies.lower_bounds import LowerBounds
from headcount.studies.meaning import Meaning
from headcount.studies.separation import Separation
from headcount.studies.smallest_crowd import SmallestCrowd
from headcount.studies.smallest_crowds import SmallestCrowds
from headcount.studies.study import Study
from headcount.studies.survey_counts import SurveyCounts
from headcount.studies.survey_histograms import SurveyHistograms
from headcount.studies.survey_sums import SurveySums
from headcount.studies.survey_table import SurveyTable

STUDIES: tuple[type[Study], ...] = (
    SmallestCrowd,
    SmallestCrowds,
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
)


def study(name: str) -> Study:
    """The study of this name."""
    for found in STUDIES:
        if found.name == name:
            return found()
    raise BadArgument("name", f"is {name!r}", f"use one of {', '.join(found.name for found in STUDIES)}")
