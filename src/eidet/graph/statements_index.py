"""Indexes the statements of a scope by the subjects and objects they name, with pronouns resolved.

A pronoun means what the session mentioned last, in order of time. A record that arrives late
takes its place in the conversation, and the statements after it are resolved again as far as they may change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ..text.facts.statement import VALUE, Mention, Nature, Reference
from ..text.facts.vocabulary import RELATIONS, Relation, load_vocabulary
from .assertion import Assertion, KnownMention, SourceRow, Stated
from .identities import Identities
from .names import PERSON, Answers, Signature, name_key, sign_mention

_REACH: Final = 32  # statements back that a pronoun may refer to
_PAUSE: Final = 3600.0  # seconds that end a conversation without a session

_ALIASES: Final = frozenset(("name", "nickname"))  # relations whose object is another name of the subject


class StatementsIndex:
    """Statements by subject, object, relation and session."""

    def __init__(self) -> None:
        self.identities: Identities = Identities()
        self.sources: dict[int, SourceRow] = {}
        self.by_relation: defaultdict[str, dict[Assertion, None]] = defaultdict(dict)
        self.special: dict[Assertion, None] = {}  # preferences and instructions
        self._by_subject: defaultdict[int, list[Assertion]] = defaultdict(list)
        self._by_object: defaultdict[int, list[Assertion]] = defaultdict(list)
        self._discourses: dict[str | None, _Discourse] = {}
        self._mentions: Answers[Mention, KnownMention] = Answers(KnownMention)
        self._aliases: dict[Assertion, tuple[int, str]] = {}
        self.size: int = 0

    def add(self, stated: Iterable[Stated]) -> None:
        """Adds the statements of records."""
        by_session: dict[str | None, list[Assertion]] = {}
        for one in stated:
            source = self._make_source(one)
            by_session.setdefault(source.session, []).extend(source.assertions)
        for assertions in filter(None, by_session.values()):
            self._place(assertions)

    def _place(self, assertions: Sequence[Assertion]) -> None:
        """Inserts statements of one session in order, and resolves the conversation from the first on."""
        for assertion in assertions:
            self.size += 1
            self.by_relation[assertion.relation][assertion] = None
            if assertion.nature is not Nature.FACT:
                self.special[assertion] = None
        session = assertions[0].source.session
        if session not in self._discourses:
            self._discourses[session] = _Discourse(session)
        discourse = self._discourses[session]
        self._read_on(discourse, discourse.add(assertions), len(assertions))

    def _make_source(self, stated: Stated) -> SourceRow:
        source, assertions = SourceRow(stated.entry, is_told=stated.is_told), list[Assertion]()
        for statement in stated.statements:
            who = self._mentions[_name_person(statement.subject, statement.relation)]
            assertions.append(
                Assertion(source, len(assertions), statement, who, self._mentions[statement.object])
            )
        source.assertions = tuple(assertions)
        if assertions:
            self.sources[source.seq] = source
        return source

    def remove(self, seq: int) -> None:
        """Removes the statements of a record."""
        for assertion in self.sources.pop(seq).assertions:
            self._displace(assertion)

    def list_said_of(self, number: int) -> list[Assertion]:
        """Lists the statements whose subject has this signature."""
        return self._by_subject.get(number, [])

    def list_naming(self, number: int) -> list[Assertion]:
        """Lists the statements whose object has this signature."""
        return self._by_object.get(number, [])

    def _signature(self, number: int) -> Signature:
        return self.identities.signatures[number]

    def _displace(self, assertion: Assertion) -> None:
        self.size -= 1
        discourse = self._discourses[assertion.source.session]
        self.by_relation[assertion.relation].pop(assertion, None)
        self.special.pop(assertion, None)
        at = discourse.remove(assertion)
        self._detach(assertion)
        self._read_on(discourse, at)

    def _read_on(self, discourse: _Discourse, at: int, new: int = 0) -> None:
        """Resolves the mentions of statements from a place on.

        These are `new` statements, and others as far as a change may affect them.
        """
        horizon = at + _REACH
        for place, assertion in discourse.list_from(at):
            if place > horizon and not new:
                return
            is_new = assertion.subject < 0
            new -= is_new
            may_change = is_new or (assertion.leans and place <= horizon)
            if may_change and self._resolve(assertion, discourse, place):
                horizon = place + _REACH

    def _resolve(self, assertion: Assertion, discourse: _Discourse, at: int) -> bool:
        """Resolves the mentions of a statement; returns whether their meaning changed."""
        subject = self._sign(assertion.who, assertion, discourse, at)
        thing = self._sign(assertion.what, assertion, discourse, at)
        if assertion.subject >= 0:
            if subject == self._signature(assertion.subject) and thing == self._signature(assertion.object):
                return False
            self._detach(assertion)
        self._attach(assertion, subject, thing)
        return True

    def _sign(self, known: KnownMention, assertion: Assertion, discourse: _Discourse, at: int) -> Signature:
        if known.leans:
            return self._resolve_pronoun(known.mention.reference, assertion.source, discourse, at)
        return known.signature or sign_mention(known.mention, assertion.source.speaker)

    def _resolve_pronoun(
        self, reference: Reference, source: SourceRow, discourse: _Discourse, at: int
    ) -> Signature:
        """Returns the signature of the last fitting entity; without one, the pronoun is a name of its own."""
        speaker = Signature(source.speaker, PERSON)
        for before in discourse.look_back(at):
            for candidate in _list_candidates(reference, before):
                found = self._signature(candidate)
                if found != speaker and _fits(reference, found):
                    return found
        sort = "" if reference in (Reference.IT, Reference.THEY) else PERSON
        return Signature(f"{reference} ({source.session or int(source.occurred)})", sort)

    def _attach(self, assertion: Assertion, subject: Signature, thing: Signature) -> None:
        who, what = assertion.subject_mention, assertion.object_mention
        assertion.subject = self.identities.add(subject, assertion.subject_name, who.kind)
        assertion.object = self.identities.add(thing, what.name, what.kind)
        self._by_subject[assertion.subject].append(assertion)
        self._by_object[assertion.object].append(assertion)
        if assertion.relation in _ALIASES and not assertion.negated and assertion.confidence >= 0.5:
            self._add_alias(assertion, subject)

    def _detach(self, assertion: Assertion) -> None:
        who, what = assertion.subject_mention, assertion.object_mention
        self._by_subject[assertion.subject].remove(assertion)
        self._by_object[assertion.object].remove(assertion)
        self.identities.remove(assertion.subject, assertion.subject_name, who.kind)
        self.identities.remove(assertion.object, what.name, what.kind)
        assertion.subject = assertion.object = -1
        alias = self._aliases.pop(assertion, None)
        if alias is not None:
            self.identities.unlink(assertion)
            self.identities.remove(alias[0], alias[1], "")

    def _add_alias(self, assertion: Assertion, subject: Signature) -> None:
        """Links the two names of a statement such as "my name is Ann" as one entity."""
        spelling = assertion.object_mention.name
        alias = Signature(name_key(spelling), subject.sort)
        is_name = bool(alias.name) and assertion.object_mention.reference is Reference.NAME
        if not is_name or subject.sort == VALUE:
            return
        self._aliases[assertion] = (self.identities.add(alias, spelling, ""), spelling)
        self.identities.link(assertion, subject, alias)


class _Discourse:
    """The statements of one session, in order of time."""

    def __init__(self, session: str | None) -> None:
        self._pause = None if session is not None else _PAUSE
        self._turns: list[Assertion] = []

    def add(self, assertions: Iterable[Assertion]) -> int:
        """Inserts statements in order; returns the first of their places."""
        ordered = sorted(assertions, key=_order)
        is_next = not self._turns or self._turns[-1].order < ordered[0].order
        self._turns += ordered
        if is_next:
            return len(self._turns) - len(ordered)
        self._turns.sort(key=_order)
        return bisect_left(self._turns, ordered[0].order, key=_order)

    def remove(self, assertion: Assertion) -> int:
        at = bisect_left(self._turns, assertion.order, key=_order)
        del self._turns[at]
        return at

    def list_from(self, at: int) -> Iterator[tuple[int, Assertion]]:
        """Yields the statements from a place on, each with its place."""
        return ((place, self._turns[place]) for place in range(at, len(self._turns)))

    def look_back(self, at: int) -> Iterator[Assertion]:
        """Yields the statements before a place, the last one first, up to `_REACH` or a pause."""
        here = self._turns[at]
        for before in range(at - 1, max(at - 1 - _REACH, -1), -1):
            turn = self._turns[before]
            if self._pause is not None and here.source.occurred - turn.source.occurred > self._pause:
                return
            yield turn


def _order(assertion: Assertion) -> tuple[float, int, int, int]:
    return assertion.order


def _list_candidates(reference: Reference, before: Assertion) -> tuple[int, int]:
    """Returns an antecedent's candidates, the likelier first: people are usually subjects, things objects."""
    if reference is Reference.IT:
        return before.object, before.subject
    return before.subject, before.object


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


def _name_person(mention: Mention, relation: str) -> Mention:
    """Makes the subject of a personal relation a person, unless its text gives another kind."""
    if mention.kind or mention.reference is not Reference.NAME or relation not in _PERSONAL:
        return mention
    return _as_person(mention)


@lru_cache(maxsize=65_536)
def _as_person(mention: Mention) -> Mention:
    return replace(mention, kind=PERSON)


def _is_personal(relation: Relation) -> bool:
    """Returns whether only people have a relation, by the catalogue."""
    inverse = RELATIONS.get(relation.inverse)
    if relation.personal or (relation.symmetric and relation.object == PERSON):
        return True
    return inverse is not None and inverse.object == PERSON


_PERSONAL: Final = frozenset(name for name, relation in RELATIONS.items() if _is_personal(relation))
