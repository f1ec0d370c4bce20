"""The tables of a relational store: their columns with their types in PostgreSQL, and the schema's number.

The migrations make them, and `sqlite_tables.sql` does for a new file; tests keep all three equal.
"""

from __future__ import annotations

from typing import Final

REVISION: Final = "0001"

TABLES: Final[dict[str, dict[str, str]]] = {
    "records": {
        "seq": "int8",
        "id": "text",
        "scope": "text",
        "kind": "text",
        "tier": "text",
        "text": "text",
        "data": "text",
        "who": "text",
        "agent": "text",
        "session": "text",
        "step": "int8",
        "x": "float8",
        "y": "float8",
        "z": "float8",
        "importance": "float8",
        "created": "float8",
        "occurred": "float8",
        "uses": "int4",
        "last_used": "float8",
        "expires": "float8",
        "source": "text",
        "meta": "text",
        "level": "int4",
        "derived_from": "text",
        "version": "int4",
        "digest": "bytea",
        "terms": "bytea",
        "vector": "bytea",
        "original": "bytea",
        "trust": "text",
        "sealed": "bytea",
        "state": "text",
        "statement": "bytea",
    },
    "events": {
        "seq": "int8",
        "scope": "text",
        "id": "text",
        "what": "text",
        "moment": "float8",
        "actor": "text",
        "version": "int4",
        "gone": "int8",
        "born": "float8",
        "author": "text",
        "earlier": "text",
    },
    "settings": {
        "name": "text",
        "value": "text",
    },
    "tombstones": {
        "scope": "text",
        "mark": "bytea",
        "moment": "float8",
    },
    "tallies": {
        "scope": "text",
        "day": "int4",
        "what": "text",
        "counts": "text",
    },
    "vectors_next": {
        "seq": "int8",
        "vector": "bytea",
    },
}
RECORD_COLUMNS: Final = tuple(TABLES["records"])
EVENT_COLUMNS: Final = tuple(TABLES["events"])
NULLABLE: Final = frozenset(
    (
        *("data", "who", "agent", "session", "step", "x", "y", "z", "last_used", "expires", "source"),
        *("meta", "derived_from", "vector", "original", "sealed", "state", "statement"),
    )
)
