"""A ledger that is behind its witness was put back from an old copy."""

import json

import pytest
from ledgers import QUESTIONS, filled, lines

import headcount as hc
from headcount.errors import BadArgument, Damaged


@pytest.fixture
def path(tmp_path):
    return filled(tmp_path / "crowd.ledger")


@pytest.fixture
def witness(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    hc.Ledger.open(path, witness=tmp_path / "elsewhere" / "witness").charge(QUESTIONS[0])
    return tmp_path / "elsewhere" / "witness"


def test_a_witness_keeps_every_head(path, witness):
    heads = [json.loads(line) for line in lines(witness)]
    assert [head["number"] for head in heads] == [4, 5]
    assert [head["hash"] for head in heads] == [json.loads(line)["hash"] for line in lines(path)[-2:]]
    assert hc.Ledger.verify(path, witness=witness).questions == 5


@pytest.mark.parametrize("left", [1, 3, 5])
def test_an_old_copy_is_noticed_with_a_witness_and_only_then(path, witness, left):
    path.write_bytes(b"".join(lines(path)[:left]))
    assert hc.Ledger.open(path).questions == left - 1  # the twin has nobody to ask
    for ask in (hc.Ledger.open, hc.Ledger.verify):
        with pytest.raises(Damaged, match=f"has {left - 1} charges and its witness .* has seen 5"):
            ask(path, witness=witness)


def test_another_history_is_noticed(path, witness):
    path.write_bytes(b"".join(lines(path)[:4]))
    ledger = hc.Ledger.open(path)
    for question in (*QUESTIONS, *QUESTIONS):
        ledger.charge(question)
    with pytest.raises(Damaged, match="charge 5 of the ledger is not the one"):
        hc.Ledger.open(path, witness=witness)


def test_the_same_question_asked_again_after_an_old_copy_is_not_the_same_charge(path, witness):
    path.write_bytes(b"".join(lines(path)[:5]))
    hc.Ledger.open(path).charge(QUESTIONS[0])  # as the fifth was, to the day
    with pytest.raises(Damaged, match="charge 5 of the ledger is not the one"):
        hc.Ledger.open(path, witness=witness)


def test_an_open_ledger_notices_an_old_copy_at_the_next_charge(path, witness):
    ledger = hc.Ledger.open(path, witness=witness)
    other = hc.Ledger.open(path, witness=witness)
    old = path.read_bytes()
    other.charge(QUESTIONS[0])
    path.write_bytes(old)
    with pytest.raises(Damaged, match="put back"):
        ledger.charge(QUESTIONS[0])


def test_a_ledger_may_be_ahead_of_its_witness_after_a_crash(path, witness):
    hc.Ledger.open(path).charge(QUESTIONS[1])
    witness.write_bytes(witness.read_bytes() + b'{"hash":"torn')
    before = witness.read_bytes()
    assert hc.Ledger.verify(path, witness=witness).questions == 6
    assert witness.read_bytes() == before
    hc.Ledger.open(path, witness=witness)
    assert [json.loads(line)["number"] for line in lines(witness)] == [4, 5, 6]


def test_each_ledger_has_a_witness_of_its_own(witness, tmp_path):
    with pytest.raises(Damaged, match="another ledger"):
        hc.Ledger.open(tmp_path / "other", epsilon=1, witness=witness)


@pytest.mark.parametrize("line", [b"[]\n", b'{"id":"?","number":"4"}\n', b'{"id":"?","number":-1}\n', b'{"id":"?"}\n'])
def test_a_witness_that_babbles_is_refused(path, witness, line):
    line = line.replace(b"?", json.loads(lines(path)[0])["id"].encode())
    witness.write_bytes(witness.read_bytes() + line)
    with pytest.raises(Damaged):
        hc.Ledger.verify(path, witness=witness)


def test_a_missing_witness_verifies_nothing(path, tmp_path):
    with pytest.raises(BadArgument, match=r"witness .* does not exist"):
        hc.Ledger.verify(path, witness=tmp_path / "nobody")
