"""Count people without learning about any one of them.

>>> import headcount as hc
>>> answers = [1] * 300 + [0] * 700
>>> print(hc.count(answers, epsilon=1, delta=1e-6))          # doctest: +SKIP
301  (95% interval 298 to 304)   (ε=1, δ=1e-06), replace-one, shuffle, correlated-count, n=1,000, exact
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from headcount.public import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """A public name, or `__all__`: who needs one room only, as the command line, loads no more than that."""
        from importlib import import_module

        public = import_module("headcount.public")
        if name != "__all__" and name not in public.__all__:
            raise AttributeError(f"module 'headcount' has no attribute {name!r}")
        globals().update({each: getattr(public, each) for each in ("__all__", *public.__all__)})
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
