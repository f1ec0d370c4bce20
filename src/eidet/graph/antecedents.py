"""Whom pronouns and bare names mean: what the session spoke of last, in order of time.

A record that comes late takes its place in the conversation, and what follows it is read again as far as it
may have changed.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..text.facts.statement import VALUE, Mention, Reference
from .assertion import Assertion
from .names import PERSON, Signature, first_word, sign_mention

REACH: Final = 32  # so many statements back a pronoun or a bare name may point
PAUSE: Final = 3600.0  # seconds after which what has no session is no longer one conversation

HE: Final = frozenset(
    (
        *("brother", "father", "dad", "son", "husband", "uncle", "nephew", "grandfather", "grandpa"),
        *("boyfriend", "grandson", "stepfather", "stepbrother", "stepson"),
    )
)
SHE: Final = frozenset(
    (
        *("sister", "mother", "mom", "mum", "daughter", "wife", "aunt", "niece", "grandmother", "grandma"),
        *("girlfriend", "granddaughter", "stepmother", "stepsister", "stepdaughter"),
    )
)
PRONOUNS: Final = frozenset((Reference.HE, Reference.SHE, Reference.THEY, Reference.IT))


class Discourse:
    """The statements of one session, in order of time."""

    def __init__(self, session: str | None) -> None:
        self._pause = None if session is not None else PAUSE
        self._turns: list[Assertion] = []

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, assertion: Assertion) -> int:
        """Puts a statement in its place; where that is."""
        if not self._turns or self._turns[-1].order < assertion.order:
            self._turns.append(assertion)
            return len(self._turns) - 1
        insort(self._turns, assertion, key=_order)
        return bisect_left(self._turns, assertion.order, key=_order)

    def add_all(self, assertions: Iterable[Assertion]) -> None:
        """Puts many statements in their places at once."""
        self._turns += assertions
        self._turns.sort(key=_order)

    def __iter__(self) -> Iterator[Assertion]:
        return iter(self._turns)

    def remove(self, assertion: Assertion) -> int:
        at = bisect_left(self._turns, assertion.order, key=_order)
        del self._turns[at]
        return at

    def walk(self, at: int, resolve: Callable[[Assertion, int], bool]) -> None:
        """Resolves statements from a place on, as far as a change may be felt."""
        horizon = at + REACH
        while at < min(horizon + 1, len(self._turns)):
            if self._turns[at].leans and resolve(self._turns[at], at):
                horizon = at + REACH
            at += 1

    def look_back(self, at: int) -> Iterator[Assertion]:
        """The statements before a place, the last one first."""
        here = self._turns[at]
        for before in range(at - 1, max(at - 1 - REACH, -1), -1):
            turn = self._turns[before]
            if self._pause is not None and here.source.occurred - turn.source.occurred > self._pause:
                return
            yield turn


def _order(assertion: Assertion) -> tuple[float, int, int, int]:
    return assertion.order


class Resolver:
    """Makes signatures of the mentions of a statement, by what was said before it."""

    def __init__(
        self, signatures: Callable[[int], Signature], is_distinguished: Callable[[str], bool]
    ) -> None:
        self._signature = signatures
        self._is_distinguished = is_distinguished

    def resolve(self, mention: Mention, conversation: Discourse, at: int, turn: Assertion) -> Signature:
        """Whom a mention means; a pronoun without an antecedent is a name of its own."""
        if mention.reference in PRONOUNS:
            return self._resolve_pronoun(mention, conversation, at, turn)
        signature = sign_mention(mention, turn.source.speaker)
        if self.needs_hint(signature):
            hint = self._find_namesake(signature.name, conversation, at)
            return signature._replace(hint=hint)
        return signature

    def _resolve_pronoun(
        self, mention: Mention, conversation: Discourse, at: int, turn: Assertion
    ) -> Signature:
        speaker = Signature(turn.source.speaker, PERSON)
        for before in conversation.look_back(at):
            for candidate in _list_candidates(mention.reference, before):
                found = self._signature(candidate)
                if found != speaker and _fits(mention.reference, found):
                    return found
        sort = "" if mention.reference in (Reference.IT, Reference.THEY) else PERSON
        return Signature(f"{mention.reference} ({turn.source.session or int(turn.source.occurred)})", sort)

    def needs_hint(self, signature: Signature) -> bool:
        """Whether a name alone may mean several: then it depends on whom the session spoke of."""
        if signature.sort not in (PERSON, "") or signature.is_distinct or not signature.name:
            return False
        return self._is_distinguished(signature.name)

    def _find_namesake(self, name: str, conversation: Discourse, at: int) -> Signature | None:
        for before in conversation.look_back(at):
            for number in (before.subject, before.object):
                found = self._signature(number)
                if found.is_distinct and found.sort != VALUE and first_word(found.name) == name:
                    return found._replace(hint=None)
        return None


def _list_candidates(reference: Reference, before: Assertion) -> tuple[int, int]:
    """People are spoken of as subjects, things as objects."""
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
    return found.role not in (SHE if reference is Reference.HE else HE)
