"""A party in a folder: its settings, keys and database, and the interface that they make.

party.toml     who it is, where it listens, where its database is
keys/          private keys, to be read by nobody else
party.db       the database, unless it is PostgreSQL
witness/       of the analyser: how far its ledgers have come. Better kept on another disk
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from headcount.common.atomic_files import read_text, write_secret
from headcount.errors import BadArgument
from headcount_service.analyser.analyser import Analyser
from headcount_service.analyser.app import AnalyserApp
from headcount_service.issuer.app import IssuerApp
from headcount_service.issuer.issuer import Issuer
from headcount_service.runtime.metrics import Metrics
from headcount_service.runtime.tokens import Tokens
from headcount_service.shuffler.app import ShufflerApp
from headcount_service.shuffler.batches import Batches
from headcount_service.shuffler.shuffler import Shuffler
from headcount_service.store.database import Database
from headcount_service.store.schema import migrate
from headcount_service.wire.http_client import Receiver, RemoteReceiver
from headcount_service.wire.keys import Keys

Role = Literal["shuffler", "analyser", "issuer"]
SETTINGS = "party.toml"
PORTS = {"shuffler": 8401, "analyser": 8402, "issuer": 8403}
KNOWN = {"party", "listen", "database", "keys", "witness", "webhook", "analyser", "token"}
PREFIX = "HEADCOUNT_"  # of variables of the environment that take the place of settings
OTHERS = {"HEADCOUNT_SPILL", "HEADCOUNT_CRASH_AT"}  # such variables that are no settings
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Party:
    """A party's settings. Paths in them are relative to their file."""

    role: Role
    host: str
    port: int
    database: str
    keys: Path
    witness: Path | None = None
    analyser: str = ""  # where the shuffler delivers
    token: Path | None = None  # and what it shows there
    webhook: str = ""  # the address that an analyser tells of answers

    @classmethod
    def read(cls, path: Path, environment: Mapping[str, str] = NOTHING) -> Party:
        """The party with the settings in this file or folder; environment variables override it."""
        path = path / SETTINGS if path.is_dir() else path
        try:
            given = tomllib.loads(read_text(path, "a party's settings")) | _overriding(environment)
        except tomllib.TOMLDecodeError as problem:
            raise BadArgument("config", f"{path} is not TOML: {problem}", "mend it, or make a party anew") from None
        for name in sorted(set(given) - KNOWN):
            raise BadArgument(name, f"is not a setting, in {path}", f"there are {', '.join(sorted(KNOWN))}")
        for name in ("party", "listen", "database", "keys"):
            if not isinstance(given.get(name), str):
                raise BadArgument(name, f"is missing in {path}", "give it as text")
        if given["party"] not in PORTS:
            raise BadArgument("party", f"is {given['party']!r} in {path}", f"use {' or '.join(map(repr, PORTS))}")
        host, port = address_of(given["listen"])

        def beside(name: str) -> Path | None:
            return path.parent / given[name] if name in given else None

        database, keys = given["database"], beside("keys")
        if database.startswith("sqlite:///") and not database.startswith("sqlite:////"):
            database = f"sqlite:///{(path.parent / database.removeprefix('sqlite:///')).absolute()}"
        assert keys is not None  # noqa: S101  # it was looked at above
        if not isinstance(given.get("webhook", ""), str):
            raise BadArgument("webhook", f"is not text in {path}", "use an address, as https://host/path")
        return cls(
            given["party"],
            host,
            port,
            database,
            keys,
            beside("witness"),
            given.get("analyser", ""),
            beside("token"),
            given.get("webhook", ""),
        )

    def open(self) -> OpenParty:
        """Connects to its database, migrates it and reads its keys."""
        database = Database.open(self.database)
        try:
            migrate(database, self.role)
            database.checkpoint()
            return OpenParty(self, database, Keys(self.keys), Tokens(database, self.role))
        except BaseException:
            database.close()
            raise


def create(
    folder: Path, role: Role, *, database: str = "", listen: str = "", analyser: str = "", token: str = ""
) -> Party:
    """A new party in this folder. Refused if there is one."""
    path = folder / SETTINGS
    if path.exists():
        raise BadArgument("folder", f"{folder} holds a party already", "use another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadArgument("folder", f"{folder} cannot be made ({problem.strerror})", "use another folder") from None
    if database:
        with closing(Database.open(database)) as given:
            given.reachable()
    lines = {
        "party": role,
        "listen": listen or f"127.0.0.1:{PORTS[role]}",
        "database": database or "sqlite:///party.db",
        "keys": "keys",
    }
    if role == "analyser":
        lines["witness"] = "witness"
        (folder / "witness").mkdir(mode=0o700, exist_ok=True)
    elif role == "shuffler" and analyser:
        lines |= {"analyser": analyser, "token": "analyser.token"}
        write_secret(folder / "analyser.token", token)
    write_secret(path, "\n".join(f"{name} = {json.dumps(value)}" for name, value in lines.items()))
    party = Party.read(path)
    party.open().close()
    return party


def _overriding(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings in the environment. A party's kind is its folder's and cannot be set there."""
    own = {f"{PREFIX}{name.upper()}": name for name in sorted(KNOWN - {"party"})}
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in own and variable not in OTHERS:
            raise BadArgument(variable, "in the environment is no setting", f"there are {', '.join(own)}")
    return {name: environment[variable] for variable, name in own.items() if variable in environment}


def address_of(listen: str) -> tuple[str, int]:
    parts = urlsplit(f"//{listen}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port is None:
        raise BadArgument("listen", f"is {listen!r}", "use an address and port, as 127.0.0.1:8401")
    return host, port


@dataclass(frozen=True)
class OpenParty:
    """A party at work."""

    party: Party
    database: Database
    keys: Keys
    tokens: Tokens

    def shuffler(self, clock: Callable[[], float] | None = None) -> Shuffler:
        return Shuffler(self.database, self.keys, **_clock(clock))

    def analyser(self, clock: Callable[[], float] | None = None) -> Analyser:
        return Analyser(self.database, self.keys, self.party.witness, webhook=self.party.webhook, **_clock(clock))

    def receiver(self) -> Receiver:
        if not self.party.analyser or self.party.token is None:
            raise BadArgument(
                "analyser", "is missing in the shuffler's settings", "say where to deliver, and the token"
            )
        return RemoteReceiver(self.party.analyser, read_text(self.party.token, "a token").strip())

    def issuer(self, clock: Callable[[], float] | None = None) -> Issuer:
        return Issuer(self.database, self.keys, **_clock(clock))

    def app(self) -> ShufflerApp | AnalyserApp | IssuerApp:
        metrics = Metrics(self.party.role)
        self.keys.tidy()
        self.database.checkpoint()
        if self.party.role == "issuer":
            issuer = self.issuer()
            issuer.tidy()
            return IssuerApp(issuer, self.tokens, metrics)
        if self.party.role == "analyser":
            analyser, issuer = self.analyser(), self.issuer()
            analyser.tidy()
            issuer.tidy()
            return AnalyserApp(analyser, issuer, self.tokens, metrics)
        shuffler = self.shuffler()
        return ShufflerApp(shuffler, Batches(shuffler, self.receiver()), self.tokens, metrics)

    def close(self) -> None:
        self.database.close()


def _clock(clock: Callable[[], float] | None) -> dict[str, Any]:
    return {} if clock is None else {"clock": clock}
