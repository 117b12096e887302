"""Parties on the command line: make one, serve it, and look after its keys and tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.markup import escape

from headcount.cli.commands import Commands
from headcount.cli.options import Formats
from headcount.cli.render import Format, grid, moment, show
from headcount.common.atomic_files import read_text
from headcount.errors import BadArgument
from headcount.protocols.base.report_size import HYBRID, KEYS

if TYPE_CHECKING:
    from headcount_service.party import OpenParty

parties = Commands(help="A shuffler, an analyser or an issuer, in a folder of its own.")
keys = Commands(help="The keys that a shuffler's reports are sealed to.")
tokens = Commands(help="Who may ask a party what.")

Config = Annotated[Path, typer.Option("--config", help="The party's folder, or its settings there: party.toml.")]


def serve(
    role: Annotated[
        str | None, typer.Argument(help="shuffler, analyser or issuer; with --data, both of the former.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="A folder for both, to try it out.")] = None,
    config: Annotated[Path | None, typer.Option(help="The folder of the one to serve, or its party.toml.")] = None,
    ports: Annotated[
        tuple[int, int] | None, typer.Option(help="Where both listen, with --data: 8401 8402 unless told.")
    ] = None,
    listen: Annotated[
        str | None, typer.Option(help="With --config: another address than its settings say, for one more process.")
    ] = None,
) -> None:
    """Serve a shuffler, an analyser, or both for trials. Their addresses show browsers a page."""
    from headcount_service import trial
    from headcount_service.party import Party, address_of
    from headcount_service.server import run
    from headcount_service.web.routes import Pages

    if (data is None) == (config is None):
        works = "give --data DIR to try it out, or a role and --config FILE"
        raise BadArgument("--data", "is missing, and --config too" if data is None else "is given with --config", works)
    if listen is not None and config is None:
        raise BadArgument("--listen", "is given with --data", "use --ports")
    if data is not None:
        opened = trial.open_parties(data, ports)
        pages = Pages(["advisor", "collections", "ask"], data)
    else:
        party = Party.read(cast(Path, config), os.environ)
        if role not in (None, party.role):
            raise BadArgument("role", f"is {role!r}, and {config} is the {party.role}'s", f"use {party.role}")
        if listen is not None:
            host, port = address_of(listen)
            party = replace(party, host=host, port=port)
        opened = [party.open()]
        pages = Pages(["collections"])

    def ready() -> None:
        for each in opened:
            print(f"{each.party.role} at http://{each.party.host}:{each.party.port}", flush=True)

    try:
        run(opened, ready, pages)
    finally:
        pages.close()


@parties.command()
def create(
    folder: Annotated[Path, typer.Argument(help="Where to keep its settings, keys and database.")],
    role: Annotated[str, typer.Option(help="shuffler, analyser or issuer.")],
    database: Annotated[str, typer.Option(help="postgresql://…; SQLite in the folder unless told.")] = "",
    listen: Annotated[str, typer.Option(help="Address and port; 127.0.0.1 and 8401, 8402 or 8403 unless told.")] = "",
    analyser: Annotated[str, typer.Option(help="Of a shuffler: the address it delivers to.")] = "",
    token: Annotated[Path | None, typer.Option(help="Of a shuffler: the file of the token it shows there.")] = None,
) -> None:
    """Make a party. Its operator's token, and a shuffler's for it, are written into its folder."""
    from headcount.common.atomic_files import write_secret
    from headcount_service import party

    if role not in party.PORTS:
        raise BadArgument("--role", f"is {role!r}", "use shuffler, analyser or issuer")
    if role == "shuffler" and not (analyser and token):
        works = "give its address, and the file shuffler.token that it wrote"
        raise BadArgument("--analyser" if not analyser else "--token", "is missing for a shuffler", works)
    shown = read_text(token, "a token").strip() if token else ""
    made = party.create(
        folder,
        cast(party.Role, role),
        database=database,
        listen=listen,
        analyser=analyser,
        token=shown,
    )
    opened = made.open()
    for name in ("operator", *(["shuffler"] if role == "analyser" else [])):
        write_secret(folder / f"{name}.token", opened.tokens.issue(name, name))
    print(f"the {role} is made in {folder}, and signs as {opened.keys.signer().public}")
    print(f"serve it: headcount serve {role} --config {folder}")
    opened.close()


@parties.command()
def witness(config: Config) -> None:
    """Begin an analyser's witnesses anew. Only if lost for good, and its database is the newest."""
    from headcount.ledger.words import percent

    with opened_party(config, "analyser") as opened:
        analyser = opened.analyser()
        for name in analyser.populations():
            spent = percent(analyser.account(name, anew=True).page().spending.spent)
            print(f"{name}: {spent} of its budget spent, and witnessed from now on")


