"""mem0: its store in a local Qdrant or in FAISS, and what its `get_all` answers, as JSON.

The store is read without mem0, Qdrant or FAISS. Vectors are left: Eidet embeds texts itself.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from ..core.draft import Draft
from ..core.errors import BadInput
from .source_files import (
    find_source,
    is_sqlite,
    load_document,
    make_foreign,
    open_database,
    open_text,
    read_array,
)
from .source_items import (
    Notes,
    ReadOptions,
    SourceItem,
    has_text,
    identify,
    keep_present,
    make_labels,
    parse_time,
    plain_json,
    with_origin,
)

_Row = tuple[str, str, Mapping[str, Any]]  # where it stands, its id, its payload
_Past = Mapping[str, list[dict[str, Any]]]  # earlier texts by the id of their memory

_MADE: Final = ("hash", "text_lemmatized")  # made from the text
_HISTORY: Final = frozenset(("memory_id", "old_memory", "event", "updated_at"))  # columns
_TAKEN: Final = frozenset((*_MADE, "id", "data", "memory", "metadata", "score", "created_at"))
_DAY: Final = 86_400.0


def read_mem0(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    past = _read_history(options.history, notes)
    for where, id, payload in _list_rows(find_source(source), notes):
        if not has_text(payload.get("data")):
            notes.skip(where, "has no text")
            continue
        for name in _MADE:
            if name in payload:
                notes.drop(name, "is made from the text")
        yield _make_item(where, id, payload, past.get(id))


def _make_item(
    where: str, id: str, payload: Mapping[str, Any], past: list[dict[str, Any]] | None
) -> SourceItem:
    role, last_day = payload.get("role"), payload.get("expiration_date")
    until = parse_time(last_day, f"{where}: expiration_date")
    said = isinstance(role, str)  # what mem0 inferred has no role
    # As mem0's interface to Eidet keeps it, so that programs find memories through that.
    meta = {name: payload[name] for name in payload if name not in _TAKEN and payload[name] is not None}
    draft = Draft(
        **identify(id, "mem0"),
        kind="message" if said else "fact",
        data={"role": role} if said else None,
        text=payload["data"],
        agent=payload.get("agent_id"),
        session=payload.get("run_id"),
        who=payload.get("actor_id") or role,
        occurred=parse_time(payload.get("created_at"), f"{where}: created_at"),
        expires=None if until is None else until + _DAY,
        source="mem0",
        meta=with_origin(plain_json(meta), "mem0", keep_present(history=past)),
    )
    return SourceItem(where=where, labels=_list_labels(payload), draft=draft)


def _list_labels(payload: Mapping[str, Any]) -> dict[str, str]:
    for name in ("user_id", "agent_id", "app_id", "run_id"):  # in the order in which they own a memory
        id = payload.get(name)
        if has_text(id):
            labels = make_labels(user=id, agent=payload.get("agent_id"), session=payload.get("run_id"))
            return {"owner": f"{name.removesuffix('_id')}/{labels['user']}", **labels}
    return {}


def _list_rows(path: Path, notes: Notes) -> Iterator[_Row]:
    if path.is_dir():
        return _list_folder(path, notes)
    if is_sqlite(path):
        return _list_points(path, notes)
    if path.suffix == ".pkl":
        return _list_docstore(_load_docstore_pickle(path), path, notes)
    return _list_export(path, notes)


def _list_folder(path: Path, notes: Notes) -> Iterator[_Row]:
    stores = sorted(path.glob("collection/*/storage.sqlite")) or sorted(path.glob("**/storage.sqlite"))
    indexes = sorted(path.glob("**/*.faiss"))
    if not stores and not indexes:
        raise BadInput(f"{path} holds no store of mem0: neither a local Qdrant nor FAISS")
    for file in (*stores, *indexes):
        is_index = file.suffix == ".faiss"
        name = file.stem if is_index else file.parent.name
        if name.endswith("_entities"):
            notes.drop(name, "is an index of names; Eidet makes its own")
        else:
            yield from (_list_faiss if is_index else _list_points)(file, notes)


def _list_points(path: Path, notes: Notes) -> Iterator[_Row]:
    """The points of a collection of a local Qdrant; of several rows for one id the last one counts."""
    with open_database(path) as database:
        database.require_columns("points", frozenset(("id", "point")), "a local Qdrant")
        seen: set[str] = set()
        for row in database.read("SELECT rowid AS number, point FROM points ORDER BY rowid DESC"):
            place = f"{path}, row {row['number']}"
            point = _load_pickle(row["point"], place)
            if not isinstance(point, _QdrantPoint):
                raise BadInput(f"{place} is not a point of Qdrant")
            id = str(point.values.get("id"))
            if id not in seen:
                seen.add(id)
                notes.drop_vector()
                yield f"{path.parent.name}, row {row['number']}", id, point.values.get("payload") or {}


def _list_faiss(index: Path, notes: Notes) -> Iterator[_Row]:
    document, pickled = index.with_suffix(".json"), index.with_suffix(".pkl")
    if document.exists():
        with open_text(document) as file:
            return _list_docstore(load_document(file, str(document)), document, notes)
    if pickled.exists():
        return _list_docstore(_load_docstore_pickle(pickled), pickled, notes)
    raise BadInput(f"{index} lies there without the texts: {document.name} or {pickled.name} is missing")


def _load_docstore_pickle(path: Path) -> Any:
    found = _load_pickle(path.read_bytes(), str(path))
    if not isinstance(found, tuple) or len(found) != 2:
        raise BadInput(f"{path} is not a store of mem0 in FAISS")
    return {"docstore": found[0]}


def _list_docstore(found: Any, path: Path, notes: Notes) -> Iterator[_Row]:
    docs = found.get("docstore") if isinstance(found, dict) else None
    if not isinstance(docs, dict):
        raise BadInput(f"{path} is not a store of mem0 in FAISS: it has no docstore")
    for id, payload in docs.items():
        if not isinstance(payload, dict):
            raise BadInput(f"{path}: {id} has no payload")
        notes.drop_vector()
        yield f"{path.name}, {id}", str(id), payload


def _list_export(path: Path, notes: Notes) -> Iterator[_Row]:
    """Rows of a JSON export, as `get_all` and the service write it: a list of memories, or `results`."""
    with open_text(path) as file:
        begins = file.read(1024).lstrip()[:1]
        file.seek(0)
        if begins == "[":
            yield from _number_rows(read_array(file, str(path)), path)
            return
        found = load_document(file, str(path))
    if isinstance(found, dict) and "docstore" in found:
        yield from _list_docstore(found, path, notes)
        return
    rows = found.get("results", found.get("memories")) if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise make_foreign("mem0", str(path), 'there is no list of "results"', found)
    yield from _number_rows(rows, path)


def _number_rows(rows: Iterable[Any], path: Path) -> Iterator[_Row]:
    for number, row in enumerate(rows, 1):
        where = f"{path.name}, memory {number:,}"
        if not isinstance(row, dict) or "memory" not in row or "id" not in row:
            raise make_foreign("mem0", where, 'a memory needs an "id" and a "memory"', row)
        yield where, str(row["id"]), {**(row.get("metadata") or {}), **row, "data": row["memory"]}


def _read_history(path: Path | None, notes: Notes) -> _Past:
    """The earlier texts of memories that are still there, the oldest first."""
    if path is None:
        return {}
    past: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with open_database(find_source(str(path))) as database:
        database.require_columns("history", _HISTORY, "mem0")
        for row in database.read("SELECT * FROM history ORDER BY rowid"):
            if row["event"] == "UPDATE" and row["old_memory"]:
                past[row["memory_id"]].append({"text": row["old_memory"], "until": row["updated_at"]})
            elif row["event"] == "DELETE":
                notes.drop("deleted memories", "mem0 names them in its history only")
        if messages := database.count("messages"):
            notes.drop("recent messages", "mem0 keeps them to infer from", messages)
    return past


class _QdrantPoint:
    """A point as a local Qdrant pickles it: id, vector and payload."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.values = state.get("__dict__", state)


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        try:
            return _PICKLED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module}.{name}") from None


def _load_pickle(content: bytes, where: str) -> Any:
    """The value of a pickle; `BadInput` where it holds anything but plain values."""
    wrong = (pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError)
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except wrong as error:
        raise BadInput(f"{where} cannot be read: {error}") from None


# A pickle may name any function to be called when it is read. A name that is not listed here is an error.
_PICKLED: Final[dict[tuple[str, str], type]] = {
    ("datetime", "date"): date,
    ("datetime", "datetime"): datetime,
    ("datetime", "timedelta"): timedelta,
    ("datetime", "timezone"): timezone,
    ("uuid", "UUID"): UUID,
    ("qdrant_client.http.models.models", "PointStruct"): _QdrantPoint,
}
