"""The advisor for counts."""

import json

import numpy as np
import pytest

import headcount as hc
from headcount.protocols import named
from headcount.protocols.base.saved import protocol_from_json
from headcount.questions.domains.domain import Shape

ADVICE = hc.advise(hc.Count(), n=10_000, epsilon=1, delta=1e-6, ones=200)


def test_options_are_ranked_by_error():
    errors = [option.noise.rmse for option in ADVICE.feasible]
    assert errors == sorted(errors)
    assert len(ADVICE.options) == sum(Shape.BIT in protocol.shapes for protocol in hc.CATALOGUE)


def test_the_best_plan_meets_the_budget():
    assert ADVICE.best.protocol.loss.delta(1) <= 1e-6
    assert ADVICE.best.protocol.name == "geometric"
    assert len(ADVICE.best.hash) == 64


def test_only_trusted_models_are_offered():
    advice = hc.advise(hc.Count(), n=10_000, epsilon=1, delta=1e-6, models=["shuffle", "local"])
    assert {option.kind.model for option in advice.feasible} == {hc.Model.SHUFFLE, hc.Model.LOCAL}
    others = {option.name: option.reason for option in advice.options if option not in advice.feasible}
    assert others["sample-threshold"] == "needs a shuffler that drops small counts"
    assert others["geometric"] == "needs the analyser, with everyone's answer"
    assert advice.best.protocol.name == "correlated-count"


def test_the_infeasible_say_what_they_lack():
    advice = hc.advise(hc.Count(), n=40, epsilon=1, delta=1e-6)
    zsum = next(option for option in advice.options if option.name == "zsum")
    assert zsum.reason == f"needs {zsum.smallest_n} people, you have 40"
    with pytest.raises(hc.Refused):
        hc.protocol("zsum", n=zsum.smallest_n - 1, epsilon=1, delta=1e-6)
    assert hc.protocol("zsum", n=zsum.smallest_n, epsilon=1, delta=1e-6).error().rmse < zsum.smallest_n / 2


def test_pure_budgets_leave_the_pure_protocols():
    advice = hc.advise(hc.Count(), n=1_000, epsilon=1)
    pure = {protocol.name for protocol in hc.CATALOGUE if protocol.pure and Shape.BIT in protocol.shapes}
    assert {"geometric", "laplace", "randomised-response"} <= {option.name for option in advice.feasible} == pure
    assert all("delta=1e-6" in option.reason for option in advice.options if option not in advice.feasible)


def test_when_nothing_serves_the_advice_says_why():
    advice = hc.advise(hc.Count(), n=1_000, epsilon=1, models=["shuffle"])
    with pytest.raises(hc.Refused, match="zsum"):
        _ = advice.best


def test_the_json_is_the_documented_one():
    described = json.loads(json.dumps(ADVICE.to_json(), allow_nan=False))
    assert list(described) == ["task", "budget", "crowd", "best", "options", "objective", "confidence", "within"]
    assert list(described["options"][0]) == [
        "protocol",
        "model",
        "feasible",
        "reason",
        "parameters",
        "bias",
        "std_error",
        "rmse",
        "interval95",
        "messages_per_person",
        "bits_per_person",
        "wire_messages",
        "wire_bytes",
        "accounting",
        "local_epsilon",
        "liar",
        "epsilon_at_least",
        "smallest_n",
        "reference",
        "objective",
        "rmse_average",
        "rmse_worst",
        "epsilon",
        "n",
    ]
    few = hc.advise(hc.Count(), n=40, epsilon=1, delta=1e-6).to_json()["options"][-1]
    assert few["feasible"] is False
    assert few["rmse"] is few["parameters"] is None
    assert few["reason"].startswith(f"needs {few['smallest_n']} people")
    assert {option["smallest_n"] for option in described["options"] if option["feasible"]} == {None}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("question", "wishes"),
    [
        (hc.Distribution((0, 10), 64), {"n": 1, "epsilon": 50, "delta": 1e-3}),  # where nobody would lie
        (hc.Distribution((0, 10), 64), {"n": 10**12, "epsilon": 5, "delta": 1e-3, "rounds": 2}),  # in two panels
        (hc.Histogram(1_000), {"n": 2, "epsilon": 20, "delta": 1e-18, "rounds": 100}),
    ],
)
def test_no_crowd_and_no_budget_is_too_far_off(question, wishes):
    local = hc.advise(question, **wishes, models="local")
    assert json.loads(json.dumps(local.to_json(), allow_nan=False))["options"]
    assert local.table()


