"""Plain tables: JSON lines, CSV and Parquet, written by anybody or by `eidet export`."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO

from ..core.errors import BadInput
from .json_source import find_source, open_text
from .parquet_files import read_parquet_rows
from .source_items import Notes, ReadOptions, SourceItem
from .table_rows import RowMapping

CELL_CHARS: Final = 16_000_000


def read_jsonl(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    """One memory a line: an object, or a text."""
    path = find_source(source)
    mapping = RowMapping("jsonl", path.name, options.columns, notes)
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            where = f"{path.name}, line {number:,}"
            try:
                row = _parse_line(line, where, number)
            except BadLine as error:
                _refuse(where, str(error), options, notes)
                continue
            item = _make_item(mapping, row, where, options, notes)
            if item is not None:
                yield item


class BadLine(Exception):  # read_jsonl makes a BadInput or a note of it
    """A line that is no row of a table."""


def _refuse(where: str, why: str, options: ReadOptions, notes: Notes) -> None:
    """Notes a line that cannot be read, if that is asked for."""
    if not options.skip_bad:
        raise BadInput(f"{where} {why}; nothing was imported. --skip-bad leaves such lines out") from None
    notes.skip(where, why)


def _make_item(
    mapping: RowMapping, row: dict[str, Any], where: str, options: ReadOptions, notes: Notes
) -> SourceItem | None:
    """The memory of a row; None where the row holds none, or is bad and such rows are left out."""
    try:
        return mapping.make_item(row, where)
    except BadInput as error:
        if not options.skip_bad:
            raise
        notes.skip(where, str(error).removeprefix(where).lstrip(" :,"))
        return None


def _parse_line(line: str, where: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise BadLine("is not JSON") from None
    if isinstance(row, str):
        return {"text": row}
    if not isinstance(row, dict):
        raise BadLine("is neither a JSON object nor a text")
    if number == 1 and row.get("eidet") == "export":
        raise BadInput(f"{where}: this is a lossless export of Eidet; `eidet load` reads it")
    return row


def read_csv(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    """One memory a row; the first row names the columns."""
    path = find_source(source)
    mapping = RowMapping("csv", path.name, options.columns, notes, in_text=True)
    if len(options.delimiter) != 1:
        raise BadInput(f"a delimiter is one character, not {options.delimiter!r}")
    with open_text(path) as file:
        for number, row in _read_cells(file, path, options.delimiter, mapping):
            where = f"{path.name}, line {number:,}"
            if None in row or None in row.values():
                _refuse(where, "has not as many cells as the first row has names", options, notes)
                continue
            item = _make_item(mapping, row, where, options, notes)
            if item is not None:
                yield item


def _read_cells(
    file: TextIO, path: Path, delimiter: str, mapping: RowMapping
) -> Iterator[tuple[int, dict[str, Any]]]:
    before = csv.field_size_limit(CELL_CHARS)
    try:
        reader = csv.DictReader(file, delimiter=delimiter, strict=True)
        if not reader.fieldnames:
            raise BadInput(f"{path} is empty: its first row should name the columns")
        if len(set(reader.fieldnames)) < len(reader.fieldnames):
            raise BadInput(f"{path} names a column twice")
        mapping.check_columns(reader.fieldnames)
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.line_num:,} is not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def read_parquet(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    """One memory a row; columns `data` and `meta` may be JSON texts."""
    path = find_source(source)
    mapping = RowMapping("parquet", path.name, options.columns, notes, in_text=True)
    for number, row in enumerate(read_parquet_rows(path), 1):
        if number == 1:
            mapping.check_columns(row)
        where = f"{path.name}, row {number:,}"
        item = _make_item(mapping, row, where, options, notes)
        if item is not None:
            yield item
