"""The client for browsers does what Python does: from the same bytes the same messages, which Python opens."""

import json
import math
import time
from collections import Counter

import node
import numpy as np
import pytest
from browser import Site, opened
from rig import counted, plan
from serving import Served

from headcount.common.canonical import fingerprint
from headcount.programme.coins import DeviceCoins
from headcount.protocols.base.report_size import HYBRID, KEYS, P256, X25519
from headcount_service.client.device import Client
from headcount_service.vectors import draws
from headcount_service.vectors.__main__ import main, write
from headcount_service.vectors.offers import BATCH, NUMBER, agreed, offer, private
from headcount_service.wire.report import NO_CREDENTIAL, genuine
from headcount_service.wire.suites import seal
from stress import STRESS

LARGEST = 135_000  # bytes of the bundle
SOME, MANY = (50, 4), (10_000, 200)  # vectors of every brick and of every protocol
ANSWERS = {"count": [0, 1, True], "histogram": ["yes", "wer weiß", "?"], "mean": [0, 33.5, 200]}
COLLECTIONS = [collection for collection in agreed() if collection.issuer is None]  # which is asked elsewhere
INVITATION = "ab" * 32
NO_NOISE = {"Without noise?": {"delta": 1}}  # of the analyser's: whoever agrees lets the shuffler read totals


@pytest.fixture(scope="module", autouse=True)
def build():
    return node.built()


@pytest.fixture(scope="module", params=[SOME, pytest.param(MANY, marks=STRESS)], ids=["some", "many"])
def written(request, tmp_path_factory):
    """A folder of vectors, and how many there are of each kind."""
    folder = tmp_path_factory.mktemp("vectors")
    write(folder, *request.param)
    return folder, *request.param


def test_the_published_vectors_are_those_of_this_version(tmp_path):
    main(["--out", str(tmp_path)])
    published = node.PACKAGE / "vectors"
    assert {path.name for path in published.iterdir()} == {path.name for path in tmp_path.iterdir()}
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (published / path.name).read_bytes(), "make format writes them again"
    assert sum(path.stat().st_size for path in published.iterdir()) < 500_000


