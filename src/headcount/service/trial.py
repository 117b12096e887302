"""Both parties in one folder, for trying out: whoever can read it can read everything, which no collection allows."""

from __future__ import annotations

from pathlib import Path

from headcount.service import party
from headcount.service.operator.operator import FILE, Desk
from headcount.service.party import PORTS, SETTINGS, Opened, Party

ROLES = ("shuffler", "analyser")  # the analyser invites people, too


def opened(folder: Path, ports: tuple[int, int] | None = None) -> list[Opened]:
    """The analyser and the shuffler in this folder, made if they are not there."""
    if not (folder / FILE).exists():
        _make(folder, dict(zip(ROLES, ports or (PORTS[role] for role in ROLES), strict=True)))
    return [Party.read(folder / role / SETTINGS).opened() for role in ("analyser", "shuffler")]


def _make(folder: Path, ports: dict[str, int]) -> None:
    addresses = {role: f"127.0.0.1:{port}" for role, port in ports.items()}
    analyser = party.create(folder / "analyser", "analyser", listen=addresses["analyser"]).opened()
    to_deliver, to_analyse = (analyser.tokens.issue(role, role) for role in ("shuffler", "operator"))
    analyser.close()
    shuffler = party.create(
        folder / "shuffler", "shuffler", listen=addresses["shuffler"], analyser=f"http://{addresses['analyser']}",
        token=to_deliver,
    ).opened()  # fmt: skip
    to_operate = shuffler.tokens.issue("operator", "operator")
    shuffler.close()
    Desk.write(
        folder,
        shuffler=(f"http://{addresses['shuffler']}", to_operate),
        analyser=(f"http://{addresses['analyser']}", to_analyse),
    )
