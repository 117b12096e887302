"""What goes wrong with one batch or collection stays there, also between processes that work at the same moment."""

import hmac
import time
from dataclasses import replace
from threading import Thread

import pytest
from rig import START, WINDOW, Rig, made, plan
from test_canary import rejoined

from headcount.common.canonical import canonical
from headcount.errors import BadArgument
from headcount_service.issuer.issuer import Issuer, asked_name
from headcount_service.shuffler import shuffler
from headcount_service.shuffler.shuffler import Answer
from headcount_service.store.database import do, many
from headcount_service.wire.keys import Keys
from headcount_service.wire.report import Upload

INVITED = "invited"


def sent(parties, collection, bucket=0):
    return Upload(collection.id, 1, made(collection, parties.offer(collection), bucket).body)


@pytest.fixture
def two(rig):
    """Two collections, agreed on before the process starts that takes reports."""
    with rig.opened() as parties:
        parties.endowed()
        return [parties.agreed(plan(), most=20, question=question) for question in ("Which?", "And which?")]


# Uploads that are committed together.


def test_a_batch_whose_secret_is_lost_keeps_no_other_from_its_reports(rig, two):
    broken, whole = two
    with rig.opened() as parties:
        uploads = [sent(parties, each) for each in (broken, whole, broken, whole)]
        with parties.shuffler.database.reading() as connection:
            [row] = many(connection, "SELECT tag FROM batches WHERE collection = :name", name=broken.id)
        parties.shuffler.keys.delete(f"reports-{row['tag']}")
        answers = parties.shuffler.accept(uploads)
        assert [answers[1], answers[3]] == [Answer.TAKEN] * 2
        assert [type(answers[0]), type(answers[2])] == [BadArgument] * 2
        state = parties.told("shuffler", "GET", f"/v1/collections/{whole.id}/state")
        assert state["batches"][0]["reports"] == 2
        with pytest.raises(BadArgument):  # there is nobody else to spare
            parties.shuffler.accept(uploads[:1])


def test_two_batches_may_become_nearly_full_at_the_same_moment(rig, two, monkeypatch):
    monkeypatch.setattr(shuffler, "AT_ONCE", 30)
    with rig.opened() as parties:
        assert parties.shuffler.accept([sent(parties, each) for each in two]) == [Answer.TAKEN] * 2


# What is forgotten while something else begins.


def test_a_secret_is_not_forgotten_before_its_batch_is_there(rig, monkeypatch):
    """A process that tidies up just when another has written a secret, and not yet the batch."""
    with rig.opened() as one, rig.opened() as other:
        one.endowed()
        tidying, keep = [], Keys.keep

        def kept(keys, name, secret):
            keep(keys, name, secret)
            if name.startswith("reports-") and not tidying:
                tidying.append(Thread(target=other.shuffler.tables.forget))
                tidying[0].start()
                tidying[0].join(1)  # it may have to wait for what is begun here

        monkeypatch.setattr(Keys, "keep", kept)
        collection = one.agreed(plan())
        tidying[0].join(30)
        assert [name for name in one.shuffler.keys.names() if name.startswith("reports-")]
        one.reported(collection, 0)


def test_batches_are_mixed_although_something_cannot_be_forgotten(parties, monkeypatch):
    parties.endowed()
    collection = parties.agreed(plan())
    parties.reported(collection, *range(12))
    parties.clock.now += WINDOW

    def refused():
        raise PermissionError

    monkeypatch.setattr(parties.shuffler.tables, "forget", refused)
    monkeypatch.setattr(parties.shuffler, "forget", lambda: None)
    assert [type(problem) for problem in parties.batches.mix()] == [PermissionError]
    assert parties.states(collection) == {1: "shuffled"}


def test_of_two_collections_with_the_same_keys_one_is_issued_for(rig, monkeypatch):
    """Also if both are agreed on at once."""
    with rig.opened() as parties:
        parties.endowed()
        told, found = parties.agreed(plan(), admission=INVITED), []
        first, second = replace(told, question="This?"), replace(told, question="That?")
        parties.told("analyser", "DELETE", f"/v1/issuing/collections/{told.id}")
        monkeypatch.setattr(Issuer, "_has", lambda *_: True)  # as if the keys had just been made

        def registered():
            try:
                found.append(parties.issuer.register(second.to_json()))
            except BadArgument as problem:
                found.append(problem)

        other = Thread(target=registered)
        with parties.analyser.database.writing() as connection:
            new = "INSERT INTO issuing VALUES (:id, :config, :expires)"
            do(connection, new, id=first.id, config=canonical(first.to_json()), expires=first.over)
            other.start()
            other.join(1)
            assert found == []
        other.join(60)
        assert [type(each) for each in found] == [BadArgument]


# Who asked for a token.


@pytest.fixture
def issuing(databases, folder):
    """Only the issuer, which the analyser is here, may be on PostgreSQL."""
    return Rig.made(folder, {role: address for role, address in databases.items() if role == "analyser"})


def traces(rig, start, places, codes):
    """In which folders a hash of one of these is, by any secret that is still there."""
    keys = Keys(rig.folder / "analyser" / "keys")
    known = [path.read_bytes() for path in keys.folder.iterdir()]
    known += [keys.signer().secret(purpose) for purpose in ("issued", "invitations")]
    hashes = [hmac.digest(secret, bytes.fromhex(code), "sha256") for secret in known for code in codes]
    forms = [form for each in hashes for form in (each, each.hex().encode())]
    found = set()
    for path in (path for place in places for path in place.rglob("*")):
        if path.is_file() and path.stat().st_mtime >= start:
            content = path.read_bytes()
            content = rejoined(content) if path.parent.name == "pg_wal" else content
            found |= {path.parent.name} if any(form in content for form in forms) else set()
    return found


def asked_for(rig, databases, request):
    """An invited collection, from the first token to its end; where it tells who asked, meanwhile and afterwards."""
    start, places = time.time() - 1, [rig.folder / "analyser"]
    if databases:
        places.append(request.getfixturevalue("postgres").folder)
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), admission=INVITED)
        codes = parties.invitations(collection, 3)
        for code in codes:
            parties.token(collection, code)
        meanwhile = traces(rig, start, places, codes)
        assert parties.issuer.keys.has(asked_name(collection.id))
        parties.clock.now = START + collection.over + 1
        assert parties.issuer.advance() == []
        assert not parties.issuer.keys.has(asked_name(collection.id))
    return meanwhile, traces(rig, start, places, codes)


def test_nothing_tells_who_asked_when_a_collection_is_over(issuing, databases, request):
    meanwhile, afterwards = asked_for(issuing, databases, request)
    assert meanwhile
    assert afterwards == set()


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
def test_an_issuer_with_one_secret_for_ever_is_found_out(issuing, databases, request, monkeypatch):
    """The twin, which trusts the database to delete: its log still has the hashes."""
    monkeypatch.setattr(
        Issuer, "_hidden", lambda self, _, what: hmac.digest(self.signer.secret("issued"), what, "sha256")
    )
    assert "pg_wal" in asked_for(issuing, databases, request)[1]
