"""The reader of mem0: its store in a local Qdrant, or the result of its `get_all` as JSON.

The store is read without mem0 or Qdrant. Vectors are not imported: Eidet embeds texts itself.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from ..core.draft import Draft
from ..core.errors import BadInput
from .source_files import find_source, parse_document, read_sqlite, read_text
from .source_items import (
    Dropped,
    ImportOptions,
    Items,
    LeftOut,
    SourceItem,
    has_text,
    identify,
    make_labels,
    parse_time,
    plain_json,
)

_Row = tuple[str, str, Mapping[str, Any]]  # its place, id and payload

_POINTS: Final = "SELECT rowid AS number, point FROM points ORDER BY rowid DESC"
_MADE: Final = ("hash", "text_lemmatized")  # from the text
_TAKEN: Final = frozenset((*_MADE, "id", "data", "memory", "metadata", "score", "created_at"))
_DAY: Final = 86_400.0


def read_mem0(source: str, _: ImportOptions) -> Items:
    path = find_source(source)
    for row in _list_folder(path) if path.is_dir() else _list_export(path):
        if isinstance(row, Dropped):
            yield row
            continue
        where, id, payload = row
        if not has_text(payload.get("data")):
            yield LeftOut(where, "has no text")
            continue
        yield from (Dropped(name, "is made from the text") for name in _MADE if name in payload)
        yield _make_item(where, id, payload)


def _make_item(where: str, id: str, payload: Mapping[str, Any]) -> SourceItem:
    role, last_day = payload.get("role"), payload.get("expiration_date")
    until = parse_time(last_day, f"{where}: expiration_date")
    said = isinstance(role, str)  # memories that mem0 inferred have no role
    # In the form of `eidet.integrations.mem0`, so that programs find the memories through it.
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
        meta=plain_json(meta) or None,
    )
    return SourceItem(where=where, labels=_list_labels(payload), draft=draft)


def _list_labels(payload: Mapping[str, Any]) -> dict[str, str]:
    for name in ("user_id", "agent_id", "app_id", "run_id"):  # in the order in which they own a memory
        id = payload.get(name)
        if has_text(id):
            labels = make_labels(user=id, agent=payload.get("agent_id"), session=payload.get("run_id"))
            return {"owner": f"{name.removesuffix('_id')}/{labels['user']}", **labels}
    return {}


def _list_folder(path: Path) -> Iterator[_Row | Dropped]:
    stores = sorted(path.glob("collection/*/storage.sqlite")) or sorted(path.glob("**/storage.sqlite"))
    if not stores:
        raise BadInput(f"{path} holds no local Qdrant: write what mem0's get_all answers to a JSON file")
    for file in stores:
        if file.parent.name.endswith("_entities"):
            yield Dropped(file.parent.name, "is an index of names; Eidet makes its own")
        else:
            yield from _list_points(file)


def _list_points(path: Path) -> Iterator[_Row | Dropped]:
    """Yields the points of a collection of a local Qdrant; of several rows with one id, the last counts."""
    seen: set[str] = set()
    for row in read_sqlite(path, "a local Qdrant", _POINTS):
        place = f"{path}, row {row['number']}"
        point = _load_pickle(row["point"], place)
        if not isinstance(point, _QdrantPoint):
            raise BadInput(f"{place} is not a point of Qdrant")
        id = str(point.values.get("id"))
        if id not in seen:
            seen.add(id)
            yield Dropped("vector")
            yield f"{path.parent.name}, row {row['number']}", id, point.values.get("payload") or {}


def _list_export(path: Path) -> Iterator[_Row]:
    """Yields rows of a JSON export of `get_all` or the service: a list of memories, or `results`."""
    found = parse_document(read_text(path), str(path))
    rows = found.get("results", found.get("memories")) if isinstance(found, dict) else found
    if not isinstance(rows, list):
        raise BadInput(f'{path} is no export of mem0: there is no list of "results"')
    for number, row in enumerate(rows, 1):
        where = f"{path.name}, memory {number:,}"
        if not isinstance(row, dict) or "memory" not in row or "id" not in row:
            raise BadInput(f'{where} is not of mem0: a memory needs an "id" and a "memory"')
        yield where, str(row["id"]), {**(row.get("metadata") or {}), **row, "data": row["memory"]}


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
    """Returns the value of a pickle; raises `BadInput` if it has anything but plain values."""
    wrong = (pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError)
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except wrong as error:
        raise BadInput(f"{where} cannot be read: {error}") from None


# Loading a pickle can call any function that it names. A name that is not listed here is an error.
_PICKLED: Final[dict[tuple[str, str], type]] = {
    ("datetime", "date"): date,
    ("datetime", "datetime"): datetime,
    ("datetime", "timedelta"): timedelta,
    ("datetime", "timezone"): timezone,
    ("uuid", "UUID"): UUID,
    ("qdrant_client.http.models.models", "PointStruct"): _QdrantPoint,
}
