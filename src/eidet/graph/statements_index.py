"""All statements of a scope by who and what they name, with pronouns resolved. It only adds and removes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..text.facts.statement import VALUE, Mention, Nature, Reference
from .antecedents import Discourse, Resolver
from .assertion import Assertion, KnownMention, SourceRow, Stated
from .identities import Identities
from .names import Signature, name_key, name_person

ALIASES: Final = frozenset(("name", "nickname"))  # relations whose object is another name of the subject
FEW: Final = 64  # so many statements of a session are put in their places one by one


class StatementsIndex:
    """Statements by subject, object, relation and session."""

    def __init__(self) -> None:
        self.identities: Identities = Identities()
        self.sources: dict[int, SourceRow] = {}
        self.by_relation: defaultdict[str, dict[Assertion, None]] = defaultdict(dict)
        self.special: dict[Assertion, None] = {}  # preferences and instructions
        self._by_subject: defaultdict[int, list[Assertion]] = defaultdict(list)
        self._by_object: defaultdict[int, list[Assertion]] = defaultdict(list)
        self._discourses: dict[str | None, Discourse] = {}
        self._mentions: dict[Mention, KnownMention] = {}
        self._aliases: dict[Assertion, tuple[int, str]] = {}
        self._labels: dict[int, dict[str, str]] = {}
        self.speakers: Counter[str] = Counter()  # those who say "I", by the number of records
        self._resolver = Resolver(self._signature, self.identities.book.is_distinguished)
        self.size: int = 0

    def add_all(self, stated: Iterable[Stated]) -> None:
        """Takes in what records state: each conversation is put in order once."""
        by_session: dict[str | None, list[Assertion]] = {}
        for one in stated:
            source = self._make_source(one)
            by_session.setdefault(source.session, []).extend(source.assertions)
        for session, assertions in by_session.items():
            discourse = self._find_discourse(session)
            if len(assertions) > FEW or not len(discourse):
                self._add_conversation(discourse, assertions)
                continue
            for assertion in assertions:
                self._add_assertion(assertion)

    def _add_conversation(self, discourse: Discourse, assertions: Sequence[Assertion]) -> None:
        """Puts many statements of one session in their places, and reads all of it in order."""
        discourse.add_all(assertions)
        for assertion in assertions:
            self._file(assertion)
        for at, assertion in enumerate(discourse):
            if assertion.leans or assertion.subject < 0:
                self._resolve(assertion, discourse, at)

    def _make_source(self, stated: Stated) -> SourceRow:
        source, assertions = SourceRow(stated.entry, is_told=stated.is_told), list[Assertion]()
        for statement in stated.statements:
            who = self._know(name_person(statement.subject, statement.relation))
            assertions.append(
                Assertion(source, len(assertions), statement, who, self._know(statement.object))
            )
        source.assertions = tuple(assertions)
        if assertions:
            self.sources[source.seq] = source
            self.speakers[source.speaker] += source.speaks
        return source

    def _know(self, mention: Mention) -> KnownMention:
        known = self._mentions.get(mention)
        if known is None:
            known = self._mentions[mention] = KnownMention(mention)
        return known

    def _find_discourse(self, session: str | None) -> Discourse:
        discourse = self._discourses.get(session)
        if discourse is None:
            discourse = self._discourses[session] = Discourse(session)
        return discourse

    def remove(self, seq: int) -> bool:
        """Takes out what a record stated; whether it stated anything."""
        source = self.sources.pop(seq, None)
        if source is None:
            return False
        self.speakers[source.speaker] -= source.speaks
        for assertion in source.assertions:
            self._remove_assertion(assertion)
        return True

    def list_said_of(self, number: int) -> list[Assertion]:
        """Statements whose subject has this signature."""
        return self._by_subject.get(number, [])

    def list_naming(self, number: int) -> list[Assertion]:
        """Statements whose object has this signature."""
        return self._by_object.get(number, [])

    def relabel(self, labels: Mapping[int, dict[str, str]]) -> bool:
        """Tells which names in which records mean the other one of a split entity: label by name and seq.

        Whether that is news.
        """
        if labels == self._labels:
            return False
        changed = [seq for seq in {**labels, **self._labels} if labels.get(seq) != self._labels.get(seq)]
        self._labels = dict(labels)
        for seq in sorted(changed):
            source = self.sources.get(seq)
            if source is None:
                continue
            for assertion in source.assertions:
                self._remove_assertion(assertion)
            for assertion in source.assertions:
                self._add_assertion(assertion)
        return True

    def _signature(self, number: int) -> Signature:
        return self.identities.signatures[number]

    def _file(self, assertion: Assertion) -> None:
        self.size += 1
        self.by_relation[assertion.relation][assertion] = None
        if assertion.nature is not Nature.FACT:
            self.special[assertion] = None

    def _add_assertion(self, assertion: Assertion) -> None:
        self._file(assertion)
        discourse = self._find_discourse(assertion.source.session)
        at = discourse.add(assertion)
        self._resolve(assertion, discourse, at)
        self._read_again(discourse, at + 1)

    def _remove_assertion(self, assertion: Assertion) -> None:
        self.size -= 1
        discourse = self._discourses[assertion.source.session]
        self.by_relation[assertion.relation].pop(assertion, None)
        self.special.pop(assertion, None)
        at = discourse.remove(assertion)
        self._detach(assertion)
        self._read_again(discourse, at)

    def _read_again(self, discourse: Discourse, at: int) -> None:
        """Resolves anew what follows in the conversation."""
        if at < len(discourse):
            discourse.walk(at, lambda assertion, place: self._resolve(assertion, discourse, place))

    def _resolve(self, assertion: Assertion, discourse: Discourse, at: int) -> bool:
        """Finds out whom a statement names; whether that has changed."""
        subject = self._sign(assertion.who, assertion, discourse, at)
        thing = self._sign(assertion.what, assertion, discourse, at)
        if assertion.subject >= 0:
            if subject == self._signature(assertion.subject) and thing == self._signature(assertion.object):
                return False
            self._detach(assertion)
        self._attach(assertion, subject, thing)
        return True

    def _sign(self, known: KnownMention, assertion: Assertion, discourse: Discourse, at: int) -> Signature:
        signature = known.signature
        if signature is None or (known.leans and self._resolver.needs_hint(signature)):
            signature = self._resolver.resolve(known.mention, discourse, at, assertion)
        if not self._labels:
            return signature
        labels = self._labels.get(assertion.source.seq)
        if labels and signature.name in labels:
            return signature._replace(label=labels[signature.name])
        return signature

    def _attach(self, assertion: Assertion, subject: Signature, thing: Signature) -> None:
        who, what = assertion.subject_mention, assertion.object_mention
        assertion.subject = self.identities.add(subject, assertion.subject_name, who.kind)
        assertion.object = self.identities.add(thing, what.name, what.kind)
        self._by_subject[assertion.subject].append(assertion)
        self._by_object[assertion.object].append(assertion)
        if assertion.relation in ALIASES and not assertion.negated and assertion.confidence >= 0.5:
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
        """ "My name is Ann": from then on both names mean one."""
        spelling = assertion.object_mention.name
        alias = Signature(name_key(spelling), subject.sort)
        is_name = bool(alias.name) and assertion.object_mention.reference is Reference.NAME
        if not is_name or subject.sort == VALUE:
            return
        self._aliases[assertion] = (self.identities.add(alias, spelling, ""), spelling)
        self.identities.link(assertion, subject, alias)
