"""Readers of plain tables: JSON lines and CSV, of any program or of `eidet export`.

A column with the name of a memory's field becomes that field; the other columns become metadata.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TextIO

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.validate import dump_json
from ..write.shape import drafts_of
from .source_files import find_source, open_text
from .source_items import (
    BadItem,
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

_OWN: Final = "eidet"  # the column of an export with the fields that only the memory itself can set
_CELL_CHARS: Final = 16_000_000  # the csv module refuses more than 131,072 otherwise
_VECTORS: Final = ("vector", "vectors", "embedding")
_PLACES: Final = ("scope", "user")  # fields that name a scope
_FIELDS: Final = frozenset(field.name for field in fields(Draft)) - {"vector"} | frozenset(_PLACES)
_TIMES: Final = ("occurred", "expires")
_JSON: Final = ("data", "meta", "derived_from", "place", "importance", "ttl", "step", "pinned")
_NAMES: Final = ("who", "agent", "session", "source", "id", "key", "user")  # fields that may be numbers
# Names that other programs use, if the table has no column with the field's own name.
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("content", "memory", "document"),
    "occurred": ("timestamp", "created_at", "date", "time"),
    "meta": ("metadata",),
    "session": ("session_id", "conversation_id", "thread_id"),
    "agent": ("agent_id",),
    "user": ("user_id",),
    "who": ("speaker", "author"),
}


def read_jsonl(source: str, options: ImportOptions) -> Items:
    """Reads one memory per line: an object or a text."""
    path = find_source(source)
    table = _Table("jsonl", path, options)
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield from table.make_items(_parse_line(line, number), f"line {number:,}")


def _parse_line(line: str, number: int) -> dict[str, Any] | str:
    """Returns the row of a line, or a text that says what is wrong with it."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if isinstance(row, str):
        return {"text": row}
    if not isinstance(row, dict):
        return "is neither a JSON object nor a text"
    if number == 1 and row.get("eidet") == "export":
        raise BadInput("this is a lossless export of Eidet; `eidet load` reads it")
    return row


def read_csv(source: str, options: ImportOptions) -> Items:
    """Reads one memory per row; the first row names the columns."""
    path = find_source(source)
    table = _Table("csv", path, options)
    if len(options.delimiter) != 1:
        raise BadInput(f"a delimiter is one character, not {options.delimiter!r}")
    with open_text(path) as file:
        for number, row in _read_cells(file, path, options.delimiter, table):
            bad = None in row or None in row.values()
            found = "has not as many cells as the first row has names" if bad else row
            yield from table.make_items(found, f"line {number:,}")


