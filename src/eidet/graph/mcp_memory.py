"""The file of the MCP reference server `@modelcontextprotocol/server-memory`: JSON lines.

An entity has a name, a type and observations, which are sentences. Observations become facts of the relation
`observation`; what rules read in them is read when they are stored as texts, not here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..core.arguments import check_path
from ..core.draft import Draft
from ..core.errors import BadInput, Misconfigured
from ..core.record import Kind
from ..core.validate import dump_json
from ..text.facts import relation_of
from ..text.facts.statement import Statement
from .fact import Entity, Fact
from .triple_data import mention_of, triple_data

OBSERVATION: Final = "observation"
KINDS: Final = frozenset(("person", "place", "organisation", "thing", "event"))
SPELLINGS: Final = {"organization": "organisation", "company": "organisation", "location": "place"}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpRelation:
    """One line of the file: a relation between two entities, or an observation about one."""

    subject: str
    relation: str
    object: str
    subject_kind: str = ""
    object_kind: str = ""


def read_mcp_file(path: str | Path) -> list[McpRelation]:
    """As `read_mcp_lines`; `Misconfigured` for a file that cannot be read."""
    file = check_path(path, "path")
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text: {error}") from None
    return read_mcp_lines(text)


def read_mcp_lines(text: str) -> list[McpRelation]:
    """`BadInput` for a line that is neither an entity nor a relation, with its number."""
    kinds: dict[str, str] = {}
    found: list[McpRelation] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found += _read_line(json.loads(line), kinds)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"line {number} is no entity or relation of an MCP memory: {error!r}") from error
    return [_with_kinds(one, kinds) for one in found]


def _read_line(row: Any, kinds: dict[str, str]) -> list[McpRelation]:
    if row["type"] == "entity":
        name = str(row["name"])
        kinds[name] = str(row["entityType"])
        rows = [McpRelation(subject=name, relation="type", object=kinds[name], object_kind="value")]
        for observation in row["observations"]:
            text = str(observation)
            rows.append(McpRelation(subject=name, relation=OBSERVATION, object=text, object_kind="value"))
        return rows
    if row["type"] != "relation":
        raise ValueError(f"type {row['type']!r}")
    relation = "_".join(str(row["relationType"]).casefold().split())
    return [McpRelation(subject=str(row["from"]), relation=relation, object=str(row["to"]))]


def _with_kinds(one: McpRelation, kinds: dict[str, str]) -> McpRelation:
    return McpRelation(
        subject=one.subject,
        relation=one.relation,
        object=one.object,
        subject_kind=_kind_of(kinds.get(one.subject, "")),
        object_kind=one.object_kind or _kind_of(kinds.get(one.object, "")),
    )


def draft_of(row: McpRelation) -> Draft:
    """A fact to be stored."""
    statement = Statement(
        subject=mention_of(row.subject, row.subject_kind),
        relation=row.relation,
        object=mention_of(row.object, row.object_kind),
    )
    text = relation_of(row.relation).phrase.format(subject=row.subject, object=row.object)
    return Draft(text=text, data=triple_data(statement), kind=Kind.TRIPLE)


def _kind_of(kind: str) -> str:
    """Our word for theirs; what we have no word for is a thing."""
    folded = kind.casefold()
    folded = SPELLINGS.get(folded, folded)
    if folded in KINDS:
        return folded
    if folded:
        return "thing"
    return ""


def write_mcp_lines(entities: Sequence[Entity], facts: Sequence[Fact]) -> str:
    """As the server writes it: entities first, then relations. Values become observations."""
    observations: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    names: dict[str, str] = {entity.id: entity.name for entity in entities}
    relations: list[dict[str, str]] = []
    for fact in facts:
        if fact.relation == "type":
            types[fact.subject_id] = fact.object
        elif fact.object_id.startswith("value:") or fact.negated:
            text = fact.object if fact.relation == OBSERVATION else fact.text
            observations.setdefault(fact.subject_id, []).append(text)
        else:
            ends = {"from": fact.subject, "to": fact.object}
            relations.append({"type": "relation", **ends, "relationType": fact.relation})
    lines = list(_list_entities(entities, types, observations, names))
    lines += [dump_json(relation) for relation in relations]
    return "\n".join(lines)


def _list_entities(
    entities: Sequence[Entity],
    types: dict[str, str],
    observations: dict[str, list[str]],
    names: dict[str, str],
) -> Iterable[str]:
    for entity in entities:
        row: dict[str, Any] = {"type": "entity", "name": names[entity.id]}
        row["entityType"] = types.get(entity.id) or entity.kind or "thing"
        row["observations"] = observations.get(entity.id, [])
        yield dump_json(row)
