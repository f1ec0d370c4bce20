"""Parquet files, by pyarrow: the one place that imports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..core.errors import BadInput, MissingExtra

BATCH: Final = 1000  # rows in RAM at once
COLUMNS: Final = {
    "id": "text",
    "scope": "text",
    "text": "text",
    "kind": "text",
    "tier": "text",
    "who": "text",
    "agent": "text",
    "session": "text",
    "step": "whole",
    "place": "numbers",
    "importance": "number",
    "occurred": "time",
    "expires": "time",
    "ttl": "number",
    "pinned": "flag",
    "source": "text",
    "trust": "text",
    "data": "text",
    "meta": "text",
    "derived_from": "texts",
    "eidet": "text",
}


def _import_pyarrow() -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet  # noqa: F401  # which pyarrow does not import by itself
    except ModuleNotFoundError as error:
        raise MissingExtra("Parquet", extra="parquet") from error
    return pa


def read_parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, in their order."""
    pyarrow = _import_pyarrow()
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                yield from batch.to_pylist()
    except pyarrow.ArrowInvalid as error:
        raise BadInput(f"{path} is not a Parquet file: {error}") from None


def write_parquet_rows(file: BinaryIO, rows: Iterable[dict[str, Any]], width: int | None) -> int:
    """Writes rows as `table_files` makes them; how many. `width` is that of their vectors, if any."""
    pyarrow = _import_pyarrow()
    schema = _make_schema(pyarrow, width)
    count = 0
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        waiting: list[dict[str, Any]] = []
        for row in rows:
            waiting.append(row)
            count += 1
            if len(waiting) == BATCH:
                writer.write_batch(pyarrow.RecordBatch.from_pylist(waiting, schema=schema))
                waiting = []
        if waiting:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(waiting, schema=schema))
    return count


def _make_schema(pyarrow: Any, width: int | None) -> Any:
    kinds = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "whole": pyarrow.int64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
        "numbers": pyarrow.list_(pyarrow.float64()),
        "texts": pyarrow.list_(pyarrow.string()),
    }
    columns = [(name, kinds[kind]) for name, kind in COLUMNS.items()]
    if width is not None:
        columns.append(("vectors", pyarrow.list_(pyarrow.list_(pyarrow.float32(), width))))
    return pyarrow.schema(columns)