def _read_cells(
    file: TextIO, path: Path, delimiter: str, table: _Table
) -> Iterator[tuple[int, dict[str, Any]]]:
    before = csv.field_size_limit(_CELL_CHARS)
    try:
        reader = csv.DictReader(file, delimiter=delimiter, strict=True)
        if not reader.fieldnames:
            raise BadInput(f"{path} is empty: its first row should name the columns")
        if len(set(reader.fieldnames)) < len(reader.fieldnames):
            raise BadInput(f"{path} names a column twice")
        table.check_columns(reader.fieldnames)
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.line_num:,} is not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _parse_lenient(text: str) -> Any:
    """Parses JSON; returns any other text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


class _Table:
    """Turns rows of one table into items."""

    def __init__(self, format: str, path: Path, options: ImportOptions) -> None:
        self._columns = options.columns
        if unknown := sorted(self._columns.keys() - _FIELDS):
            raise BadInput(f"a memory has no field {unknown[0]!r}; it has {', '.join(sorted(_FIELDS))}")
        self._format, self._name = format, path.name
        self._in_text = format != "jsonl"  # cells may be JSON as text
        self._seen: Counter[bytes] = Counter()

    def check_columns(self, names: Iterable[str]) -> None:
        """Raises `BadInput` if the caller named a column that the table lacks."""
        known = set(names)
        for field, column in self._columns.items():
            if column not in known:
                raise BadInput(f"{self._name} has no column {column!r} for {field}; it has {sorted(known)}")

    def make_items(self, row: Mapping[str, Any] | str, place: str) -> Items:
        """Yields the item of a row, or of a text that says what is wrong with the row."""
        where = f"{self._name}, {place}"
        if isinstance(row, str):
            yield BadItem(where, row)
            return
        try:
            yield from self._make_items(row, where)
        except BadInput as error:
            yield BadItem(where, str(error))

    def _make_items(self, row: Mapping[str, Any], where: str) -> Items:
        columns = {field: name for field in _FIELDS if (name := self._find_column(field, row)) is not None}
        taken = set(columns.values())
        empty = (None, "") if self._in_text else ()
        others = {name: row[name] for name in row if name not in taken and row[name] not in empty}
        for name, why in _list_unsayable(others):
            del others[name]
            yield why
        values = {
            field: self._convert(field, row[name])
            for field, name in columns.items()
            if row[name] not in (None, "") or field in ("text", "data")
        }
        draft = _draft_of(row, values, others)
        if draft.data is None and (draft.text is None or _is_blank(draft.text)):
            yield LeftOut(where, "has no text")
            return
        if draft.id is None and draft.key is None:
            draft = replace(draft, key=self._make_key(row))
        yield SourceItem(draft=draft, where=where, labels=_list_labels(values))

    def _find_column(self, field: str, row: Mapping[str, Any]) -> str | None:
        chosen = self._columns.get(field)
        if chosen is not None:
            return chosen if chosen in row else None
        free = (name for name in (field, *_ALIASES.get(field, ())) if name not in self._columns.values())
        return next((name for name in free if name in row), None)

    def _convert(self, field: str, value: Any) -> Any:
        if field in _TIMES:
            return parse_time(value, field)
        if field in _NAMES and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return _parse_lenient(value) if self._in_text and field in _JSON else value

    def _make_key(self, row: Mapping[str, Any]) -> str:
        """Returns a key that stays the same wherever the row moves in the file, as long as its name stays."""
        content = dump_json(plain_json(row), sort_keys=True).encode()
        digest = blake2b(content, digest_size=12).digest()
        self._seen[digest] += 1
        return f"{self._format} {self._name} {digest.hex()} {self._seen[digest]}"


def _list_unsayable(others: Mapping[str, Any]) -> list[tuple[str, Dropped]]:
    """Lists the fields that no draft can have: vectors, and what only the other memory could set."""
    own = [_OWN] if isinstance(others.get(_OWN), dict | str) else []
    why = "is what the other memory knew of the record: its versions and uses"
    vectors = [name for name in _VECTORS if isinstance(others.get(name), list)]
    return [*((name, Dropped(name, why)) for name in own), *((name, Dropped(name)) for name in vectors)]


def _is_blank(text: Any) -> bool:
    return isinstance(text, str) and not has_text(text)


def _draft_of(row: Mapping[str, Any], values: Mapping[str, Any], others: Mapping[str, Any]) -> Draft:
    message = _draft_message(row, others)
    skipped = _PLACES if message is None else (*_PLACES, "text")
    changes = {field: value for field, value in values.items() if field not in skipped}
    if isinstance(changes.get("id"), str):
        changes |= identify(changes.pop("id"), "id")
    rest = plain_json({name: others[name] for name in others if message is None or name != "role"})
    meta = changes.get("meta", {})
    if not isinstance(meta, dict):
        raise BadInput("meta is not a JSON object")
    return replace(message or Draft(), **changes | {"meta": {**rest, **meta} or None})


def _draft_message(row: Mapping[str, Any], others: Mapping[str, Any]) -> Draft | None:
    """Returns the draft of a row with role and content, a message of an agent framework, or None."""
    if "role" not in others or "content" not in row:
        return None
    names = ("role", "content", "name", "tool_calls", "tool_call_id")
    (draft,), _ = drafts_of({name: row[name] for name in names if name in row}, {})
    return draft


def _list_labels(values: Mapping[str, Any]) -> dict[str, str]:
    labels = make_labels(user=values.get("user"), agent=values.get("agent"), session=values.get("session"))
    if isinstance(values.get("scope"), str):
        labels["scope"] = values["scope"]  # already a path
    elif "user" in labels:
        labels["scope"] = labels["user"]
    return labels
