"""Calls that leave out an argument, misspell one, or give what it cannot be: always a refusal that names it."""

import inspect
from itertools import product

import pytest

import headcount as hc
from headcount.common import calls
from headcount.common.calls import checked
from stress import lengths

N = 60
ROWS = {
    "who": list(range(N)),
    "plan": ["abc"[n % 3] for n in range(N)],
    "left": [n % 2 for n in range(N)],
    "spend": [n % 30 for n in range(N)],
    "day": [f"2026-01-{5 + n % 20:02}" for n in range(N)],
}
BUDGET = {"epsilon": 1, "delta": 1e-6}
LEFT = {"column": "left", "epsilon": 1}
SPEND = {"column": "spend", "bounds": (0, 30), "epsilon": 1}
PLAN = hc.advise("count", n=N, epsilon=1, models="central").best
ROUNDS = {"column": "left", "time": "day", "unit": "who", "first": "2026-01-05", "rounds": 3, "epsilon": 1}
LEDGER = hc.Ledger(epsilon=50)
CALLS = {  # each with what it needs
    "count": (hc.count, (ROWS,), LEFT),
    "fraction": (hc.fraction, (ROWS,), LEFT),
    "histogram": (hc.histogram, (ROWS,), {"column": "plan", "categories": ["a", "b", "c"], "epsilon": 1}),
    "sum": (hc.sum, (ROWS,), SPEND),
    "mean": (hc.mean, (ROWS,), SPEND),
    "distribution": (hc.distribution, (ROWS,), SPEND),
    "quantile": (hc.quantile, (ROWS, 0.5), SPEND),
    "median": (hc.median, (ROWS,), SPEND),
    "table": (hc.table, (ROWS,), {"columns": {"plan": ["a", "b", "c"], "left": [0, 1]}, "epsilon": 1}),
    "series": (hc.series, (ROWS,), ROUNDS),
    "ask": (hc.ask, (ROWS, hc.Count()), LEFT),
    "compare": (hc.compare, (ROWS,), {"column": "left", **BUDGET}),
    "advise": (hc.advise, ("count",), {"n": 1_000, "models": "central", **BUDGET}),
    "frontier": (hc.frontier, ("count",), {"n": 1_000, "points": 2, "models": "central", **BUDGET}),
    "most_rounds": (hc.most_rounds, ("count",), {"n": 1_000, "within": 300, "models": "central", **BUDGET}),
    "smallest_n": (hc.smallest_n, ("fraction",), {"epsilon": 1, "within": 0.1, "models": "central"}),
    "smallest_detectable": (hc.smallest_detectable, ("count",), {"n": 1_000, "epsilon": 1, "models": "central"}),
    "protocol": (hc.protocol, ("zsum",), {"n": 1_000, **BUDGET}),
    "run": (hc.run, (PLAN, ROWS), {"column": "left"}),
    "certify": (hc.certify, (PLAN,), {}),
    "verify": (hc.verify, ("nobody.json",), {}),
    "compose": (hc.compose, ([PLAN.protocol.loss],), {}),
    "attack": (hc.attack, (hc.protocol("randomised-response", n=5, keep=0.7),), {"samples": 100}),
    "randomiser": (hc.randomiser, ([[0.5, 0.5], [0.5, 0.5]],), {}),
    "explain": (hc.explain, ("rmse",), {}),
    "load_answer": (hc.load_answer, ("nobody.json",), {}),
    "load_plan": (hc.load_plan, ("nobody.json",), {}),
    "plan_from_json": (hc.plan_from_json, ({},), {}),
    "Budget": (hc.Budget, (1,), {}),
    "Crowd": (hc.Crowd, (100,), {}),
    "Count": (hc.Count, (), {}),
    "Fraction": (hc.Fraction, (), {}),
    "Histogram": (hc.Histogram, (3,), {}),
    "Sum": (hc.Sum, ((0, 10),), {}),
    "Mean": (hc.Mean, ((0, 10),), {}),
    "Distribution": (hc.Distribution, ((0, 10),), {}),
    "Quantile": (hc.Quantile, ((0, 10),), {}),
    "Table": (hc.Table, ({"a": ["x", "y"]},), {}),
    "Arrivals": (hc.Arrivals, (5,), {}),
    "SeededCoins": (hc.SeededCoins, (1,), {}),
    "Ledger": (hc.Ledger, (), {"epsilon": 1}),
    "Ledger.open": (hc.Ledger.open, ("nobody.ledger",), {}),
    "Ledger.create": (hc.Ledger.create, ("new.ledger",), {"epsilon": 1}),
    "Ledger.verify": (hc.Ledger.verify, ("nobody.ledger",), {}),
    "Ledger.affords": (LEDGER.affords, (), BUDGET),
    "Ledger.would_cost": (LEDGER.would_cost, (), BUDGET),
    "Ledger.charge": (LEDGER.charge, (PLAN,), {}),
}
OPTIONS = {  # what else is given wrongly
    "ask": "model neighbours protocol where missing spelled blanks synonyms numbers by unit max_contributions clamp "
    "engine ledger parameters delta column",
    "count": "categories other",
    "histogram": "bins bounds dates other fractions consistent",
    "mean": "whole clip by",
    "distribution": "bins whole dates best_for",
    "table": "margins",
    "series": "every contributes cumulative where ledger delta column",
    "advise": "ones least corrupt honest objective liars confidence max_messages protocols rounds contributes "
    "neighbours max_contributions collected within",
    "frontier": "over honest",
    "attack": "seen people delta error pair",
    "run": "where unit max_contributions ledger engine",
}
QUICK = ["0,2", -1, float("nan"), (30, 0), object()]
EVERY = [*QUICK, "nobody", 0, float("inf"), [], {}, ("a",), [1], True, b"x", 3.7, 10**30, None]


