"""A device's credentials: none, an invitation, or the blind token that it got for one.

A token is asked for once. What the device drew is on its disk before the issuer is asked, so that
asking again, after a crash or a lost answer, is asking for the same. Once a report with it is
taken, that there was one is all that is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from headcount.common.atomic_files import SECRET, write_atomically
from headcount.errors import BadArgument, Refused, RemoteRefusal, Unsupported
from headcount.protocols.base.report_size import CREDENTIAL
from headcount_service.wire.admission import ROLE, Redeeming
from headcount_service.wire.blind import Blinding, NotSigned
from headcount_service.wire.collection import Admission, Collection
from headcount_service.wire.http_client import Remote
from headcount_service.wire.report import NO_CREDENTIAL

FORMAT = "headcount token 1"


@dataclass(frozen=True)
class Credentials:
    """The credentials of one device, for one batch of a collection."""

    folder: Path
    collection: Collection
    batch: int
    invitation: str

    def shown(self) -> bytes:
        """An upload's credential: invitation, redeemed token, or zeros where anybody may report."""
        if self.collection.admission is Admission.ANYONE:
            if self.invitation:
                raise BadArgument("invitation", "is given, and anybody may report to this collection", "leave it out")
            return NO_CREDENTIAL
        code = self._code()
        if self.collection.issuer is None:
            return code
        kept = _read(self._path)
        if kept.get("spent"):
            raise Unsupported("this device has spent its token for the batch")
        if not kept.get("signature"):
            raise Unsupported("this device has no token for the batch yet", "ask for one first: client.obtain(…)")
        return bytes.fromhex(kept["prefix"]) + bytes.fromhex(kept["signature"])

    def obtain(self, remote: Remote | None = None) -> None:
        """Asks the issuer for the token, where one is needed and not there."""
        issuer, kept = self.collection.issuer, _read(self._path)
        if issuer is None or kept.get("signature") or kept.get("spent"):
            return
        code, redeeming = self._code(), Redeeming.of(issuer, self.collection.hash, self.batch)
        blinding = self._blinding(redeeming)
        path = f"/v1/issuing/collections/{self.collection.id}/batches/{self.batch}/tokens"
        asked = code + blinding.blinded(redeeming.modulus, redeeming.message)
        told = (remote or Remote(issuer.address, party=ROLE)).ask("POST", path, asked)
        try:
            answer = bytes.fromhex(told["signature"])
            signature = blinding.finished(redeeming.modulus, redeeming.message, answer)
        except (NotSigned, ValueError, TypeError, KeyError):
            raise RemoteRefusal(
                "the issuer's answer is not a token for this batch; nothing was sent to anybody"
            ) from None
        _keep(self._path, {"prefix": blinding.prefix.hex(), "signature": signature.hex()})

    def _blinding(self, redeeming: Redeeming) -> Blinding:
        """The blinding factor, drawn on first use and kept."""
        if not self._path.exists():
            new = Blinding.draw(redeeming.modulus)
            _keep(self._path, {"prefix": new.prefix.hex(), "salt": new.salt.hex(), "factor": f"{new.factor:x}"})
        kept = _read(self._path)
        return Blinding(bytes.fromhex(kept["prefix"]), bytes.fromhex(kept["salt"]), int(kept["factor"], 16))

    def _code(self) -> bytes:
        try:
            found = bytes.fromhex(self.invitation)
        except ValueError:
            found = b""
        if len(found) != CREDENTIAL:
            raise BadArgument("invitation", "is not one", f"give the {2 * CREDENTIAL} digits that you were sent")
        return found

    @property
    def _path(self) -> Path:
        return _token(self.folder, self.collection.hash, self.batch, self.invitation)


def forget_token(folder: Path, collection: str, batch: int, invitation: str) -> None:
    """The token for this batch, if any, is spent: it would link the device to its report."""
    path = _token(folder, collection, batch, invitation)
    if path.exists():
        _keep(path, {"spent": True})


def _token(folder: Path, collection: str, batch: int, invitation: str) -> Path:
    """The file of the token, one for each invitation."""
    of = sha256(invitation.encode()).hexdigest()[:16]
    return folder / f"{collection}-{batch}-{of}.token"


def _keep(path: Path, made: dict[str, Any]) -> None:
    write_atomically(path, json.dumps({"format": FORMAT, **made}), SECRET)


def _read(path: Path) -> dict[str, Any]:
    return kept_json(path, FORMAT, "a token that was kept") if path.exists() else {}


def kept_json(path: Path, form: str, what: str) -> dict[str, Any]:
    """A file of the device's folder, of this format."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["format"] != form:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise Refused(f"{path} is not {what} here", "move it away") from None
    return dict(kept)
