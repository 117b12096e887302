"""Migrations: a database is upgraded to this version, or refused if it is of a later one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from headcount.errors import Unsupported
from headcount_service.store.database import Database, do

Role: TypeAlias = Literal["shuffler", "analyser", "issuer"]
LOCK = 0x68656164  # held by the process that migrates


def migrate(database: Database, role: Role) -> None:
    """Apply all missing migrations, in one transaction."""
    config = _config(role)
    steps = ScriptDirectory.from_config(config)
    known = {step.revision for step in steps.walk_revisions()}
    with database.writing() as connection:
        if not database.embedded:  # there may be no table yet that could be locked
            do(connection, "SELECT pg_advisory_xact_lock(:own)", own=LOCK)
        context = MigrationContext.configure(connection, opts={"version_table": "schema_version"})
        found = context.get_current_revision()
        if found is not None and found not in known:
            other = "a later version" if found.startswith(f"{role}_") else "another role"
            raise Unsupported(f"the database was made by {other} ({found})", "use that, or another database")
        if found != steps.get_current_head():
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def is_current(database: Database, role: str) -> bool:
    """Whether the database answers, and has the tables of this version."""
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "schema_version"})
        return context.get_current_revision() == _head(role)


@cache
def _head(role: str) -> str | None:
    return ScriptDirectory.from_config(_config(role)).get_current_head()


def revert(database: Database, role: Role, to: str) -> None:
    """Back to an earlier version, for tests of the steps."""
    config = _config(role)
    with database.writing() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, to)


def _config(role: str) -> Config:
    folder = files("headcount_service.store") / "migrations"
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.set_main_option("version_locations", str(folder / role))
    config.set_main_option("path_separator", "os")
    return config
