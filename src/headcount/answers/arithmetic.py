"""Arithmetic with two answers; refused where its interval and its promise would be lost."""

from __future__ import annotations

from abc import abstractmethod
from typing import NoReturn

from headcount.answers.difference import Difference
from headcount.answers.ratio import Ratio
from headcount.answers.two_runs import Operand, Pairs, difference, ratio
from headcount.errors import Unsupported


class Arithmetic:
    """An answer that others are compared with, or a cell of one."""

    @property
    @abstractmethod
    def _operand(self) -> Operand:
        """What a difference or ratio needs of it."""

    @abstractmethod
    def _is(self, other: Arithmetic) -> bool:
        """Whether both are the same release, or the same part of one."""

    def __sub__(self, other: Arithmetic) -> Difference | Pairs:
        """The difference of two answers or cells, with its exact interval.

        Of two histograms, that of each category.
        """
        return difference(*self._operands(other, "-"))

    def __truediv__(self, other: Arithmetic) -> Ratio | Pairs:
        """The ratio of two answers or cells, with an interval from their exact laws.

        Of two histograms, that of each category.
        """
        return ratio(*self._operands(other, "/"))

    def _operands(self, other: Arithmetic, what: str) -> tuple[Operand, Operand]:
        if not isinstance(other, Arithmetic):
            raise refuse_arithmetic(what)
        if self._is(other):
            raise Unsupported("an answer is not compared with itself", "compare two answers, or two cells of one")
        return self._operand, other._operand

    def _refused(self, *others: object) -> NoReturn:
        raise refuse_arithmetic("+, *, ** or //")

    __add__ = __radd__ = __mul__ = __rmul__ = __pow__ = __floordiv__ = __mod__ = _refused
    __rsub__ = __rtruediv__ = _refused

    def _unordered(self, other: object) -> NoReturn:
        raise refuse_arithmetic("<")

    __lt__ = __le__ = __gt__ = __ge__ = _unordered


def refuse_arithmetic(what: str) -> Unsupported:
    """Why answers cannot be added, multiplied or ordered like numbers."""
    if what in ("<", "<=", ">", ">="):
        problem = "answers are not ordered like numbers: noise could decide"
        return Unsupported(problem, "look whether (a - b).interval() holds 0, or order float(a) and float(b)")
    problem = f"an answer has no {what!r}: its interval and its promise would be lost"
    return Unsupported(problem, "use a - b or a / b of two answers, or float(a) for the number alone")
