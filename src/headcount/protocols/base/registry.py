"""A plan as a record for github.com/opendp/deployments-registry-data.

The record has the registry's own names, values and order. What a plan knows is filled in; what
only the deployer knows is an argument, or reads TODO.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from headcount.common.atomic_files import write_atomically
from headcount.errors import BadArgument, MissingExtra
from headcount.privacy.budget import Budget
from headcount.privacy.model import Model
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.registry_words import (
    actors,
    guarantee,
    mechanisms,
    privacy_unit,
    question,
    trust,
    unprotected,
    utility,
)

CURATORS = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
RELEASES = ("One release", "Many releases")
SOURCES = ("Static", "Dynamic")
MODELS = {model: str(model).partition("-")[0].capitalize() for model in Model}
TODO = "TODO: "
TUNED = (
    "The parameters of the mechanism were computed from the question, the number of people and the budget; "
    "nobody's data were looked at for that. "
)


@dataclass(frozen=True)
class Record:
    """A record for the registry, ready to be edited."""

    content: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return self.content

    def to_yaml(self) -> str:
        """The record as in the registry, texts of several lines in blocks that can be edited."""
        try:
            import yaml
        except ImportError:
            raise MissingExtra("a record in YAML", "registry") from None

        class Blocks(yaml.SafeDumper):  # type: ignore[misc]
            """Writes texts of several lines as they are."""

        def block(dumper: Any, text: str) -> Any:
            return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

        Blocks.add_representer(str, block)
        return str(yaml.dump(self.content, Dumper=Blocks, sort_keys=False, allow_unicode=True, width=math.inf))

    @property
    def todo(self) -> list[str]:
        """The places that are left to be filled in."""
        return _left(self.content)

    def save(self, path: str | Path) -> Path:
        """Writes the record into a new file, named as the registry wants."""
        path = Path(path)
        if not re.fullmatch(r"[a-z0-9_]+\.yaml", path.name):
            works = "use small letters, digits and underscores, as in page_views.yaml"
            raise BadArgument("path", f"{path.name!r} is not a name that the registry takes", works)
        if path.exists():
            raise BadArgument("path", f"{path} exists already, perhaps edited by hand", "give the name of a new file")
        return write_atomically(path, self.to_yaml())

    def __str__(self) -> str:
        return self.to_yaml()


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """The parts of a record that only the deployer knows; those left out read TODO.

    `curator` is who publishes the answer, `curator_type` government, industry or nonprofit, and
    `published` the day of the first publication, as YYYY-MM-DD. `use` says what the answer is for,
    `region` whom it is about, `unit` what one report stands for (a person unless told), `authors`
    who fills in the record; `sources` are addresses of pages that describe the deployment.
    `releases` is "one release" or "many releases", `data_source` static or dynamic. `later` says
    what else will be asked of the same people, `prepared` how the data were prepared, `kept` how
    they are kept.
    """

    name: str
    curator: str
    curator_type: str
    published: str
    description: str | None = None
    use: str | None = None
    region: str | None = None
    sector: str | None = None
    unit: str | None = None
    releases: str = RELEASES[0]
    data_source: str | None = None
    later: str | None = None
    prepared: str | None = None
    kept: str | None = None
    justification: str | None = None
    authors: Collection[str] = ()
    sources: Collection[str] = ()

    def basic(self, protocol: Protocol) -> dict[str, Any]:
        kind = _one_of("curator_type", self.curator_type, CURATORS)
        return {
            "name": self.name,
            "data_curators": [{"data_curator_name": self.curator, "data_curator_type": kind}],
            "description": self.description or question(protocol),
            "intended_use": self.use or f"{TODO}what the answer is for",
            "data_product_type": "Summary statistics",
            "data_product_region": self.region or f"{TODO}whom the answer is about, and whose laws apply",
            **({"data_product_sector": _one_of("sector", self.sector, SECTORS)} if self.sector else {}),
            "publication_date": _day(self.published),
        }

    def privacy_loss(self, protocol: Protocol, budget: Budget, *, pure: bool) -> dict[str, Any]:
        private = protocol.neighbours.hides_size
        return {
            "privacy_unit": self.unit or "Person",
            "privacy_unit_details": privacy_unit(protocol, self.unit or "person"),
            **({} if private else {"number_of_privacy_units": protocol.crowd.size}),
            "privacy_parameters": {"epsilon": budget.epsilon, **({} if pure else {"delta": budget.delta})},
            "privacy_parameters_details": guarantee(protocol, budget),
        }

    def model(self, protocol: Protocol) -> dict[str, Any]:
        again = "whether the same people will be asked again, and how their losses are then added up"
        source = self.data_source
        return {
            "model_name": MODELS[protocol.model],
            "trust_assumptions": trust(protocol),
            "actors": actors(protocol),
            "release_type": _one_of("releases", self.releases, RELEASES),
            "release_type_details": self.later or f"{TODO}{again}",
            **({"data_source_type": _one_of("data_source", source, SOURCES)} if source else {}),
            "access_type": "Non-interactive",
        }

    def implementation(self, protocol: Protocol, budget: Budget, hash: str) -> dict[str, Any]:
        access = self.kept or f"{TODO}how the data are kept before they are protected, and who may see them"
        return {
            "preprocessing_and_hyperparameter_tuning": TUNED + (self.prepared or f"{TODO}how the data were prepared"),
            "mechanisms": mechanisms(protocol, hash) + f"- Access: {access}",
            "composition": composition(budget),
            "post_processing": "The answer and its 95% interval are computed from what was released.",
            "justification": self.justification or f"{TODO}why this budget, and why this model of trust",
            "utility": utility(protocol),
        }

    def administrative(self) -> dict[str, Any]:
        return {
            **({"evidence_sources": _evidence(self.sources)} if self.sources else {}),
            "status": "Draft",
            "registry_authors": list(self.authors) or [f"{TODO}who fills in this record"],
            "tier": 3,
        }


def record(protocol: Protocol, budget: Budget, hash: str, deployment: Deployment) -> Record:
    """The record of a plan, of which the hash is given, as it is deployed."""
    pure = not budget.together(protocol.loss).delta(budget.epsilon)
    content: dict[str, Any] = {
        "url_slug": _slug(deployment.name, deployment.curator, deployment.published),
        "deployment": {
            "basic": deployment.basic(protocol),
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Approximate DP",
                "data_domain": protocol.task.domain.described,
                "unprotected_quantities": unprotected(protocol),
            },
            "privacy_loss": deployment.privacy_loss(protocol, budget, pure=pure),
            "deployment_model": deployment.model(protocol),
            "implementation": deployment.implementation(protocol, budget, hash),
            "administrative": deployment.administrative(),
        },
    }
    content["deployment"]["administrative"]["tier"] = 2 if _left(content) else 3
    return Record(content)


def composition(budget: Budget) -> str:
    """How the privacy parameters were added up."""
    if budget.rounds == 1:
        return "The privacy parameters are those of one question, asked once; nothing is composed."
    rounds = f"the same question asked {budget.rounds:,} times"
    return f"The privacy parameters are those of {rounds}, composed exactly by its privacy loss distribution."


def _slug(*parts: str) -> str:
    name, curator, published = (re.sub(r"[\W_]+", "-", part.lower()).strip("-") for part in parts)
    return f"{name}-{curator}-{published.split('-')[0]}"


def _one_of(argument: str, given: str, allowed: Collection[str]) -> str:
    for value in allowed:
        if value.lower() == given.lower():
            return value
    raise BadArgument(argument, f"is {given!r}", f"use one of {', '.join(allowed).lower()}")


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except (TypeError, ValueError):
        works = "write it as YYYY-MM-DD, with 01 for a day or month that is not known"
        raise BadArgument("published", f"is {text!r}", works) from None


def _evidence(addresses: Collection[str]) -> dict[str, Any]:
    """Pages that describe the deployment; who stands behind them is for an editor to say."""
    return {
        f"source_{number}": {"evidence_source_type": "Other public source", "misc": {"url": address}}
        for number, address in enumerate(addresses, 1)
    }


def _left(value: Any, place: str = "") -> list[str]:
    if isinstance(value, dict):
        return [found for name, part in value.items() for found in _left(part, f"{place}.{name}" if place else name)]
    if isinstance(value, list):
        return [found for part in value for found in _left(part, place)]
    return [place] if isinstance(value, str) and TODO in value else []
