"""Facts in the formats of others: networkx and JSON-LD."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

from ..core.errors import Misconfigured
from ..core.record import iso_time
from ..core.validate import dump_json
from .fact import Entity, Fact

_NETWORKX: Final = "facts.networkx() needs networkx: pip install networkx"


def to_networkx(entities: Sequence[Entity], facts: Sequence[Fact]) -> Any:
    """Makes a `networkx.MultiDiGraph`: entities and values as nodes, facts as edges with all their fields."""
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise Misconfigured(_NETWORKX) from error
    graph = networkx.MultiDiGraph()
    for id, name, kind in _list_nodes(entities, facts):
        graph.add_node(id, name=name, kind=kind)
    for fact in facts:
        graph.add_edge(fact.subject_id, fact.object_id, key=fact.id, **fact.to_dict())
    return graph


def _list_nodes(entities: Iterable[Entity], facts: Iterable[Fact]) -> list[tuple[str, str, str]]:
    """Lists (id, name, kind) of all that facts name; anything but an entity is a value."""
    known = {entity.id: entity for entity in entities}
    named = {
        id: name for one in facts for id, name in ((one.subject_id, one.subject), (one.object_id, one.object))
    }
    return [(id, name, known[id].kind if id in known else "value") for id, name in named.items()]


def to_json_ld(entities: Sequence[Entity], facts: Sequence[Fact]) -> str:
    """Entities as nodes; each fact as a statement with its times, which plain triples cannot say."""
    context: dict[str, Any] = {
        "@vocab": "urn:eidet:relation:",
        "name": "http://schema.org/name",
        "alternateName": "http://schema.org/alternateName",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "validFrom": "http://schema.org/validFrom",
        "validThrough": "http://schema.org/validThrough",
    }
    aliases = {entity.id: list(entity.aliases) for entity in entities}
    nodes: list[dict[str, Any]] = []
    for id, name, kind in _list_nodes(entities, facts):
        nodes.append({"@id": _urn(id), "@type": kind or "thing", "name": name})
        if aliases.get(id):
            nodes[-1]["alternateName"] = aliases[id]
    nodes += map(_state_fact, facts)
    return dump_json({"@context": context, "@graph": nodes})


def _state_fact(fact: Fact) -> dict[str, Any]:
    node: dict[str, Any] = {
        "@id": _urn(fact.id),
        "@type": "rdf:Statement",
        "rdf:subject": {"@id": _urn(fact.subject_id)},
        "rdf:predicate": {"@id": f"urn:eidet:relation:{fact.relation}"},
        "rdf:object": {"@id": _urn(fact.object_id)},
        "confidence": fact.confidence,
        "negated": fact.negated,
        "sources": list(fact.sources),
    }
    for name, at in (("validFrom", fact.valid_from), ("validThrough", fact.valid_to)):
        if at is not None:
            node[name] = iso_time(at)
    return node


def _urn(id: str) -> str:
    return "urn:eidet:" + re.sub(r"[^\w:#~.-]", "_", id)