def desk(
    folder: Annotated[Path, typer.Argument(help="Where to keep the addresses and tokens.")],
    shuffler: Annotated[str | None, typer.Option(help="The shuffler's address.")] = None,
    shuffler_token: Annotated[Path | None, typer.Option(help="The file of the token that its operator gave.")] = None,
    analyser: Annotated[str | None, typer.Option(help="The analyser's address.")] = None,
    analyser_token: Annotated[Path | None, typer.Option(help="The file of the token that its operator gave.")] = None,
    issuer: Annotated[str | None, typer.Option(help="The address of who invites people, if not the analyser.")] = None,
    issuer_token: Annotated[Path | None, typer.Option(help="The file of the token that its operator gave.")] = None,
) -> None:
    """Write down how to reach the parties, for --data. All are asked whether they know the tokens.

    Leave out a party whose token you do not have: an analyst, for example, needs the analyser only.
    """
    from headcount_service.operator.operator import PARTIES, AbsentParty, Operator
    from headcount_service.wire.http_client import Remote

    given = {
        "shuffler": (shuffler, shuffler_token),
        "analyser": (analyser, analyser_token),
        "issuer": (issuer, issuer_token),
    }
    held = {}
    for party, (address, token) in given.items():
        if (address is None) != (token is None):
            missing, other = (f"--{party}-token", f"--{party}")[:: -1 if address is None else 1]
            raise BadArgument(missing, f"is missing beside {other}", "give both, or none of them")
        if address is not None and token is not None:
            held[party] = address, read_text(token, "a token").strip()
    if not held:
        raise BadArgument("--analyser", "is missing, and --shuffler too", "give the address and token of one, or both")
    reached = {party: Remote(*shown, party=party) for party, shown in held.items()}
    both = {party: reached.get(party) or AbsentParty(party) for party in PARTIES}
    found = Operator(**both, issuer=reached.get("issuer")).identities()
    Operator.write(folder, **held)
    for party, key in found.items():
        print(f"the {party} signs as {key}")
    print(f"written to {folder}; now use --data {folder}")


@keys.command("show")
def show_keys(config: Config, how: Formats = Format.TABLE) -> None:
    """Which keys there are."""
    with opened_party(config, "shuffler") as opened:
        rows = opened.shuffler().outer.table()
    table = grid("number", "suite", "state", "expires", right=(0,))
    for row in rows:
        table.add_row(*map(str, {**row, "expires": moment(row["expires"])}.values()))
    show(rows, how, table)


@keys.command()
def rotate(
    config: Config,
    suite: Annotated[
        str | None, typer.Option(help=f"{' or '.join(KEYS)}; that of the newest key, if left out.")
    ] = None,
    how: Formats = Format.TABLE,
) -> None:
    """Announce a new key. The one before it opens what is under way for two more days."""
    with opened_party(config, "shuffler") as opened:
        outer = opened.shuffler().outer
        active = [row["suite"] for row in outer.table() if row["state"] == "active"]
        number = outer.rotate(suite or [HYBRID, *active][-1])
    show({"number": number}, how, f"key {number} is announced from now on")


@keys.command()
def retire(
    config: Config,
    number: Annotated[int | None, typer.Option(help="Which; all whose time is over unless told.")] = None,
    how: Formats = Format.TABLE,
) -> None:
    """Delete keys. What was sealed to them can be opened by nobody from then on."""
    with opened_party(config, "shuffler") as opened:
        gone = opened.shuffler().outer.retire(number)
    nothing = "no key was due" if number is None else f"key {number} was deleted before"
    show({"deleted": gone}, how, f"deleted: {', '.join(map(str, gone))}" if gone else nothing)


@tokens.command("issue")
def issue_token(
    config: Config,
    role: Annotated[str, typer.Option(help="What it stands for: operator, analyst, shuffler or monitor.")],
    name: Annotated[str, typer.Option(help="Who gets it.")],
    out: Annotated[Path | None, typer.Option(help="A file for it; it is printed otherwise.")] = None,
    how: Formats = Format.TABLE,
) -> None:
    """Make a token. It is shown now and never again."""
    from headcount.common.atomic_files import write_secret

    with opened_party(config) as opened:
        token = opened.tokens.issue(role, name)
    if out is not None:
        write_secret(out, token)
    shown = {"token": token} if out is None else {"out": str(out)}
    show({"name": name, "role": role, **shown}, how, token if out is None else f"written to {out}")


@tokens.command("revoke")
def revoke_token(
    config: Config, name: Annotated[str, typer.Option(help="Whose.")], how: Formats = Format.TABLE
) -> None:
    """Revoke a token: the party no longer accepts it."""
    with opened_party(config) as opened:
        opened.tokens.revoke(name)
    show({"revoked": name}, how, escape(f"{name} has no token any more"))


@tokens.command("show")
def show_tokens(config: Config, how: Formats = Format.TABLE) -> None:
    """List the tokens: the name and the role of each holder."""
    with opened_party(config) as opened:
        rows = opened.tokens.table()
    table = grid("name", "role")
    for row in rows:
        table.add_row(*row.values())
    show(rows, how, table)


@contextmanager
def opened_party(config: Path, role: str | None = None) -> Iterator[OpenParty]:
    """The party of these settings, open within the context; refused if it has another role."""
    from headcount_service.party import Party

    party = Party.read(config, os.environ)
    if role is not None and party.role != role:
        raise BadArgument("--config", f"is that of the {party.role}", f"give the {role}'s")
    with closing(party.open()) as opened:
        yield opened
