"""Only the questions' own room knows a question by class or name; and the map of the rooms is true."""

import ast
import re
from pathlib import Path

import pytest

import headcount
import headcount as hc
import headcount_service
import headcount_survey
from headcount.questions import QUESTIONS, implied
from headcount.questions.arrivals import Arrivals
from headcount.questions.domains.bins import Bins
from headcount.questions.domains.bit import Bit
from headcount.questions.domains.calendar_rounds import Rounds
from headcount.questions.domains.categories import Categories, Listed
from headcount.questions.domains.domain import Domain
from headcount.questions.domains.filtered import Filtered
from headcount.questions.domains.intervals import Intervals
from headcount.questions.domains.keys import Keys
from headcount.questions.domains.levels import Levels
from headcount.questions.domains.periods import Periods
from headcount.questions.domains.product import Product
from headcount.questions.domains.record import Record
from headcount.questions.domains.whole_numbers import WholeNumbers
from headcount.questions.grouped import Group
from headcount.questions.question import Question

SOURCE = Path(headcount.__file__).parent
SERVICE = Path(headcount_service.__file__).parent
SURVEY = Path(headcount_survey.__file__).parent
ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def below(kind):
    return {kind.__name__}.union(*map(below, kind.__subclasses__()))


QUESTION_CLASSES = below(Question) - {"Question"}
CLASSES = below(Question) | below(Domain)
BRICKS = {"table"}  # a kind of brick, and a question
OF_THE_SAME_NAME = re.compile(r"fractions|headcount\.(programme|proof)\.")  # modules with a Fraction, a Table, a Count


def named(parts, others):
    """The classes of questions and domains in these parts of a tree, but for those from other modules."""
    for part in (below for each in parts for below in ast.walk(each)):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield others.get(name, name)


