"""Tasks, protocols and plans as they were written down by `to_json`: read back exactly, or refused.

What was read is written again and must come out the same. So nothing is dropped, guessed or filled
in: not a field that this version does not know, nor one that it would have by default, nor a
programme that has changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from headcount.answers.estimate import Estimate
from headcount.common.atomic_files import read_text
from headcount.common.calls import checked
from headcount.common.canonical import canonical, fingerprint, read_json
from headcount.common.short_decimals import COMPARED, rounded_up
from headcount.errors import BadArgument, Refused, WrongCall
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.programme.tally import Tally
from headcount.protocols import named
from headcount.protocols.base.plan import FORMAT, Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import Wire
from headcount.questions import question_from_json
from headcount.questions.question import Question

BESIDES = frozenset({"budget", "programme", "wire", "device", "panels"})  # of a plan, beyond its protocol
NONSENSE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)  # what reading anything may raise

Read = TypeVar("Read", Question, Protocol, Plan)


def task_from_json(data: Any) -> Question:
    """The task that `Question.to_json` wrote down."""
    return _exactly("task", data, question_from_json)


def protocol_from_json(data: Any) -> Protocol:
    """The protocol that `Protocol.to_json` wrote down."""
    return _exactly("protocol", data, _protocol)


@checked
def plan_from_json(data: Any, *, hash: str | None = None) -> Plan:
    """The plan that `Plan.to_json` wrote; refused if it would not mean the same here.

    Parameters
    ----------
    data : dict
        What `to_json` returned, report programme included.
    hash : str, optional
        The hash that the plan must have.

    Returns
    -------
    Plan

    Raises
    ------
    errors.BadArgument
        If it cannot be read back exactly, or has another hash.

    Examples
    --------
    >>> plan = hc.Plan(hc.protocol("zsum", n=1_000, gamma=0.04), hc.Budget(1, 1e-6))
    >>> hc.plan_from_json(plan.to_json()) == plan
    True
    """
    plan = _exactly("plan", data, _plan)
    if hash is not None and plan.hash != hash:
        raise BadArgument("hash", "is that of another plan", f"this one has {plan.hash}")
    return plan


def _protocol(data: dict[str, Any]) -> Protocol:
    return named(data["protocol"], former=True)(
        task=task_from_json(data["task"]),
        crowd=Crowd(**data["crowd"]),
        neighbours=Neighbours(data["neighbours"]),
        **data["parameters"],
    )


def _plan(data: dict[str, Any]) -> Plan:
    protocol = protocol_from_json({name: part for name, part in data.items() if name not in BESIDES})
    if canonical(protocol.programme.encode()) != canonical(data["programme"]):
        raise BadArgument(
            "plan", f"has a programme that {protocol.name} no longer runs", "use the version of headcount that wrote it"
        )
    wire = _wire(protocol, data) if "wire" in data else None
    return Plan(protocol, Budget(**data["budget"]), wire, data.get("panels", 1))


def _wire(protocol: Protocol, data: dict[str, Any]) -> Wire:
    """The wire of a plan; version 0.2 wrote the epsilon under collusion unrounded."""
    wire, written = Wire(**data["wire"]), data["device"]["colluding"]
    short = wire.device(protocol, data["budget"].get("rounds", 1))["colluding"]
    unrounded = written is not None and written != short and rounded_up(written, COMPARED) == short
    return replace(wire, colluding=written) if unrounded else wire


def _exactly(what: str, data: Any, build: Callable[[dict[str, Any]], Read]) -> Read:
    try:
        built = build(data)
        same = canonical(built.to_json()) == canonical(data)
    except (Refused, *NONSENSE) as problem:
        if isinstance(problem, Refused) and not isinstance(problem, WrongCall):
            raise
        name = f", near {problem}" if isinstance(problem, KeyError) else ""
        raise BadArgument(what, f"is not one that this version can read{name}", "give what to_json wrote") from None
    if not same:
        raise BadArgument(what, "would not mean the same in this version", "give what to_json wrote, unchanged")
    return built


@checked
def load_answer(path: str | Path) -> Estimate:
    """The answer in a file from `headcount count --format json`, or `to_json` of an answer in JSON.

    Parameters
    ----------
    path : str or Path
        Name of the file.

    Returns
    -------
    Estimate

    Raises
    ------
    errors.BadArgument
        If it is not the JSON of an answer, or what it says does not follow from what was released.

    Examples
    --------
    >>> import json, pathlib
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=1, model="central")
    >>> _ = pathlib.Path("answer.json").write_text(json.dumps(answer.to_json()))
    >>> hc.load_answer("answer.json").value == answer.value
    True
    """
    try:
        told = read_json(read_text(path, "an answer"))
        rules = tuple(map(str, told["rules"]))
        answer = replace(answer_from_json(told["released"]), rules=rules, most=told.get("max_contributions"))
        written = answer.top(told["top"]["k"]).to_json() if "top" in told else answer.to_json()
        same = all(_in_any_order(part) == _in_any_order(told[name]) for name, part in written.items())
    except Refused:
        raise
    except NONSENSE:
        works = "give what --format json printed for a question"
        raise BadArgument("answer", f"{path} is not an answer", works) from None
    if not same:
        raise BadArgument("answer", f"{path} was changed since it was printed", "ask for the file again")
    return answer


def _in_any_order(part: Any) -> Any:
    """Cells may have been printed in another order."""
    return sorted(map(canonical, part)) if isinstance(part, list) else canonical(part)


def answer_from_json(released: dict[str, Any]) -> Estimate:
    """The answer computed again from its release, the part `released` of its JSON."""
    protocol = protocol_from_json(released["protocol"])
    keys = None if released["keys"] is None else np.array(released["keys"])
    tally = Tally(released["reports"], np.array(released["totals"]), keys, released["modulus"], released=True)
    budget = None if released["budget"] is None else Plan(protocol, Budget(**released["budget"])).budget  # if it fits
    drawn = {name: released[name] for name in ("secret", "simulated")}
    before = (
        Plan(protocol_from_json(each["protocol"]), Budget(**each["budget"])) for each in released.get("before", ())
    )
    answer = replace(protocol.estimate(tally), budget=budget, before=tuple(before), **drawn)
    brought = {"": lambda: answer, "range": answer.clamped, "crowd": answer.consistent}
    return brought[released["within"]]()


@checked
def load_plan(path: str | Path, *, hash: str | None = None) -> Plan:
    """The plan that `Plan.save` wrote into a file.

    Parameters
    ----------
    path : str or Path
        Name of the file.
    hash : str, optional
        The hash that the plan must have.

    Returns
    -------
    Plan

    Raises
    ------
    errors.BadArgument
        If the file was changed since, or is of another version, or the plan has another hash.

    Examples
    --------
    >>> plan = hc.Plan(hc.protocol("zsum", n=1_000, gamma=0.04), hc.Budget(1, 1e-6))
    >>> hc.load_plan(plan.save("plan.json"), hash=plan.hash) == plan
    True
    """
    kept = _read(path)
    if kept.get("format") != FORMAT:
        raise BadArgument("plan", f"{path} {_other_than_a_plan(kept)}", "give the file of a saved plan")
    from importlib.metadata import version

    writer, here = kept.get("headcount"), version("headcount")
    if set(kept) != {"format", "headcount", "hash", "plan"} or not _whole(kept):
        wrong = "was changed since it was saved: the plan in it and the hash beside it no longer belong together"
        raise BadArgument("plan", f"{path} {wrong}", "get the file again, or make the plan anew")
    try:
        return plan_from_json(kept["plan"], hash=hash)
    except BadArgument as problem:
        if problem.argument == "hash" or writer == here:
            raise
        works = "make the plan anew, or use that version"
        raise BadArgument(
            "plan", f"{path} was written by headcount {writer}, and this is {here}, which reads it differently", works
        ) from None


def _whole(kept: dict[str, Any]) -> bool:
    try:
        return bool(fingerprint(kept["plan"]) == kept["hash"])
    except ValueError:  # numbers that JSON does not have
        return False


def _read(path: str | Path) -> dict[str, Any]:
    text = read_text(path, "a plan")
    try:
        kept = read_json(text)
    except ValueError:
        raise BadArgument("plan", f"{path} is not JSON", "give the file of a saved plan") from None
    return kept if isinstance(kept, dict) else {}


def _other_than_a_plan(kept: dict[str, Any]) -> str:
    form = str(kept.get("format", ""))
    if form.startswith("headcount plan "):
        return f"is a plan in a form that this version does not know, written by headcount {kept.get('headcount')}"
    return "is a certificate, which holds a claim and not a plan" if "certificate" in form else "is not a saved plan"
