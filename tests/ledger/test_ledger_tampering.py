"""What is noticed of a ledger's file that somebody changed, or that a crash left behind."""

import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledgers import QUESTIONS, filled, lines

import headcount as hc
from headcount.common.canonical import canonical, fingerprint
from headcount.errors import BadArgument, Damaged, Unsupported


@pytest.fixture
def path(tmp_path):
    return filled(tmp_path / "crowd.ledger")


def test_a_line_without_an_end_was_never_acknowledged(path):
    whole = path.read_bytes()
    *_, last = lines(path)
    for cut in (1, 10, len(last) - 1):
        path.write_bytes(whole + last[:cut])
        ledger = hc.Ledger.open(path)
        assert ledger.questions == 4
        assert path.read_bytes() == whole + last[:cut]  # reading changes nothing
        ledger.charge(QUESTIONS[0])
        assert path.read_bytes().startswith(whole + b'{"day"')
        assert hc.Ledger.open(path).questions == 5


@pytest.mark.parametrize("rest", [b"not JSON\n", b"\0\0\0\n", b"[]\n", b"\n", b"NaN\n", b'{"a":NaN}\n', b"\xff\n"])
def test_a_line_with_an_end_counts_or_is_refused(path, rest):
    path.write_bytes(path.read_bytes() + rest)
    with pytest.raises(Damaged, match="line 6"):
        hc.Ledger.open(path)


def removed(all_lines):
    return [*all_lines[:2], *all_lines[3:]]


def reordered(all_lines):
    return [*all_lines[:2], all_lines[3], all_lines[2], *all_lines[4:]]


def repeated(all_lines):
    return [*all_lines, all_lines[-1]]


def headless(all_lines):
    return all_lines[1:]


def cheaper(all_lines):
    """Edited with its own hash made anew, but not those after it."""
    line = json.loads(all_lines[2])
    line["question"]["parameters"]["scale"] = 40.0
    line.pop("hash")
    seal = fingerprint(line, json.loads(all_lines[1])["hash"])
    return [*all_lines[:2], canonical({**line, "hash": seal}).encode() + b"\n", *all_lines[3:]]


def richer(all_lines):
    return [all_lines[0].replace(b'"5/1"', b'"9/1"'), *all_lines[1:]]


def spaced(all_lines):
    return [*all_lines[:-1], all_lines[-1].replace(b":", b": ")]


@pytest.mark.parametrize("change", [removed, reordered, repeated, headless, cheaper, richer, spaced])
def test_a_changed_file_is_refused(path, change):
    path.write_bytes(b"".join(change(lines(path))))
    with pytest.raises(hc.Refused, match="line"):
        hc.Ledger.open(path)
    with pytest.raises(hc.Refused, match="line"):
        hc.Ledger.verify(path)


def test_without_the_hashes_nobody_would_have_noticed(path, monkeypatch):
    """The twin that believes every line."""
    path.write_bytes(b"".join(richer(lines(path))))
    monkeypatch.setattr("headcount.ledger.chain.fingerprint", lambda line, _: json.loads(_seal_of(path, line))["hash"])
    assert hc.Ledger.open(path).budget.epsilon == 9


def _seal_of(path, line):
    return next(text for text in lines(path) if {**json.loads(text), "hash": 0} == {**line, "hash": 0})


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_no_byte_can_be_changed(path, data):
    """Every byte of every line, but the newline that ends the file."""
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 2))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    copy = path.with_name("copy")
    copy.write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
    with pytest.raises(hc.Refused):
        hc.Ledger.verify(copy)


def sealed_anew(path, change):
    """What somebody can do who knows how hashes are made."""
    before, texts = "", []
    for number, text in enumerate(lines(path)):
        line = json.loads(text)
        line.pop("hash")
        change(number, line)
        before = fingerprint(line, before)
        texts.append(canonical({**line, "hash": before}).encode() + b"\n")
    path.write_bytes(b"".join(texts))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda n, line: line.update(number=n + 1), "has the number"),
        (lambda _, line: line.pop("spent", None), "not a charge"),
        (lambda n, line: n and line.update(spent="1/0"), "not a charge"),
        (lambda n, line: n == 2 and line["question"].update(protocol="nobody's"), "cannot be read"),
        (lambda n, line: n == 2 and line["question"]["parameters"].update(scale=21.0), "this version would not run"),
        (lambda n, line: n == 2 and line.update(question=["geometric"]), "cannot be read"),
        (lambda n, line: n == 4 and line["question"].update(budget={"epsilon": "0.1"}), "cannot be read"),
        (lambda n, line: n == 4 and line["question"].update(budget=None), "cannot be read"),
        (lambda n, line: n or line.update(epsilon="lots"), "no budget"),
        (lambda n, line: n or line.pop("delta"), "no budget"),
        (lambda n, line: n or line.update(format="headcount-ledger/3"), "not of the format"),
        (lambda n, line: n == 1 and line.pop("order"), "none where it is due"),
        (lambda n, line: n == 2 and line.update(order="20/1"), "an order where there is none"),
        (lambda n, line: n == 1 and line.update(order="1/1"), "not a charge"),
    ],
)
def test_a_file_that_is_sealed_and_means_nothing_is_refused(path, change, words):
    sealed_anew(path, change)
    with pytest.raises(hc.Refused, match=words):
        hc.Ledger.open(path)


def test_an_open_ledger_notices_that_its_file_was_cut_or_replaced(path):
    ledger, whole = hc.Ledger.open(path), path.read_bytes()
    path.write_bytes(b"".join(lines(path)[:-1]))
    for ask in (lambda: ledger.charge(QUESTIONS[0]), lambda: ledger.spent):
        with pytest.raises(Damaged, match="cut or rewritten while it was open"):
            ask()
    path.unlink()
    with pytest.raises(hc.Refused, match="does not exist"):
        ledger.charge(QUESTIONS[0])
    hc.Ledger.create(path, epsilon=5, delta=1e-6)
    with pytest.raises(Damaged, match="rewritten"):
        ledger.charge(QUESTIONS[0])
    path.write_bytes(whole)
    assert ledger.questions == 4


@pytest.mark.parametrize("content", [b"", b"half a li", b"not a ledger\n", b"{}\n"])
def test_what_is_no_ledger_is_refused(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(hc.Refused):
        hc.Ledger.open(tmp_path / "other", epsilon=1)
    assert (tmp_path / "other").read_bytes() == content


def test_a_folder_is_no_ledger(tmp_path):
    with pytest.raises(BadArgument, match="cannot be used"):
        hc.Ledger.open(tmp_path)


def test_a_system_without_locks_is_refused(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    for ask in (hc.Ledger.open, hc.Ledger.create):
        with pytest.raises(Unsupported, match="flock"):
            ask(path, epsilon=1)
