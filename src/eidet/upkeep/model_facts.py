"""Facts that a language model finds beyond those of the rules: each text is read once, by upkeep.

A fact is a record of kind `triple` with its text as the source. It goes when its text goes, and when a
revised text no longer states it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from ..core.record import Kind, Record, Trust, key_id
from ..core.scope import Scope
from ..core.state import NO_STATE
from ..core.validate import local
from ..core.where import Condition, Where
from ..graph import statements_of
from ..graph.names import name_key
from ..graph.triple_data import triple_data
from ..models.llm import LLM
from ..parts import Parts
from ..store import verbs
from ..text.facts import Statement, relation_of
from ..write.ingest import STATING, Ingest
from . import Ask, Change, Drop, Write
from .candidates import PAGE
from .fact_reading import read_facts_with

WORK: Final = "read_facts"
BY_MODEL: Final = "llm"
LATER: Final = frozenset({"slow", "unavailable", "refused", "misconfigured"})  # causes for which to try again
READ: Final = tuple(trust for trust in Trust if trust is not Trust.QUARANTINED)


def list_unread(found: Iterable[Statement], record: Record) -> list[Statement]:
    """What a model found in a record that the rules did not."""
    known = {(one.relation, name_key(one.object.name)) for one in statements_of(record.terms)}
    return [one for one in found if (one.relation, name_key(one.object.name)) not in known]


def phrase_statement(statement: Statement, record: Record) -> str:
    """A statement as a sentence; "I" is whoever said it."""
    subject = statement.subject.name or record.who or "I"
    return relation_of(statement.relation).phrase.format(subject=subject, object=statement.object.name)


class FactReadings:
    """Plans what to store of what a model reads, and knows how far it came in each scope."""

    def __init__(self, parts: Parts, guard: Callable[[Record], Record]) -> None:
        self._parts = parts
        self._guard = guard
        self._reached: dict[str, int] = {}  # by scope: the last seq whose facts were planned

    def plan(self, scope: str, llm: LLM | None, *, most: int, now: float, dry_run: bool) -> Iterator[Change]:
        """The changes for texts that were not read yet, at most so many texts, the oldest first."""
        if llm is None or not most or not self._parts.settings.facts:
            return
        model_facts = self._list_model_facts(scope)
        for record in self._list_new(scope, most, now):
            if dry_run:
                yield Ask(what=WORK, record=record, sources=(record,), because="a model has not read it yet")
                continue
            outcome = read_facts_with(
                llm,
                record.whole.text,
                said=local(record.occurred),
                language=self._parts.analyzer.language,
            )
            if outcome.cause in LATER:
                return
            found = list_unread(outcome.value, record) if outcome.by == BY_MODEL else []
            yield from self._list_changes(record, found, model_facts.get(record.id, []), now)
            self._reached[scope] = record.seq

    def begin(self) -> None:
        """Forgets how far an upkeep came that failed: what it planned may not be stored."""
        self._reached = {}

    def note_progress(self) -> None:
        """Keeps how far the models came, once what they found is stored."""
        reached, self._reached = self._reached, {}
        settings = {self._name_setting(scope): str(seq) for scope, seq in reached.items()}
        if settings:
            verbs.set_settings(self._parts.store, settings)

    def _list_new(self, scope: str, most: int, now: float) -> list[Record]:
        since = int(verbs.get_setting(self._parts.store, self._name_setting(scope)) or 0)
        where = Where(scope=Scope(scope), kinds=tuple(STATING), trust=READ, alive_at=now)
        return list(islice(verbs.scan(self._parts.store, where, after=since, batch=min(most, PAGE)), most))

    def _name_setting(self, scope: str) -> str:
        """Under which name progress is kept; it tells nothing of the scope."""
        return f"facts_read_{self._parts.key_ids.mark(scope.encode())}"

    def _list_model_facts(self, scope: str) -> dict[str, list[Record]]:
        """What models found before, by the id of the text."""
        by_model = Condition("state.worded_by", "=", BY_MODEL)
        where = Where(scope=Scope(scope), kinds=(Kind.TRIPLE,), conditions=(by_model,))
        found: dict[str, list[Record]] = {}
        for record in self._parts.store.find(where):
            for source in record.derived_from:
                found.setdefault(source, []).append(record)
        return found

    def _list_changes(
        self, record: Record, found: list[Statement], before: list[Record], now: float
    ) -> Iterator[Change]:
        made = self._parts.key_ids.name_records([_make_fact(record, one, now) for one in found])
        facts = {fact.id: fact for fact in made}
        there = {fact.id for fact in before}
        for id, fact in facts.items():
            if id not in there:
                (ready,) = Ingest.of(self._parts).derive([self._guard(fact)])
                yield Write(what=WORK, record=ready, because=f"a model found it in {record.id}")
        for fact in before:
            if fact.id not in facts:
                yield Drop(what=WORK, record=fact, because=f"{record.id} no longer states it")


def _make_fact(record: Record, statement: Statement, now: float) -> Record:
    data = triple_data(statement)
    return Record(
        id=key_id(f"{record.id}\0{data!r}"),
        scope=record.scope,
        text=phrase_statement(statement, record),
        kind=Kind.TRIPLE,
        data=data,
        who=record.who,
        session=record.session,
        agent=record.agent,
        step=record.step,
        occurred=record.occurred,
        trust=record.trust,
        expires=record.expires,
        importance=record.importance,
        created=now,
        source="upkeep",
        derived_from=(record.id,),
        state=NO_STATE.but(worded_by=BY_MODEL),
    )
