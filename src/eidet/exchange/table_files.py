"""Records as rows of a table, which `from_tables` reads back: all that a caller can say of a record.

What only the memory itself can know (versions, uses, when it was stored) stands in the column `eidet`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..core.errors import BadInput, MissingExtra
from ..core.record import Record, iso_time
from ..core.validate import dump_json
from ..write.reembed import batches
from .source_items import keep_present

_BATCH: Final = 1000  # rows in RAM at once
_TIMES: Final = ("occurred", "expires")
_JSON: Final = ("data", "meta", "eidet")  # JSON inside of a cell, where cells have one type
_TEXTS: Final = ("id", "scope", "text", "kind", "tier", "trust", "who", "agent", "session", "source", *_JSON)


def row_of(record: Record) -> dict[str, Any]:
    """A record as it can be said again; what has no value is left out.

    Times are in seconds; of a pinned record the expiry is the one that waits for the pin to end.
    """
    whole, state = record.whole, record.state
    return keep_present(
        id=record.id,
        scope=record.scope,
        text=whole.text,
        kind=str(record.kind),
        tier=str(record.tier),
        trust=str(record.trust),
        who=record.who,
        agent=record.agent,
        session=record.session,
        step=record.step,
        importance=record.importance,
        source=record.source,
        data=whole.data,
        place=list(record.place or ()) or None,
        derived_from=list(record.derived_from) or None,
        meta=dict(record.meta) or None,
        occurred=record.occurred,
        expires=record.expires if state.pinned is None else state.pinned.expires,
        ttl=state.ttl,
        pinned=None if state.pinned is None else True,
    )


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
    time, number = pyarrow.timestamp("us", tz="UTC"), pyarrow.float64()
    columns = {
        **dict.fromkeys(_TEXTS, pyarrow.string()),
        **dict.fromkeys(_TIMES, time),
        "step": pyarrow.int64(),
        "place": pyarrow.list_(number),
        "importance": number,
        "ttl": number,
        "pinned": pyarrow.bool_(),
        "derived_from": pyarrow.list_(pyarrow.string()),
    }
    if width is not None:
        columns["vectors"] = pyarrow.list_(pyarrow.list_(pyarrow.float32(), width))
    return pyarrow.schema(columns)
