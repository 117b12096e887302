"""Certificates: a claim of differential privacy with all that it takes to prove it, and the proof.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.answers.estimate import Estimate
from headcount.common.calls import checked
from headcount.common.quantity import quantity
from headcount.common.short_decimals import rounded_up
from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.planner.advice import Advice
from headcount.privacy.budget import SMALLEST_DELTA, Budget
from headcount.protocols.base.certificate import Certificate
from headcount.protocols.base.certificate import certify as certified
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol

if TYPE_CHECKING:
    from headcount.proof import Verdict


@checked
def certify(what: Plan | Advice | Protocol | Estimate, *, epsilon: float | None = None) -> Certificate:
    """Write down a claim of differential privacy with all that it takes to prove it again.

    Parameters
    ----------
    what : Plan, Advice, Estimate or Protocol
        Whose claim: a plan's, that of the best plan of an advice or of the plan behind an answer,
        or a protocol's.
    epsilon : float, optional
        Of a protocol, where its delta is claimed; a plan has a budget.

    Returns
    -------
    Certificate
        What a proof needs and nothing else; `save` writes it into one JSON file.

    Raises
    ------
    errors.BadArgument
        If it is none of these, or epsilon is missing or out of range.
    errors.Unsupported
        If a person may have several reports.
    errors.Infeasible
        If no plan of the advice can serve.

    Examples
    --------
    >>> certificate = hc.certify(hc.protocol("zsum", n=1_000, gamma=0.04), epsilon=1)
    >>> certificate
    Certificate of zsum: delta <= 1.658e-07 at epsilon=1, ...
    """
    if isinstance(what, Advice):
        what = what.best
    if isinstance(what, Estimate):
        if what.budget is None:
            raise BadArgument("what", "is an answer without a plan", Phrase("give the protocol, and {epsilon}"))
        what = Plan(what.protocol, what.budget)
    if isinstance(what, Protocol):
        if epsilon is None:
            raise BadArgument("epsilon", "is missing", "say at which epsilon the protocol's delta is to be proved")
        delta = rounded_up(what.loss.delta(epsilon))
        what = Plan(what, Budget(epsilon, max(delta, SMALLEST_DELTA) if delta else 0.0, what.neighbours))
    if not isinstance(what, Plan):
        raise BadArgument("what", f"is a {type(what).__name__}", "give a plan, an advice, an answer or a protocol")
    return certified(what)


@checked
def verify(certificate: Certificate | str | Path | dict[str, Any], *, effort: int | None = None) -> Verdict:
    """Prove the claim of a certificate again, in ball arithmetic, from the certificate alone.

    Parameters
    ----------
    certificate : Certificate, str, Path or dict
        The certificate, the name of its file, or its JSON form.
    effort : int, optional
        Units of work, of about a microsecond each, after which it gives up; half a minute's work
        unless given. The certificate's author chose how long a proof takes.

    Returns
    -------
    Verdict
        "proved", "refuted" with a witness, or "cannot prove" with the reason. It is true only if
        the claim was proved.

    Raises
    ------
    errors.BadArgument
        If the file cannot be read, or effort is not a positive whole number. What is read and is no
        certificate, or was changed, gets the verdict "cannot prove".

    Examples
    --------
    >>> certificate = hc.certify(hc.protocol("zsum", n=1_000, gamma=0.04), epsilon=1)
    >>> hc.verify(certificate)
    Verdict: proved
    >>> print(hc.verify(certificate, effort=1).answer)
    cannot prove
    """
    from headcount.proof import DEFAULT_EFFORT
    from headcount.proof import verify as proved

    works = "use a positive whole number of units, about a microsecond each"
    most = DEFAULT_EFFORT if effort is None else quantity("effort", effort, works)
    if most != int(most) or most < 1:
        raise BadArgument("effort", f"is {most:g}", works)
    if isinstance(certificate, Certificate):
        return proved(certificate.to_json(), int(most))
    if isinstance(certificate, dict):
        return proved(certificate, int(most))
    if not isinstance(certificate, str | Path):
        raise BadArgument("certificate", f"is a {type(certificate).__name__}", "give the file of a certificate")
    try:
        return proved(Path(certificate).read_text(encoding="utf-8"), int(most))
    except (OSError, UnicodeDecodeError) as problem:
        raise BadArgument("certificate", f"cannot be read: {problem}", "give the file of a certificate") from None
