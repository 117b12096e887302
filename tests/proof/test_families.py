"""Families of totals with discrete Laplace noise: proved again as a closed sum."""

from __future__ import annotations

import pytest
from forged import VALUE, emit, every, of, signed

import headcount as hc
from headcount.privacy.discrete_laplace import RepeatedResponse
from headcount.proof import verify

BUDGETS = [(1.0, 0.0), (1.0, 1e-6), (3.0, 1e-9)]


def tree(radices: tuple[int, ...], neighbours: str, epsilon: float, delta: float) -> hc.Protocol:
    question = hc.Distribution((0, 1), 64, radices=radices, public=neighbours == "replace")
    return hc.protocol("geometric", question, n=500, epsilon=epsilon, delta=delta, neighbours=neighbours)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("radices", [(8, 8), (4, 4, 4), (2,) * 6])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_trees_are_proved(neighbours: str, radices: tuple[int, ...], epsilon: float, delta: float) -> None:
    protocol = tree(radices, neighbours, epsilon, delta)
    verdict = hc.verify(hc.certify(protocol, epsilon=epsilon))
    assert verdict.answer == "proved"
    assert protocol.provable


@pytest.mark.parametrize("radices", [(8, 8), (2,) * 6])
def test_a_family_forgotten_is_refuted(radices: tuple[int, ...]) -> None:
    """The broken twin: as if a person were in one family fewer."""
    protocol = tree(radices, "replace", 1.0, 1e-6)
    fewer = RepeatedResponse(protocol.rate, 2 * len(radices) - 2)
    claimed = [(epsilon, fewer.delta(epsilon)) for epsilon in (0.2, 0.5)]
    verdict = verify(of(protocol, claimed))
    assert verdict.answer == "refuted"
    assert "totals by one" in str(verdict)


def test_half_a_percent_less_is_refuted() -> None:
    protocol = tree((2,) * 6, "replace", 1.0, 1e-6)
    claimed = {epsilon: protocol.loss.delta(epsilon) for epsilon in (0.1, 0.4)}
    assert verify(of(protocol, claimed.items())).answer == "proved"
    assert verify(of(protocol, [(e, 0.995 * d) for e, d in claimed.items()])).answer == "refuted"


def test_families_that_share_a_total_are_not_proved() -> None:
    content = of(tree((8, 8), "replace", 1.0, 0.0), [(1, 0)])
    content["report"] = every(emit(VALUE), emit(["//", VALUE, 8]))
    assert verify(signed(content)).answer == "cannot prove"


OTHERS = {
    "discrete-gaussian": 5e-4,
    "poisson-histogram": 2e-3,
    "correlated-histogram": 2e-2,  # which pays for what its tables lack
    "padded-histogram": 5e-4,
}
QUESTIONS = {"few": hc.Distribution((0, 1), 16, radices=(4, 4)), "many": hc.Table({"a": 5, "b": 4, "c": 6})}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("values", QUESTIONS)
def test_other_noise_is_proved_on_a_grid(name: str, values: str) -> None:
    protocol = hc.protocol(name, QUESTIONS[values], n=2_000, epsilon=1, delta=1e-6)
    assert protocol.provable
    content = hc.certify(protocol, epsilon=1)
    assert hc.verify(content).answer == "proved"
    claimed = {epsilon: protocol.loss.delta(epsilon) for epsilon in (0.1, 0.4)}
    if protocol.task.strategy.families == 2 or values == "many":
        less = [(epsilon, (1.0 - OTHERS[name]) * delta) for epsilon, delta in claimed.items()]
        assert verify(of(protocol, less)).answer == "refuted"


def test_a_private_number_of_people_is_proved_on_a_grid() -> None:
    question = hc.Distribution((0, 1), 16, radices=(4, 4), public=False)
    protocol = hc.protocol("discrete-gaussian", question, n=1, epsilon=1, delta=1e-6, neighbours="add-remove")
    assert hc.verify(hc.certify(protocol, epsilon=1)).answer == "proved"
