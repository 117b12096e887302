"""Tasks, protocols and plans as they were written down by `to_json`: read back exactly, or refused.

What was read is written again and must come out the same. So nothing is dropped, guessed or filled in: not a field that
this version does not know, nor one that it would have by default, nor a programme that has changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headcount.core.budget import Budget, Neighbours
from headcount.core.canonical import canonical
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, Refused
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.core.task import Task
from headcount.protocols import TASKS, named

BESIDES = frozenset({"budget", "programme"})  # what a plan says beyond its protocol

Read = TypeVar("Read", Task, Protocol, Plan)


def task_from_json(data: Any) -> Task:
    """The task that `Task.to_json` wrote down."""
    return _exactly("task", data, _task)


def protocol_from_json(data: Any) -> Protocol:
    """The protocol that `Protocol.to_json` wrote down."""
    return _exactly("protocol", data, _protocol)


def plan_from_json(data: Any, *, hash: str | None = None) -> Plan:
    """The plan that `Plan.to_json` wrote down, with the same report programme and, if one is given, the same hash."""
    plan = _exactly("plan", data, _plan)
    if hash is not None and plan.hash != hash:
        raise BadArgument("hash", "is that of another plan", f"this one has {plan.hash}")
    return plan


def _task(data: dict[str, Any]) -> Task:
    kind = TASKS[data["name"]]
    return kind(**{name: value for name, value in data.items() if name != "name"})


def _protocol(data: dict[str, Any]) -> Protocol:
    return named(data["protocol"])(
        task=task_from_json(data["task"]),
        crowd=Crowd(**data["crowd"]),
        neighbours=Neighbours.parse(data["neighbours"]),
        **data["parameters"],
    )


def _plan(data: dict[str, Any]) -> Plan:
    protocol = protocol_from_json({name: part for name, part in data.items() if name not in BESIDES})
    if canonical(protocol.programme.encode()) != canonical(data["programme"]):
        raise BadArgument(
            "plan", f"has a programme that {protocol.name} no longer runs", "use the version of headcount that wrote it"
        )
    return Plan(protocol, Budget(**data["budget"]))


def _exactly(what: str, data: Any, build: Callable[[dict[str, Any]], Read]) -> Read:
    try:
        built = build(data)
        same = canonical(built.to_json()) == canonical(data)
    except Refused:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        name = f", near {problem}" if isinstance(problem, KeyError) else ""
        raise BadArgument(what, f"is not one that this version can read{name}", "give what to_json wrote") from None
    if not same:
        raise BadArgument(what, "would not mean the same in this version", "give what to_json wrote, unchanged")
    return built
