"""mem0: its store in a local Qdrant or in FAISS, and what its `get_all` answers, as JSON.

The store is read without mem0, Qdrant or FAISS. Vectors are left: Eidet embeds texts itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from .foreign_sqlite import ForeignDatabase, is_sqlite, open_database
from .foreign_values import end_of_day, plain_json, read_time, with_origin
from .format_guess import make_foreign
from .json_source import find_source, open_text, read_array, read_document
from .safe_pickles import QdrantPoint, read_pickle
from .source_items import Notes, ReadOptions, SourceItem, identify, keep_present, make_labels

Row = tuple[str, str, Mapping[str, Any]]  # where it stands, its id, its payload
Past = Mapping[str, list[dict[str, Any]]]  # earlier texts by the id of their memory

MADE: Final = {"hash": "is made from the text", "text_lemmatized": "is made from the text"}
OWNERS: Final = ("user_id", "agent_id", "app_id", "run_id")  # in the order in which they own a memory
HISTORY: Final = frozenset(("memory_id", "old_memory", "event", "updated_at"))  # columns
TAKEN: Final = frozenset((*MADE, "id", "data", "memory", "metadata", "score", "created_at"))


def read_mem0(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    past = _read_history(options.history, notes)
    for where, id, payload in _list_rows(find_source(source), notes):
        text = payload.get("data")
        if not isinstance(text, str) or not text.strip():
            notes.skip(where, "has no text")
            continue
        for name, why in MADE.items():
            if name in payload:
                notes.drop(name, why)
        yield _make_item(where, id, payload, past.get(id))


def _make_item(
    where: str, id: str, payload: Mapping[str, Any], past: list[dict[str, Any]] | None
) -> SourceItem:
    draft = Draft(
        **identify(id, "mem0"),
        **_kind_of(payload.get("role")),
        text=payload["data"],
        agent=payload.get("agent_id"),
        session=payload.get("run_id"),
        who=payload.get("actor_id") or payload.get("role"),
        occurred=read_time(payload.get("created_at"), f"{where}: created_at"),
        expires=end_of_day(payload.get("expiration_date"), f"{where}: expiration_date"),
        source="mem0",
        meta=_make_meta(payload, past),
    )
    return SourceItem(where=where, labels=_list_labels(payload), draft=draft)


def _make_meta(payload: Mapping[str, Any], past: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """As mem0's interface to Eidet keeps it, so that programs find memories through that."""
    meta: dict[str, Any] = {}
    for name, value in payload.items():
        if name not in TAKEN and value is not None:
            meta[name] = value
    return with_origin(plain_json(meta), "mem0", keep_present(history=past))


def _kind_of(role: Any) -> dict[str, Any]:
    """What mem0 stored as it was said has a role; what it inferred has none."""
    if not isinstance(role, str):
        return {"kind": "fact"}
    return {"kind": "message", "data": {"role": role}}


def _list_labels(payload: Mapping[str, Any]) -> dict[str, str]:
    for name in OWNERS:
        id = payload.get(name)
        if isinstance(id, str) and id.strip():
            labels = make_labels(user=id, agent=payload.get("agent_id"), session=payload.get("run_id"))
            return {"owner": f"{name.removesuffix('_id')}/{labels['user']}", **labels}
    return {}


def _list_rows(path: Path, notes: Notes) -> Iterator[Row]:
    if path.is_dir():
        return _list_folder(path, notes)
    if is_sqlite(path):
        return _list_points(path, notes)
    if path.suffix == ".pkl":
        return _list_docstore(_read_docstore_pickle(path), path, notes)
    return _list_export(path, notes)


def _list_folder(path: Path, notes: Notes) -> Iterator[Row]:
    stores = sorted(path.glob("collection/*/storage.sqlite")) or sorted(path.glob("**/storage.sqlite"))
    indexes = sorted(path.glob("**/*.faiss"))
    if not stores and not indexes:
        raise BadInput(f"{path} holds no store of mem0: neither a local Qdrant nor FAISS")
    for store in stores:
        if store.parent.name.endswith("_entities"):
            notes.drop(store.parent.name, "is an index of names; Eidet makes its own")
        else:
            yield from _list_points(store, notes)
    for index in indexes:
        if index.stem.endswith("_entities"):
            notes.drop(index.stem, "is an index of names; Eidet makes its own")
        else:
            yield from _list_faiss(index, notes)


