"""What held when: a pure function of all that is said of one subject and one relation.

Statements are put in the order of the times they speak of, whatever order they came in. A new value of a
relation that holds one at a time closes the old one; "no longer" closes without a successor; what cannot be
decided stays open, and both sides are rivals. Nothing of this is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from .assertion import Assertion, weigh_assertion
from .entity_names import Node

FIRM: Final = 0.65  # a guess or hearsay ("maybe", "I heard") is less sure: it closes nothing


class Interval:
    """A time in which a value held, with all that says so."""

    __slots__ = (
        "closer",
        "end",
        "negated",
        "object",
        "relation",
        "rivals",
        "said",
        "start",
        "subject",
        "successor",
    )

    def __init__(self, value: Node, start: float | None, first: Assertion, *, negated: bool = False) -> None:
        self.subject: Node = ""
        self.relation: str = first.relation
        self.object: Node = value
        self.negated: bool = negated
        self.start: float | None = start
        self.end: float | None = None
        self.said: list[Assertion] = [first]
        self.closer: Assertion | None = None  # the statement that ended it
        self.successor: Interval | None = None  # what took its place
        self.rivals: list[Interval] = []  # what it cannot hold together with

    @property
    def first(self) -> Assertion:
        return self.said[0]

    @property
    def rank(self) -> int:
        """How far its most trusted source is trusted."""
        return max(assertion.source.rank for assertion in self.said)

    @property
    def confidence(self) -> float:
        """Rises with each source that says the same."""
        if len(self.said) == 1:  # as nearly all
            return 1.0 - (1.0 - weigh_assertion(self.said[0]))
        best: dict[int, float] = {}
        for assertion in self.said:
            seq = assertion.source.seq
            best[seq] = max(best.get(seq, 0.0), weigh_assertion(assertion))
        doubt = 1.0
        for weight in best.values():
            doubt *= 1.0 - weight
        return 1.0 - doubt

    @property
    def known_from(self) -> float:
        if len(self.said) == 1:
            return self.said[0].source.created
        return min(assertion.source.created for assertion in self.said)

    @property
    def known_to(self) -> float | None:
        if self.closer is None:
            return None
        return max(self.closer.source.created, self.known_from)

    def holds_at(self, at: float) -> bool:
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def close(self, at: float, closer: Assertion, successor: Interval | None = None) -> None:
        self.end, self.closer, self.successor = at, closer, successor

    def add(self, assertion: Assertion) -> None:
        if assertion not in self.said:
            self.said.append(assertion)


class EffectKind(IntEnum):
    """What a statement does, in the order in which acts of one moment count."""

    END = 0
    DENY = 1
    ASSERT = 2


class Effect(NamedTuple):
    at: float
    act: EffectKind
    value: Node
    assertion: Assertion

    @property
    def order(self) -> tuple[float, int, float, int, str, float]:
        """Does not depend on which record came first."""
        assertion = self.assertion
        return (
            self.at,
            self.act,
            assertion.source.occurred,
            assertion.position,
            self.value,
            assertion.confidence,
        )


def list_effects(value: Node, assertion: Assertion) -> list[Effect]:
    """What a statement does when."""
    start, end = assertion.since, assertion.until
    if assertion.ended and end is None:
        end = assertion.source.occurred
    if end is not None and end <= assertion.source.occurred and start is None:
        return [Effect(end, EffectKind.END, value, assertion)]
    if start is None:
        start = assertion.source.occurred
    if end is not None and end <= start:
        end = None
    effects = [Effect(start, EffectKind.DENY if assertion.negated else EffectKind.ASSERT, value, assertion)]
    if end is not None:
        effects.append(Effect(end, EffectKind.END, value, assertion))
    return effects


def trace_validity(pairs: Iterable[tuple[Node, Assertion]], *, is_single: bool) -> list[Interval]:
    """The intervals of one subject and one relation, the earliest first. `said` has the object of each."""
    effects: list[Effect] = []
    for value, assertion in pairs:
        effects += list_effects(value, assertion)
    if len(effects) == 1:
        return _trace_one(effects[0])
    effects.sort(key=_order)
    course = _Course(is_single=is_single)
    for effect in effects:
        course.take(effect)
    return course.finish()


def _trace_one(effect: Effect) -> list[Interval]:
    """Most relations of most subjects are stated once."""
    if effect.act is EffectKind.END:
        only = Interval(effect.value, None, effect.assertion)
        only.close(effect.at, effect.assertion)
        return [only]
    return [Interval(effect.value, effect.at, effect.assertion, negated=effect.act is EffectKind.DENY)]


def _order(effect: Effect) -> tuple[float, int, float, int, str, float]:
    return effect.order


class _Course:
    """Goes through effects in their order, and knows what is open."""

    def __init__(self, *, is_single: bool) -> None:
        self._is_single = is_single
        self._open: dict[tuple[Node, bool], Interval] = {}
        self._last: dict[Node, Interval] = {}
        self._unbegun: list[Interval] = []
        self.intervals: list[Interval] = []

    def take(self, effect: Effect) -> None:
        if effect.act is EffectKind.END:
            self._end(effect)
        else:
            self._begin(effect, negated=effect.act is EffectKind.DENY)

    def _begin(self, effect: Effect, *, negated: bool) -> None:
        key = (effect.value, negated)
        there = self._open.get(key)
        if there is not None:
            there.add(effect.assertion)
            if there.rivals or effect.assertion.confidence >= FIRM > _firmest(there.said[:-1]):
                self._displace(effect, there)  # what was a guess, or disputed, is said for sure now
            return
        new = Interval(effect.value, effect.at, effect.assertion, negated=negated)
        self._displace(effect, new)
        self._open[key] = new
        self.intervals.append(new)
        if not negated:
            self._last[effect.value] = new

    def _displace(self, effect: Effect, new: Interval) -> None:
        """Closes what cannot hold beside a new interval, or leaves both open as rivals."""
        if effect.assertion.confidence < FIRM:
            return
        for key, there in self._list_excluded(new):
            if _is_decided(effect, there):
                there.close(effect.at, effect.assertion, new)
                del self._open[key]
            elif _firmest(there.said) >= FIRM:
                new.rivals.append(there)
                there.rivals.append(new)

    def _list_excluded(self, new: Interval) -> list[tuple[tuple[Node, bool], Interval]]:
        """What is open and cannot hold beside a new interval: its opposite and, of one value, all others."""
        opposite = (new.object, not new.negated)
        if self._is_single and not new.negated:
            excluded = []
            for key, there in self._open.items():
                if key == opposite or (there.object != new.object and not there.negated):
                    excluded.append((key, there))
            return excluded
        denied = self._open.get(opposite)
        return [] if denied is None else [(opposite, denied)]

    def _end(self, effect: Effect) -> None:
        assertion = effect.assertion
        there = self._open.get((effect.value, assertion.negated))
        if there is not None:
            if assertion in there.said or assertion.source.rank >= there.rank:
                there.add(assertion)
                there.close(effect.at, assertion)
                del self._open[effect.value, assertion.negated]
            return
        before = self._last.get(effect.value)
        if before is not None:  # it is over already
            before.add(assertion)
            return
        self._end_unbegun(effect)

    def _end_unbegun(self, effect: Effect) -> None:
        """That something is over which nobody had said before."""
        new = Interval(effect.value, None, effect.assertion)
        new.close(effect.at, effect.assertion)
        self._last[effect.value] = new
        self._unbegun.append(new)
        if not self._is_single:
            return
        for there in self._open.values():
            if not there.negated and there.start is not None and there.start < (new.end or effect.at):
                new.end, new.successor = there.start, there

    def finish(self) -> list[Interval]:
        return self._unbegun + self.intervals


def _is_decided(effect: Effect, there: Interval) -> bool:
    """A later statement decides, unless it is trusted less; of one text, the later sentence."""
    first = there.first
    if there.start == effect.at and first.source is not effect.assertion.source:
        return _firmest(there.said) < FIRM
    return effect.assertion.source.rank >= there.rank


def _firmest(assertions: Sequence[Assertion]) -> float:
    return max((assertion.confidence for assertion in assertions), default=0.0)