def test_it_prints_in_a_terminal_and_in_a_notebook():
    assert "correlated-count" in str(ADVICE)
    assert ADVICE._repr_html_().startswith("<table>")
    assert "19 times out of 20" in ADVICE.why()


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"n": 0}, "n is 0"),
        ({"ones": 10_001}, "ones"),
        ({"ones": -1}, "ones"),
        ({"least": 0.5}, "least"),
        ({"corrupt": 10_000}, "corrupt"),
        ({"epsilon": 0}, "epsilon"),
        ({"models": ["moon"]}, "model"),
    ],
)
def test_nonsense_gets_a_helpful_answer(options, hint):
    with pytest.raises(hc.Refused, match=hint):
        hc.advise(hc.Count(), **{"n": 10_000, "epsilon": 1, "delta": 1e-6, **options})


def test_a_plan_survives_json():
    protocol = ADVICE.best.protocol
    again = protocol_from_json(json.loads(json.dumps(protocol.to_json())))
    assert again == protocol
    assert hc.Plan(again, ADVICE.budget).hash == ADVICE.best.hash


def test_a_plan_over_its_budget_cannot_be_made():
    with pytest.raises(hc.Refused, match="over the budget"):
        hc.Plan(hc.protocol("zsum", n=1_000, gamma=0.001), hc.Budget(1, 1e-6))


@pytest.mark.parametrize(("epsilon", "extra"), [(1.0, 0.01), (0.1, 0.05)])
def test_correlated_noise_is_nearly_central(epsilon, extra):
    central = hc.protocol("geometric", n=10**6, epsilon=epsilon, delta=1e-6)
    shuffled = hc.protocol("correlated-count", n=10**6, epsilon=epsilon, delta=1e-6)
    assert shuffled.error().std_error <= 1.0055 * central.error().std_error
    assert shuffled.messages_per_person <= 1 + extra


def test_overhead_trades_error_for_messages():
    plans = [hc.protocol("correlated-count", n=10_000, epsilon=1, delta=1e-6, overhead=o) for o in (0.005, 0.05, 0.5)]
    assert np.all(np.diff([plan.error().std_error for plan in plans]) > 0)
    assert np.all(np.diff([plan.messages_per_person for plan in plans]) < 0)


@pytest.mark.parametrize("name", ["zsum", "cheu-count", "poisson-count", "negative-binomial-count", "sample-threshold"])
def test_calibration_beats_the_paper(name):
    """At epsilon 1, delta 1e-6 every closed form is met with an enormous slack."""
    crowd = hc.Crowd(20_000)
    papers = named(name)(crowd=crowd, **named(name).published(hc.Budget(1, 1e-6), crowd))
    exact = hc.protocol(name, n=20_000, epsilon=1, delta=1e-6)
    assert papers.loss.delta(1) < 1e-9
    assert exact.error(5_000).rmse < papers.error(5_000).rmse / 2


def test_thresholding_zsum_silences_small_counts():
    plain = hc.protocol("zsum", n=10_000, gamma=0.0725)
    silent = hc.protocol("zsum", n=10_000, gamma=0.0725, thresholded=True)
    assert silent.error(500).bias == pytest.approx(-500, rel=1e-6)
    assert abs(plain.error(500).bias) < 1e-9
    assert silent.error(0).rmse == 0


