"""Indexes the statements of a scope by the names they mention, with pronouns resolved.

A pronoun means what the session mentioned last, in order of time. A record that arrives late
takes its place in the conversation, and the statements after it are resolved again as far as they may change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..text.facts.statement import VALUE, Mention, Nature, Reference
from ..text.facts.vocabulary import RELATIONS, Relation, load_vocabulary
from .assertion import (
    NOBODY,
    PERSON,
    PRONOUNS,
    Assertion,
    NameEntry,
    Signature,
    SourceRow,
    Stated,
    name_key,
    sign_mention,
)
from .identities import Identities

_REACH: Final = 32  # statements back that a pronoun may refer to
_PAUSE: Final = 3600.0  # seconds that end a conversation without a session

_ALIASES: Final = frozenset(("name", "nickname"))  # relations whose object is another name of the subject


class StatementsIndex:
    """Statements by name, relation and session."""

    def __init__(self) -> None:
        self.identities: Identities = Identities()
        self.sources: dict[int, SourceRow] = {}
        self.by_relation: defaultdict[str, dict[Assertion, None]] = defaultdict(dict)
        self.special: dict[Assertion, None] = {}  # preferences and instructions
        self._discourses: defaultdict[str | None, _Discourse] = defaultdict(_Discourse)
        self._aliases: dict[Assertion, NameEntry] = {}
        self.size: int = 0

    def add(self, stated: Iterable[Stated]) -> None:
        """Adds the statements of records; resolves each conversation from the first new one on."""
        by_session: defaultdict[str | None, list[Assertion]] = defaultdict(list)
        for source in map(SourceRow, stated):
            if source.assertions:
                self.sources[source.seq] = source
                by_session[source.session] += source.assertions
        for session, assertions in by_session.items():
            for assertion in assertions:
                self.by_relation[assertion.statement.relation][assertion] = None
                if assertion.statement.nature is not Nature.FACT:
                    self.special[assertion] = None
            self.size += len(assertions)
            discourse = self._discourses[session]
            self._read_on(discourse, discourse.add(assertions), len(assertions))

    def remove(self, seq: int) -> None:
        """Removes the statements of a record."""
        source = self.sources.pop(seq)
        discourse = self._discourses[source.session]
        for assertion in source.assertions:
            self.size -= 1
            self.by_relation[assertion.statement.relation].pop(assertion, None)
            self.special.pop(assertion, None)
            at = discourse.remove(assertion)
            self._detach(assertion)
            self._read_on(discourse, at)

    def _read_on(self, discourse: _Discourse, at: int, new: int = 0) -> None:
        """Resolves the mentions of statements from a place on.

        These are `new` statements, and others as far as a change may affect them.
        """
        horizon = at + _REACH
        for place in range(at, len(discourse.turns)):
            if place > horizon and not new:
                return
            assertion = discourse.turns[place]
            is_new = assertion.subject is NOBODY
            new -= is_new
            may_change = is_new or (assertion.leans and place <= horizon)
            if may_change and self._resolve(assertion, discourse, place):
                horizon = place + _REACH

    def _resolve(self, assertion: Assertion, discourse: _Discourse, at: int) -> bool:
        """Resolves the mentions of a statement; returns whether their meaning changed."""
        said, source = assertion.statement, assertion.source
        # the subject of a personal relation is a person, unless its text gives another kind
        subject = self._sign(said.subject, source, discourse, at, said.relation in _PERSONAL)
        thing = self._sign(said.object, source, discourse, at)
        if assertion.subject is not NOBODY:
            if (subject, thing) == (assertion.subject.signature, assertion.object.signature):
                return False
            self._detach(assertion)
        self._attach(assertion, subject, thing)
        return True

    def _sign(
        self, mention: Mention, source: SourceRow, discourse: _Discourse, at: int, is_personal: bool = False
    ) -> Signature:
        if mention.reference in PRONOUNS:
            return _resolve_pronoun(mention.reference, source, discourse, at)
        return sign_mention(mention, source.speaker, is_personal=is_personal)

    def _attach(self, assertion: Assertion, subject: Signature, thing: Signature) -> None:
        assertion.subject, assertion.object = self._open(subject), self._open(thing)
        assertion.subject.said.append(assertion)
        assertion.object.naming.append(assertion)
        said = assertion.statement
        if said.relation in _ALIASES and not said.negated and said.confidence >= 0.5:
            self._add_alias(assertion)

    def _open(self, signature: Signature) -> NameEntry:
        """Returns the entry of a name that is about to be mentioned."""
        entry = self.identities.book.open(signature)
        self.identities.note_mention(entry)
        return entry

    def _detach(self, assertion: Assertion) -> None:
        subject, thing, alias = assertion.subject, assertion.object, self._aliases.pop(assertion, None)
        assertion.subject = assertion.object = NOBODY
        subject.said.remove(assertion)
        thing.naming.remove(assertion)
        self.identities.note_mention(subject)
        self.identities.note_mention(thing)
        if alias is not None:
            alias.aliased.remove(assertion)
            self.identities.unlink(assertion)

    def _add_alias(self, assertion: Assertion) -> None:
        """Links the two names of a statement such as "my name is Ann" as one entity."""
        told, subject = assertion.statement.object, assertion.subject
        alias = Signature(name_key(told.name), subject.signature.sort)
        if told.reference is not Reference.NAME or not alias.name or alias.sort == VALUE:
            return
        entry = self._aliases[assertion] = self._open(alias)
        entry.aliased.append(assertion)
        self.identities.link(assertion, subject, entry)


class _Discourse:
    """The statements of one session, in order of time."""

    def __init__(self) -> None:
        self.turns: list[Assertion] = []

    def add(self, assertions: Sequence[Assertion]) -> int:
        """Inserts statements in order; returns the first of their places."""
        ordered = sorted(assertions, key=_order)
        is_late = bool(self.turns) and self.turns[-1].order > ordered[0].order
        self.turns += ordered
        if is_late:
            self.turns.sort(key=_order)
        return self._place_of(ordered[0])

    def remove(self, assertion: Assertion) -> int:
        at = self._place_of(assertion)
        del self.turns[at]
        return at

    def _place_of(self, assertion: Assertion) -> int:
        return bisect_left(self.turns, assertion.order, key=_order)

    def look_back(self, at: int) -> Iterator[Assertion]:
        """Yields the statements before a place, the last one first, up to `_REACH` or a pause."""
        here = self.turns[at].source
        for before in range(at - 1, max(at - 1 - _REACH, -1), -1):
            turn = self.turns[before]
            if here.session is None and here.occurred - turn.source.occurred > _PAUSE:
                return
            yield turn


def _order(assertion: Assertion) -> tuple[float, int, int, int]:
    return assertion.order


def _resolve_pronoun(reference: Reference, source: SourceRow, discourse: _Discourse, at: int) -> Signature:
    """Returns the signature of the last fitting entity; without one, the pronoun is a name of its own.

    People are usually subjects, things objects.
    """
    speaker = Signature(source.speaker, PERSON)
    for before in discourse.look_back(at):
        candidates = (before.subject.signature, before.object.signature)
        for found in candidates[::-1] if reference is Reference.IT else candidates:
            if found != speaker and _fits(reference, found):
                return found
    sort = "" if reference in (Reference.IT, Reference.THEY) else PERSON
    return Signature(f"{reference} ({source.session or int(source.occurred)})", sort)


def _fits(reference: Reference, found: Signature) -> bool:
    if found.sort == VALUE:
        return False
    if reference is Reference.IT:
        return found.sort != PERSON
    if reference is Reference.THEY:
        return True
    if found.sort not in (PERSON, ""):
        return False
    known = load_vocabulary()
    return found.role not in (known.she if reference is Reference.HE else known.he)


def _is_personal(relation: Relation) -> bool:
    """Returns whether only people have a relation, by the catalogue."""
    inverse = RELATIONS.get(relation.inverse)
    if relation.personal or (relation.symmetric and relation.object == PERSON):
        return True
    return inverse is not None and inverse.object == PERSON


_PERSONAL: Final = frozenset(name for name, relation in RELATIONS.items() if _is_personal(relation))
