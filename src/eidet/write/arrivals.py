"""Records that arrive from a file: what must be right of them beside the types of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import BadInput, Corrupt
from ..core.lossless import read_original
from ..core.record import Record
from ..core.validate import clean_json, clean_text
from ..models.embed import Embedder
from ..models.embed.quantise import are_finite, dequantise
from ..text.analysis import read_analysis


def fits_embedder(manifest: Mapping[str, Any], embedder: Embedder) -> bool:
    """Whether an embedder of this name and width made the vectors of a file; older files tell no width."""
    named = manifest.get("embedder") == embedder.name
    return named and manifest.get("width") in (None, embedder.width)


def check_arrival(record: Record, embedder: Embedder | None, *, analysed: bool) -> None:
    """`Corrupt` or BadInput for a record that could not be read, restored or compared once it is stored.

    With an `embedder`, the record's vectors are kept, and must be its; if it is `analysed`, so are its words.
    """
    if record.sealed is not None:
        raise Corrupt("it is sealed, but the file does not say by which keys")
    if record.original is not None:
        kept = read_original(record.original)
        if kept.text is not None:
            clean_text(kept.text, "its original")
        if kept.data is not None:
            clean_json(kept.data[0], "its original")
        if kept.vector is not None:
            _check_numbers(kept.vector)
    if embedder is not None and record.vector:
        _check_vector(record.vector, record.level, embedder)
    if analysed:
        read_analysis(record.terms)


def _check_vector(vector: bytes, level: int, embedder: Embedder) -> None:
    rows = dequantise(vector, level, embedder.width)
    if len(rows) % (4 * embedder.width):
        raise BadInput(
            f"its vector is not of {embedder.width} numbers, as the embedder {embedder.name!r} makes them: "
            "the file was made by another embedder of that name. Open this memory with the one of the "
            "file, or give yours a name of its own, and vectors are made anew"
        )
    _check_numbers(rows)


def _check_numbers(rows: bytes) -> None:
    if not are_finite(rows):
        raise Corrupt("its vector holds something that is no finite number")
