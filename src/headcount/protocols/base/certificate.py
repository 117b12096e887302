"""A certificate: a plan's claim with all it takes to prove it without this library.

`headcount verify` does so; it reads the report programme, the release, the crowd and the claim from
the file, and nothing else.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from headcount.common.atomic_files import write_over
from headcount.common.canonical import fingerprint
from headcount.common.short_decimals import rounded_up
from headcount.errors import Unsupported
from headcount.phrases import Phrase
from headcount.privacy.model import Model
from headcount.protocols.base.plan import Plan
from headcount.questions.domains.domain import Shape

FORMAT, OF_ROUNDS = "headcount certificate 2", "headcount certificate 3"
FINEST = 1e-14  # of a delta: where two chances have exactly the ratio e^epsilon, their difference is a rounding error
CURVE = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))  # of epsilon
TRUSTED = {
    Model.CENTRAL: "whoever holds the data, to add the noise and show nothing else",
    Model.LOCAL: "nobody: each report is private by itself",
    Model.SHUFFLE: "a shuffler, to mix the messages and show nothing else, and so many honest people, to add noise",
    Model.DUMMIES: "a shuffler, to mix the messages, add its own and tell nobody how many of each kind",
    Model.THRESHOLD: "a shuffler, to count the messages, drop small counts and show nothing else",
}


@dataclass(frozen=True)
class Certificate:
    """A plan's claim with what proves it: report programme, release, crowd, privacy profile.

    Made by `hc.certify`, proved by `hc.verify`.

    Parameters
    ----------
    content : dict
        Its JSON form.

    Examples
    --------
    >>> certificate = hc.certify(hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6), epsilon=1)
    >>> hc.verify(certificate).answer
    'proved'
    """

    content: dict[str, Any]

    @classmethod
    def of(cls, content: dict[str, Any]) -> Self:
        """A certificate with this content and its hash, in which the versions have no part."""
        hashed = {key: value for key, value in content.items() if key not in ("hash", "versions")}
        return cls({**content, "hash": fingerprint(hashed)})

    @property
    def hash(self) -> str:
        """SHA-256 of all of it but the versions that wrote it."""
        return str(self.content["hash"])

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return self.content

    def save(self, path: str | Path) -> Path:
        """Write it into a file for `hc.verify` and `headcount verify`; replaces certificates only.

        Parameters
        ----------
        path : str or Path
            Name of the file.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        errors.BadArgument
            If the file exists and is not a certificate, or cannot be written.
        """
        return write_over(path, json.dumps(self.content, indent=1, ensure_ascii=True) + "\n", "certificate")

    def __repr__(self) -> str:
        claim = self.content["claim"]
        epsilon, delta = (float(Fraction(claim[key])) for key in ("epsilon", "delta"))
        return (
            f"Certificate of {self.content['protocol']}: delta <= {delta:.6g} at epsilon={epsilon:g}, {self.hash[:12]}"
        )


def certify(plan: Plan) -> Certificate:
    """The certificate of a plan: its loss at the budget's epsilon, within the budget's delta."""
    from importlib.metadata import version

    protocol, epsilon = plan.protocol, Fraction(plan.budget.epsilon)
    loss, crowd, task = plan.loss, protocol.crowd, protocol.task
    if crowd.each > 1:
        works = Phrase("plan with {max_contributions}", max_contributions=1)
        raise Unsupported("a certificate is about people with one report each", works)
    collusion = protocol.local_epsilon

    def point(at: Fraction, most: float = 1.0) -> dict[str, str]:
        return {"epsilon": str(at), "delta": str(Fraction(min(rounded_up(loss.delta(float(at)), finest=FINEST), most)))}

    content = {
        "format": FORMAT if plan.budget.rounds == 1 else OF_ROUNDS,
        **({} if plan.budget.rounds == 1 else {"rounds": plan.budget.rounds}),
        "protocol": protocol.name,
        "parameters": {
            name: value if isinstance(value, str) else str(Fraction(value))
            for name, value in protocol.parameters.items()
        },
        "task": task.to_json(),
        "values": None if task.shape is Shape.KEY else task.values,
        "model": str(protocol.model),
        "neighbours": str(protocol.neighbours),
        "crowd": crowd.to_json(),
        "report": protocol.programme.encode(),
        "tally": protocol.tallied,
        "release": protocol.released().encode(),
        "claim": {
            **point(epsilon, plan.budget.delta),
            "slack": str(Fraction(rounded_up(loss.delta_slack(float(epsilon))))),
            "accounting": loss.kind,
            "curve": [point(Fraction(float(part * epsilon))) for part in CURVE],
        },
        "budget": {"epsilon": str(epsilon), "delta": str(Fraction(plan.budget.delta))},
        **({} if plan.wire is None else {"wire": plan.wire.to_json(), "liar": plan.reach.to_json(task.cells)}),
        "trusted": TRUSTED[protocol.model],
        "if everybody else colludes": {"epsilon": None if collusion is None else str(Fraction(rounded_up(collusion)))},
        "plan": plan.hash,
    }
    versions = {
        "python": platform.python_version(),
        **{name: version(name) for name in ("headcount", "numpy", "scipy")},
    }
    return Certificate.of({**content, "versions": versions})
