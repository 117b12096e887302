"""Parties on the command line: make one, serve it, and look after its keys and tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from headcount.cli.options import Formats
from headcount.cli.render import Format, grid, moment, show
from headcount.core.errors import BadArgument, MissingExtra
from headcount.core.files import text_of
from headcount.core.wire import KEYS, X25519

if TYPE_CHECKING:
    from headcount.service.party import Opened

parties = typer.Typer(help="A shuffler or an analyser, in a folder of its own.", no_args_is_help=True)
keys = typer.Typer(help="The keys that a shuffler's reports are sealed to.", no_args_is_help=True)
tokens = typer.Typer(help="Who may ask a party what.", no_args_is_help=True)

Config = Annotated[Path, typer.Option("--config", help="The party's folder, or its settings there: party.toml.")]


def serve(
    role: Annotated[str | None, typer.Argument(help="shuffler or analyser; with --data, both are served.")] = None,
    data: Annotated[Path | None, typer.Option(help="A folder for both, to try it out.")] = None,
    config: Annotated[Path | None, typer.Option(help="The folder of the one to serve, or its party.toml.")] = None,
    ports: Annotated[
        tuple[int, int] | None, typer.Option(help="Where both listen, with --data: 8401 8402 unless told.")
    ] = None,
) -> None:
    """Serve a shuffler, an analyser, or both for trying out. A browser at their addresses shows a page."""
    try:
        from headcount.service import trial
        from headcount.service.party import Party
        from headcount.service.server import run
        from headcount.web.routes import Pages
    except ImportError:
        raise MissingExtra("serving", "service") from None
    if (data is None) == (config is None):
        works = "give --data DIR to try it out, or a role and --config FILE"
        raise BadArgument("--data", "is missing, and --config too" if data is None else "is given with --config", works)
    if data is not None:
        opened = trial.opened(data, ports)
        pages = Pages(["advisor", "collections", "ask"], data)
    else:
        party = Party.read(cast(Path, config))
        if role not in (None, party.role):
            raise BadArgument("role", f"is {role!r}, and {config} is the {party.role}'s", f"use {party.role}")
        opened = [party.opened()]
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
    role: Annotated[str, typer.Option(help="shuffler or analyser.")],
    database: Annotated[str, typer.Option(help="postgresql://…; SQLite in the folder unless told.")] = "",
    listen: Annotated[str, typer.Option(help="Address and port; 127.0.0.1 and 8401 or 8402 unless told.")] = "",
    analyser: Annotated[str, typer.Option(help="Of a shuffler: the address it delivers to.")] = "",
    token: Annotated[Path | None, typer.Option(help="Of a shuffler: the file of the token it shows there.")] = None,
) -> None:
    """Make a party. Its operator's token, and a shuffler's for it, are written into its folder."""
    from headcount.service import party

    if role not in party.PORTS:
        raise BadArgument("--role", f"is {role!r}", "use shuffler or analyser")
    if role == "shuffler" and not (analyser and token):
        works = "give its address, and the file shuffler.token that it wrote"
        raise BadArgument("--analyser" if not analyser else "--token", "is missing for a shuffler", works)
    shown = text_of(token, "a token").strip() if token else ""
    made = party.create(
        folder, cast(Literal["shuffler", "analyser"], role), database=database, listen=listen, analyser=analyser,
        token=shown,
    )  # fmt: skip
    opened = made.opened()
    for name in ("operator", *(["shuffler"] if role == "analyser" else [])):
        party.secret(folder / f"{name}.token", opened.tokens.issue(name, name))
    print(f"{role} made in {folder}, whose signature is {opened.keys.signer().public}")
    print(f"serve it: headcount serve {role} --config {folder}")
    opened.close()


@parties.command()
def witness(config: Config) -> None:
    """Begin an analyser's witnesses anew. Only if they are lost for good, and its database is the newest there is."""
    opened = _opened(config, "analyser")
    analyser = opened.analyser()
    for name in analyser.populations():
        print(f"{name}: {analyser.account(name, anew=True).page().spending.total:.4g} spent, and witnessed from now on")
    opened.close()