def _list_points(path: Path, notes: Notes) -> Iterator[Row]:
    """The points of a collection of a local Qdrant; of several rows for one id the last one counts."""
    with open_database(path) as database:
        database.require_columns("points", frozenset(("id", "point")), "a local Qdrant")
        seen: set[str] = set()
        for row in database.read("SELECT rowid AS number, point FROM points ORDER BY rowid DESC"):
            where = f"{path.parent.name}, row {row['number']}"
            point = read_pickle(row["point"], f"{path}, row {row['number']}")
            if not isinstance(point, QdrantPoint):
                raise BadInput(f"{path}, row {row['number']} is not a point of Qdrant")
            id = str(point.values.get("id"))
            if id not in seen:
                seen.add(id)
                notes.drop("vector", "Eidet embeds the text itself")
                yield where, id, point.values.get("payload") or {}


def _list_faiss(index: Path, notes: Notes) -> Iterator[Row]:
    document, pickled = index.with_suffix(".json"), index.with_suffix(".pkl")
    if document.exists():
        with open_text(document) as file:
            found = read_document(file, str(document))
        return _list_docstore(found, document, notes)
    if pickled.exists():
        return _list_docstore(_read_docstore_pickle(pickled), pickled, notes)
    raise BadInput(f"{index} lies there without the texts: {document.name} or {pickled.name} is missing")


def _read_docstore_pickle(path: Path) -> Any:
    found = read_pickle(path.read_bytes(), str(path))
    if not isinstance(found, tuple) or len(found) != 2:
        raise BadInput(f"{path} is not a store of mem0 in FAISS")
    return {"docstore": found[0]}


def _list_docstore(found: Any, path: Path, notes: Notes) -> Iterator[Row]:
    docs = found.get("docstore") if isinstance(found, dict) else None
    if not isinstance(docs, dict):
        raise BadInput(f"{path} is not a store of mem0 in FAISS: it has no docstore")
    for id, payload in docs.items():
        if not isinstance(payload, dict):
            raise BadInput(f"{path}: {id} has no payload")
        notes.drop("vector", "Eidet embeds the text itself")
        yield f"{path.name}, {id}", str(id), payload


def _list_export(path: Path, notes: Notes) -> Iterator[Row]:
    """What `get_all` answers, or the hosted service's export: a list of memories, or `results` of them."""
    with open_text(path) as file:
        begins = file.read(1024).lstrip()[:1]
        file.seek(0)
        if begins == "[":
            yield from _number_rows(read_array(file, str(path)), path)
            return
        found = read_document(file, str(path))
    if isinstance(found, dict) and "docstore" in found:
        yield from _list_docstore(found, path, notes)
    else:
        yield from _number_rows(iter(_find_results(found, path)), path)


def _find_results(found: Any, path: Path) -> list[Any]:
    rows = None
    if isinstance(found, dict):
        rows = found.get("results", found.get("memories"))
    if not isinstance(rows, list):
        raise make_foreign("mem0", str(path), 'there is no list of "results"', found)
    return rows


def _number_rows(rows: Iterator[Any], path: Path) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        where = f"{path.name}, memory {number:,}"
        if not isinstance(row, dict) or "memory" not in row or "id" not in row:
            raise make_foreign("mem0", where, 'a memory needs an "id" and a "memory"', row)
        yield where, str(row["id"]), {**(row.get("metadata") or {}), **row, "data": row["memory"]}


def _read_history(path: Path | None, notes: Notes) -> Past:
    """The earlier texts of memories that are still there, the oldest first."""
    if path is None:
        return {}
    past: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with open_database(find_source(str(path))) as database:
        database.require_columns("history", HISTORY, "mem0")
        for row in database.read("SELECT * FROM history ORDER BY rowid"):
            if row["event"] == "UPDATE" and row["old_memory"]:
                past[row["memory_id"]].append({"text": row["old_memory"], "until": row["updated_at"]})
            elif row["event"] == "DELETE":
                notes.drop("deleted memories", "mem0 names them in its history only")
        _note_messages(database, notes)
    return past


def _note_messages(database: ForeignDatabase, notes: Notes) -> None:
    if not database.list_columns("messages"):
        return
    for row in database.read("SELECT count(*) AS messages FROM messages"):
        if row["messages"]:
            notes.drop("recent messages", "mem0 keeps them to infer from", row["messages"])
