"""The page of each protocol, and the overview, from the leaves themselves."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from error_figures import BUDGET, SHOWN, situations
from leaf import Leaf, leaf_of, leaves
from pages import block, figure, indexed, table

import headcount as hc
from headcount.errors import Unsupported
from headcount.figures.canvas import number
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import wire_bytes, wire_messages
from headcount.protocols.shared.shuffled_local import ShuffledLocal
from headcount.questions.reading_options import ReadingOptions
from programme import readable

EXAMPLES = {
    "count": """answers = [1] * 400 + [0] * 1_600  # one answer per person
print(hc.count(answers, epsilon=1, delta=1e-6, protocol="{name}"))
""",
    "histogram": """browsers = ["chrome"] * 1_200 + ["firefox"] * 620 + ["lynx"] * 180
names = ["chrome", "firefox", "lynx"]
print(hc.histogram(browsers, categories=names, epsilon=1, delta=1e-6, protocol="{name}"))
""",
    "sum": """ages = [20 + i % 60 for i in range(2_000)]
print(hc.mean(ages, bounds=(0, 120), epsilon=1, delta=1e-6, protocol="{name}"))
""",
    "mean by group": """people = {{"plan": ["free", "pro"] * 1_000, "age": [20 + i % 60 for i in range(2_000)]}}
plans = ["free", "pro"]
told = {{"column": "age", "bounds": (0, 120), "by": "plan", "categories": plans}}
print(hc.mean(people, **told, epsilon=1, delta=1e-6, protocol="{name}"))
""",
    "distribution": """import numpy as np

ages = np.random.default_rng(1).normal(45, 12, 2_000)  # of 2,000 people
print(hc.distribution(ages, bounds=(0, 120), bins=240, clip=True, epsilon=4, delta=1e-6, protocol="{name}").median)
""",
}
QUESTIONS = {
    "count": hc.Count(),
    "histogram": hc.Histogram(20),
    "sum": hc.Sum((0.0, 1.0)),
    "mean by group": hc.Mean.posed(bounds=(0.0, 1.0), categories=["a", "b"]).declared(ReadingOptions(by=("group",))),
    "distribution": hc.Distribution((0.0, 1.0), 1_024),
}
EPSILONS = (0.25, 0.5, 1.0, 2.0)


def main_task(protocol: type[Protocol]) -> str:
    return next(task for task in QUESTIONS if task in protocol.question_names())


def example(protocol: type[Protocol]) -> str:
    return "import headcount as hc\n\n" + EXAMPLES[main_task(protocol)].format(name=protocol.name)


def printed(code: str) -> str:
    """What it prints when it is run here."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "example", "exec"), {"__name__": "example"})  # noqa: S102
    return out.getvalue()


@cache
def calibrated(protocol: type[Protocol]) -> Protocol:
    """For the people and the budget of the error figure."""
    return next(iter(situations(protocol, SHOWN).values())).calibrated(protocol)


def page(protocol: type[Protocol], audited: str = "") -> str:
    lines = [*_head(protocol), *_how(protocol), *_guarantee(protocol), *_sent(protocol), *_error(protocol)]
    lines += ["## Try it", "", block("python", example(protocol)), block("text", printed(example(protocol)))]
    if audited:
        lines += ["## What it was put through", "", audited, "", "[What the columns mean](../audit.md).", ""]
    return "\n".join(lines)


def _head(protocol: type[Protocol]) -> Iterator[str]:
    own = leaf_of(protocol)
    yield indexed([f"protocols; {protocol.name}"])
    yield f"# {protocol.name}"
    yield ""
    if issubclass(protocol, ShuffledLocal):
        yield f"**[{protocol.local.name}]({protocol.local.name}.md) among shuffled reports** {_cites(own)}: {own.says}"
    else:
        yield f"**{own.title}**: {own.says}"
    yield ""
    made = calibrated(protocol)
    source = "/".join(["src", *protocol.__module__.split(".")]) + ".py"
    yield table(
        ("", ""),
        [
            ("model", f"[{protocol.model}](../models.md): you trust {protocol.model.trusted}"),
            ("answers", ", ".join(protocol.question_names())),
            ("hides", ", ".join(_relation(relation) for relation in sorted(protocol.relations))),
            ("accounting", f"[{made.loss.kind}](../sharp-edges.md)"),
            ("pure privacy", "yes, delta may be 0" if protocol.pure else "no, delta must be above 0"),
            ("if all others collude", _collusion(made)),
            ("source", f"`{source}`"),
        ],
    )
    yield ""


def _relation(relation: str) -> str:
    return {"replace": "what a person holds (`replace`)", "add-remove": "whether they are there (`add-remove`)"}[
        relation
    ]


def _collusion(made: Protocol) -> str:
    if made.model is Model.CENTRAL:
        return "nothing is left: the analyser sees every value anyway"
    left = made.local_epsilon
    return "nothing is left" if left is None else f"each person keeps ε = {number(left)}"


def _cites(own: Leaf) -> str:
    return "{cite:p}`" + ",".join(own.references) + "`"


def _how(protocol: type[Protocol]) -> Iterator[str]:
    yield "## How it works"
    yield ""
    for place, own in enumerate(leaves(protocol)):
        if place:
            yield f"And of the local protocol, **{own.title}**: {own.says}\n"
        for name, text in own.parts.items():
            yield f"{name}\n: {text[0].upper()}{text[1:]}\n"
        for note in own.notes:
            yield f"{note}\n"


