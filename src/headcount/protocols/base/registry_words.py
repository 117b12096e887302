"""Sentences about a plan for the registry of deployments."""

from __future__ import annotations

import math

from headcount.common.plurals import counted
from headcount.privacy.budget import Budget
from headcount.privacy.loss import KINDS
from headcount.privacy.model import Model
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape

TRUSTED = {
    Model.CENTRAL: "The data holder is trusted with everybody's value: to add the noise, and to show nothing "
    "else. If they do not, nothing is left of the guarantee.",
    Model.LOCAL: "Nobody is trusted but one's own device: each report is private by itself.",
    Model.SHUFFLE: "A shuffler is trusted to mix everybody's messages and to tell nobody whose they were. ",
    Model.DUMMIES: "A shuffler is trusted to mix everybody's messages, to add messages of its own, and to tell nobody "
    "whose they were or how many it added of each kind. ",
    Model.THRESHOLD: "A shuffler is trusted to count the messages, to drop the counts that are too small, and to show "
    "nothing else. ",
}
STATED = {
    Shape.AMOUNT: "- The bounds of the values, which were stated without looking at the data.",
    Shape.ONE_OF: "- The list of categories, which was stated without looking at the data.",
}
OUTSIDE = "- Everybody else sees the answer. They are not trusted, and may know everything but one value."


def question(protocol: Protocol) -> str:
    return f"{protocol.task.asks}, answered with differential privacy in the {protocol.model} model."


def unprotected(protocol: Protocol) -> str:
    private, task = protocol.neighbours.hides_size, protocol.task
    lines = ["- How many people report." if not private else "- Nothing about people: how many there are is protected."]
    if task.shape in STATED:
        lines.append(STATED[task.shape])
    return "\n".join([*lines, "- The mechanism and its parameters."])


def privacy_unit(protocol: Protocol, unit: str) -> str:
    unit = unit.lower()
    if protocol.neighbours.hides_size:
        metric = f"if one of them has one {unit} more. The input metric is the symmetric distance"
    else:
        metric = (
            f"if they have the same size and one {unit} holds another value. The input metric is the change-one "
            "distance, the number of values that differ"
        )
    return f"Each {unit} reports once. Two sets of data are adjacent {metric}; its bound is 1."


def guarantee(protocol: Protocol, budget: Budget) -> str:
    loss, crowd = protocol.loss, protocol.crowd
    delta, slack = loss.delta(budget.epsilon), loss.delta_slack(budget.epsilon)
    words = f"The hockey-stick divergence at epsilon={budget.epsilon:g}, in both directions, is at most {delta:.6g}: "
    words += KINDS[loss.kind]
    words += f", of which {slack:.2g} pays for rounded tables and cut tails." if slack else "."
    if protocol.model is Model.SHUFFLE:
        lying = f", of whom at most {crowd.corrupt:,} lie or collude" if crowd.corrupt else ""
        words += f" It holds if at least {_reporting(crowd.least)}{lying}; with fewer reports nothing is released."
    if protocol.model is Model.THRESHOLD:
        limited = f"if at most {_reporting(crowd.size)}"
        words += f" It holds {limited if math.isfinite(protocol.most) else 'however many people report'}."
    return words


def _reporting(number: int) -> str:
    return counted(number, "person reports", "people report")


def trust(protocol: Protocol) -> str:
    words = TRUSTED[protocol.model]
    if protocol.model is Model.SHUFFLE:
        honest = counted(protocol.crowd.honest, "person is", "people are")
        words += f"At least {honest} trusted to follow the protocol. "
    if protocol.model in (Model.SHUFFLE, Model.DUMMIES, Model.THRESHOLD):
        left = protocol.local_epsilon
        words += "If the shuffler and the analyser collude, "
        words += "nothing is left of the guarantee." if left is None else f"epsilon={left:.3g} is left of it."
    return words


def actors(protocol: Protocol) -> str:
    sent = f"{protocol.messages_per_person:.4g} on average, for the value that costs most"
    devices = f"- People's own devices randomise the values and send messages: {sent}."
    analyser = "- The analyser sees what is sent to it and computes the answer. It is not trusted."
    lines = {
        Model.CENTRAL: ["- The curator holds the values, adds the noise and is trusted."],
        Model.LOCAL: [devices, analyser],
        Model.SHUFFLE: [devices, "- The shuffler sees who sends, mixes the messages and is trusted.", analyser],
        Model.DUMMIES: [devices, "- The shuffler sees who sends, adds messages and is trusted.", analyser],
        Model.THRESHOLD: [devices, "- The shuffler sees who sends, drops small counts and is trusted.", analyser],
    }
    return "\n".join([*lines[protocol.model], OUTSIDE])


def mechanisms(protocol: Protocol, hash: str) -> str:
    """The mechanism, its code and its randomness, a line of text each."""
    from importlib.metadata import version

    title = (protocol.__doc__ or "").splitlines()[0].rstrip(".")
    parameters = ", ".join(f"`{name}` = {value:.9g}" for name, value in protocol.to_json()["parameters"].items())
    lines = [
        f"`{protocol.name}`: {title} ({protocol.reference}).",
        f"Parameters: {parameters}.",
        f"Implementation: the Python library headcount {version('headcount')}, the plan with the SHA-256 hash {hash}.",
        "Floating point: a value is first put on a grid of whole numbers; from there to what is sent or released, "
        "all that is drawn and computed are whole numbers.",
        "Randomness: from the operating system, by way of fresh AES-CTR keys; there are no seeds.",
        "Proof: `headcount certify` writes the guarantee down, and `headcount verify` proves it again with code that "
        "shares nothing with what computed it, where it knows how.",
    ]
    return "".join(f"- {line}\n" for line in lines)


def utility(protocol: Protocol) -> str:
    noise, unit = protocol.error(), protocol.task.unit(protocol.crowd.size)
    each = " of each category" if protocol.task.shape.several else ""
    return (
        f"Predicted for the data that are hardest to estimate: the root mean square error{each} is "
        f"{noise.rmse * unit:.3g}, and 19 of 20 answers lie within {noise.half_width() * unit:.3g} of the truth."
    )