def desk(
    folder: Annotated[Path, typer.Argument(help="Where to keep the addresses and tokens.")],
    shuffler: Annotated[str, typer.Option(help="The shuffler's address.")],
    shuffler_token: Annotated[Path, typer.Option(help="The file of the token that its operator gave.")],
    analyser: Annotated[str, typer.Option(help="The analyser's address.")],
    analyser_token: Annotated[Path, typer.Option(help="The file of the token that its operator gave.")],
) -> None:
    """Write down how to reach a shuffler and an analyser, for --data. Both are asked whether they know the tokens."""
    from headcount.service.desk import Desk
    from headcount.service.remote import Remote

    held = [text_of(path, "a token").strip() for path in (shuffler_token, analyser_token)]
    found = Desk(Remote(shuffler, held[0]), Remote(analyser, held[1])).identities()
    Desk.write(folder, shuffler=(shuffler, held[0]), analyser=(analyser, held[1]))
    for party, key in found.items():
        print(f"the {party} signs as {key}")
    print(f"written to {folder}; now use --data {folder}")


@keys.command("show")
def show_keys(config: Config, how: Formats = Format.TABLE) -> None:
    """Which keys there are."""
    opened = _opened(config, "shuffler")
    rows = opened.shuffler().outer.table()
    table = grid("number", "suite", "state", "expires", right=(0,))
    for row in rows:
        table.add_row(*map(str, {**row, "expires": moment(row["expires"])}.values()))
    show(rows, how, table)
    opened.close()


@keys.command()
def rotate(
    config: Config, suite: Annotated[str, typer.Option(help=f"{' or '.join(KEYS)}.")] = X25519,
) -> None:  # fmt: skip
    """Announce a new key. The one before it opens what is under way for two more days."""
    opened = _opened(config, "shuffler")
    print(f"key {opened.shuffler().outer.rotate(suite)} is announced from now on")
    opened.close()


@keys.command()
def retire(
    config: Config, number: Annotated[int | None, typer.Option(help="Which; all that have expired unless told.")] = None
) -> None:
    """Delete keys. What was sealed to them can be opened by nobody from then on."""
    opened = _opened(config, "shuffler")
    gone = opened.shuffler().outer.retire(number)
    print(f"deleted: {', '.join(map(str, gone))}" if gone else "no key was due")
    opened.close()


@tokens.command("issue")
def issue_token(
    config: Config,
    role: Annotated[str, typer.Option(help="What it stands for: operator, analyst, shuffler or monitor.")],
    name: Annotated[str, typer.Option(help="Who gets it.")],
    out: Annotated[Path | None, typer.Option(help="A file for it; it is printed otherwise.")] = None,
) -> None:
    """Make a token. It is shown now and never again."""
    from headcount.service.party import secret

    opened = _opened(config)
    token = opened.tokens.issue(role, name)
    if out is None:
        print(token)
    else:
        secret(out, token)
        print(f"written to {out}")
    opened.close()


@tokens.command("revoke")
def revoke_token(config: Config, name: Annotated[str, typer.Option(help="Whose.")]) -> None:
    """From now on it stands for nothing."""
    opened = _opened(config)
    opened.tokens.revoke(name)
    print(f"{name} has no token any more")
    opened.close()


@tokens.command("show")
def show_tokens(config: Config, how: Formats = Format.TABLE) -> None:
    """Who has one."""
    opened = _opened(config)
    rows = opened.tokens.table()
    table = grid("name", "role")
    for row in rows:
        table.add_row(*row.values())
    show(rows, how, table)
    opened.close()


def _opened(config: Path, role: str | None = None) -> Opened:
    from headcount.service.party import Party

    party = Party.read(config)
    if role is not None and party.role != role:
        raise BadArgument("--config", f"is that of the {party.role}", f"give the {role}'s")
    return party.opened()
