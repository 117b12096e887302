"""What an engine is: one method."""

from __future__ import annotations

from typing import Any, Protocol

from headcount.core.coins import Coins
from headcount.core.plan import Plan
from headcount.core.tally import Tally


class Engine(Protocol):
    """Runs people's randomisers over their values, wherever these lie, and adds up what they send."""

    def tally(self, plan: Plan, data: Any, coins: Coins) -> Tally: ...