def refusal(call, given, named):
    """What it is refused with, or None; whatever else is raised comes through."""
    try:
        call(*given, **named)
    except hc.Refused as refused:
        return refused
    return None


@pytest.fixture(autouse=True)
def a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_left_out_is_named(name):
    call, given, named = CALLS[name]
    needed = [
        each
        for each in inspect.signature(call).parameters.values()
        if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    for argument in needed:
        rest = {key: value for key, value in named.items() if key != argument.name}
        refused = refusal(call, () if argument.kind is argument.POSITIONAL_OR_KEYWORD else given, rest)
        assert refused is not None
        assert refused.problem == "is missing"
        assert refused.remedy


@pytest.mark.parametrize("name", CALLS)
def test_a_misspelt_argument_is_named_with_the_nearest(name):
    call, given, named = CALLS[name]
    if name == "protocol":  # its parameters have names of their own
        return
    refused = refusal(call, given, named | {"epsilonn": 1})
    assert refused is not None
    assert "epsilonn is no argument" in str(refused)
    known = {*inspect.signature(call).parameters}
    assert ("the nearest is epsilon" in str(refused)) == ("epsilon" in known)


@pytest.mark.parametrize("name", ["count", "mean", "series", "advise", "frontier", "Ledger", "smallest_n"])
def test_arguments_without_their_names_are_refused(name):
    call, given, named = CALLS[name]
    refused = refusal(call, (*given, 1, 2, 3), named)
    assert refused is not None
    assert "name the others, as in " in str(refused)


@pytest.mark.parametrize("name", CALLS)
@lengths("values", QUICK, EVERY)
def test_what_an_argument_cannot_be_is_refused_and_never_an_error_of_the_programme(name, values):
    call, given, named = CALLS[name]
    arguments = [*named, *(OPTIONS.get(name, "").split() if values is EVERY else [])]
    for value in values:
        for place in range(len(given)):
            refusal(call, (*given[:place], value, *given[place + 1 :]), named)
        for argument in arguments:
            refused = refusal(call, given, named | {argument: value})
            assert refused is None or not {"NoneType", "__init__", "keyword", "positional"} & {*str(refused).split()}


@pytest.mark.parametrize(
    ("name", "argument", "value", "said"),
    [
        ("count", "epsilon", "0,2", "epsilon is '0,2'; write 0.2, a number"),
        ("mean", "bounds", (30, 0), "bounds is (30, 0)"),
        ("mean", "clip", "yes", "clip is 'yes'; use clip=True, or leave it out"),
        ("quantile", "at", "half", "at is 'half'; say which part of the people, as in at=0.9"),
        ("run", "what", 5, "what is 5; give a plan, as hc.advise(…).best"),
        ("Ledger.verify", "path", 5, "path is 5; give the name of a file"),
        ("count", "ledger", "crowd.ledger", "ledger is 'crowd.ledger'; use hc.Ledger.open(path)"),
        ("count", "column", "lfet", "column is 'lfet', which the data does not have; use one of who, plan, left"),
    ],
)
def test_what_is_said(name, argument, value, said):
    call, given, named = CALLS[name]
    refused = refusal(call, given[1:] if argument in ("what", "path") else given, named | {argument: value})
    if argument == "at":
        refused = refusal(call, given[:1], named | {argument: value})
    if argument == "what":
        refused = refusal(call, (), named | {argument: value, "data": ROWS})
    assert said in str(refused)


def test_every_public_function_is_gone_through():
    functions = {name for name in {*hc.__all__, "sum", "map"} if inspect.isfunction(getattr(hc, name))}
    assert functions - set(CALLS) == {"map"}


def test_a_function_that_is_not_looked_at_is_found():
    """The twins: the same calls of functions as Python has them."""

    def plain(data, *, epsilon, clip=False):
        return data, epsilon, clip

    for given, named in product([(), (1,), (1, 2)], [{}, {"epsilon": 1, "clip": "yes"}, {"epsilonn": 1}]):
        assert isinstance(refusal(checked(plain), given, named), hc.Refused)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        refusal(plain, (), {"epsilon": 1})
    assert set(calls.KINDS) >= {"clip", "ledger", "path"}
