"""Rows of tables (JSON lines, CSV, Parquet) as memories: which column says what; the rest is metadata."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.validate import dump_json
from ..write.shape import drafts_of
from .foreign_values import plain_json, read_time
from .source_items import Notes, SourceItem, identify, make_labels

OWN: Final = "eidet"  # the column in which an export says what only the memory itself can know
VECTORS: Final = ("vector", "vectors", "embedding")
PLACES: Final = ("scope", "user")  # fields that name a scope
FIELDS: Final = frozenset(field.name for field in fields(Draft)) - {"vector"} | frozenset(PLACES)
TIMES: Final = ("occurred", "expires")
SAYABLE_EMPTY: Final = ("text", "data")  # an empty text is a value here
LABELS: Final = ("who", "agent", "session", "source", "id", "key", "user")
# Names that other programs use, taken where the table has no column of the field's own name.
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("content", "memory", "document"),
    "occurred": ("timestamp", "created_at", "date", "time"),
    "meta": ("metadata",),
    "session": ("session_id", "conversation_id", "thread_id"),
    "agent": ("agent_id",),
    "user": ("user_id",),
    "who": ("speaker", "author"),
}


def _read_json(text: str) -> Any:
    return json.loads(text)


def _read_lenient(text: str) -> Any:
    """JSON, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read_place(text: str) -> list[float]:
    return [float(part) for part in text.strip("[] ").split(",")]


def _read_flag(text: str) -> bool:
    if text.strip().casefold() in ("true", "yes", "1"):
        return True
    if text.strip().casefold() in ("false", "no", "0"):
        return False
    raise ValueError(text)


_FROM_TEXT: Final[Mapping[str, Callable[[str], Any]]] = {
    "data": _read_lenient,
    "meta": _read_json,
    "derived_from": _read_json,
    "place": _read_place,
    "importance": float,
    "ttl": float,
    "step": int,
    "pinned": _read_flag,
}


def _is_empty(cell: Any) -> bool:
    return cell is None or cell == ""


class RowMapping:
    """Turns rows of one table into items. `in_text` says that cells are texts, as in CSV."""

    def __init__(
        self, format: str, table: str, columns: Mapping[str, str], notes: Notes, *, in_text: bool = False
    ) -> None:
        if unknown := sorted(columns.keys() - FIELDS):
            raise BadInput(f"a memory has no field {unknown[0]!r}; it has {', '.join(sorted(FIELDS))}")
        self._format, self._table, self._columns = format, table, columns
        self._notes, self._in_text = notes, in_text
        self._seen: Counter[bytes] = Counter()

    def check_columns(self, names: object) -> None:
        """`BadInput` if the caller named a column that the table lacks."""
        known = set(names)  # type: ignore[call-overload]
        for field, column in self._columns.items():
            if column not in known:
                raise BadInput(f"{self._table} has no column {column!r} for {field}; it has {sorted(known)}")

    def make_item(self, row: Mapping[str, Any], where: str) -> SourceItem | None:
        """The item of a row; None, with a note, where there is nothing to remember."""
        mapped, others = self._split(row)
        self._note(others)
        values = self._convert(mapped, where)
        draft = _draft_of(row, values, others, where)
        if not _says_something(draft):
            self._notes.skip(where, "has no text")
            return None
        if draft.id is None and draft.key is None:
            draft = replace(draft, key=self._make_key(row))
        return SourceItem(draft=draft, where=where, labels=_list_labels(values))

    def _split(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields that the row says, and the columns that are left."""
        mapped: dict[str, Any] = {}
        taken: set[str] = set()
        for field in FIELDS:
            column = self._find_column(field, row)
            if column is not None:
                mapped[field] = row[column]
                taken.add(column)
        others: dict[str, Any] = {}
        for name, value in row.items():
            if name not in taken and not (self._in_text and _is_empty(value)):
                others[name] = value
        return mapped, others

    def _find_column(self, field: str, row: Mapping[str, Any]) -> str | None:
        chosen = self._columns.get(field)
        if chosen is not None:
            return chosen if chosen in row else None
        for name in (field, *ALIASES.get(field, ())):
            if name in row and name not in self._columns.values():
                return name
        return None

    def _note(self, others: dict[str, Any]) -> None:
        """Takes out what no memory can be told."""
        if isinstance(others.get(OWN), dict | str):
            del others[OWN]
            self._notes.drop(OWN, "is what the other memory knew of the record: its versions and uses")
        for name in VECTORS:
            if isinstance(others.get(name), list):
                del others[name]
                self._notes.drop(name, "Eidet embeds the text itself")

    def _convert(self, mapped: Mapping[str, Any], where: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for field, value in mapped.items():
            if _is_empty(value) and field not in SAYABLE_EMPTY:
                continue
            values[field] = self._convert_one(field, value, where)
        return values

    def _convert_one(self, field: str, value: Any, where: str) -> Any:
        if field in TIMES:
            return read_time(value, f"{where}: {field}")
        if field in LABELS and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if self._in_text and isinstance(value, str) and field in _FROM_TEXT:
            try:
                return _FROM_TEXT[field](value)
            except ValueError:
                raise BadInput(f"{where}: {field} cannot be read: {value!r:.80}") from None
        return value

    def _make_key(self, row: Mapping[str, Any]) -> str:
        """A key that stays the same while the file keeps its name, wherever the row moves in it."""
        content = dump_json(plain_json(row), sort_keys=True).encode()
        digest = blake2b(content, digest_size=12).digest()
        self._seen[digest] += 1
        return f"{self._format} {self._table} {digest.hex()} {self._seen[digest]}"


def _draft_of(
    row: Mapping[str, Any], values: Mapping[str, Any], others: Mapping[str, Any], where: str
) -> Draft:
    draft = _read_message(row, others)
    changes: dict[str, Any] = {}
    for field, value in values.items():
        if field not in PLACES and not (field == "text" and draft.kind is not None):
            changes[field] = value
    if isinstance(changes.get("id"), str):
        changes |= identify(changes.pop("id"), "id")
    rest = plain_json({name: value for name, value in others.items() if draft.data is None or name != "role"})
    meta = changes.get("meta", {})
    if not isinstance(meta, dict):
        raise BadInput(f"{where}: meta is not a JSON object")
    changes["meta"] = {**rest, **meta} or None
    return replace(draft, **changes)


def _read_message(row: Mapping[str, Any], others: Mapping[str, Any]) -> Draft:
    """A row with a role and a content is a message, as agent frameworks write it."""
    if "role" not in others or "content" not in row or not isinstance(row["role"], str):
        return Draft()
    known = {
        name: row[name] for name in ("role", "content", "name", "tool_calls", "tool_call_id") if name in row
    }
    (draft,), _ = drafts_of(known, {})
    return draft


def _says_something(draft: Draft) -> bool:
    if draft.data is not None:
        return True
    return draft.text is not None and (not isinstance(draft.text, str) or bool(draft.text.strip()))


def _list_labels(values: Mapping[str, Any]) -> dict[str, str]:
    labels = make_labels(user=values.get("user"), agent=values.get("agent"), session=values.get("session"))
    if isinstance(values.get("scope"), str):
        labels["scope"] = values["scope"]  # a path already
    elif "user" in labels:
        labels["scope"] = labels["user"]
    return labels
