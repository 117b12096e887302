"""A shuffler and an analyser in one folder, for trials. Its readers can read everything."""

from __future__ import annotations

from pathlib import Path

from headcount_service import party
from headcount_service.operator.operator import FILE, Operator
from headcount_service.party import PORTS, SETTINGS, OpenParty, Party

ROLES = ("shuffler", "analyser")  # the analyser invites people, too


def open_parties(folder: Path, ports: tuple[int, int] | None = None) -> list[OpenParty]:
    """The analyser and the shuffler in this folder, made if they are not there."""
    if not (folder / FILE).exists():
        _make(folder, dict(zip(ROLES, ports or (PORTS[role] for role in ROLES), strict=True)))
    return [Party.read(folder / role / SETTINGS).open() for role in ("analyser", "shuffler")]


def _make(folder: Path, ports: dict[str, int]) -> None:
    addresses = {role: f"127.0.0.1:{port}" for role, port in ports.items()}
    analyser = party.create(folder / "analyser", "analyser", listen=addresses["analyser"]).open()
    to_deliver, to_analyse = (analyser.tokens.issue(role, role) for role in ("shuffler", "operator"))
    analyser.close()
    delivery = {"analyser": f"http://{addresses['analyser']}", "token": to_deliver}
    shuffler = party.create(folder / "shuffler", "shuffler", listen=addresses["shuffler"], **delivery).open()
    to_operate = shuffler.tokens.issue("operator", "operator")
    shuffler.close()
    Operator.write(
        folder,
        shuffler=(f"http://{addresses['shuffler']}", to_operate),
        analyser=(f"http://{addresses['analyser']}", to_analyse),
    )
