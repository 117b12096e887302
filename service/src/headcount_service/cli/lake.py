"""Reports in a data lake, by command: devices write, the shuffler mixes, the analyser counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headcount.cli.commands import Commands
from headcount.cli.options import Formats
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, console, show
from headcount.common.atomic_files import read_text
from headcount.errors import BadArgument, MissingExtra
from headcount_service.cli.collection import MOST_DEVICES, Answer, given_or_read
from headcount_service.cli.parties import opened_party

if TYPE_CHECKING:
    from headcount_service.wire.collection import Collection

lake = Commands(help="Counting in a data lake: reports lie in Parquet files, and Spark works.")

CollectionFile = Annotated[
    Path, typer.Option("--collection", help="What was agreed on: headcount collection create … --out FILE.")
]
Config = Annotated[Path, typer.Option("--config", "--data", help="The party's folder, or its settings: party.toml.")]
Spark = Annotated[str, typer.Option(help="Where Spark is: local[4], spark://… or sc://…; as it is set up unless told.")]


@lake.command()
def report(
    collection: CollectionFile,
    out: Annotated[Path, typer.Option(help="The Parquet file to write.")],
    answer: Answer = None,
    devices: Annotated[int, typer.Option(help="This many simulated devices with this answer, which keep nothing.")] = 1,
) -> None:
    """To try it out: the uploads of some devices, sealed, in a file of a lake."""
    from headcount_service.client.simulated import prepare_uploads
    from headcount_service.lake.uploads import write_uploads

    if not 1 <= devices <= MOST_DEVICES:
        raise BadArgument("--devices", f"is {devices}", f"use a number from 1 to {MOST_DEVICES:,}")
    watch = ProgressBar("devices report")
    write_uploads(out, prepare_uploads(_offer(collection), [given_or_read(answer)] * devices, watch))
    print(f"{devices:,} upload{'s' * (devices > 1)} in {out}")


@lake.command()
def shuffle(
    collection: CollectionFile,
    uploads: Annotated[list[str], typer.Option(help="Parquet files or folders, anywhere that Spark can read.")],
    out: Annotated[str, typer.Option(help="The folder for mixed messages, which must not be there yet.")],
    config: Config,
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,  # of a pattern that a shell wrote out
    batch: Annotated[int | None, typer.Option(help="Which; the one of the collection's file unless told.")] = None,
    spark: Spark = "",
    how: Formats = Format.TABLE,
) -> None:
    """As the shuffler: open uploads, take one per person, mix all messages, and sign for them."""
    with _imported():
        from headcount_service.lake.messages import Mixed
        from headcount_service.lake.session import session
        from headcount_service.lake.shuffling import LakeShuffler, read_uploads
    agreed, offer = _collection(collection), _offer(collection)
    with opened_party(config, "shuffler") as opened:
        shuffler = LakeShuffler(opened.shuffler())
        with console().status("opening and mixing"), session(spark) as at_work:
            frame = read_uploads(at_work, [*uploads, *(more or [])])
            came = shuffler.shuffle(agreed.id, batch or offer["batch"], frame, Mixed(at_work, out))
    if came is None:
        print(f"mixed before; the manifest is in {out} again")
        return
    left_out = f"{came.repeated:,} uploads came again, {came.unreadable:,} were no reports to this batch"
    show(came.to_json(), how, f"{came.taken:,} people are mixed in {out}; {left_out}")


@lake.command()
def analyse(
    collection: CollectionFile,
    mixed: Annotated[str, typer.Option(help="The folder that headcount batch shuffle wrote.")],
    config: Config,
    out: Annotated[Path | None, typer.Option(help="Where to write the signed release.")] = None,
    spark: Spark = "",
    how: Formats = Format.TABLE,
) -> None:
    """As the analyser: open and count mixed messages; the answer is paid, signed, repeatable."""
    with _imported():
        from headcount_service.lake.counting import analyse
        from headcount_service.lake.messages import Mixed
        from headcount_service.lake.session import session
    from headcount_service.cli.releases import Released, hand_over

    agreed = _collection(collection)
    with (
        opened_party(config, "analyser") as opened,
        console().status("opening and counting"),
        session(spark) as at_work,
    ):
        told = Released(json.loads(analyse(opened.analyser(), agreed, Mixed(at_work, mixed))))
    hand_over(told, out, how)


def _offer(path: Path) -> Any:
    try:
        offer = json.loads(read_text(path, "a collection"))
        _ = offer["collection"], offer["batch"]
    except BadArgument:
        raise
    except (ValueError, KeyError, TypeError):
        works = "give what headcount collection create … --out wrote"
        raise BadArgument("--collection", f"{path} is not that of a collection", works) from None
    return offer


def _collection(path: Path) -> Collection:
    from headcount_service.wire.collection import Collection

    return Collection.from_json(_offer(path)["collection"])


@contextmanager
def _imported() -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise MissingExtra("a data lake", "spark") from None
