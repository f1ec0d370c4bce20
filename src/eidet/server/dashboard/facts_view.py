"""Facts: the neighbourhood of an entity, what held of it and when, and contradictions to resolve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any, Final

from ...core.scope import Scope
from ...graph.fact import Entity, Fact, Quotation
from ...memory import Memory
from .record_json import records_as_json

_ENTITIES: Final = 300  # names in the list
_NODES: Final = 60  # entities of a neighbourhood
LONGEST: Final = 400  # characters of a name or a quotation
_APART: Final = frozenset(("subject", "object", "sources", "known_to", "nature", "trust", "seqs"))
_PLAIN: Final = tuple(one.name for one in fields(Fact) if one.name not in _APART)


def read_facts(memory: Memory, scope: Scope, name: str | None, hops: int) -> dict[str, Any]:
    """Lists entities, and all that is known of one: the most often named unless a name is given."""
    facts = memory.facts
    entities = facts.entities(scope=scope)
    result: dict[str, Any] = {
        "entities": [_entity_as_json(entity) for entity in entities[:_ENTITIES]],
        "total": len(entities),
        "contradictions": _contradictions(memory, scope),
        "decisions": records_as_json(facts.decisions(scope=scope)[-20:], LONGEST),
        "now": memory.parts.clock(),
        "entity": None,
    }
    chosen = _choose(memory, scope, name, entities)
    if chosen is not None:
        result |= _neighbourhood(memory, scope, chosen, hops)
        result["entity"] = _entity_as_json(chosen)
        result["timeline"] = _facts_as_json(facts.timeline(chosen, scope=scope))
        result["profile"] = facts.profile(chosen, scope=scope)[:4000]
    return result


def _choose(memory: Memory, scope: Scope, name: str | None, entities: list[Entity]) -> Entity | None:
    """The entity with an id, or else the first that a name may mean, or else the most often named."""
    if name:
        same = [entity for entity in entities if entity.id == name]
        entities = same or memory.facts.entities(name, scope=scope) or entities
    return entities[0] if entities else None


def _neighbourhood(memory: Memory, scope: Scope, centre: Entity, hops: int) -> dict[str, Any]:
    """Entities up to so many facts away, nearest first, and the facts between them."""
    nodes = {centre.id: _entity_as_json(centre) | {"hop": 0}}
    edges: dict[str, dict[str, Any]] = {}
    ring = [centre]
    for hop in range(1, hops + 1):
        beyond: list[Entity] = []
        for entity in ring:
            for neighbour in memory.facts.neighbours(entity, scope=scope):
                if neighbour.entity.id not in nodes and len(nodes) < _NODES:
                    nodes[neighbour.entity.id] = _entity_as_json(neighbour.entity) | {"hop": hop}
                    beyond.append(neighbour.entity)
                if neighbour.entity.id in nodes:
                    edges[neighbour.fact.id] = _fact_as_json(neighbour.fact)
        ring = beyond
    return {"nodes": list(nodes.values()), "edges": list(edges.values())}


def _contradictions(memory: Memory, scope: Scope) -> list[dict[str, Any]]:
    return [
        {
            "subject": one.subject,
            "relation": one.relation,
            "facts": _facts_as_json(one.facts),
            "quotations": [_quotations(side) for side in one.quotations],
        }
        for one in memory.facts.contradictions(scope=scope)
    ]


def explain_fact(memory: Memory, scope: Scope, id: str) -> dict[str, Any]:
    """The sentences behind a fact, what ended it, and the rule that inferred it."""
    found = memory.facts.why(id, scope=scope)
    return {
        "fact": _fact_as_json(found.fact),
        "rule": found.rule,
        "quotations": _quotations(found.quotations),
        "ended_by": _quotations(found.ended_by),
        "premises": _facts_as_json(found.premises),
    }


def _quotations(quotations: Iterable[Quotation]) -> list[dict[str, Any]]:
    return [asdict(one) | {"text": one.text[:LONGEST]} for one in quotations]


def _entity_as_json(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "name": entity.name[:LONGEST],
        "kind": entity.kind,
        "aliases": [alias[:LONGEST] for alias in entity.aliases[:20]],
        "facts": entity.facts,
    }


def _fact_as_json(fact: Fact) -> dict[str, Any]:
    told = {name: getattr(fact, name) for name in _PLAIN}
    texts = {name: getattr(fact, name)[:LONGEST] for name in ("text", "subject", "object")}
    return told | texts | {"sources": list(fact.sources[:20])}


def _facts_as_json(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    return [_fact_as_json(fact) for fact in facts]
