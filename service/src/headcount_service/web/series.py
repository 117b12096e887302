"""A collected series as the analyser's page shows it: released answers and nothing else."""

from __future__ import annotations

from typing import Any

from headcount.errors import BadArgument, Unsupported
from headcount.questions.domains.domain import Label
from headcount.rounds import Series
from headcount_service.analyser.analyser import Analyser
from headcount_service.runtime.http import Request, Response, Route
from headcount_service.runtime.party_app import ANALYST
from headcount_service.web.curve import sheet_of
from headcount_service.wire.released_series import series_of

NAMED = {"answer": "answers", "cumulative": "sum so far", "change": "change since the round before"}


class CollectedSeries:
    """The series of an analyser's collections, each computed once for the rounds that it has."""

    def __init__(self, analyser: Analyser) -> None:
        self.analyser = analyser
        self._kept: dict[str, tuple[list[int], Series]] = {}

    @property
    def routes(self) -> list[Route]:
        path = "/page/series/{collection}"
        return [
            Route("GET", f"{path}/{{cell#}}", "Its rounds.", self.rounds, ANALYST),
            Route("GET", f"{path}/csv", "All of it as CSV.", self.csv, ANALYST),
            Route("GET", f"{path}/parquet", "All of it as Parquet.", self.parquet, ANALYST),
        ]

    def rounds(self, request: Request) -> dict[str, Any]:
        """The table and the figures of the chart, of the category with this place."""
        series, place = self._of(request), request.number("cell")
        cells = _cells(series)
        if place >= max(1, len(cells)):
            raise BadArgument("cell", "is not there", "choose one of the page's")
        cell = cells[place] if cells else None
        records = series.to_json(cell=cell)
        return {
            "cells": [str(each) for each in cells],
            "sheet": sheet_of(series.sheet(cell=cell, changes=True)),
            "courses": [{"label": words, "points": _points(records, name)} for name, words in NAMED.items()],
        }

    def csv(self, request: Request) -> Response:
        return Response(200, self._of(request).to_csv().encode(), "text/csv; charset=utf-8")

    def parquet(self, request: Request) -> Response:
        return Response(200, self._of(request).to_parquet(), "application/vnd.apache.parquet")

    def _of(self, request: Request) -> Series:
        analyser, name = self.analyser, request.path["collection"]
        self._kept = {each: self._kept[each] for each in analyser.names() if each in self._kept}  # none is destroyed
        releases = analyser.released(name)
        if not releases:
            raise Unsupported("no round has an answer yet", "wait for the first")
        batches, series = self._kept.get(name, ([], None))
        if series is None or batches != [*releases]:
            series = series_of(analyser.collection(name).plan, releases)
            self._kept[name] = [*releases], series
        return series  # and not what is kept: another request may change that


def _cells(series: Series) -> list[Label]:
    """The categories, where there is an answer for each of several."""
    several = series.plan.protocol.task.shape.several
    return [*dict.fromkeys(label for answer in series.answers.values() for label in answer.categories if several)]


def _points(records: list[dict[str, Any]], name: str) -> list[list[float]]:
    """Number of the round, value, and the ends of the interval."""
    return [[each["round"], each[name]["value"], *each[name]["interval95"]] for each in records if name in each]
