"""A server that answers a byte now and then holds nobody longer than the time that a whole exchange has."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from headcount.errors import RemoteRefusal
from headcount_service.analyser import webhook
from headcount_service.analyser.webhook import Webhook
from headcount_service.wire import deadline
from headcount_service.wire import http_client as remote
from headcount_service.wire.http_client import Remote

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
WHOLE = b'HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n{"party": "shuffler", "key": "abcd"}'
PACE = 0.05  # seconds between two bytes
WITHIN = 0.5


@contextmanager
def serving(answer, pace=0.0):
    """The port of a server that answers whoever comes with these bytes, one after the other."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)

        def answered(caller):
            with caller:
                caller.settimeout(5)
                try:
                    caller.recv(1 << 16)
                    for at in range(len(answer)):
                        caller.sendall(answer[at : at + 1])
                        if ended.wait(pace):
                            return
                    ended.wait(5)
                except OSError:
                    pass  # who called has gone

        def accepting():
            while not ended.is_set():
                try:
                    caller, _ = listening.accept()
                except TimeoutError:
                    continue
                callers.append(threading.Thread(target=answered, args=(caller,)))
                callers[-1].start()

        callers = []
        accepts = threading.Thread(target=accepting)
        accepts.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ended.set()
            accepts.join()
            for each in callers:
                each.join()


@pytest.mark.parametrize("answer", [HEAD + b"X: " + bytes(997), HEAD + b"\r\n" + bytes(1_000)], ids=["head", "body"])
def test_a_server_that_drips_is_left(answer):
    """Whoever waited to the end, or for a pause, would be told something else."""
    asked = r"did not answer within 0\.5 seconds"
    with serving(answer, PACE) as port, pytest.raises(RemoteRefusal, match=asked):
        Remote(f"http://127.0.0.1:{port}", timeout=WITHIN).ask("GET", "/v1/identity")


def test_an_answer_that_comes_in_time_is_read_however_it_comes():
    with serving(WHOLE, 0.001) as port:
        told = Remote(f"http://127.0.0.1:{port}", timeout=20.0).ask("GET", "/v1/identity")
    assert told == {"party": "shuffler", "key": "abcd"}


def test_a_webhook_that_drips_is_left(monkeypatch):
    monkeypatch.setattr(webhook, "WITHIN", WITHIN)
    with serving(HEAD + b"\r\n" + bytes(1_000), PACE) as port, pytest.raises(RemoteRefusal, match="cannot be reached"):
        Webhook(f"http://127.0.0.1:{port}/").post({})


def test_with_a_timeout_for_each_byte_it_would_have_been_held(monkeypatch):
    """The broken twin: what the deadline is for."""

    def each_byte(connection, _):
        connection.timeout = 60 * WITHIN  # which no pause of a busy machine is as long as

    monkeypatch.setattr(remote, "open_until", each_byte)
    with serving(HEAD + b"\r\n" + bytes(1_000), PACE) as port:
        caller = Remote(f"http://127.0.0.1:{port}", timeout=WITHIN)

        def ask():
            with suppress(RemoteRefusal):
                caller.ask("GET", "/v1/identity")

        asking = threading.Thread(target=ask)
        asking.start()
        asking.join(4 * WITHIN)
        held = asking.is_alive()
        caller._connection.sock.shutdown(socket.SHUT_RDWR)
    asking.join()
    assert held


def test_a_deadline_that_has_passed_sends_nothing():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        slow = deadline.DeadlineSocket(ours, time.monotonic() - 1)
        with pytest.raises(TimeoutError):
            slow.sendall(b"x")
        theirs.settimeout(0)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)
