"""A number from a window that slides with the level, or from outside of it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from headcount.programme import Below, Brick, Chance, Emit, Field, Let, Maybe
from headcount.programme.law import Floats
from headcount.protocols.shared.stochastic_rounding import EXACT, FEWEST, steps_of
from headcount.questions import Question

MOST = 1 << 16

PLACE = Field.named("place")


def sent(level: Field, keep: Chance, window: int, levels: int) -> Brick:
    """A place in the window with chance `keep`, else one outside.

    The outside begins where the window ends, and goes on from 0.
    """
    inside = Let("place", Below(window), Emit(level + PLACE))
    outside = Let("place", Below(levels), Emit((level + window + PLACE) % (window + levels)))
    return Maybe(keep, inside, outside)


def window_chances(level: int, keep: float, window: int, levels: int) -> Floats:
    chances = np.full(window + levels, (1.0 - keep) / levels)
    chances[level : level + window] = keep / window
    return chances


def fine_window(task: Question, epsilon: float) -> Mapping[str, int]:
    """Levels and window for an epsilon: e^(-epsilon/2) of the levels is the best window.

    Enough levels that neither the window nor the rounding is coarse, and a multiple of the task's
    own steps where that is not too many.
    """
    narrow, steps = math.exp(min(epsilon, 40.0) / 2.0), steps_of(task)
    needed = min(math.ceil(FEWEST * narrow), MOST // 2)
    levels = steps * math.ceil(needed / steps) if steps <= EXACT else 1 << (needed - 1).bit_length()
    return {"levels": levels, "window": max(1, round(levels / narrow))}
