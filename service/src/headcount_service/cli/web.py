"""The page on this machine: the advisor, and a questionnaire to try."""

from __future__ import annotations

from pathlib import Path
from socket import create_server
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

HERE = "127.0.0.1"


def web(
    data: Annotated[Path | None, typer.Argument(help="A file to ask about; others can be dropped on the page.")] = None,
    port: Annotated[int, typer.Option(help="Where the page is.", min=0, max=65_535)] = 8400,
) -> None:
    """A local page for browsers: ask about a file, choose a protocol, or answer a question."""
    from headcount_service import trial
    from headcount_service.server import run
    from headcount_service.web.routes import Pages

    with TemporaryDirectory(prefix="headcount-") as name:
        folder = Path(name)
        opened = trial.open_parties(folder, (port or free_port(), free_port()))
        pages = Pages(["data", "advisor", "ask"] if data is not None else ["advisor", "data", "ask"], folder, data)
        at = next(each.party for each in opened if each.party.role == "shuffler")
        address = f"http://{at.host}:{at.port}{pages.under}/"
        try:
            run(opened, lambda: print(f"the page is at {address}", flush=True), pages)
        finally:
            pages.close()


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with create_server((HERE, 0)) as found:
        return int(found.getsockname()[1])
