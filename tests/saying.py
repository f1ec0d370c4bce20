"""Statements and entries for tests of the graph, made by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from eidet.core.record import Record
from eidet.graph.assertion import Stated
from eidet.graph.scope_graph import ScopeGraph, View
from eidet.store.model import Entry, entry_of
from eidet.text.facts.statement import Mention, Reference, Statement

LATER = datetime(2030, 1, 1, tzinfo=UTC).timestamp()
VIEW = View(now=LATER)


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def person(name: str, role: str = "", owner: str = "") -> Mention:
    return Mention(name=name, kind="person", role=role, owner=owner)


def place(name: str) -> Mention:
    return Mention(name=name, kind="place")


I = Mention(reference=Reference.SPEAKER, kind="person")  # noqa: E741  # the word itself
SHE = Mention(reference=Reference.SHE, kind="person")
HE = Mention(reference=Reference.HE, kind="person")
IT = Mention(reference=Reference.IT)


def say(subject: Mention | str, relation: str, thing: Mention | str, **more: Any) -> Statement:
    who = person(subject) if isinstance(subject, str) else subject
    what = place(thing) if isinstance(thing, str) else thing
    return Statement(subject=who, relation=relation, object=what, **more)


def entry(seq: int, occurred: float, **more: Any) -> Entry:
    record = Record(id=f"r{seq}", scope="s", text="", seq=seq, occurred=occurred, created=occurred)
    return entry_of(record.but(**more))


def graph_of(*said: tuple[Entry, Statement]) -> ScopeGraph:
    graph = ScopeGraph("s")
    for one, statement in said:
        graph.add([Stated(one, [statement])])
    return graph


def spans(
    graph: ScopeGraph, subject: str, relation: str, view: View = VIEW
) -> list[tuple[str, float | None, float | None]]:
    """(object, from, to) of each interval."""
    found: list[tuple[str, float | None, float | None]] = []
    for root in graph.identities.find(subject):
        for one in graph.trace(root, relation, view):
            name = graph.identities.name_of(one.object)
            found.append((f"not {name}" if one.negated else name, one.start, one.end))
    return found


def values_at(graph: ScopeGraph, subject: str, relation: str, at: float) -> list[str]:
    view = View(now=LATER, at=at)
    found: list[str] = []
    for root in graph.identities.find(subject):
        for one in graph.trace(root, relation, VIEW):
            if view.admits(one) and not one.negated:
                found.append(graph.identities.name_of(one.object))
    return found