def asked(code):
    """The classes that are asked for: by isinstance, type, match, singledispatch, or as keys of a table."""
    tree = ast.parse(code)
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    others = {each.asname or each.name: each.name for node in imported for each in node.names}
    others |= {
        each.asname or each.name: ""
        for node in imported
        if OF_THE_SAME_NAME.match(node.module or "")
        for each in node.names
    }
    others |= {node.name: "" for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass") | ast.Attribute(attr="register"), args=parts):
                yield from named(parts, others)
            case ast.MatchClass(cls=kind):
                yield from named([kind], others)
            case ast.Compare(left=left, comparators=right):
                words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                yield from CLASSES.intersection(word for word in words if isinstance(word, str))
                yield from named([part for part in (left, *right) if not isinstance(part, ast.Call)], others)
            case ast.Dict(keys=parts) | ast.Set(elts=parts):
                kinds = [part for part in parts if isinstance(part, ast.Name | ast.Attribute)]
                yield from named(kinds, others)


@pytest.mark.parametrize("code", [
    "isinstance(task, Histogram)", "isinstance(x, (Sum, Count))", "isinstance(x, Sum | Count)",
    "match x:\n    case Sum(): pass", "isinstance(x, hc.Sum)", "type(x) is Sum", "x.__class__ == hc.Sum",
    "type(x) in (Sum, Mean)", 'type(x).__name__ == "Sum"', "WORDS = {Sum: 'added up'}", "WORDS[hc.Sum]; {hc.Sum: 1}",
    "@told.register(Sum)\ndef _(x): pass", "from headcount.questions import Sum as S\nisinstance(x, S)",
    "match x:\n    case hc.Sum(): pass",
])  # fmt: skip
def test_a_ladder_is_found(code):
    assert CLASSES.intersection(asked(code))


@pytest.mark.parametrize("code", [
    "from fractions import Fraction\nisinstance(x, Fraction)", "x == Sum((0, 1))",
    "from headcount.programme.table import Table\nisinstance(x, Table)", "match x:\n    case Brick(): pass",
])  # fmt: skip
def test_other_classes_are_no_ladder(code):
    assert not CLASSES.intersection(asked(code))


def test_only_their_room_asks_for_the_class_of_a_question_or_domain():
    found = {
        str(path): names
        for path in (*SOURCE.rglob("*.py"), *SERVICE.rglob("*.py"), *SURVEY.rglob("*.py"))
        if not path.is_relative_to(SOURCE / "questions")
        and (names := CLASSES.intersection(asked(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


BUILT = (SOURCE / "cli", SOURCE / "comparing.py", SERVICE / "web", SERVICE / "cli")  # from what questions declare
EXAMPLES = {"demo.py", "visits.py"}  # each shows one question, of its own choice


def imported(code):
    """The classes that are imported from the room of the questions."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headcount"):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.Attribute):
            yield node.attr


@pytest.mark.parametrize("code", ["from headcount.questions import Sum", "import headcount as hc\nhc.Histogram(3)"])
def test_a_question_that_is_built_by_its_class_is_found(code):
    assert QUESTION_CLASSES.intersection(imported(code))


def test_commands_and_pages_build_no_question_by_its_class():
    paths = [path for place in BUILT for path in ([place] if place.is_file() else place.rglob("*.py"))]
    found = {
        str(path): names
        for path in paths
        if path.name not in EXAMPLES
        and (names := QUESTION_CLASSES.intersection(imported(path.read_text(encoding="utf-8"))))
    }
    assert len(paths) > 30
    assert found == {}


@pytest.mark.parametrize(("told", "question"), [
    ({}, hc.Count()), ({"categories": ["a", "b"], "other": True}, hc.Histogram(["a", "b"], other=True)),
    ({"bounds": (0, 9), "whole": True}, hc.Sum.whole((0, 9))),
    ({"bounds": (0, 9), "clip": True, "per_person": True}, hc.Mean((0, 9), clip=True)),
])  # fmt: skip
def test_arguments_imply_a_question(told, question):
    assert implied(**told) == question
    assert type(implied(**told)) is type(question)


def test_arguments_that_imply_two_questions_are_refused():
    with pytest.raises(hc.errors.BadArgument, match="bounds is given together with categories"):
        implied(categories=3, bounds=(0, 9))


NAMES = frozenset(QUESTIONS)
ROOMS = (  # which are made from what questions declare
    *(SOURCE / room for room in ("audit", "cli", "figures", "ledger", "planner")),
    SERVICE,
)
SCRIPTS = (ROOT / "clients/js/src", SERVICE / "web/static")
BUNDLE = "client.js"  # of the scripts, in one line


def by_name(code):
    """The names of questions that are keys of tables, elements of lists, or compared with something."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Dict(keys=parts) | ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                pass
            case ast.Compare():
                parts = [node.left, *node.comparators]
            case ast.MatchValue(value=value):
                parts = [value]
            case _:
                continue
        yield from (part.value for part in parts if isinstance(part, ast.Constant) and part.value in NAMES)


def in_script(code):
    """The same in JavaScript: compared, keys of words or lists, or lists of nothing else."""
    words = "|".join(NAMES - BRICKS)
    compared = rf"""(?:===?|!==?|case)\s*["'`]({words})["'`]"""
    keyed = rf"""[{{,]\s*["'`]?({words})["'`]?:\s*["'`\\[]"""
    listed = rf"""\[\s*["'`]({words})["'`](?:\s*,\s*["'`](?:{words})["'`])*\s*\]"""
    return [name for pattern in (compared, keyed, listed) for name in re.findall(pattern, code)]


@pytest.mark.parametrize("code", [
    'UNITS = {"count": "people"}', 'if name in ("sum", "mean"): pass', 'x = name == "histogram"', 'SLOW = {"mean"}',
    'match name:\n    case "sum": pass',
])  # fmt: skip
def test_a_table_of_questions_is_found(code):
    assert NAMES.intersection(by_name(code))


@pytest.mark.parametrize("code", [
    'const UNITS = { count: "people" };', 'if (task === "fraction") return;', '["sum", "mean"].includes(task)',
    'switch (task) { case "histogram": }', 'const FIELDS = { low: { tasks: ["mean"] } };',
])  # fmt: skip
def test_a_table_of_questions_is_found_in_a_script(code):
    assert NAMES.intersection(in_script(code))


@pytest.mark.parametrize(
    "code", ["poisson(mean: number)", "readonly count: bigint", "// of a histogram: the error", 'get("count")']
)
def test_words_that_are_also_names_of_questions_are_no_tables(code):
    assert not in_script(code)


def test_what_is_made_from_declarations_knows_no_question_by_name():
    found = {
        str(path): names
        for room in ROOMS
        for path in room.rglob("*.py")
        if (names := {*by_name(path.read_text(encoding="utf-8"))})
    }
    assert found == {}


def test_no_script_knows_a_question_by_name():
    scripts = [path for folder in SCRIPTS for path in folder.glob("*.[jt]s") if path.name != BUNDLE]
    assert len(scripts) > 30
    found = {path.name: names for path in scripts if (names := in_script(path.read_text(encoding="utf-8")))}
    assert found == {}


def test_the_browser_knows_the_fields_of_every_domain_that_devices_are_asked_for():
    """Whichever field a domain writes is one that the encoder reads, or that it refuses by name."""
    script = (ROOT / "clients/js/src/domain.ts").read_text(encoding="utf-8")
    known = {*re.findall(r'"(\w+)"', script[script.index("const KINDS") : script.index("const FIELDS")])}
    domains = [Bit(), Bins((0.0, 1.0)), Categories(2), Intervals((0.0, 1.0), 2), Keys(), Product((Bit(), Bit()))]
    domains += [Record((Categories(2), Intervals((0.0, 1.0), 2)), ("a", "b"))]
    domains += [Levels((0.0, 1.0)), Levels((0.0, 1.0), within=(0.0, 0.5)), Filtered(Product((Group(2),)), Bit())]
    domains += [Bit(missing="no", spelled=True), Categories(2, missing="category")]
    domains += [Periods(("2026-01-01", "2026-02-01"), dates="%d.%m.%Y"), Group(2), WholeNumbers.between((0, 2))]
    domains += [Arrivals(3).domain]
    engines_alone = {Listed, Rounds}
    assert {type(domain) for domain in domains} == everything_below(Domain) - engines_alone
    assert {field for domain in domains for field in domain.to_json()} <= known


def everything_below(kind):
    """Of this package."""
    found = {each for each in kind.__subclasses__() if each.__module__.startswith("headcount.")}
    return found.union(*map(everything_below, found))


def test_every_file_of_the_map_exists_and_every_room_is_on_it():
    named = re.findall(r"`([\w/]+(?:\.py|\.ts|/))`", MAP)
    assert len(named) > 30
    for name in named:
        assert any((place / name).exists() for place in (SOURCE, SERVICE, ROOT)), name
    rooms = {path.parent.name for place in (SOURCE, SERVICE) for path in place.glob("*/__init__.py")}
    assert rooms <= {name.rstrip("/") for name in named}