def all_compared(counts, of_a_brick, of_a_protocol):
    collectable = {cls.name: len(draws.instances(cls)) for cls in draws.CATALOGUE if cls.collectable()}
    assert counts["bricks"] == dict.fromkeys(draws.BRICKS, of_a_brick)
    assert counts["protocols"] == {name: -(-of_a_protocol // tinies) * tinies for name, tinies in collectable.items()}


def test_vectors_of_every_brick_and_protocol_are_the_same(written):
    folder, *numbers = written
    all_compared(json.loads(node.run("node", "build/test/compare-all.js", folder).stdout), *numbers)


def test_vectors_are_what_a_device_draws_from_the_same_bytes():
    """What was written down is replayed by the coins of a device."""

    class Tape(DeviceCoins):
        def __init__(self, content):
            self.left = content

        def stream(self, size):
            assert size <= len(self.left)
            taken, self.left = self.left[:size], self.left[size:]
            return np.frombuffer(bytearray(taken), dtype=np.uint8)

    for entry in draws.bricks(50):
        programme, message, _ = draws.BRICKS[entry["name"]]
        for value, digits, sent in entry["vectors"]:
            tape = Tape(bytes.fromhex(digits))
            assert draws.drawn(programme, int(value), tape, message).tobytes().hex() == sent
            assert not tape.left


OWN = sorted(path.stem for path in (node.PACKAGE / "test").glob("*.test.ts"))


@pytest.mark.parametrize(("name", "every"), [*((name, 5) for name in OWN), pytest.param("twins.test", 1, marks=STRESS)])
def test_its_own_tests_pass(name, every, monkeypatch):
    """Of its twins one in so many."""
    monkeypatch.setenv("TWINS_EVERY", str(every))
    told = node.run("node", "--test", f"build/test/{name}.js").stdout
    passed = next(int(line.split()[-1]) for line in told.splitlines() if line.startswith("# pass"))
    assert passed


def test_its_types_are_checked():
    node.run("node", "node_modules/typescript/bin/tsc", "--noEmit")


def test_what_is_served_is_what_its_source_makes(tmp_path):
    made = tmp_path / "client.js"
    node.run("node", "build.mjs", "--out", made)
    for path in (made, made.with_suffix(".licenses.txt")):
        assert path.read_bytes() == (node.BUNDLE.parent / path.name).read_bytes(), "make vectors writes it again"
    assert made.stat().st_size < LARGEST


def test_a_strict_policy_has_nothing_to_forbid():
    """Nothing is made from text, loaded, or written into a page."""
    source = node.BUNDLE.read_text(encoding="utf-8")
    forbidden = (
        "eval(",
        "Function(",
        "WebAssembly",
        "import(",
        "innerHTML",
        "document.",
        "localStorage",
        "Math.random",
    )
    assert [word for word in forbidden if word in source] == []


@pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda collection: collection.plan.protocol.name)
def test_python_opens_what_it_has_sealed(collection, tmp_path):
    report_format, suite = collection.report_format(BATCH), collection.wire.suite
    answers = ANSWERS[collection.plan.protocol.task.name]
    told = node.reported(
        offer=json.dumps(offer(collection)),
        name=collection.id,
        hash=collection.hash,
        answers=answers,
        limits={"top_up": True, "colluding": math.inf, "padded": True, **NO_NOISE.get(collection.question, {})},
        invitation=INVITATION if collection.admission == "invited" else "",
    )
    assert len(told) == len(answers)
    ids = Counter()
    for number, each in enumerate(told):
        [[name, text]], [[_, made]] = each["kept"], each["made"]
        kept = json.loads(made)
        assert [secret for secret in (*kept["messages"], kept["identity"], kept["body"]) if secret in text] == []
        body = bytes.fromhex(kept["body"])
        assert (report_format.key_number(body), len(body)) == (NUMBER, report_format.upload_bytes)
        upload = report_format.open_report(body, private(suite, "outer"))
        assert [message.hex() for message in report_format.split(upload.messages)] == kept["messages"]
        assert upload.identity.hex() == kept["identity"]
        invited = collection.admission == "invited"
        assert upload.credential == (bytes.fromhex(INVITATION) if invited else NO_CREDENTIAL)
        read = [
            report_format.open_message(message, private(suite, "inner"))
            for message in report_format.split(upload.messages)
        ]
        assert len(read) == collection.wire.messages
        records = [record for _, record in read if record is not None]
        assert len(genuine(collection.plan.protocol, records)) == len(records)
        ids.update(identity for identity, _ in read)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        receipt = Client(folder).receipt(folder / name)  # Python reads what it kept, and says the same of it
        assert (receipt.to_json(), str(receipt)) == (each["receipt"], each["text"])
    assert set(ids.values()) == {1}


BARE = {"emit": [{"name": "value"}]}
SMALL = {"epsilon": 0.001, "delta": 1e-6, "neighbours": "replace"}
LITTLE = {"record": [["kind", "u1"]], "colluding": 0.001}
BUSY = {"each": "turn", "below": str(1 << 64), "do": {"emit": [0]}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"programme": BARE}, "may give away more than it claims"),
        (
            {"programme": BARE, "budget": SMALL},
            "may give away more",
        ),
        ({"programme": BUSY}, "more work than this device agrees to"),
        (
            {"device": LITTLE},
            "if the shuffler and the analyser work together",
        ),
    ],
    ids=["bare", "bare-epsilon", "busy", "collusion"],
)
def test_it_believes_nothing_that_a_collection_claims(changes, words):
    """Without a hash, and whatever the operators have signed. A count that is honest is answered."""
    told = offer(COLLECTIONS[0])
    given = {"answers": [1], "limits": {"colluding": math.inf}}
    assert len(node.reported(offer=json.dumps(told), name=COLLECTIONS[0].id, **given)) == 1
    forged = told["collection"] | {"plan": told["collection"]["plan"] | changes}
    text = json.dumps(
        {
            "address": "https://shuffler.example",
            "invitation": "",
            "name": fingerprint(forged)[:32],
            "offer": json.dumps(told | {"collection": forged}),
            "answers": [1],
            "limits": {},
        }
    )
    done = node.run("node", "build/test/report.js", given=text, check=False)
    assert done.returncode != 0
    assert words in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("suite", KEYS)
