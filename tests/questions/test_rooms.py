"""Only the questions' own room asks of which class a question or a domain is; and the map of the rooms is true."""

import ast
import re
from pathlib import Path

import pytest

import headcount
from headcount.questions.domains.domain import Domain
from headcount.questions.question import Question

SOURCE = Path(headcount.__file__).parent
ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def below(kind):
    return {kind.__name__}.union(*map(below, kind.__subclasses__()))


CLASSES = below(Question) | below(Domain)


def asked(code):
    """The classes that are named in calls of isinstance and in patterns."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            parts = ast.walk(node.args[1])
        elif isinstance(node, ast.MatchClass):
            parts = ast.walk(node.cls)
        else:
            continue
        yield from (part.id for part in parts if isinstance(part, ast.Name))


@pytest.mark.parametrize("code", [
    "isinstance(task, Histogram)", "isinstance(x, (Sum, Count))", "isinstance(x, Sum | Count)",
    "match x:\n    case Sum(): pass",
])  # fmt: skip
def test_a_ladder_is_found(code):
    assert CLASSES.intersection(asked(code))


def test_only_their_room_asks_for_the_class_of_a_question_or_domain():
    found = {
        str(path.relative_to(SOURCE)): names
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] != "questions"
        and (names := CLASSES.intersection(asked(path.read_text(encoding="utf-8"))) - {"Fraction"})
    }
    assert found == {}


def test_every_file_of_the_map_exists_and_every_room_is_on_it():
    named = re.findall(r"`([\w/]+(?:\.py|\.ts|/))`", MAP)
    assert len(named) > 30
    for name in named:
        assert (SOURCE / name).exists() or (ROOT / name).exists(), name
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert rooms <= {name.rstrip("/") for name in named}
