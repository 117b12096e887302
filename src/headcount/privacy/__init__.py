"""Exact accounting: privacy losses, integer laws, composition and budgets.

Begin with `loss`. A module here prices one kind of view; protocols choose among them.

Protocols of other packages may import from here: it changes with minor versions only (docs/api.md).
"""

from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import Bounded, GroupPrivacy, NoGuarantee, PrivacyLoss, TotalVariationSlack
from headcount.privacy.model import Model
from headcount.privacy.pair import Pair

__all__ = [
    "Bounded",
    "Budget",
    "Crowd",
    "GroupPrivacy",
    "Model",
    "Neighbours",
    "NoGuarantee",
    "Pair",
    "PrivacyLoss",
    "TotalVariationSlack",
]
