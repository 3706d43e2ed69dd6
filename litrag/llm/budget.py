"""A budget per run: before a call its highest possible cost is set aside, after it the true cost is booked.

What is set aside and spent together never exceeds the limit, also when calls run at the same time. A call that
would, waits for the ones under way (most cost far less than was set aside) and is refused when it still doesn't fit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from litrag.config import settings
from litrag.errors import BudgetExceededError

P = ParamSpec("P")
T = TypeVar("T")


class Budget:
    """Money of one run; `limit` None only counts."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0
        self._aside = 0.0
        self._changed = threading.Condition()

    def set_aside(self, amount: float) -> None:
        """Reserve `amount`, or raise BudgetExceededError if it doesn't fit even with nothing under way."""
        with self._changed:
            while self.limit is not None and self.spent + self._aside + amount > self.limit:
                if self._aside <= 1e-12:
                    raise BudgetExceededError(
                        f"the run's budget of ${self.limit:g} is used up: ${self.spent:.4f} is spent and the "
                        f"next call could cost ${amount:.4f}; raise LITRAG_BUDGET_USD"
                    )
                self._changed.wait()
            self._aside += amount

    def book(self, aside: float, cost: float) -> None:
        """Replace what was set aside for a call by what it cost."""
        with self._changed:
            self._aside = max(self._aside - aside, 0.0)
            self.spent += cost
            self._changed.notify_all()


_current: ContextVar[Budget | None] = ContextVar("litrag_budget", default=None)


@contextmanager
def spending(limit: float | None) -> Iterator[Budget]:
    """One budget for every call made inside: wrap a run (writing and judging together) in it."""
    budget = Budget(limit)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def within_budget(run: Callable[P, T]) -> Callable[P, T]:
    """Decorator: every call of `run` has one budget, LITRAG_BUDGET_USD, for all that it pays."""

    @wraps(run)
    def limited(*args: P.args, **options: P.kwargs) -> T:
        with spending(settings().budget_usd):
            return run(*args, **options)

    return limited


def current_budget(limit: float | None) -> Budget:
    """The budget of the run under way, or one of its own for a call outside of any run."""
    return _current.get() or Budget(limit)