def test_it_opens_what_python_has_sealed(suite):
    """Both ways, so that the two have the same key schedule and the same combiner of the hybrid suite."""
    key, content = private(suite, "inner"), b"beauty is truth"
    raw = {HYBRID: lambda: key.seed, X25519: lambda: key.private_bytes_raw()}.get(
        suite, lambda: key.private_numbers().private_value.to_bytes(32)
    )()
    sealed = [seal(suite, content, key.public_key(), b"info").hex() for _ in range(3)]
    given = {"suite": suite, "key": raw.hex(), "info": b"info".hex(), "sealed": sealed}
    assert json.loads(node.run("node", "build/test/open.js", given=json.dumps(given)).stdout) == [content.hex()] * 3


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
@pytest.mark.parametrize("suite", [HYBRID, X25519, P256])
def test_whoever_reports_from_a_browser_is_counted(suite, rig):
    """Over a network, with a budget so large that nobody ever lies."""
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(epsilon=45.0, suite=suite), opens=int(rig.clock.now), window=86_400)
    with Served(rig).running() as served:
        address = f"http://127.0.0.1:{served.ports['shuffler']}"
        limits = {"epsilon": 50, "colluding": math.inf, "least": 1, "lifetime_epsilon": 50}
        told = node.reported(
            address=address, name=collection.id, hash=collection.hash, answers=[0, 3, 3, 11], limits=limits
        )
        assert {each["receipt"]["state"] for each in told} == {"taken"}
        path = f"/v1/collections/{collection.id}"
        with served.caller("shuffler", "operator") as shuffler:
            shuffler.told("POST", f"{path}/close")
            until = time.monotonic() + 120
            while shuffler.told("GET", f"{path}/state")["batches"][0]["state"] != "purged":
                assert time.monotonic() < until
                time.sleep(0.05)
        with served.caller("analyser", "operator") as analyser:
            release = analyser.told("POST", f"{path}/batches/1/release")
    assert counted(collection, release) == [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]


def test_a_browser_makes_the_same_messages_under_a_strict_policy(written, tmp_path):
    """All vectors once more, and reports that it makes once, keeps and sends, which Python opens."""
    folder, *numbers = written
    files = {f"/vectors/{path.name}": path for path in folder.iterdir()}
    files |= {"/page.js": node.PACKAGE / "build" / "page.js", "/client.js": node.BUNDLE}
    site = Site(files, {collection.id: json.dumps(offer(collection)) for collection in COLLECTIONS})
    told = opened(site, tmp_path / "profile")
    assert "problem" not in told, told["problem"]
    assert told["strict"]
    all_compared(told["counts"], *numbers)
    assert [report["receipt"]["again"] for report in told["reports"]] == [False, True] * len(COLLECTIONS)
    assert len(site.uploads) == len(COLLECTIONS)
    for (path, body), collection in zip(site.uploads, COLLECTIONS, strict=True):
        assert path == f"/v1/collections/{collection.id}/batches/{BATCH}/reports"
        report_format, suite = collection.report_format(BATCH), collection.wire.suite
        upload = report_format.open_report(body, private(suite, "outer"))
        for message in report_format.split(upload.messages):
            report_format.open_message(message, private(suite, "inner"))
