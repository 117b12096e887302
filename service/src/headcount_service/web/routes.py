"""The page's own table of routes, beside a party's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from headcount_service.party import OpenParty
from headcount_service.runtime.http import Handler, Request, Response, Route
from headcount_service.web import advisor
from headcount_service.web.data import LARGEST as LARGEST_FILE
from headcount_service.web.data import Asked, File, Files, told
from headcount_service.web.form import description
from headcount_service.web.series import CollectedSeries
from headcount_service.web.static_files import PAGE, contents
from headcount_service.web.visits import Visits
from headcount_service.web.workers import Work, Workers

LARGEST = 1 << 12
KEY = 16  # bytes of what the address of a page with files begins with
ASKED: dict[str, tuple[Work, str]] = {
    "quick": (advisor.quick, "A ranking at once."),
    "advice": (advisor.whole, "The whole ranking."),
    "errors": (advisor.errors, "A place of the curves."),
    "costs": (advisor.costs, "Errors against messages."),
    "column": (advisor.column, "A column of the map."),
    "plan": (advisor.plan, "A plan to carry out."),
    "complete": (advisor.complete, "The advice, as the command line prints it."),
}


class Pages:
    """What is served to browsers: the files and, in a trial, whatever they ask of Python.

    Only a trial computes for everybody and has visitors; a real party computes for those with a
    token, and only series of released answers. A trial is for this machine: its pages answer by no
    other name, and to no other page. Where it has files, its address is a secret: others who use
    this machine reach the port, too.
    """

    def __init__(self, parts: Sequence[str], trial: Path | None = None, data: Path | None = None) -> None:
        self.parts = tuple(parts)  # of data, advisor, ask and collections
        self.under = f"/{token_urlsafe(KEY)}" if "data" in parts else ""
        self.files = None if trial is None else Files(trial, data)
        self.workers = Workers()
        self.visits = None if trial is None else Visits(trial)
        self._threads = ThreadPoolExecutor(4)  # visits ask this very server, whose own threads must not wait for them
        if self.files is not None and "data" in self.parts:
            self._threads.submit(self.files.prepare)

    def __call__(self, opened: OpenParty) -> list[Route]:
        role = opened.party.role
        parts = [part for part in self.parts if part not in ("ask", "data") or role == "shuffler"]
        form = {"form": description()} if "advisor" in parts else {}

        async def about(_: Request) -> Response:
            held = {} if self.files is None else {"files": len(self.files)}
            return Response(200, {"party": role, "parts": parts, **form, **held})

        routes = [
            Route("GET", "/", "The page.", self.page),
            Route("GET", "/page/about", "What it offers.", about),
            Route("GET", "/page/{file}", "A part of the page.", self.file),
        ]
        if "advisor" in parts:
            routes += [
                Route("POST", f"/page/{name}", summary, self._asking(work), body="Any", most=LARGEST)
                for name, (work, summary) in ASKED.items()
            ]
        if role == "analyser" and "collections" in parts:
            routes += CollectedSeries(opened.analyser()).routes
        if self.visits is not None and "ask" in parts:
            routes += self._about_visits(self.visits)
        if self.files is not None and "data" in parts:
            routes += self._about_files(self.files)
        return [replace(route, here=self.visits is not None, under=self.under) for route in routes]

    def _about_visits(self, visits: Visits) -> list[Route]:
        def named(work: Callable[[str], dict[str, Any]]) -> Handler:
            return self._in_thread(lambda request: Response(200, work(request.path.get("name", ""))))

        return [
            Route("POST", "/page/visits", "Visit.", named(lambda _: visits.begin())),
            Route("POST", "/page/visits/{name}/crowd", "The others answer.", named(visits.crowd)),
            Route("GET", "/page/visits/{name}", "How far it has come.", named(visits.state)),
        ]

    def _about_files(self, files: Files) -> list[Route]:
        def picture(request: Request) -> dict[str, Any]:
            file = files[request.number("number")]
            return {"picture": file.picture(request.number("picture"), request.path["theme"])}

        def drawn(request: Request) -> Response:
            found = told(picture)(request)
            return Response(200, found["picture"], "image/png") if "picture" in found else _answered(found)

        def working(work: Callable[[Request], dict[str, Any]]) -> Handler:
            return self._in_thread(lambda request: _answered(told(work)(request)))

        def about(work: Callable[[File, Asked], dict[str, Any]]) -> Handler:
            return working(lambda request: work(files[request.number("number")], Asked.read(request.json())))

        state = working(lambda request: files.state(request.number("number")))
        drop = working(lambda request: files.drop(request.path["name"], request.body))
        pictures = "/page/files/{number#}/pictures/{picture#}/{theme}"
        return [
            Route("GET", "/page/files/{number#}", "Columns and ledger.", state),
            Route("POST", "/page/files/{name}", "A file is dropped.", drop, body="bytes", most=LARGEST_FILE),
            Route("GET", pictures, "A picture.", self._in_thread(drawn)),
            *(
                Route("POST", f"/page/files/{{number#}}/{name}", "About a file.", about(work), body="Any", most=LARGEST)
                for name, work in (("advice", File.advised), ("plan", File.plan), ("answer", File.answered))
            ),
        ]

    async def page(self, _: Request) -> Response:
        if "advisor" in self.parts:
            self.workers.begin()
        return contents()[PAGE]

    async def file(self, request: Request) -> Response:
        found = contents().get(request.path["file"])
        return found or Response(404, {"error": "there is nothing at this address"})

    def _asking(self, work: Work) -> Handler:
        async def handle(request: Request) -> Response:
            given = request.json()
            return _answered(await self.workers.ask(work, given, json.dumps(given, sort_keys=True)))

        return handle

    def _in_thread(self, work: Callable[[Request], Response]) -> Handler:
        """A handler in a thread of the pages' own."""

        async def handle(request: Request) -> Response:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, request)

        return handle

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.workers.close()


def _answered(found: dict[str, Any]) -> Response:
    """The JSON of an answer; a refusal has the status 400."""
    return Response(400 if "error" in found else 200, found)