def test_certainty_is_explained_too():
    assert "within 0 of the truth" in hc.advise("count", n=1_000, epsilon=1, delta=1e-6, ones=0).why()


def test_a_protocol_that_could_never_answer_is_not_offered():
    advice = hc.advise("count", n=30, epsilon=1, delta=1e-6, models="shuffle-threshold")
    assert not advice.feasible


def test_the_plan_of_an_advice_is_run_on_whatever_count_takes():
    answers = [1] * 300 + [0] * 700
    advice = hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6)
    assert abs(hc.run(advice, answers).value - 300) < 40
    assert abs(hc.run(advice.plan("zsum"), answers).value - 300) < 80
    assert advice.best_of("local").name == "randomised-response"
    with pytest.raises(hc.Refused, match="use one of"):
        advice.plan("zsm")
    with pytest.raises(hc.Refused, match="model"):
        advice.best_of("shufle")


def test_what_cannot_be_told_is_a_dash():
    """A trillion people's coins have too many outcomes to be gone through for an interval, not for an error."""
    advice = hc.advise("count", n=10**12, epsilon=1, delta=1e-14, protocols=["geometric", "randomised-response"])
    assert str(advice).splitlines()[3].split()[1:] == ["local", "959,827", "959,827", "-", "1", "exact"]
    assert "randomised-response would typically be off by 959,827" in advice.why()
    figures = json.loads(json.dumps(advice.to_json(), allow_nan=False))["options"][1]
    assert figures["interval95"] is figures["std_error"] is None
    assert figures["rmse"] > 9e5


@pytest.mark.parametrize(
    ("task", "wish", "says"),
    [
        (hc.Histogram(20), {"objective": "worst-bin"}, "tells all counts at once within 12 of the truth 19 times out"),
        (hc.Count(), {"objective": "detectable"}, "tells 5 ones or more from none 19 times out of 20, either way"),
        (hc.Count(), {"objective": "relative", "ones": 100}, "with a typical error of 1.36% of the truth"),
        (hc.Count(), {"confidence": 0.999}, "999 times out of 1,000"),
        (hc.Count(), {"confidence": 0.5}, "1 time out of 2"),
        (hc.Count(), {"confidence": 0.97}, "97% of the time"),
        (hc.Count(), {"epsilon": None, "within": 30}, "trusting nobody, randomised-response would need ε="),
        (hc.Count(), {}, "(plan with a smaller least= if some may stay away: the promise holds without them)"),
        (hc.Count(), {"n": 1}, "If nobody reports, nothing is released"),
    ],
)
def test_the_sentences_speak_of_what_was_asked(task, wish, says):
    why = hc.advise(task, **{"n": 3_000, "epsilon": 1, "delta": 1e-6, "models": "central,local", **wish}).why()
    assert says in why


def test_a_delta_that_promises_little_is_spoken_of():
    """Whoever publishes everybody's value with chance delta keeps the promise, too."""
    says = "the values of about 10 of them might be published outright"
    for n, delta in ((1_000, 0.01), (10_000, 0.001)):
        advice = hc.advise("count", n=n, epsilon=1, delta=delta, models="central")
        assert says in advice.why()
        assert says in str(advice)
        assert says in advice.to_markdown()
    fine = hc.advise("count", n=1_000, epsilon=1, delta=0.0009, models="central")
    assert "outright" not in fine.why() + str(fine)


def test_those_that_lack_the_same_are_named_together_and_once():
    advice = hc.advise(hc.Count(), n=1_000, epsilon=1, models=["shuffle"])
    assert "no protocol can serve" in str(advice).splitlines()[0]
    for option in advice.options:
        assert not option.reason.startswith(option.name)
    assert str(advice).count("cannot give delta = 0") == 1
    with pytest.raises(hc.Refused, match=r"no protocol of the shuffle model can serve \(cheu-count, one-sided-count, "):
        advice.why()
