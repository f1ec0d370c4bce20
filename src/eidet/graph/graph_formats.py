"""Converts facts from and to the files of `@modelcontextprotocol/server-memory` for MCP.

An entity of that server has a name, a type and observations, which are sentences. Its type becomes a fact of
the relation `type`, each observation one of `observation`, and each of its relations an ordinary fact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Misconfigured
from ..core.record import Kind
from ..core.validate import dump_json
from ..text.facts.statement import VALUE, Statement
from ..text.facts.vocabulary import relation_of
from .fact import Entity, Fact
from .triple_data import mention_of, triple_data

_NETWORKX: Final = "facts.networkx() needs networkx: pip install networkx"


def to_networkx(entities: Sequence[Entity], facts: Sequence[Fact]) -> Any:
    """Makes a `networkx.MultiDiGraph`: entities and values as nodes, facts as edges with all their fields."""
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise Misconfigured(_NETWORKX) from error
    graph = networkx.MultiDiGraph()
    kinds = {entity.id: entity.kind for entity in entities}  # a node that is no entity is a value
    for fact in facts:
        for id, name in ((fact.subject_id, fact.subject), (fact.object_id, fact.object)):
            graph.add_node(id, name=name, kind=kinds.get(id, "value"))
        graph.add_edge(fact.subject_id, fact.object_id, key=fact.id, **fact.to_dict())
    return graph


OBSERVATION: Final = "observation"
TYPE: Final = "type"
_RAW: Final = "relationType"  # the label for the server's spelling of a relation if ours differs
_KINDS: Final = frozenset(("person", "place", "organisation", "thing", "event"))
_SPELLINGS: Final = {"organization": "organisation", "company": "organisation", "location": "place"}


@dataclass(frozen=True, slots=True)
class McpFact:
    """One item of the server's knowledge of an entity: its type, an observation, or a relation."""

    subject: str
    relation: str  # as the server spells it
    object: str

    @property
    def key(self) -> str:
        """A key for the fact, so that two agents that store it store it once."""
        return f"mcp {dump_json([self.subject, self.relation, self.object])}"


def make_drafts(facts: Sequence[McpFact]) -> list[Draft]:
    """Makes drafts to store facts; the kind of an entity comes from its type, if that is among them."""
    kinds = {fact.subject: _kind_of(fact.object) for fact in facts if fact.relation == TYPE}
    return [_make_draft(fact, kinds) for fact in facts]


def _make_draft(fact: McpFact, kinds: Mapping[str, str]) -> Draft:
    relation = "_".join(fact.relation.casefold().split())
    object_kind = VALUE if fact.relation in (TYPE, OBSERVATION) else kinds.get(fact.object, "")
    statement = Statement(
        subject=mention_of(fact.subject, kinds.get(fact.subject, "")),
        relation=relation,
        object=mention_of(fact.object, object_kind),
    )
    return Draft(
        text=relation_of(relation).phrase.format(subject=fact.subject, object=fact.object),
        data=triple_data(statement),
        kind=Kind.TRIPLE,
        key=fact.key,
        meta=None if relation == fact.relation else {_RAW: fact.relation},
    )


def _kind_of(type: str) -> str:
    """Translates a type to our kinds; unknown types become things."""
    folded = _SPELLINGS.get(type.casefold(), type.casefold())
    return folded if folded in _KINDS else "thing"


def parse_mcp_lines(text: str) -> list[McpFact]:
    """Parses the server's JSON lines; raises `BadInput` with the number of a damaged line."""
    found: list[McpFact] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found += _parse_row(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"line {number} is no entity or relation of an MCP memory: {error!r}") from error
    return found


def _parse_row(row: Any) -> list[McpFact]:
    if row["type"] == "entity":
        name = str(row["name"])
        observed = [McpFact(name, OBSERVATION, str(text)) for text in row["observations"]]
        return [McpFact(name, TYPE, str(row["entityType"])), *observed]
    if row["type"] != "relation":
        raise ValueError(f"type {row['type']!r}")
    return [McpFact(str(row["from"]), str(row["relationType"]), str(row["to"]))]


def write_mcp_lines(entities: Sequence[Entity], facts: Sequence[Fact]) -> str:
    """Writes entities, then relations, as the server does. Values become observations."""
    rows = {
        entity.id: {
            "type": "entity",
            "name": entity.name,
            "entityType": entity.kind or "thing",
            "observations": list[str](),
        }
        for entity in entities
    }
    relations: list[dict[str, Any]] = []
    for fact in facts:
        row: dict[str, Any] = rows.get(fact.subject_id, {"observations": []})
        if fact.relation == TYPE:
            row["entityType"] = fact.object
        elif fact.object_id.startswith("value:") or fact.negated:
            row["observations"].append(fact.object if fact.relation == OBSERVATION else fact.text)
        else:
            ends = {"from": fact.subject, "to": fact.object}
            relations.append({"type": "relation", **ends, "relationType": fact.relation})
    return "\n".join(map(dump_json, [*rows.values(), *relations]))
