"""Facts: the neighbourhood of an entity, what held of it and when, and contradictions to resolve."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...core.scope import Scope
from ...graph.fact import Entity, Fact, Quotation
from ...memory import Memory
from .record_json import records_as_json

ENTITIES: Final = 300  # names in the list
NODES: Final = 60  # entities of a neighbourhood
LONGEST: Final = 400  # characters of a name or a quotation
_PLAIN: Final = (
    "id",
    "scope",
    "subject_id",
    "relation",
    "object_id",
    "negated",
    "valid_from",
    "valid_to",
    "known_from",
    "confidence",
    "derived",
    "superseded_by",
)


def read_facts(memory: Memory, scope: Scope, name: str | None, hops: int) -> dict[str, Any]:
    """Who and what there is; of one entity (the most often named, if none is said) all that is known."""
    facts = memory.facts
    entities = facts.entities(scope=scope)
    result: dict[str, Any] = {
        "entities": [entity_as_json(entity) for entity in entities[:ENTITIES]],
        "total": len(entities),
        "contradictions": _contradictions(memory, scope),
        "decisions": records_as_json(facts.decisions(scope=scope)[-20:], LONGEST),
        "now": memory.parts.clock(),
        "entity": None,
    }
    chosen = _choose(memory, scope, name, entities)
    if chosen is not None:
        result |= _neighbourhood(memory, scope, chosen, hops)
        result["entity"] = entity_as_json(chosen)
        result["timeline"] = facts_as_json(facts.timeline(chosen, scope=scope))
        result["profile"] = facts.profile(chosen, scope=scope)[:4000]
    return result


def _choose(memory: Memory, scope: Scope, name: str | None, entities: list[Entity]) -> Entity | None:
    if name:
        for entity in entities:
            if entity.id == name:
                return entity
        found = memory.facts.entities(name, scope=scope)
        if found:
            return found[0]
    if entities:
        return entities[0]
    return None


def _neighbourhood(memory: Memory, scope: Scope, centre: Entity, hops: int) -> dict[str, Any]:
    """Entities up to so many facts away, nearest first, and the facts between them."""
    nodes = {centre.id: entity_as_json(centre) | {"hop": 0}}
    edges: dict[str, dict[str, Any]] = {}
    ring = [centre]
    for hop in range(1, hops + 1):
        beyond: list[Entity] = []
        for entity in ring:
            for neighbour in memory.facts.neighbours(entity, scope=scope):
                if neighbour.entity.id not in nodes and len(nodes) < NODES:
                    nodes[neighbour.entity.id] = entity_as_json(neighbour.entity) | {"hop": hop}
                    beyond.append(neighbour.entity)
                if neighbour.entity.id in nodes:
                    edges[neighbour.fact.id] = fact_as_json(neighbour.fact)
        ring = beyond
    return {"nodes": list(nodes.values()), "edges": list(edges.values())}


def _contradictions(memory: Memory, scope: Scope) -> list[dict[str, Any]]:
    rows = []
    for one in memory.facts.contradictions(scope=scope):
        rows.append(
            {
                "subject": one.subject,
                "relation": one.relation,
                "facts": facts_as_json(one.facts),
                "quotations": [_quotations(side) for side in one.quotations],
            }
        )
    return rows


def explain_fact(memory: Memory, scope: Scope, id: str) -> dict[str, Any]:
    """The sentences behind a fact, what ended it, and the rule that inferred it."""
    found = memory.facts.why(id, scope=scope)
    return {
        "fact": fact_as_json(found.fact),
        "rule": found.rule,
        "quotations": _quotations(found.quotations),
        "ended_by": _quotations(found.ended_by),
        "premises": facts_as_json(found.premises),
    }


def _quotations(quotations: Iterable[Quotation]) -> list[dict[str, Any]]:
    rows = []
    for one in quotations:
        rows.append(
            {
                "id": one.id,
                "text": one.text[:LONGEST],
                "occurred": one.occurred,
                "who": one.who,
                "trust": one.trust,
                "source": one.source,
            }
        )
    return rows


def entity_as_json(entity: Entity) -> dict[str, Any]:
    aliases = []
    for alias in entity.aliases[:20]:
        aliases.append(alias[:LONGEST])
    return {
        "id": entity.id,
        "name": entity.name[:LONGEST],
        "kind": entity.kind,
        "aliases": aliases,
        "facts": entity.facts,
    }


def fact_as_json(fact: Fact) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in _PLAIN:
        result[name] = getattr(fact, name)
    for name in ("text", "subject", "object"):
        result[name] = getattr(fact, name)[:LONGEST]
    result["sources"] = list(fact.sources[:20])
    return result


def facts_as_json(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    return [fact_as_json(fact) for fact in facts]
