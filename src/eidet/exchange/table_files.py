"""Records as rows of a table, which `from_tables` reads back: all that a caller can say of a record.

What only the memory itself can know (versions, uses, when it was stored) stands in the column `eidet`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..core.draft import Draft
from ..core.errors import BadInput, MissingExtra
from ..core.record import Record, iso_time
from ..core.record_table import FIELDS
from ..core.validate import dump_json
from ..write.ingest import batches
from .source_items import keep_present

_BATCH: Final = 1000  # rows in RAM at once
_SAYABLE: Final = tuple(  # fields of a record that a caller can say
    field for field in FIELDS if field.name in {"scope", *Draft.__dataclass_fields__} - {"vector"}
)
_TIMES: Final = tuple(field.name for field in _SAYABLE if field.is_time)
_LISTS: Final = ("place", "derived_from")
_JSON: Final = ("data", "meta", "eidet")  # JSON inside of a cell, where cells have one type


def row_of(record: Record) -> dict[str, Any]:
    """A record as it can be said again; what has no value is left out.

    Times are in seconds; of a pinned record the expiry is the one that waits for the pin to end.
    """
    whole, pinned = record.whole, record.state.pinned
    row = {field.name: getattr(whole, field.name) for field in _SAYABLE}
    row |= {field.name: field.encode(row[field.name]) for field in _SAYABLE if field.encode is not None}
    row |= {name: list(row[name] or ()) or None for name in _LISTS}
    row |= {"meta": dict(record.meta) or None, "ttl": record.state.ttl}
    if pinned is not None:
        row |= {"pinned": True, "expires": pinned.expires}
    return keep_present(**row)


def _own_of(record: Record) -> dict[str, Any]:
    """The fields that only the memory knows: when it was stored, versions, uses, state."""
    own: dict[str, Any] = {"created": iso_time(record.created), "version": record.version}
    if record.uses:
        own |= {"uses": record.uses, "last_used": iso_time(record.last_used)}
    return own | keep_present(state=record.state.to_json() or None)


def make_json_row(record: Record) -> dict[str, Any]:
    """The row of a JSON line: times are ISO 8601 in UTC, to the microsecond."""
    row = row_of(record)
    times = {name: iso_time(row[name]) for name in _TIMES if name in row}
    return row | times | {"eidet": _own_of(record)}


def make_typed_row(record: Record, width: int | None) -> dict[str, Any]:
    """The row of a table whose columns have types: data and meta are JSON texts, times are microseconds."""
    row = row_of(record) | {"eidet": _own_of(record)}
    row |= {name: dump_json(row[name]) for name in _JSON if name in row}
    row |= {name: round(row[name] * 1e6) for name in _TIMES if name in row}
    if width is not None and record.vector is not None and not record.level:  # lower levels keep no floats
        numbers = array("f", record.vector)
        row["vectors"] = [list(numbers[at : at + width]) for at in range(0, len(numbers), width)] or None
    return row


def _import_pyarrow() -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet  # noqa: F401  # which pyarrow does not import by itself
    except ModuleNotFoundError as error:
        raise MissingExtra("Parquet", extra="parquet") from error
    return pa


def read_parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, in their order."""
    pyarrow = _import_pyarrow()
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from batch.to_pylist()
    except pyarrow.ArrowInvalid as error:
        raise BadInput(f"{path} is not a Parquet file: {error}") from None


def write_parquet_rows(file: BinaryIO, rows: Iterable[dict[str, Any]], width: int | None) -> int:
    """Writes rows as `make_typed_row` makes them; how many. `width` is that of their vectors, if any."""
    pyarrow = _import_pyarrow()
    schema, count = _make_schema(pyarrow, width), 0
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for batch in batches(rows, _BATCH):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _make_schema(pyarrow: Any, width: int | None) -> Any:
    kinds = {"text": pyarrow.string(), "int8": pyarrow.int64(), "float8": pyarrow.float64()}
    columns = {field.name: kinds[field.column] for field in _SAYABLE if field.name not in _LISTS}
    columns |= dict.fromkeys(_TIMES, pyarrow.timestamp("us", tz="UTC"))
    columns |= {"place": pyarrow.list_(kinds["float8"]), "derived_from": pyarrow.list_(kinds["text"])}
    columns |= {"ttl": kinds["float8"], "pinned": pyarrow.bool_(), "eidet": kinds["text"]}
    if width is not None:
        columns["vectors"] = pyarrow.list_(pyarrow.list_(pyarrow.float32(), width))
    return pyarrow.schema(columns)
