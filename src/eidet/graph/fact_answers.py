"""Which facts answer a question about facts: the ones that held at the time that it asks about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..text.facts import Asks, FactQuestion, Tense, relation_of
from ..text.facts.statement import Mention, Reference
from .entity_names import Node
from .names import MACHINES, USER, name_key, sign_mention
from .scope_graph import ScopeGraph, View
from .validity import Interval

PRONOUNS: Final = frozenset((Reference.HE, Reference.SHE, Reference.THEY, Reference.IT))


def list_answers(graph: ScopeGraph, question: FactQuestion, at: float, view: View) -> list[Interval]:
    """The facts that answer, the latest first; none if the graph does not know who is meant."""
    chosen: dict[int, Interval] = {}
    for interval in list_relevant(graph, question, view):
        if question.asks is Asks.WHETHER and question.tense is Tense.NOW:
            answer = _follow(interval, at)
            chosen[id(answer)] = answer
        elif fits_time(interval, question, at):
            chosen[id(interval)] = interval
    return sorted(chosen.values(), key=_latest_first)


def _follow(interval: Interval, at: float) -> Interval:
    """What took the place of a fact until a time; the fact itself if nothing did."""
    while interval.successor is not None and not interval.holds_at(at):
        interval = interval.successor
    return interval


def list_relevant(graph: ScopeGraph, question: FactQuestion, view: View) -> Iterator[Interval]:
    """All that was ever said of who and what is asked about, whatever the time."""
    subjects = find_meant(graph, question.subject)
    objects = find_meant(graph, question.object)
    for relation in question.relations:
        if question.subject is not None:
            for subject in subjects:
                yield from _keep(_list_both_ways(graph, subject, relation, view), question.object, objects)
        elif question.object is not None:
            for thing in objects:
                yield from graph.list_intervals_naming(thing, view, relation)


def _list_both_ways(graph: ScopeGraph, subject: Node, relation: str, view: View) -> Iterator[Interval]:
    """What is said of a subject, and what others say of it by the inverse."""
    yield from graph.trace(subject, relation, view)
    kind = relation_of(relation)
    inverse = relation if kind.symmetric else kind.inverse
    if inverse:
        yield from graph.list_intervals_naming(subject, view, inverse)


def _keep(intervals: Iterable[Interval], wanted: Mention | None, objects: list[Node]) -> Iterator[Interval]:
    """Where the question names the object, too, only facts about it."""
    for interval in intervals:
        if wanted is None or interval.object in objects:
            yield interval


def find_meant(graph: ScopeGraph, mention: Mention | None) -> list[Node]:
    """The entities that a mention of a question may mean; "I" is who speaks in the scope."""
    if mention is None or mention.reference in PRONOUNS:
        return []
    if mention.reference is Reference.SPEAKER:
        return _find_askers(graph)
    if not mention.role:
        return graph.identities.find(mention.name)
    found: dict[Node, None] = {}
    for asker in list_askers(graph):
        found |= dict.fromkeys(_find_by_role(graph, mention, asker))
    if found or not mention.name:
        return list(found)
    return graph.identities.find(mention.name)


def _find_askers(graph: ScopeGraph) -> list[Node]:
    found: dict[Node, None] = {}
    for asker in list_askers(graph):
        found |= dict.fromkeys(graph.identities.find(asker))
    return list(found)


def list_askers(graph: ScopeGraph) -> list[str]:
    """Whom "I" may mean in a question: the unnamed user, and the only person who tells of themselves.

    Where several do, the scope may carry the name of one; otherwise nobody knows which of them asks.
    """
    named = []
    for speaker, records in graph.index.speakers.items():
        if records > 0 and speaker not in MACHINES and speaker != USER:
            named.append(speaker)
    if len(named) > 1:
        own = name_key(graph.scope.rpartition("/")[2])
        named = [speaker for speaker in named if speaker == own]
    return [USER, *named]


def _find_by_role(graph: ScopeGraph, mention: Mention, asker: str) -> list[Node]:
    """Those whom texts name with the same role: "my sister Maria" is "my sister"."""
    wanted = sign_mention(mention, asker)
    found: dict[Node, None] = {}
    for number in graph.identities.book.list_living(wanted.shelf):
        signature = graph.identities.signatures[number]
        if (signature.role, signature.owner) == (wanted.role, wanted.owner):
            found[graph.identities.root_of(number)] = None
    return list(found)


def fits_time(interval: Interval, question: FactQuestion, at: float) -> bool:
    """Whether a fact held when the question asks."""
    if question.asks is Asks.WHEN and question.tense is not Tense.AT:
        return True
    if question.tense is Tense.NOW:
        return interval.holds_at(at)
    if question.tense is Tense.BEFORE:
        return interval.end is not None and interval.end <= at
    if question.tense is Tense.AT and question.since is not None and question.until is not None:
        begun = interval.start is None or interval.start < question.until
        return begun and (interval.end is None or interval.end > question.since)
    return True


def _latest_first(interval: Interval) -> tuple[float, float]:
    start = interval.start
    if start is None:
        start = float("-inf")
    return -start, -interval.confidence
