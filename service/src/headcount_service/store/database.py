"""SQLite and PostgreSQL connections and transactions, with settings that make commits durable.

A writing transaction of SQLite has the whole file (BEGIN IMMEDIATE); one of PostgreSQL locks the
rows that it decides about (FOR UPDATE).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from headcount.errors import BadArgument, MissingExtra, Unavailable, Unsupported

OLDEST_SQLITE = (3, 51, 3)  # before, a checkpoint that races with a writer could damage the file
PAGE = 8_192  # bytes of a page of a new file: a report of one message fits into one, with others
PRAGMAS = {
    "journal_mode": "wal",
    "synchronous": 2,  # FULL: a commit is on the disk
    "foreign_keys": 1,
    "secure_delete": 1,  # what is deleted is overwritten
    "trusted_schema": 0,
    "cell_size_check": 1,
    "busy_timeout": 30_000,
    "temp_store": 2,  # in memory: nothing is left behind in a file
}
SETTINGS = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}  # of PostgreSQL, for the same
SECRET = 0o600
TRIES = 10  # to empty the log
PARAMETER = re.compile(r"(?<!:):(\w+)")  # of a statement; `::` is a cast
AT_A_TIME = 1 << 22  # bytes of a large answer that are in memory, about


class Database:
    """One party's."""

    def __init__(self, engine: Engine, address: str) -> None:
        self.engine, self.address = engine, address

    @classmethod
    def open(cls, address: str) -> Database:
        """The database at an address: sqlite:///relative.db, sqlite:////absolute.db or postgresql://..."""
        try:
            url = make_url(address)
        except ArgumentError:
            raise _bad() from None
        kind = url.get_backend_name()
        if kind == "sqlite" and url.database:
            return cls(_sqlite(Path(url.database)), address)
        if kind == "postgresql":
            return cls(_postgresql(url), address)
        raise _bad()

    def reachable(self) -> None:
        """Refuses a database that does not answer, and says why."""
        try:
            with self.engine.connect():
                pass
        except DBAPIError as problem:
            why = str(problem.orig).strip().splitlines() or ["it does not answer"]
            works = "start it, create the database, and give an address that its user may use"
            raise BadArgument("database", f"cannot be opened: {why[-1].strip()}", works) from None

    @property
    def embedded(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def for_update(self) -> str:
        """The end of a query that locks rows for a decision (FOR UPDATE) until transaction end."""
        return "" if self.embedded else " FOR UPDATE"

    @property
    def for_share(self) -> str:
        """The end of a query that locks rows against decisions (FOR SHARE), not other readers."""
        return "" if self.embedded else " FOR SHARE"

    @property
    def bytes(self) -> str:
        """The SQL type of a column of bytes."""
        return "BLOB" if self.embedded else "BYTEA"

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, durable when the block ends, rolled back if it raises."""
        with _translating_errors(), self.engine.connect() as connection:
            if self.embedded:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with _translating_errors(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def try_lock(self, step: str, what: str) -> Iterator[bool]:
        """An advisory lock: whether this process and thread got it at once; ends with the process.

        It saves work; what must not be done twice is decided by a row.
        """
        if self.embedded:
            with _flocked(Path(f"{self.engine.url.database}-{step}")) as mine:
                yield mine
            return
        number = int.from_bytes(blake2b(f"{step} {what}".encode(), digest_size=8).digest(), "big", signed=True)
        with self.reading() as connection:
            yield one(connection, "SELECT pg_try_advisory_xact_lock(:number) AS mine", number=number)["mine"]

    def drop(self, connection: Connection, table: str, unreadable: bool) -> None:
        """Drop a table, if it exists, without overwriting: its rows' encryption key is destroyed.

        SQLite would keep a copy of all that it overwrites in memory, in case that it has to put it
        back.
        """
        relaxed = self.embedded and unreadable
        if relaxed:
            connection.exec_driver_sql("PRAGMA secure_delete = 0").fetchall()
        try:
            do(connection, f"DROP TABLE IF EXISTS {table}")
        finally:
            if relaxed:
                connection.exec_driver_sql(f"PRAGMA secure_delete = {PRAGMAS['secure_delete']}").fetchall()

    def close(self) -> None:
        self.engine.dispose()

    def checkpoint(self) -> None:
        """Empties SQLite's write-ahead log, so that nothing that was deleted is left in it.

        It cannot be emptied while somebody reads it: that is tried a few times, and when the party
        starts.
        """
        for _ in range(TRIES if self.embedded else 0):
            with _translating_errors(), self.engine.connect() as connection:
                busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
            if not busy:
                return
            time.sleep(0.05)


@contextmanager
def _flocked(path: Path) -> Iterator[bool]:
    """Whether this file could be locked. Where there are no such locks, a party is one process."""
    try:
        import fcntl
    except ImportError:
        yield True
        return
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, SECRET)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = True
        except BlockingIOError:
            mine = False
        yield mine
    finally:
        os.close(file)


@contextmanager
def _translating_errors() -> Iterator[None]:
    """Turns errors of the database into Unavailable, without parameters of statements."""
    try:
        yield
    except DBAPIError as problem:
        raise Unavailable(f"the database refused ({type(problem.orig).__name__})", "nothing was changed") from None
    except SQLAlchemyError as problem:
        raise Unavailable(f"the database could not be used ({type(problem).__name__})") from None


def _bad() -> BadArgument:
    works = "use sqlite:///file.db or postgresql://user@host/name"
    return BadArgument("database", "is not an address of SQLite or PostgreSQL", works)


def _sqlite(path: Path) -> Engine:
    try:
        import pysqlite3  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("an embedded database", "service") from None
    if pysqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise Unsupported(f"this SQLite is {pysqlite3.sqlite_version} and at least {wanted} is needed")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, SECRET))
        path.chmod(SECRET)  # of one that was there before, too: its log and index get the same mode
    except OSError as problem:
        works = "use a file in a folder that exists and may be written to"
        raise BadArgument("database", f"{path} cannot be opened ({problem.strerror})", works) from None
    engine = create_engine(f"sqlite:///{path}", module=pysqlite3.dbapi2)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where it is said
        connection.execute(f"PRAGMA page_size = {PAGE}").fetchall()  # a file that is there keeps its own
        for name, value in PRAGMAS.items():
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
            found = connection.execute(f"PRAGMA {name}").fetchone()
            if found is None or found[0] != value:
                raise Unsupported(f"SQLite does not take {name} = {value} for {path}", "use a local disk")

    return engine


def _postgresql(url: URL) -> Engine:
    """An engine with settings that a batch's steps rely on; refuses a server with others."""
    own = url.set(drivername="postgresql+psycopg")
    engine = create_engine(own, pool_pre_ping=True, isolation_level="READ COMMITTED")

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.execute("SET synchronous_commit = on")
        for name, value in SETTINGS.items():
            if connection.execute(f"SHOW {name}").fetchone() != (value,):
                raise Unsupported(f"PostgreSQL has {name} not {value}, and might lose what it said it kept", "set it")
        connection.commit()

    return engine


def one(connection: Connection, statement: str, **given: Any) -> Any:
    """The first row, or None. Parameters are written `:name`."""
    return connection.exec_driver_sql(_native(connection, statement), given).mappings().first()


def many(connection: Connection, statement: str, **given: Any) -> list[Any]:
    return list(connection.exec_driver_sql(_native(connection, statement), given).mappings())


def blocks(connection: Connection, statement: str, each: int, **given: Any) -> Iterator[Sequence[Any]]:
    """All rows, of about `each` bytes, fetched a few megabytes at a time."""
    rows = max(1, AT_A_TIME // each)
    streamed = {"stream_results": True, "max_row_buffer": rows}
    native = _native(connection, statement)
    yield from connection.exec_driver_sql(native, given, execution_options=streamed).partitions(rows)


def do(connection: Connection, statement: str, *rows: dict[str, Any], **given: Any) -> int:
    """Executes a statement, once or for each row, and returns how many rows it changed."""
    return int(connection.exec_driver_sql(_native(connection, statement), list(rows) if rows else given).rowcount)


def _native(connection: Connection, statement: str) -> str:
    """The statement in the driver's own style: SQLAlchemy would convert every row."""
    return statement if connection.dialect.name == "sqlite" else _for_psycopg(statement)


@lru_cache(maxsize=1_024)
def _for_psycopg(statement: str) -> str:
    return PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))


def update_batch(connection: Connection, batch: Any, **columns: Any) -> None:
    """Sets these columns of a batch."""
    changes = ", ".join(f"{column} = :{column}" for column in columns)
    this = {"of": batch["collection"], "at": batch["number"]}
    do(connection, f"UPDATE batches SET {changes} WHERE collection = :of AND number = :at", **columns, **this)
