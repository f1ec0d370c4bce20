"""Facts in the formats of others: networkx, GraphML, JSON-LD and Mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from typing import Any, Final

from ..core.errors import Misconfigured
from ..core.record import iso_time
from ..core.validate import dump_json
from .fact import Entity, Fact
from .wording import phrase_span

NETWORKX: Final = "facts.networkx() needs networkx: pip install networkx"
_GRAPHML: Final = "http://graphml.graphdrawing.org/xmlns"
_NODE_KEYS: Final = ("name", "kind")
_EDGE_KEYS: Final = ("relation", "valid_from", "valid_to", "known_from", "confidence", "negated", "derived")


def to_networkx(entities: Sequence[Entity], facts: Sequence[Fact]) -> Any:
    """A `networkx.MultiDiGraph`: entities and values as nodes, facts as edges with all that is known."""
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise Misconfigured(NETWORKX) from error
    graph = networkx.MultiDiGraph()
    for id, name, kind in list_nodes(entities, facts):
        graph.add_node(id, name=name, kind=kind)
    for fact in facts:
        graph.add_edge(fact.subject_id, fact.object_id, key=fact.id, **fact.to_dict())
    return graph


def list_nodes(entities: Iterable[Entity], facts: Iterable[Fact]) -> list[tuple[str, str, str]]:
    """(id, name, kind) of all that facts name; what is no entity is a value."""
    known = {entity.id: entity for entity in entities}
    nodes: dict[str, tuple[str, str, str]] = {}
    for fact in facts:
        for id, name in ((fact.subject_id, fact.subject), (fact.object_id, fact.object)):
            kind = "value"
            if id in known:
                kind = known[id].kind
            nodes[id] = (id, name, kind)
    return list(nodes.values())


def to_graphml(entities: Sequence[Entity], facts: Sequence[Fact]) -> str:
    """As Gephi, yEd and others read it."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<graphml xmlns="{_GRAPHML}">']
    for place, names in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name in names:
            kind = "double" if name == "confidence" else "string"
            lines.append(f'<key id="{name}" for="{place}" attr.name="{name}" attr.type="{kind}"/>')
    lines.append('<graph edgedefault="directed">')
    for id, name, kind in list_nodes(entities, facts):
        lines.append(f'<node id="{_xml(id)}">{_tell("name", name)}{_tell("kind", kind)}</node>')
    for number, fact in enumerate(facts):
        values = fact.to_dict()
        inside = "".join(_tell(name, values[name]) for name in _EDGE_KEYS)
        ends = f'source="{_xml(fact.subject_id)}" target="{_xml(fact.object_id)}"'
        lines.append(f'<edge id="e{number}" {ends}>{inside}</edge>')
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _tell(name: str, value: object) -> str:
    if value is None or value == "":
        return ""
    return f'<data key="{name}">{_xml(str(value))}</data>'


def _xml(text: str) -> str:
    """Without characters that XML cannot hold."""
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text))


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
    for id, name, kind in list_nodes(entities, facts):
        nodes.append({"@id": _urn(id), "@type": kind or "thing", "name": name})
        if aliases.get(id):
            nodes[-1]["alternateName"] = aliases[id]
    for fact in facts:
        nodes.append(_state_fact(fact))
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


def to_mermaid(entities: Sequence[Entity], facts: Sequence[Fact]) -> str:
    """A flow chart for Markdown: solid arrows hold, dotted ones are over."""
    lines, numbers = ["graph LR"], dict[str, str]()
    for id, name, _ in list_nodes(entities, facts):
        numbers[id] = f"n{len(numbers)}"
        lines.append(f'  {numbers[id]}["{_label(name)}"]')
    for fact in facts:
        arrow = "-->" if fact.valid_to is None else "-.->"
        label = fact.relation.replace("_", " ")
        if fact.negated:
            label = f"not {label}"
        if fact.valid_to is not None:
            label = f"{label}, {phrase_span(fact)}"
        lines.append(f'  {numbers[fact.subject_id]} {arrow}|"{_label(label)}"| {numbers[fact.object_id]}')
    return "\n".join([*lines, ""])


def _label(text: str) -> str:
    return " ".join(text.split()).replace('"', "#quot;").replace("|", "#124;")[:80]
