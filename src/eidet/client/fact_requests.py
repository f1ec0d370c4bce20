"""`client.facts` as requests: what held when, who is who, and decisions about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Moment, clean_json, clean_text, moment
from ..memory.fact_arguments import Named, check_relation, id_of, name_of, part_of
from .fact_unpacking import (
    unpack_contradiction,
    unpack_entity,
    unpack_explanation,
    unpack_fact,
    unpack_facts,
    unpack_match,
    unpack_neighbour,
)
from .packing import pack_field, pack_scope
from .requests_of import Steps
from .sending import WireRequest
from .unpacking import unpack_record, unpack_records

if TYPE_CHECKING:
    from ..graph.fact import Contradiction, Entity, Explanation, Fact, Neighbour
    from ..graph.joins import FactMatch


def _read(path: str, scope: str | Scope, body: Any = None) -> WireRequest:
    return WireRequest(method="POST", path=f"/v1/facts/{path}", params=pack_scope(scope), body=body)


def _write(path: str, scope: str | Scope, body: Any) -> WireRequest:
    """Not sent again once the server may have seen it."""
    return WireRequest(
        method="POST", path=f"/v1/facts/{path}", params=pack_scope(scope), body=body, repeatable=False
    )


def _times(**given: Moment | None) -> dict[str, float]:
    said = {}
    for name, value in given.items():
        if value is not None:
            said[name] = moment(value, name)
    return said


def _decide(because: str | None, **said: Any) -> dict[str, Any]:
    if because is not None:
        said["because"] = clean_text(because, "because")
    return said


def _id_of_fact(fact: Fact | str) -> str:
    if isinstance(fact, str):
        return clean_text(fact, "an id")
    return fact.id


def add(
    subject: Named,
    relation: str,
    object: Named | float,
    *,
    scope: str | Scope = "default",
    since: Moment | None = None,
    until: Moment | None = None,
    ended: bool = False,
    negated: bool = False,
    confidence: float = 1.0,
    sources: Sequence[str] = (),
    **details: Any,
) -> Steps[Fact]:
    """States a fact. `sources` are the ids of records that it was read from. See `memory.facts.add`.

    `details` are who, session, agent, occurred and trust.
    """
    body: dict[str, Any] = {
        "subject": name_of(subject),
        "relation": check_relation(relation),
        "object": name_of(object),
        "ended": ended,
        "negated": negated,
        "confidence": clean_json(confidence, "confidence"),
        "sources": list(sources),
    }
    for name, value in details.items():
        body |= pack_field(name, value)
    return unpack_fact((yield _write("add", scope, body | _times(since=since, until=until))))


def about(
    entity: Named,
    *,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Steps[list[Fact]]:
    """What holds of an entity: what is said of it, then what names it."""
    body = {"entity": id_of(entity)} | _times(as_of=as_of, known_at=known_at)
    return unpack_facts((yield _read("about", scope, body)))


def match(
    *patterns: Sequence[str | None],
    subject: Named | None = None,
    relation: str | None = None,
    object: Named | None = None,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    ever: bool = False,
    infer: bool = True,
    limit: int = 100,
) -> Steps[list[FactMatch]]:
    """The ways in which a pattern, or several patterns together, hold. See `memory.facts.match`."""
    asked = [list(pattern) for pattern in patterns]
    if subject is not None or relation is not None or object is not None:
        asked.append([part_of(subject), relation, part_of(object)])
    body = {"patterns": asked, "ever": ever, "infer": infer, "limit": limit}
    answer = yield _read("match", scope, body | _times(as_of=as_of, known_at=known_at))
    return [unpack_match(one) for one in answer["matches"]]


def neighbours(
    entity: Named,
    *,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Steps[list[Neighbour]]:
    """Who and what is one fact away."""
    body = {"entity": id_of(entity)} | _times(as_of=as_of, known_at=known_at)
    answer = yield _read("neighbours", scope, body)
    return [unpack_neighbour(one) for one in answer["neighbours"]]


def paths(
    start: Named,
    goal: Named,
    *,
    hops: int = 4,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Steps[list[tuple[Fact, ...]]]:
    """The shortest ways between two entities, each as the facts along it; at most four `hops`."""
    body = {"start": id_of(start), "goal": id_of(goal), "hops": hops}
    answer = yield _read("paths", scope, body | _times(as_of=as_of, known_at=known_at))
    found = []
    for way in answer["paths"]:
        found.append(tuple(unpack_facts({"facts": way})))
    return found


def timeline(
    entity: Named,
    *,
    relation: str | None = None,
    scope: str | Scope = "default",
    known_at: Moment | None = None,
) -> Steps[list[Fact]]:
    """All that ever held of an entity, the earliest first; of one relation, if it is named."""
    body = {"entity": id_of(entity), "relation": relation} | _times(known_at=known_at)
    return unpack_facts((yield _read("timeline", scope, body)))


def entities(
    name: str | None = None, *, kind: str | None = None, scope: str | Scope = "default"
) -> Steps[list[Entity]]:
    """Everybody and everything that is spoken of, the most often named first.

    With a `name`, those that it may mean.
    """
    answer = yield _read("entities", scope, {"name": name, "kind": kind})
    return [unpack_entity(one) for one in answer["entities"]]


def profile(
    entity: Named,
    *,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Steps[str]:
    """A short text of what holds of an entity, and of what is to come; empty if nothing is known."""
    body = {"entity": id_of(entity)} | _times(as_of=as_of, known_at=known_at)
    answer = yield _read("profile", scope, body)
    return str(answer["text"])


def why(fact: Fact | str, *, scope: str | Scope = "default") -> Steps[Explanation]:
    """The sentences behind a fact, what ended it, and the rule that inferred it."""
    return unpack_explanation((yield _read("why", scope, {"id": _id_of_fact(fact)})))


def instructions(
    *,
    preferences: bool = True,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Steps[list[Fact]]:
    """Standing instructions, then preferences, that hold; without `preferences`, only the former."""
    body = {"preferences": preferences} | _times(as_of=as_of, known_at=known_at)
    return unpack_facts((yield _read("instructions", scope, body)))


def contradictions(
    *, scope: str | Scope = "default", known_at: Moment | None = None
) -> Steps[list[Contradiction]]:
    """Facts that cannot hold together, where nothing decides between them; `resolve` does."""
    answer = yield _read("contradictions", scope, _times(known_at=known_at))
    return [unpack_contradiction(one) for one in answer["contradictions"]]


def resolve(keep: Fact | str, *, scope: str | Scope = "default", because: str | None = None) -> Steps[Record]:
    """Decides a contradiction: one fact stays, those that it contradicts never held. `undo` undoes it."""
    return unpack_record((yield _write("resolve", scope, _decide(because, id=_id_of_fact(keep)))))


def retract(fact: Fact | str, *, scope: str | Scope = "default", because: str | None = None) -> Steps[Record]:
    """Says that a fact never held. What it had closed opens again; its sources stay. `undo` undoes it."""
    return unpack_record((yield _write("retract", scope, _decide(because, id=_id_of_fact(fact)))))


def merge(
    entity: Named, *others: Named, scope: str | Scope = "default", because: str | None = None
) -> Steps[Record]:
    """Says that several names mean one entity. `undo` undoes it."""
    names = [id_of(one) for one in others]
    body = _decide(because, entity=id_of(entity), others=names)
    return unpack_record((yield _write("merge", scope, body)))


def split(
    entity: Named,
    *,
    sources: Sequence[str],
    name: str,
    scope: str | Scope = "default",
    because: str | None = None,
) -> Steps[Record]:
    """Says that what some records (by id) tell is of another one of the same name. `undo` undoes it."""
    body = _decide(because, entity=id_of(entity), sources=list(sources), name=name)
    return unpack_record((yield _write("split", scope, body)))


def undo(decision: Record | str, *, scope: str | Scope = "default") -> Steps[None]:
    """Takes a decision back: a merge, a split, a resolution or a retraction."""
    if isinstance(decision, Record):
        yield _write("undo", decision.scope, {"id": decision.id})
    else:
        yield _write("undo", scope, {"id": clean_text(decision, "an id")})


def decisions(*, scope: str | Scope = "default") -> Steps[list[Record]]:
    """What was decided about facts and entities, the oldest first."""
    answer = yield _read("decisions", scope)
    return unpack_records(answer["decisions"])


def export(
    format: str = "json-ld",
    *,
    scope: str | Scope = "default",
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    ever: bool = False,
) -> Steps[str]:
    """The facts that hold (or `ever` held) as text: json-ld, graphml, mermaid, or mcp."""
    body = {"format": format, "ever": ever} | _times(as_of=as_of, known_at=known_at)
    answer = yield _read("export", scope, body)
    return str(answer["text"])
