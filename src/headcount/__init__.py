"""Count people without learning about any one of them.

>>> import headcount as hc
>>> answers = [1] * 300 + [0] * 700
>>> print(hc.count(answers, epsilon=1))          # doctest: +SKIP
301  (95% interval 298 to 304)   (ε=1, δ=0), replace-one, central, geometric, n=1,000, exact

Public are `headcount.__all__`, `headcount.sum`, `headcount.map` and the modules that docs/api.md
lists. All other modules are internal and may change in any version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from headcount import errors as errors
    from headcount.public import *  # noqa: F403
    from headcount.public import map as map
    from headcount.public import sum as sum
else:

    def __getattr__(name: str) -> object:
        """A public name, or `__all__`, on first use: the command line loads only what it needs."""
        from importlib import import_module

        if name == "errors":
            return import_module("headcount.errors")
        public = import_module("headcount.public")
        names = {*public.__all__, *public.SHADOWING}
        if name != "__all__" and name not in names:
            raise AttributeError(f"module 'headcount' has no attribute {name!r}")
        globals().update({each: getattr(public, each) for each in ("__all__", *names)})
        return globals()[name]

    def __dir__() -> list[str]:
        from headcount.public import SHADOWING

        special = {name for name in globals() if name.startswith("__")}
        return sorted({*special, *__getattr__("__all__"), *SHADOWING, "errors"})
