"""Computes when facts held: a pure function of all statements about one subject and one relation.

Statements are ordered by the times they mention, whatever order they arrived in. A new value of a relation
with one value at a time closes the old one; "no longer" closes without a successor; if no rule decides, both
values stay open and are rivals. None of this is stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from ..text.facts.statement import Nature
from .assertion import WEIGHTS, Assertion, Node

FIRM: Final = 0.65  # a guess or hearsay ("maybe", "I heard") has less confidence and closes nothing


class Interval:
    """A time in which a value held, with the statements that say so."""

    __slots__ = (
        *("closer", "end", "firmness", "negated", "object", "opponents"),
        *("rank", "relation", "said", "start", "subject", "successor"),
    )

    def __init__(self, value: Node, start: float | None, first: Assertion, *, negated: bool = False) -> None:
        self.subject: Node = ""
        self.relation: str = first.statement.relation
        self.object: Node = value
        self.negated: bool = negated
        self.start: float | None = start
        self.end: float | None = None
        self.said: dict[Assertion, None] = {first: None}  # in order
        self.rank: int = first.source.rank  # trust of its most trusted source
        self.firmness: float = first.statement.confidence  # confidence of its surest statement
        self.closer: Assertion | None = None  # the statement that ended it
        self.successor: Interval | None = None  # the interval that replaced it
        self.opponents: tuple[Sequence[Interval], ...] = ()  # groups that may be shared; see `rivals`

    @property
    def first(self) -> Assertion:
        return next(iter(self.said))

    @property
    def nature(self) -> Nature:
        return self.first.statement.nature

    @property
    def rivals(self) -> list[Interval]:
        """The open intervals that contradict this one while nothing decides between them."""
        return [one for group in self.opponents for one in group if one is not self]

    @property
    def is_disputed(self) -> bool:
        return bool(self.opponents)

    @property
    def is_firm(self) -> bool:
        return self.firmness >= FIRM

    @property
    def confidence(self) -> float:
        """The estimated confidence, which grows with the number of sources."""
        if len(self.said) == 1:  # as for nearly all
            return _weigh_assertion(self.first)
        best: dict[int, float] = {}
        for assertion in self.said:
            seq = assertion.source.seq
            best[seq] = max(best.get(seq, 0.0), _weigh_assertion(assertion))
        return 1.0 - math.prod(1.0 - weight for weight in best.values())

    @property
    def known_from(self) -> float:
        return min(assertion.source.created for assertion in self.said)

    @property
    def known_to(self) -> float | None:
        return None if self.closer is None else max(self.closer.source.created, self.known_from)

    def holds_at(self, at: float) -> bool:
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def close(self, at: float, closer: Assertion, successor: Interval | None = None) -> None:
        self.end, self.closer, self.successor = at, closer, successor

    def add(self, assertion: Assertion) -> None:
        self.said[assertion] = None
        self.rank = max(self.rank, assertion.source.rank)
        self.firmness = max(self.firmness, assertion.statement.confidence)


class _EffectKind(IntEnum):
    """The effects of statements, in the order in which those of one moment apply."""

    END = 0
    DENY = 1
    ASSERT = 2


class _Effect(NamedTuple):
    at: float
    act: _EffectKind
    value: Node
    assertion: Assertion

    @property
    def order(self) -> tuple[float, int, float, int, str, float]:
        """The sort key of effects, which does not depend on the order in which records arrived."""
        assertion = self.assertion
        said = (assertion.source.occurred, assertion.position, self.value, assertion.statement.confidence)
        return self.at, self.act, *said


def list_effects(value: Node, assertion: Assertion) -> list[_Effect]:
    """Lists the effects of a statement: what it asserts, denies or ends, and when."""
    told, occurred = assertion.statement, assertion.source.occurred
    end = occurred if told.ended and told.until is None else told.until
    start = occurred if told.since is None else told.since
    ends = [] if end is None else [_Effect(end, _EffectKind.END, value, assertion)]
    if end is not None and end <= occurred and told.since is None:
        return ends
    act = _EffectKind.DENY if told.negated else _EffectKind.ASSERT
    begins = _Effect(start, act, value, assertion)
    return [begins, *ends] if end is None or end > start else [begins]


def trace_validity(pairs: Iterable[tuple[Node, Assertion]], *, is_single: bool) -> list[Interval]:
    """Computes the intervals of one subject and one relation, the earliest first."""
    effects = [effect for value, assertion in pairs for effect in list_effects(value, assertion)]
    effects.sort(key=lambda effect: effect.order)
    course = _Course(is_single=is_single)
    for effect in effects:
        course.take(effect)
    return course.finish()


_Sources = dict[int, dict[Node, Interval]]  # by the seq of the record that first said it, and by value
_Group = tuple[int, bool, float | None]  # trust, whether it is firm, and the start


def _group_of(interval: Interval) -> _Group:
    return interval.rank, interval.is_firm, interval.start


class _Course:
    """The intervals of one subject and relation; takes effects in order.

    Open asserted intervals are grouped by trust, firmness, start and source, so that those that a statement
    decides are found without visiting all: nearly always it decides for a whole group at once.
    """

    def __init__(self, *, is_single: bool) -> None:
        self._is_single = is_single
        self._open: dict[tuple[Node, bool], Interval] = {}  # by value, and whether it is denied
        self._groups: dict[_Group, _Sources] = {}
        self._firm = 0  # open asserted intervals that are firm
        self._last: dict[Node, Interval] = {}
        self._unbegun: list[Interval] = []
        self._begun: list[Interval] = []

    def take(self, effect: _Effect) -> None:
        if effect.act is _EffectKind.END:
            self._end(effect)
        else:
            self._begin(effect, negated=effect.act is _EffectKind.DENY)

    def _begin(self, effect: _Effect, *, negated: bool) -> None:
        there = self._open.get((effect.value, negated))
        if there is not None:
            self._say_again(effect, there)
            return
        new = Interval(effect.value, effect.at, effect.assertion, negated=negated)
        self._displace(effect, new)
        self._put(new)
        self._begun.append(new)
        if not negated:
            self._last[effect.value] = new

    def _say_again(self, effect: _Effect, there: Interval) -> None:
        """Adds a statement to an open interval; closes others if that makes it firm or it was disputed."""
        was_firm, is_disputed = there.is_firm, self._has_rivals(there)
        self._add(there, effect.assertion)
        if is_disputed or (there.is_firm and not was_firm):
            self._displace(effect, there)

    def _displace(self, effect: _Effect, new: Interval) -> None:
        """Closes the intervals that cannot hold beside a new one, as far as that is decided."""
        if effect.assertion.statement.confidence < FIRM:
            return
        opposite = self._open.get((new.object, not new.negated))
        decided = [] if opposite is None or not _is_decided(effect, opposite) else [opposite]
        if self._is_single and not new.negated:
            decided += self._list_decided(effect)
        for there in decided:
            there.close(effect.at, effect.assertion, new)
            self._remove(there)

    def _end(self, effect: _Effect) -> None:
        assertion = effect.assertion
        there = self._open.get((effect.value, assertion.statement.negated))
        before = self._last.get(effect.value)
        if there is not None:
            if assertion in there.said or assertion.source.rank >= there.rank:
                self._add(there, assertion)
                self._remove(there)
                there.close(effect.at, assertion)
        elif before is not None:  # it is over already
            self._add(before, assertion)
        else:
            self._end_unbegun(effect)

    def _end_unbegun(self, effect: _Effect) -> None:
        """Adds an interval that ends without a stated beginning."""
        new = Interval(effect.value, None, effect.assertion)
        new.close(effect.at, effect.assertion)
        self._last[effect.value] = new
        self._unbegun.append(new)
        successor = self._find_earliest(effect.at) if self._is_single else None
        if successor is not None:
            new.end, new.successor = successor.start, successor

    def finish(self) -> list[Interval]:
        """Sets the opponents of open firm intervals, which are other firm values and denials; returns all."""
        firm = [one for one in self._open.values() if one.is_firm]
        values = [one for one in firm if not one.negated]
        for interval in firm:
            opposite = self._open.get((interval.object, not interval.negated))
            denied = (opposite,) if opposite is not None and opposite.is_firm else ()
            others = values if self._is_single and not interval.negated and len(values) > 1 else ()
            interval.opponents = tuple(group for group in (others, denied) if group)
        return self._unbegun + self._begun

    # the open intervals

    def _put(self, interval: Interval) -> None:
        self._open[interval.object, interval.negated] = interval
        if not interval.negated:
            self._firm += interval.is_firm
            sources = self._groups.setdefault(_group_of(interval), {})
            sources.setdefault(interval.first.source.seq, {})[interval.object] = interval

    def _remove(self, interval: Interval) -> None:
        del self._open[interval.object, interval.negated]
        if not interval.negated:
            self._firm -= interval.is_firm
            group, seq = _group_of(interval), interval.first.source.seq
            del self._groups[group][seq][interval.object]
            if not self._groups[group][seq]:
                del self._groups[group][seq]
            if not self._groups[group]:
                del self._groups[group]

    def _add(self, interval: Interval, assertion: Assertion) -> None:
        """Adds a statement to an interval, which may be open or not."""
        is_open = self._open.get((interval.object, interval.negated)) is interval
        if is_open:
            self._remove(interval)
        interval.add(assertion)
        if is_open:
            self._put(interval)

    def _has_rivals(self, interval: Interval) -> bool:
        """Returns whether a firm interval contradicts another open one."""
        if not interval.is_firm:
            return False
        opposite = self._open.get((interval.object, not interval.negated))
        is_denied = opposite is not None and opposite.is_firm
        return is_denied or (self._is_single and not interval.negated and self._firm > 1)

    def _list_decided(self, effect: _Effect) -> list[Interval]:
        """Lists the open intervals of other values that a firm effect ends."""
        rank, seq, found = effect.assertion.source.rank, effect.assertion.source.seq, list[Interval]()
        for (trusted, is_firm, start), sources in self._groups.items():
            chosen: Iterable[int] = sources
            if start == effect.at and is_firm:  # firm statements of other records for the same moment stay
                chosen = (seq,) if seq in sources and rank >= trusted else ()
            elif rank < trusted:  # it ends only guesses of other records for the same moment
                chosen = (one for one in sources if one != seq) if start == effect.at else ()
            for source in chosen:
                found += sources[source].values()
        return [interval for interval in found if interval.object != effect.value]

    def _find_earliest(self, before: float) -> Interval | None:
        """Returns the earliest open interval that began before a moment; None if there is none."""
        begun = [group for group in self._groups if group[2] is not None and group[2] < before]
        if not begun:
            return None
        sources = self._groups[min(begun, key=lambda group: group[2] or 0.0)]
        return next(iter(next(iter(sources.values())).values()))


def _is_decided(effect: _Effect, there: Interval) -> bool:
    """Returns whether a later statement, or sentence of one text, ends an interval: if not trusted less."""
    if there.start == effect.at and there.first.source is not effect.assertion.source:
        return not there.is_firm
    return effect.assertion.source.rank >= there.rank


def _weigh_assertion(assertion: Assertion) -> float:
    """Returns the weight of a statement: its confidence times the weight of its source's trust."""
    return assertion.statement.confidence * WEIGHTS[assertion.source.rank]
