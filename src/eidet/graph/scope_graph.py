"""The graph of one scope: takes statements and decisions, returns intervals. Uses neither store nor clock."""

from __future__ import annotations

import math
import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..core.errors import BadInput, Unavailable
from ..core.foreground import is_given_up
from ..store import Head
from ..text.facts.statement import Nature
from ..text.facts.vocabulary import Relation, relation_of
from .assertion import Assertion, Node, Stated
from .identities import Identities
from .statements_index import StatementsIndex
from .triple_data import DecisionKind, StoredDecision
from .validity import Interval, list_effects, trace_validity

_TODO: Final = (
    "name entities and relations in the patterns, ask with fewer patterns or hops, or in a smaller scope, "
    "or raise that setting"
)
_CHECKED: Final = 256  # steps between two checks of the time


class Budget:
    """Counts the steps of one question. A step is a fact that is visited.

    The time counts from its creation, so it includes waiting for other questions to the same graph.
    """

    def __init__(self, steps: int = sys.maxsize, seconds: float = math.inf) -> None:
        self.steps, self.seconds = steps, seconds
        self._left = self._next_check = steps  # so that the first step checks the time
        self._ends = time.monotonic() + seconds

    def spend(self, steps: int = 1) -> None:
        """Spends steps; raises `BadInput` if none are left or the time is up."""
        self._left -= steps
        if self._left < 0:
            raise BadInput(f"the question takes more than {self.steps:,} steps (fact_steps); {_TODO}")
        if self._left < self._next_check:
            self._next_check = self._left - _CHECKED
            if is_given_up():
                raise Unavailable("nobody waits for the answer any more")
            if time.monotonic() > self._ends:
                what = f"the question takes more than {self.seconds:g} seconds"
                raise BadInput(f"{what} (fact_seconds); {_TODO}")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The times of a question: what was true `at` a moment, or ever without one, as known `now`.

    Statements expired by `now` do not count. `budget` limits the cost.
    """

    now: float
    at: float | None = None
    budget: Budget | None = field(default=None, compare=False, repr=False)

    def spend(self, steps: int) -> None:
        if self.budget is not None:
            self.budget.spend(steps)

    def sees(self, assertion: Assertion) -> bool:
        """Returns whether a statement counts: its record has not expired and is not in quarantine."""
        return assertion.source.rank >= 0 and self.is_alive(assertion.source.expires)

    def is_alive(self, expires: float | None) -> bool:
        return expires is None or expires > self.now

    def admits(self, interval: Interval) -> bool:
        return self.at is None or interval.holds_at(self.at)


class _Traced(list[Interval]):
    """The intervals of one subject and relation, searchable by content."""

    _found: dict[Hashable, list[Interval]] | None = None

    def find(self, said: Assertion | tuple[Node, bool]) -> list[Interval]:
        """Returns the intervals that include a statement, or that match (object, negated)."""
        if self._found is None:
            self._found = defaultdict(list)
            for interval in self:
                for key in (*interval.said, (interval.object, interval.negated)):
                    self._found[key].append(interval)
        return self._found.get(said, [])


class ScopeGraph:
    """The statements of a scope's records, the entities they mean, and the intervals of facts."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.head: Head = Head(0, 0)
        self.index: StatementsIndex = StatementsIndex()
        self.identities: Identities = self.index.identities
        self.decisions: dict[int, StoredDecision] = {}
        self._expiring = 0  # sources that will expire: with them, answers depend on the time
        self._answers: dict[tuple[Node, str], _Traced] = {}
        self._subjects: dict[str, list[Node]] = {}  # by relation
        self._rejected: dict[tuple[Node, str], list[StoredDecision]] | None = None
        self._special: list[tuple[Node, str]] | None = None
        self.ids: dict[int, str] = {}  # of the records that answers have named, by seq

    @property
    def nbytes(self) -> int:
        """Estimates the RAM it takes."""
        return 700 * self.index.size + 900 * len(self.identities.book.entries) + 2_000

    # following the store

    def add(self, stated: Sequence[Stated]) -> None:
        """Adds the statements of records."""
        self.index.add(stated)
        for one in stated:
            if one.entry.expires is not None and one.entry.seq in self.index.sources:
                self._expiring += 1
        self._forget_answers()

    def decide(self, stored: StoredDecision) -> None:
        """Applies a decision."""
        self.decisions[stored.seq] = stored
        if stored.decision.action is DecisionKind.MERGE:
            first, *others = stored.decision.entities
            for number, other in enumerate(others):
                self.identities.link((stored.seq, number), first, other)
        self._forget_answers()

    def remove(self, seq: int) -> None:
        """Removes the statements or the decision of a record."""
        source = self.index.sources.get(seq)
        if source is not None:
            self._expiring -= source.expires is not None
            self.index.remove(seq)
        stored = self.decisions.pop(seq, None)
        if stored is not None:
            for number in range(len(stored.decision.entities)):
                self.identities.unlink((seq, number))
        self.ids.pop(seq, None)
        if source is not None or stored is not None:
            self._forget_answers()

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._subjects.clear()
        self._rejected = self._special = None

    # intervals of facts

    def trace(self, subject: Node, relation: str, view: View) -> _Traced:
        """Traces the intervals of one subject and one relation, the earliest first."""
        is_plain = not self._expiring
        known = self._answers.get((subject, relation)) if is_plain else None
        if known is None:
            known = _Traced(self._trace(subject, relation, view))
            if is_plain:
                self._answers[subject, relation] = known
        view.spend(1 + len(known))
        return known

    def _trace(self, subject: Node, relation: str, view: View) -> list[Interval]:
        kind = relation_of(relation)
        intervals = trace_validity(self._list_said(subject, kind, view), is_single=kind.single)
        if kind.single and kind.symmetric:
            intervals = self._agree(subject, kind, intervals, view)
        for interval in intervals:
            interval.subject = subject
        return intervals

    def _list_said(self, subject: Node, relation: Relation, view: View) -> list[tuple[Node, Assertion]]:
        """Lists the statements about a subject with their objects; of single symmetric relations, of both."""
        pairs: list[tuple[Node, Assertion]] = []
        root_of, name = self.identities.root_of, relation.name
        for entry in self.identities.members_of(subject):
            view.spend(len(entry.said))
            for assertion in entry.said:
                if assertion.statement.relation == name and view.sees(assertion):
                    pairs.append((root_of(assertion.object), assertion))
            for assertion in entry.naming if relation.symmetric and relation.single else ():
                if assertion.statement.relation == name and view.sees(assertion):
                    pairs.append((root_of(assertion.subject), assertion))
        return self._drop_rejected(subject, name, pairs, view) if self._find_rejected() else pairs

    def _agree(
        self, subject: Node, relation: Relation, intervals: list[Interval], view: View
    ) -> list[Interval]:
        """Makes both sides agree: a marriage ends for both, and what one side states holds for the other."""
        own: list[Interval] = []
        for interval in intervals:
            if interval.end is None:
                others = trace_validity(self._list_said(interval.object, relation, view), is_single=True)
                for other in others:
                    if other.object == subject and other.start == interval.start and other.closer is not None:
                        interval.close(other.end or 0.0, other.closer)
            if any(self.identities.root_of(assertion.subject) == subject for assertion in interval.said):
                own.append(interval)
        return own

    # decisions about facts

    def _find_rejected(self) -> dict[tuple[Node, str], list[StoredDecision]]:
        if self._rejected is None:
            found: defaultdict[tuple[Node, str], list[StoredDecision]] = defaultdict(list)
            for stored in self.decisions.values():
                if stored.decision.action in (DecisionKind.RETRACT, DecisionKind.RESOLVE):
                    for entity in stored.decision.entities:
                        for root in self.identities.find(entity):
                            found[root, stored.decision.relation].append(stored)
            self._rejected = dict(found)
        return self._rejected

    def _drop_rejected(
        self, subject: Node, relation: str, pairs: list[tuple[Node, Assertion]], view: View
    ) -> list[tuple[Node, Assertion]]:
        decided = self._find_rejected().get((subject, relation), ())
        seen = [stored for stored in decided if view.is_alive(stored.expires)]
        return [pair for pair in pairs if not any(self._rejects(stored, *pair) for stored in seen)]

    def _rejects(self, stored: StoredDecision, value: Node, assertion: Assertion) -> bool:
        """Returns whether a decision rejects an assertion; later assertions count again."""
        decision = stored.decision
        if decision.negated != assertion.statement.negated or assertion.source.created > stored.created:
            return False
        if not any(value in self.identities.find(name) for name in decision.objects):
            return False
        at = list_effects(value, assertion)[0].at
        if decision.since is not None and at < decision.since:
            return False
        return decision.until is None or at <= decision.until

    # listing

    def list_relations(self, subject: Node) -> list[str]:
        """Lists the relations in which an entity is the subject."""
        members = self.identities.members_of(subject)
        return sorted({one.statement.relation for entry in members for one in entry.said})

    def list_intervals(self, subject: Node, view: View) -> Iterator[Interval]:
        """Yields all intervals with an entity as subject."""
        for relation in self.list_relations(subject):
            yield from self.trace(subject, relation, view)

    def list_intervals_naming(
        self, thing: Node, view: View, relation: str | None = None
    ) -> Iterator[Interval]:
        """Yields all intervals with an entity as object."""
        groups: dict[tuple[Node, str], None] = {}
        for entry in self.identities.members_of(thing):
            view.spend(len(entry.naming))
            for assertion in entry.naming:
                if relation in (None, assertion.statement.relation):
                    groups[self.identities.root_of(assertion.subject), assertion.statement.relation] = None
        for subject, name in groups:
            for interval in self.trace(subject, name, view):
                if interval.object == thing:
                    yield interval

    def list_subjects(self, relation: str) -> Sequence[Node]:
        """Lists the subjects of a relation, each once; cached, as each question asks for instructions."""
        known = self._subjects.get(relation)
        if known is None:
            entries = (one.subject for one in self.index.by_relation.get(relation, ()))
            known = self._subjects[relation] = list(dict.fromkeys(map(self.identities.root_of, entries)))
        return known

    def list_special(self, view: View, natures: Sequence[Nature]) -> list[Interval]:
        """Lists the preferences and instructions that hold."""
        if self._special is None:  # their subjects and relations, each once
            root_of = self.identities.root_of
            groups = ((root_of(one.subject), one.statement.relation) for one in self.index.special)
            self._special = list(dict.fromkeys(groups))
        traced = (one for group in self._special for one in self.trace(*group, view))
        return [one for one in traced if one.nature in natures and view.admits(one)]

    def list_groups(self, relation: str | None = None) -> Iterator[tuple[Node, str]]:
        """Yields all pairs of subject and relation, or those of one relation."""
        for name in list(self.index.by_relation) if relation is None else (relation,):
            for subject in self.list_subjects(name):
                yield subject, name

    def find_intervals(self, seq: int, view: View) -> list[Interval]:
        """Returns the intervals that include a record's statements, in the order of the statements."""
        source = self.index.sources.get(seq)
        found: dict[Interval, None] = {}
        for assertion in source.assertions if source is not None else ():
            subject = self.identities.root_of(assertion.subject)
            found |= dict.fromkeys(self.trace(subject, assertion.statement.relation, view).find(assertion))
        return list(found)
