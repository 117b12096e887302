"""A collection under everything that can happen to it, beside a model of a few lines that says what must come out.

Two instances of both parties work on the same databases. Each of twelve people owns a bucket and reports to each of
three batches at most once; what else is sent are retries, copies and rubbish, which must change nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from rig import START, WINDOW, Made, Parties, Rig, counted, made, plan

from headcount.errors import RemoteRefusal
from headcount.protocols.base.report_size import HYBRID, P256, X25519
from headcount_service.wire.collection import Shortfall
from headcount_service.wire.report import NO_CREDENTIAL, Report
from headcount_service.wire.suites import new_key

BATCHES, BUCKETS, LEAST = 3, 12, 3
people = st.integers(0, BUCKETS - 1)
batches = st.integers(1, BATCHES)
instances = st.sampled_from([0, 1])
lost = st.sampled_from(["", "", "", "request", "answer"])
ON_THE_WAY = ("delivered", "claimed", "released", "refused")


class Machine(RuleBasedStateMachine):
    """Its rules are what people, networks, clocks, operators and power supplies do."""

    def __init__(self, new: Callable[[], tuple[Rig, Callable[[], None]]]) -> None:
        super().__init__()
        self.rig, self._gone = new()
        self.parties = [Parties(self.rig), Parties(self.rig)]
        self.first: dict[tuple[int, int], Made] = {}  # what each person made for each batch
        self.taken: dict[int, dict[bytes, Made]] = {batch: {} for batch in range(1, BATCHES + 1)}  # by upload's id
        self.genuine: dict[int, set[bytes]] = {batch: set() for batch in range(1, BATCHES + 1)}  # messages of devices
        self.results: dict[int, bytes] = {}

    @initialize(
        shortfall=st.sampled_from([Shortfall.HOLD, Shortfall.PURGE]),
        late=st.sampled_from([0, 40]),
        suite=st.sampled_from([X25519, X25519, P256, HYBRID]),
    )
    def agree(self, shortfall: Shortfall, late: int, suite: str) -> None:
        self.parties[0].endowed(epsilon=BATCHES)
        terms = {"batches": BATCHES, "shortfall": shortfall, "holds": 1, "opens": START + late}
        self.collection = self.parties[0].agreed(plan(BUCKETS, least=LEAST, suite=suite), **terms)

    # People.

    @rule(crowd=st.lists(people, min_size=1, max_size=8), lost=lost, at=instances)
    def report(self, crowd: list[int], lost: str, at: int) -> None:
        """To the open batch: what was made for it before, or something new."""
        offer = self._offer(at)
        for person in crowd if offer["batch"] is not None else ():
            mine = (offer["batch"], person)
            if mine not in self.first:
                self.first[mine] = made(self.collection, offer, person)
            self._send(self.first[mine], lost, at)

    @rule(at=instances, data=st.data())
    def retry(self, at: int, data: st.DataObject) -> None:
        """At any later moment, also when the batch is long gone."""
        if self.first:
            self._send(data.draw(st.sampled_from([*self.first.values()])), "", at)

    @rule(lost=lost, at=instances, data=st.data())
    def retry_changed(self, lost: str, at: int, data: st.DataObject) -> None:
        """The same upload by its id, made anew."""
        offer = self._offer(at)
        if own := [report for (batch, _), report in self.first.items() if batch == offer["batch"]]:
            before = data.draw(st.sampled_from(own))
            again = made(self.collection, offer, before.bucket, identity=before.identity)
            self._send(again, lost, at)

    @rule(crowd=st.lists(people, max_size=4), older=st.booleans(), at=instances, data=st.data())
    def replay(self, crowd: list[int], older: bool, at: int, data: st.DataObject) -> None:
        """Messages that were sent before, to this batch or another, as somebody else's report."""
        self.report(crowd, "", at)
        offer = self._offer(at)
        known = [report for batch in self.taken if older or batch == offer["batch"] for report in self._reports(batch)]
        if offer["batch"] is not None and known:
            for copied in data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3)):
                self._send(made(self.collection, offer, -1, messages=copied.messages), "", at)

    @rule(at=instances)
    def rubbish_inside(self, at: int) -> None:
        """A report that the shuffler can open and whose messages nobody can."""
        offer = self._offer(at)
        if offer["batch"] is not None:
            size = self.collection.report_format(1).message_bytes
            messages = tuple(os.urandom(size) for _ in range(self.collection.wire.messages))
            self._send(made(self.collection, offer, -1, messages=messages), "", at)

    @rule(how=st.sampled_from(["number", "key", "batch", "short", "flipped"]), at=instances)
    def rubbish(self, how: str, at: int) -> None:
        """A report that was made for something else, or damaged."""
        offer = self._offer(at)
        if offer["batch"] is None:
            return
        report = made(self.collection, offer, 0)
        body, batch = report.body, offer["batch"]
        if how == "number":
            body = body[:1] + bytes([200]) + body[2:]
        elif how == "key":
            report_format = self.collection.report_format(batch)
            whole = Report(report.identity, NO_CREDENTIAL, b"".join(report.messages))
            body = report_format.seal_report(whole, new_key(self.collection.wire.suite).public_key(), report.key)
        elif how == "batch":
            batch = batch % BATCHES + 1
        elif how == "short":
            body = body[:-1]
        else:
            body = body[:-9] + bytes([body[-9] ^ 4]) + body[-8:]
        assert self.parties[at].report(self.collection, batch, body).status == 400

    def _offer(self, at: int) -> Any:
        """As it will be when the collection opens: whoever wants to may come too early."""
        now = self.rig.clock.now
        self.rig.clock.now = max(now, self.collection.opens)
        offer = self.parties[at].offer(self.collection)
        self.rig.clock.now = now
        return offer

    def _send(self, report: Made, lost: str, at: int) -> None:
        """Predicts what is said, and notes what was taken. Whether the answer arrives makes no difference."""
        if lost == "request":
            return
        parties = self.parties[at]
        batch = self._batches(at)[report.batch]
        opened = batch["state"] == "open" and self.collection.opens <= parties.clock.now < (batch["closes"] or 0)
        deleted = {row["number"] for row in parties.shuffler.outer.table() if row["state"] == "deleted"}
        status = 400 if report.key in deleted else 200 if opened else 409
        assert parties.report(self.collection, report.batch, report.body).status == status
        if report.bucket >= 0:
            self.genuine[report.batch] |= {*report.messages}
        if status == 200:
            self.taken[report.batch].setdefault(report.identity, report)

    def _reports(self, batch: int) -> list[Made]:
        """Those of real people."""
        return [report for report in self.taken[batch].values() if report.bucket >= 0]

    def _batches(self, at: int = 0) -> dict[int, Any]:
        told = self.parties[at].told("shuffler", "GET", f"/v1/collections/{self.collection.id}/state")
        return {batch["batch"]: batch for batch in told["batches"]}

    # Time and chance.

    @rule(seconds=st.sampled_from([1, 5, 10, 20, -5, -20, -WINDOW]))
    def time_passes(self, seconds: int) -> None:
        """Not always forward."""
        self.rig.clock.now += seconds

    @rule(crowd=st.lists(people, max_size=6), steps=st.booleans(), at=instances)
    def window_ends(self, crowd: list[int], steps: bool, at: int) -> None:
        """After the last ones have come."""
        self.report(crowd, "", at)
        self.rig.clock.now = self.collection.next_close(self.rig.clock.now)
        if steps:
            self.all_steps(at)

    @rule(which=st.sampled_from([(0,), (1,), (0, 1)]))
    def crash(self, which: tuple[int, ...]) -> None:
        """Nothing is left but what is on the disk."""
        for each in which:
            self.parties[each].close()
        for each in which:
            self.parties[each] = Parties(self.rig)

    # Operators.

    @rule(at=instances)
    def rotate(self, at: int) -> None:
        self.parties[at].shuffler.outer.rotate(self.collection.wire.suite)

    @rule(at=instances, number=st.integers(1, 6))
    def retire(self, at: int, number: int) -> None:
        """A key that is announced no more."""
        outer = self.parties[at].shuffler.outer
        if (number, "replaced") in {(row["number"], row["state"]) for row in outer.table()}:
            assert outer.retire(number) == [number]
            assert not self.parties[1 - at].shuffler.outer.keys.has(f"outer-{number}")

    @rule(at=instances)
    def retire_what_is_due(self, at: int) -> None:
        outer = self.parties[at].shuffler.outer
        due = {
            row["number"] for row in outer.table() if row["state"] != "deleted" and row["expires"] < self.rig.clock()
        }
        assert {*outer.retire()} == due

    @rule(at=instances, patience=st.integers(0, 5))
    def close(self, at: int, patience: int) -> None:
        """Before the window ends, and not too often: nothing else happens afterwards."""
        if patience == 0:
            path = f"/v1/collections/{self.collection.id}/close"
            assert self.parties[at].ask("shuffler", "POST", path, role="operator").status in (200, 409)

    @rule(at=instances)
    def all_steps(self, at: int) -> None:
        self.parties[at].batches.advance()

    @rule(step=st.sampled_from(["seal", "shuffle", "deliver", "purge"]), batch=batches, at=instances)
    def one_step(self, step: str, batch: int, at: int) -> None:
        getattr(self.parties[at].batches, step)(self.collection.id, batch)

    @rule(number=st.integers(0, 3), what=st.sampled_from(["request", "answer"]), batch=batches, at=instances)
    def deliver_in_vain(self, number: int, what: str, batch: int, at: int) -> None:
        """A request or an answer between the parties is lost."""
        parties = self.parties[at]
        parties.receiver.losing = {number: what}
        try:
            parties.batches.deliver(self.collection.id, batch)
            assert parties.receiver.losing
        except RemoteRefusal:
            assert not parties.receiver.losing
        parties.receiver.losing = {}

    @rule(batch=batches, at=instances)
    def release(self, batch: int, at: int) -> None:
        """Again and again: it is there or not, and always the same."""
        there = self.parties[at].states(self.collection, "analyser").get(batch) in ON_THE_WAY
        answer = self.parties[at].release(self.collection, batch)
        told = there and self._plausible(batch) >= LEAST
        assert answer.status == (200 if told else 409)
        if there:
            assert self.results.setdefault(batch, answer.body) == answer.body
        if told:
            self._check(batch, answer.json)

    def _plausible(self, batch: int) -> int:
        """Reports less the messages that no device made for this batch, or that came before."""
        sent = [message for report in self.taken[batch].values() for message in report.messages]
        return len(self.taken[batch]) - (len(sent) - len({*sent} & self.genuine[batch]))

    def _check(self, batch: int, release: Any) -> None:
        """Everybody who was taken is counted, once; nobody else is."""
        owners = {report.bucket for report in self.taken[batch].values()}
        assert counted(self.collection, release) == [int(person in owners) for person in range(BUCKETS)]
        assert release["people"] == len(self.taken[batch]) >= LEAST

    # The end.

    def teardown(self) -> None:
        """All windows close, all that can be delivered is, and every batch has one fate."""
        try:
            if hasattr(self, "collection"):
                self._finish()
        finally:
            for parties in self.parties:
                parties.close()
            self._gone()

    def _finish(self) -> None:
        for _ in range(2 * BATCHES + 1):
            self.rig.clock.now = max(row["closes"] or 0 for row in self._batches().values()) + WINDOW
            self.parties[0].batches.advance()
        states = self.parties[1].states(self.collection, "analyser")
        delivered = {batch for batch, state in states.items() if state != "purged"}
        for batch, row in self._batches().items():
            assert row["state"] == "purged"
            if batch in delivered:
                self.release(batch, batch % 2)
            else:
                assert len(self.taken[batch]) < LEAST
            assert not self.parties[0].analyser.keys.has(f"inner-{self.collection.id}-{batch}")
        ledger = self.parties[0].analyser.ledger("people")
        assert ledger.questions == len(self.results) == len(delivered)
        assert ledger.reserved == ()
