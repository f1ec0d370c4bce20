"""Chroma: the documents and metadata of a persistent folder, read from its `chroma.sqlite3`.

Collections become scopes. Vectors are left: Eidet embeds texts itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from ..core.draft import Draft
from .foreign_sqlite import ForeignDatabase, open_database
from .foreign_values import read_time, with_origin
from .json_source import find_source
from .source_items import Notes, ReadOptions, SourceItem, identify, make_labels

FILE: Final = "chroma.sqlite3"
DOCUMENT: Final = "chroma:document"
URI: Final = "chroma:uri"
ROWS: Final = """
    SELECT collections.name AS collection, embeddings.id AS number, embeddings.embedding_id AS id,
        embeddings.created_at AS created_at, m.key AS key, m.string_value AS string_value,
        m.int_value AS int_value, m.float_value AS float_value, m.bool_value AS bool_value
    FROM embeddings
    JOIN segments ON segments.id = embeddings.segment_id
    JOIN collections ON collections.id = segments.collection
    LEFT JOIN embedding_metadata AS m ON m.id = embeddings.id
    ORDER BY collections.name, embeddings.id, m.key
"""
ARRAYS: Final = "SELECT * FROM embedding_metadata_array ORDER BY id, key, rowid"

Row = dict[str, Any]
Arrays = dict[int, dict[str, list[Any]]]


def read_chroma(source: str, _: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_database(_find_file(source)) as database:
        needed = frozenset(("id", "segment_id", "embedding_id"))
        database.require_columns("embeddings", needed, "Chroma")
        _note_collections(database, notes)
        arrays = _read_arrays(database)
        for _, rows in groupby(database.read(ROWS), key=itemgetter("collection", "number")):
            item = _make_item(list(rows), arrays, notes)
            if item is not None:
                yield item


def _find_file(source: str) -> Path:
    path = find_source(source)
    if path.is_dir():
        return find_source(str(path / FILE))
    return path


def _note_collections(database: ForeignDatabase, notes: Notes) -> None:
    for _ in database.read("SELECT key FROM collection_metadata"):
        notes.drop("metadata of a collection", "a scope has none")


def _read_arrays(database: ForeignDatabase) -> Arrays:
    """Lists among the metadata, by the number of their record; files of before 1.4 have none."""
    arrays: Arrays = defaultdict(dict)
    if database.list_columns("embedding_metadata_array"):
        for row in database.read(ARRAYS):
            arrays[row["id"]].setdefault(row["key"], []).append(_read_value(row))
    return arrays


def _make_item(rows: list[Row], arrays: Arrays, notes: Notes) -> SourceItem | None:
    first = rows[0]
    where = f"{first['id']} of collection {first['collection']}"
    meta: dict[str, Any] = dict(arrays.get(first["number"], {}))
    for row in rows:
        if row["key"] is not None:
            meta[row["key"]] = _read_value(row)
    notes.drop("vector", "Eidet embeds the text itself")
    if not str(meta.get(DOCUMENT) or "").strip():
        notes.skip(where, "has no document")
        return None
    labels = make_labels(collection=first["collection"])
    return SourceItem(where=where, labels=labels, draft=_make_draft(first, meta, where))


def _make_draft(row: Row, meta: dict[str, Any], where: str) -> Draft:
    text, uri = meta.pop(DOCUMENT), meta.pop(URI, None)
    return Draft(
        **identify(str(row["id"]), "chroma"),
        kind="document",
        text=text,
        occurred=read_time(row["created_at"], f"{where}: created_at"),
        source=_name_source(meta.get("source"), uri),
        meta=with_origin(meta, "chroma", {"collection": row["collection"], "id": row["id"]}),
    )


def _name_source(*candidates: Any) -> str:
    for candidate in candidates:
        if isinstance(candidate, str) and 0 < len(candidate) <= 1000:
            return candidate
    return "chroma"


def _read_value(row: Row) -> Any:
    if row.get("bool_value") is not None:
        return bool(row["bool_value"])
    for name in ("string_value", "int_value", "float_value"):
        if row[name] is not None:
            return row[name]
    return None
