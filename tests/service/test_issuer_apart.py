"""Three parties that listen: whoever invites is neither who mixes nor who counts."""

import asyncio

import pytest
from processes import Child
from rig import counted, plan
from serving import HOST, free_port

from headcount.errors import Refused, RemoteRefusal
from headcount_service import party, server
from headcount_service.client.device import Client
from headcount_service.client.limits import Limits
from headcount_service.operator.operator import Operator
from headcount_service.party import Party
from headcount_service.store.database import many

ROLES = ("analyser", "shuffler", "issuer")
ANYTHING = Limits(epsilon=50, colluding=50, least=1, lifetime_epsilon=1_000)


def serving(say, folder):
    asyncio.run(server.serve([Party.read(folder / role).open() for role in ROLES], lambda: say(b"ready")))


@pytest.fixture
def desk(folder):
    """The addresses and tokens of all three, which run until the test is over."""
    held, tokens = {}, {}
    for role in ROLES:
        address = f"{HOST}:{free_port()}"
        delivering = {"analyser": held["analyser"][0], "token": tokens["shuffler"]} if role == "shuffler" else {}
        new = party.create(folder / role, role, listen=address, **delivering).open()
        for name in ("operator", *(["shuffler"] if role == "analyser" else [])):
            tokens[name] = new.tokens.issue(name, name)
        held[role] = f"http://{address}", tokens["operator"]
        new.close()
    child = Child(serving, folder)
    assert child.next() == b"ready"
    Operator.write(folder / "desk", **held)
    yield Operator.open(folder / "desk")
    child.tell(15)
    assert child.code == 0


def rows(folder, role, table):
    opened = Party.read(folder / role).open()
    with opened.database.reading() as connection:
        found = many(connection, f"SELECT * FROM {table}")
    opened.close()
    return found


def test_an_issuer_of_its_own_lets_people_in(desk, folder):
    assert len({*desk.identities().values()}) == 3
    desk.endow("people", 50, 0)
    given = {"question": "Which?", "population": "people", "window": 86_400}
    made = desk.create(plan(epsilon=45.0), **given, admission="invited", fixed=False)
    open_to_all = desk.create(plan(epsilon=1.0), **given, admission="anyone", fixed=False)
    assert made.issuer.key == desk.identities()["issuer"]
    with pytest.raises(Refused, match="anybody may report"):
        desk.invite(open_to_all.id, 1)
    # Whoever holds the issuer's token only may invite; the analyser may not.
    kept = {"issuer": (desk.issuer.address, desk.issuer._token)}
    Operator.write(folder / "inviting", **kept)
    inviting = Operator.open(folder / "inviting")
    assert inviting.names() == [made.id]
    codes = inviting.invite(made.id, 4)
    with pytest.raises(RemoteRefusal, match="not known here"):
        Operator(desk.shuffler, desk.analyser).invite(made.id, 1)
    for person, code in enumerate(codes):
        device = Client(folder / f"device{person}", ANYTHING)
        receipt = device.report(desk.shuffler.address, made.id, person, hash=made.hash, invitation=code)
        assert receipt.state == "taken"
    assert [len(rows(folder, role, "issued")) for role in ("issuer", "analyser")] == [4, 0]
    desk.close(made.id)
    assert counted(made, desk.release(made.id)) == [1] * 4 + [0] * 8
    desk.destroy(made.id)
    assert rows(folder, "issuer", "issued") == rows(folder, "issuer", "issuing") == []
    assert [path.stem for path in (folder / "issuer" / "keys").glob("*.key")] == ["identity"]
