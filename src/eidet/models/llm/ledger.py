"""What was asked of models, what came of it, and what it cost; by the operation that asked."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...core.errors import Misconfigured
from . import Answer

PURPOSES = 200  # kept apart; later ones are counted together
OTHERS = "(others)"
RECENT = 100


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens, in whatever currency you count."""

    tokens_in: float
    tokens_out: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(price) and price >= 0 for price in (self.tokens_in, self.tokens_out)):
            raise Misconfigured(f"a price is a number from 0, not {self.tokens_in} and {self.tokens_out}")

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One operation that got no usable answer, so that the rules decided."""

    purpose: str
    cause: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTotals:
    """Sums of one purpose. `calls` are questions, `repairs` those of them that were a second asking.

    `failures` counts, by cause, operations that ended without a usable answer. Tokens and cost are
    those of answers that came; `unmetered` are answers that did not say how many tokens they took.
    """

    calls: int = 0
    repairs: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    unmetered: int = 0
    unpriced: int = 0
    priced: float = 0.0
    millis: float = 0.0

    @property
    def cost(self) -> float | None:
        """What the answers cost; None as soon as one of them has no known price or token count."""
        if self.unpriced:
            return None
        return self.priced

    def plus(self, other: CallTotals) -> CallTotals:
        causes = sorted(self.failures.keys() | other.failures.keys())
        return CallTotals(
            calls=self.calls + other.calls,
            repairs=self.repairs + other.repairs,
            failures={cause: self.failures.get(cause, 0) + other.failures.get(cause, 0) for cause in causes},
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            unmetered=self.unmetered + other.unmetered,
            unpriced=self.unpriced + other.unpriced,
            priced=self.priced + other.priced,
            millis=self.millis + other.millis,
        )


class Ledger:
    """Safe to share between threads; its size does not grow with use.

    `prices` are by model, as the model calls itself or as you named it: `{"gpt-…": (0.15, 0.6)}` is
    money per million tokens in and out. A model without a price makes the cost None, never a guess.
    """

    def __init__(self, prices: Mapping[str, Price | tuple[float, float]] | None = None) -> None:
        self._prices = {
            model: price if isinstance(price, Price) else Price(*price)
            for model, price in (prices or {}).items()
        }
        self._lock = threading.Lock()
        self._tallies: dict[str, CallTotals] = {}
        self._recent: deque[Failure] = deque(maxlen=RECENT)

    def count_call(self, purpose: str, *, millis: float = 0.0, repair: bool = False) -> None:
        """A question went out, whatever will come of it. `millis` are those of one that failed."""
        self._add(purpose, CallTotals(calls=1, repairs=int(repair), millis=millis))

    def count_answer(self, purpose: str, name: str, answer: Answer) -> None:
        """An answer came from the LLM of this name, good or bad."""
        cost = self._cost(name, answer)
        tally = CallTotals(
            tokens_in=answer.tokens_in or 0,
            tokens_out=answer.tokens_out or 0,
            unmetered=int(answer.tokens_in is None or answer.tokens_out is None),
            unpriced=int(cost is None),
            priced=cost or 0.0,
            millis=answer.millis,
        )
        self._add(purpose, tally)

    def count_failure(self, purpose: str, cause: str, why: str) -> None:
        """An operation ended without a usable answer."""
        self._add(purpose, CallTotals(failures={cause: 1}))
        self._recent.append(Failure(purpose=purpose, cause=cause, why=why[:500]))

    def tallies(self) -> dict[str, CallTotals]:
        with self._lock:
            return dict(self._tallies)

    def total(self) -> CallTotals:
        total = CallTotals()
        for tally in self.tallies().values():
            total = total.plus(tally)
        return total

    def recent_failures(self) -> tuple[Failure, ...]:
        """The last hundred, oldest first."""
        return tuple(self._recent)

    def table(self) -> str:
        """The tallies as lines of text, one per purpose, and their sum."""
        rows = [_row(purpose, tally) for purpose, tally in sorted(self.tallies().items())]
        rows = [HEAD, *rows, _row("total", self.total())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_line(row, widths) for row in rows)

    def _add(self, purpose: str, tally: CallTotals) -> None:
        with self._lock:
            if purpose not in self._tallies and len(self._tallies) >= PURPOSES:
                purpose = OTHERS
            self._tallies[purpose] = self._tallies.get(purpose, CallTotals()).plus(tally)

    def _cost(self, name: str, answer: Answer) -> float | None:
        model = name.partition(":")[2].partition("@http")[0]
        price = next((self._prices[one] for one in (answer.model, name, model) if one in self._prices), None)
        if price is None or answer.tokens_in is None or answer.tokens_out is None:
            return None
        return price.of(answer.tokens_in, answer.tokens_out)


HEAD = ("purpose", "calls", "repairs", "tokens in", "tokens out", "cost", "seconds", "failures")


def _row(purpose: str, tally: CallTotals) -> tuple[str, ...]:
    cost = "?" if tally.cost is None else f"{tally.cost:.4f}"
    failures = ", ".join(f"{cause} {count}" for cause, count in tally.failures.items()) or "-"
    numbers = (tally.calls, tally.repairs, tally.tokens_in, tally.tokens_out)
    return (purpose, *(f"{number:,}" for number in numbers), cost, f"{tally.millis / 1000:.1f}", failures)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    middle = (cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
    return "  ".join((row[0].ljust(widths[0]), *middle, row[-1])).rstrip()