def _guarantee(protocol: type[Protocol]) -> Iterator[str]:
    made = calibrated(protocol)
    yield "## What is promised"
    yield ""
    yield f"Calibrated for {SHOWN:,} people and {BUDGET}, {_what(protocol)}. Delta, {_kind(made)}, at other epsilons:"
    yield ""
    deltas = [f"{delta:.3g}" if (delta := made.loss.delta(epsilon)) else "0" for epsilon in EPSILONS]
    yield table(("epsilon", *(f"{epsilon:g}" for epsilon in EPSILONS)), [("delta", *deltas)], frozenset(range(1, 5)))
    yield ""
    published = _published(protocol, made)
    rows = [(f"`{name}`", _short(value), published.get(name, "")) for name, value in made.parameters.items()]
    headings = ("parameter", "calibrated", "by the paper's formula")
    kept = 3 if published else 2
    yield table(headings[:kept], [row[:kept] for row in rows], frozenset({1, 2}))
    yield ""


def _what(protocol: type[Protocol]) -> str:
    return {"count": f"for a count of about {SHOWN // 5:,} ones", "histogram": "for a histogram of 20 categories"}.get(
        main_task(protocol), "for a sum of numbers between 0 and 1"
    )


def _kind(made: Protocol) -> str:
    said = {"exact": "exactly", "rounded": "exactly, rounded up by at most 1%", "bound": "as a proven bound"}
    return said[made.loss.kind]


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.6g}"


def _published(protocol: type[Protocol], made: Protocol) -> dict[str, str]:
    """Of a shuffled protocol there is only the formula of the local one, which is about something else."""
    if issubclass(protocol, ShuffledLocal):
        return {}
    try:
        return {name: _short(value) for name, value in protocol.published(BUDGET, made.crowd).items()}
    except (Unsupported, ValueError, OverflowError):
        return {}


def _sent(protocol: type[Protocol]) -> Iterator[str]:
    made = calibrated(protocol)
    yield "## What one person sends"
    yield ""
    yield block("text", readable(made.programme, 28))
    cost = f"On average {_many(made.messages_per_person, 'message')} a person, "
    cost += f"about {_many(math.ceil(made.bits_per_person), 'bit')}"
    if not protocol.collectable():
        yield f"{cost}. It takes a trusted party that counts, so it is not collected from devices as it is."
    elif (messages := wire_messages(made, BUDGET)) is None:
        yield f"{cost}. Sealed, and as many from everybody, that would be too many to collect."
    else:
        size = wire_bytes(made, messages)
        yield f"{cost}. Sealed, and as many from everybody: {_many(messages, 'message')}, {size:,} bytes."
    yield ""


def _many(amount: float, what: str) -> str:
    return f"{number(amount)} {what}" + ("" if number(amount) == "1" else "s")


def _error(protocol: type[Protocol]) -> Iterator[str]:
    made = calibrated(protocol)
    yield "## How wrong it is"
    yield ""
    yield figure(protocol.name, f"Simulated errors of {protocol.name} and the predicted law, which agree.")
    yield (
        "Bars and dots are simulated with a fixed seed; the line is the law that the library predicts, and every "
        "interval it prints comes from. The build fails where the two are more than five standard errors apart."
    )
    if main_task(protocol) == "sum":
        yield (
            "What is predicted of a sum is the error of the crowd that is hardest to estimate; shown is the crowd that "
            "scattered most of three: spread evenly, half at either end, all in the middle."
        )
    if not made.steady:
        yield "The error of this protocol depends on what people hold."
    yield ""


def overview() -> str:
    """Who answers what under which trust, and then every protocol in order of its error."""
    grid = [
        (f"[{model}](../models.md)", *(_linked(model, task) for task in QUESTIONS))
        for model in Model
    ]  # fmt: skip
    lines = [
        "# Protocols", "",
        f"{len(CATALOGUE)} protocols, each on a page of its own that is made from the code: what people send, what is "
        "promised and what it costs, and how wrong the answer is, simulated and predicted. Whatever counts also "
        "answers a fraction, and whatever sums a mean.", "",
        table(("model", "count", "histogram", "sum"), grid), "",
    ]  # fmt: skip
    for task, question in QUESTIONS.items():
        lines += _ranked(task, question)
    names = [protocol.name for protocol in CATALOGUE]
    return "\n".join([*lines, block("{toctree}", ":hidden:\n\n" + "\n".join(names))])


def _linked(model: Model, task: str) -> str:
    """The shuffled forms of local protocols stand together."""
    members = [protocol for protocol in CATALOGUE if protocol.model is model and task in protocol.question_names()]
    own = [f"[{one.name}]({one.name}.md)" for one in members if not issubclass(one, ShuffledLocal)]
    lent = [f"[{one.local.name}]({one.name}.md)" for one in members if issubclass(one, ShuffledLocal)]
    return ", ".join([*own, *([f"shuffled {', '.join(lent)}"] if lent else [])]) or "–"


def _ranked(task: str, question: Any) -> Iterator[str]:
    advice = hc.advise(question, n=10_000, epsilon=BUDGET.epsilon, delta=BUDGET.delta)
    named = {"count": "A count", "histogram": "A histogram of 20 categories", "sum": "A sum of numbers from 0 to 1"}
    yield f"## {named[task]}"
    yield ""
    yield f"Among 10,000 people at {BUDGET}, in the order of the size of a typical error."
    yield ""
    sheet = advice.sheet()
    rows = [(f"[{row[0]}]({row[0]}.md)", *row[1:]) for row in sheet.rows]
    yield table(sheet.headings, rows, sheet.figures)
    yield ""
