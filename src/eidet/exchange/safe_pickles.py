"""Pickles of other programs, read without running anything: only plain values, and points of Qdrant.

A pickle may name any function to be called when it is read. Here a name that is not on the list is an error.
"""

from __future__ import annotations

import io
import pickle  # the names that a pickle may use are listed below
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final
from uuid import UUID

from ..core.errors import BadInput


class QdrantPoint:
    """What a local Qdrant stores: an id, a vector and a payload."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.values = state.get("__dict__", state)


_ALLOWED: Final[dict[tuple[str, str], type]] = {
    ("datetime", "date"): date,
    ("datetime", "datetime"): datetime,
    ("datetime", "timedelta"): timedelta,
    ("datetime", "timezone"): timezone,
    ("uuid", "UUID"): UUID,
    ("qdrant_client.http.models.models", "PointStruct"): QdrantPoint,
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module}.{name}") from None


def read_pickle(content: bytes, where: str) -> Any:
    """The value of a pickle; `BadInput` where it holds anything but plain values."""
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        IndexError,
    ) as error:
        raise BadInput(f"{where} cannot be read: {error}") from None
