"""The panels of a map: the best protocol per crowd and number of ones, for both calibrations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from headcount.common.calls import checked
from headcount.errors import Infeasible
from headcount.phrases import Phrase
from headcount.planner.contenders import Constants, Contender, Crossing, bisected, contenders, crossings, winners
from headcount.planner.map import ADDITIVE, BOTH, SAMPLED, Map, MapPanel
from headcount.planner.selection import Names, Progress, integer_log_grid, matching_protocols
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import LARGEST, Crowd
from headcount.privacy.model import Model
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count


@checked
def map(
    *,
    epsilon: float,
    delta: float = 0.0,
    n: tuple[float, float] = (100, 1_000_000),
    ones: tuple[float, float] = (1, 100_000),
    points: int = 40,
    models: Names = None,
    protocols: Names = None,
    neighbours: str = "replace",
    watch: Progress = iter,
) -> Map:
    """Which protocol counts best for every number of people and of ones.

    Left alone, the map compares additive noise (zsum) with sample-and-threshold, by the papers'
    constants and exactly, and then all protocols that need a shuffler.

    Parameters
    ----------
    epsilon, delta : float
        The budget.
    n, ones : tuple of float
        The ends of the axes.
    points : int
        Places on each axis.
    models, protocols : str or list, optional
        Compare these, exactly and, where there are any, by the papers' constants.
    neighbours : str
        The adjacency: "replace" or "add-remove".
    watch : callable
        Wraps what is iterated over, to show progress.

    Returns
    -------
    Map

    Raises
    ------
    errors.Infeasible
        If no protocol can serve anywhere on the map.

    Examples
    --------
    >>> hc.map(epsilon=1, delta=1e-6, points=4, protocols=["zsum"]).n
    (100, 2154, 46416, 1000000)
    """
    budget = Budget(epsilon, delta, Neighbours(neighbours))
    people, truths = integer_log_grid("n", n, points, LARGEST), integer_log_grid("ones", ones, points, LARGEST)
    named = models is not None or protocols is not None
    shuffled = matching_protocols(Count(), models or (Model.SHUFFLE, Model.THRESHOLD), protocols)
    pair = shuffled if named else [kind for kind in shuffled if kind.name in BOTH]
    wanted: list[tuple[str, Constants, list[type[Protocol]]]] = [
        ("With the papers' constants", "papers", pair),
        ("Calibrated exactly", "exact", pair),
    ]
    if not named:
        wanted.append((f"All {len(shuffled)} that need a shuffler, exactly", "exact", shuffled))
    field: dict[tuple[Constants, str, int], list[Contender]] = {}
    for size in watch(people):
        for _, constants, kinds in wanted:
            for kind in kinds:
                if (constants, kind.name, size) not in field:
                    field[constants, kind.name, size] = contenders(kind, Crowd(size), budget, constants)
    served = {constants for (constants, _, _), team in field.items() if team}
    if "exact" not in served:
        raise _nobody(budget)
    panels = []
    for title, constants, kinds in (each for each in wanted if each[1] in served):
        teams = {size: [entry for kind in kinds for entry in field[constants, kind.name, size]] for size in people}
        begins = _begins(ADDITIVE, kinds, people, budget, constants)
        panels.append(_panel(title, constants, kinds, teams, truths, begins))
    return Map(budget, tuple(people), tuple(truths), tuple(panels))


def _panel(
    title: str,
    constants: Constants,
    kinds: list[type[Protocol]],
    teams: dict[int, list[Contender]],
    ones: list[int],
    begins: int | None,
) -> MapPanel:
    names = np.full((len(ones), len(teams)), "", dtype=object)
    errors = np.full((len(ones), len(teams)), np.nan)
    crossed: list[Crossing] = []
    for column, (size, team) in enumerate(teams.items()):
        possible = [truth for truth in ones if truth <= size]
        best, rmse = winners(team, possible)
        names[: len(possible), column] = [entry.name if entry else "" for entry in best]
        errors[: len(possible), column] = rmse
        sampled = [entry for entry in team if entry.name == SAMPLED]
        others = [entry for entry in team if entry.name != SAMPLED]
        crossed += crossings(sampled, others, size, possible)
    return MapPanel(title, constants, tuple(kind.name for kind in kinds), names, errors, tuple(crossed), begins)


def _begins(
    name: str, kinds: list[type[Protocol]], people: list[int], budget: Budget, constants: Constants
) -> int | None:
    """The smallest crowd that this protocol can serve, bisected between two crowds of the map."""
    for kind in kinds:
        if kind.name != name:
            continue

        def can(size: int, kind: type[Protocol] = kind) -> float:
            return 1.0 if contenders(kind, Crowd(size), budget, constants) else -1.0

        for fewer, more in pairwise(people):
            if can(fewer) < 0.0 < can(more):
                return bisected(can, (fewer, -1.0), (more, 1.0))[1][0]
    return None


def _nobody(budget: Budget) -> Infeasible:
    if budget.delta == 0.0:
        works = Phrase("use {delta}, or the models central and local", delta=1e-6)
        return Infeasible("none of these can give delta = 0", works)
    return Infeasible("none of these can meet this budget in any of these crowds", "use more people or a larger budget")
