"""The server of parties: one process and event loop, with the steps of batches in threads."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from headcount.errors import BadArgument
from headcount_service.party import OpenParty
from headcount_service.runtime.http import Route
from headcount_service.runtime.logs import log
from headcount_service.runtime.party_app import PartyApp
from headcount_service.shuffler.app import ShufflerApp
from headcount_service.shuffler.batches import kind_of

HEADERS_WITHIN = 5_000  # milliseconds
BACKLOG = 1_024
AT_ONCE = 4_096  # requests
STEP = 0.5  # seconds between looks at what is due
SOON = 0.02  # seconds until it is tried again whether a party can be reached
# Also that the terminal was closed: a trial's folder, with what was dropped on its page, must go.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # where who listens to all is reached from here

Pages = Callable[[OpenParty], Sequence[Route]]


def no_pages(_: OpenParty) -> Sequence[Route]:
    """No pages."""
    return ()


def run(parties: Sequence[OpenParty], ready: Callable[[], None] = lambda: None, pages: Pages = no_pages) -> None:
    """Runs `serve`, on uvloop where there is one."""
    loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):  # there is none for Windows
        import uvloop

        loop = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(serve(parties, ready, pages))


async def serve(
    parties: Sequence[OpenParty], ready: Callable[[], None] = lambda: None, pages: Pages = no_pages
) -> None:
    """Until the process is told to end; work under way is finished. `pages` are for people."""
    for opened in parties:
        _require_free(opened.party.host, opened.party.port)
    apps = [opened.app() for opened in parties]
    for app, opened in zip(apps, parties, strict=True):
        app.pages = tuple(pages(opened))
    servers = [
        Server(
            app,
            opened.party.host,
            opened.party.port,
            interface=Interfaces.ASGI,
            http=HTTPModes.http1,
            websockets=False,
            backlog=BACKLOG,
            backpressure=AT_ONCE,
            log_enabled=False,
            http1_settings=HTTP1Settings(header_read_timeout=HEADERS_WITHIN),
        )
        for app, opened in zip(apps, parties, strict=True)
    ]
    ended = asyncio.Event()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves the hang-up
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    tasks = [asyncio.create_task(server.serve()) for server in servers]
    for app in apps:
        tasks += [asyncio.create_task(_steps(app, step, ended)) for step in app.steps]
    for opened in parties:
        listen = f"{opened.party.host}:{opened.party.port}"
        log("serving", party=opened.party.role, listen=listen, version=version("headcount"))
    telling = asyncio.create_task(_announce_once_reached(parties, ready))
    await asyncio.wait([asyncio.create_task(ended.wait()), *tasks], return_when=asyncio.FIRST_COMPLETED)
    telling.cancel()
    for server in servers:
        server.stop()  # type: ignore[no-untyped-call]
    ended.set()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)
    for app in apps:
        if isinstance(app, ShufflerApp):
            app.intake.close()
    for opened in parties:
        opened.close()


async def _announce_once_reached(parties: Sequence[OpenParty], ready: Callable[[], None]) -> None:
    """Tells so when all of them can be."""
    for opened in parties:
        host = EVERYWHERE.get(opened.party.host, opened.party.host)
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, opened.party.port)
                writer.close()
                break
            await asyncio.sleep(SOON)
    ready()


async def _steps(app: PartyApp, step: Callable[[], list[Exception]], ended: asyncio.Event) -> None:
    """Take the steps that are due, again and again; one that fails is retried the next time."""
    while not ended.is_set():
        try:
            app.metrics.count_step("failed" if await asyncio.to_thread(step) else "done")
        except Exception as problem:  # noqa: BLE001  # whatever it is, reports are still taken
            app.metrics.count_step("failed")
            log("step failed", party=app.metrics.party, problem=kind_of(problem))
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), STEP)


def _require_free(host: str, port: int) -> None:
    """Refuses an address in use: the server would share it, and the requests, with the listener."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as problem:
        works = "stop what listens there, or use another port"
        raise BadArgument("listen", f"is {host}:{port}, which cannot be used ({problem.strerror})", works) from None
