"""Cache files of large scopes, so that a new process need not read the whole scope again.

Only a cache: a stale file is caught up from the store; one that is damaged, of another store or of another
history of the store is ignored. Losing it only makes the first search slower.
"""

from __future__ import annotations

import json
import logging
import struct
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from ...core.private_files import OWNER_FOLDER, replace_when_whole
from ...store import Head, Store, verbs
from .columns import TYPES
from .shard import Shard
from .vectors import VectorPlanes

PlaneShard = Shard[VectorPlanes]

PAGE: Final = 1000
_MAGIC: Final = b"EIDETIX4"
log: logging.Logger = logging.getLogger("eidet.index")


class Sidecars:
    """The cache files of one store in one folder; without a folder, nothing is saved.

    Keeps scopes of at least `least` rows, with all their vectors.
    """

    def __init__(self, folder: Path | None, store: Store, width: int = 0, least: int = 0) -> None:
        self._folder, self._store = folder, store
        self._width, self._least = width, least

    def path(self, scope: str) -> Path | None:
        name = blake2b(scope.encode(), digest_size=12).hexdigest()
        return None if self._folder is None else self._folder / f"{name}.eix"

    def is_worth_saving(self, rows: int) -> bool:
        """Returns whether to save a shard that gained this many rows, or leaves RAM with this many."""
        return rows >= self._least

    def load(self, shard: PlaneShard, head: Head) -> bool:
        """Fills an empty shard from its file, if that fits; returns False if the file is unusable."""
        path = self.path(shard.scope)
        if path is None or not path.exists():
            return True
        try:
            with path.open("rb") as file:
                self._read(file, shard, head)
                return True
        except (OSError, EOFError, ValueError, KeyError, TypeError, struct.error) as error:
            log.warning("index cache %s is unusable (%s); it will be made anew", path, error)
            self.remove(shard.scope)
            return False

    def _read(self, file: BinaryIO, shard: PlaneShard, head: Head) -> None:
        header = _read_header(file)
        seen = Head(*header["head"])
        ours = (self._store.identity, shard.scope, self._width)
        if (header["identity"], header["scope"], header["width"]) != ours:
            return
        if seen.epoch != head.epoch or seen.seq > head.seq or header["witness"] is None:
            return
        if verbs.fingerprint(self._store, seen.seq) == header["witness"]:
            _restore(shard, header, dict(_read_arrays(file, header)), seen)

    def save(self, shard: PlaneShard) -> None:
        """Saves a shard atomically: writes a temporary file and renames it."""
        path = self.path(shard.scope)
        if path is None or not self._store.writable or self._is_fresh(path, shard):
            return
        shard.settle()
        try:
            path.parent.mkdir(mode=OWNER_FOLDER, exist_ok=True)
            with replace_when_whole(path) as file:
                _write(file, self._header(shard), _arrays(shard))
            if self._is_behind(shard):  # records and their caches were deleted while this was written
                self.remove(shard.scope)
        except OSError as error:
            log.warning("index cache %s was not written: %s", path, error)

    def _is_behind(self, shard: PlaneShard) -> bool:
        """Returns whether the shard still has records deleted meanwhile, which must not stay in a file."""
        known, head = shard.head, self._store.head()
        while known != head:
            changes = self._store.changes(shard.scope, known.seq, PAGE)
            anew = changes.head.epoch != known.epoch or 0 < shard.head.seq < changes.pruned
            if changes.gone or anew:
                return True
            if changes.head == known or changes.head.seq >= head.seq:
                break
            known = changes.head
        return False

    def remove(self, scope: str) -> None:
        path = self.path(scope)
        if path is None or not self._store.writable:
            return
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("index cache %s was not removed: %s", path, error)

    def _is_fresh(self, path: Path, shard: PlaneShard) -> bool:
        """Returns whether the file on disk is so recent that catching up is cheaper than writing it."""
        try:
            with path.open("rb") as file:
                header = _read_header(file)
            (epoch, seq), live, witness = header["head"], header["live"], header["witness"]
        except (OSError, ValueError, KeyError, TypeError, struct.error):
            return False
        same = header.get("identity") == self._store.identity and epoch == shard.head.epoch
        known = same and witness is not None and verbs.fingerprint(self._store, seq) == witness
        return bool(known and abs(live - shard.live) * 50 < shard.live and shard.live == shard.count)

    def _header(self, shard: PlaneShard) -> dict[str, Any]:
        return {
            "identity": self._store.identity,
            "scope": shard.scope,
            "width": shard.vectors.width,
            "head": list(shard.head),
            "witness": verbs.fingerprint(self._store, shard.head.seq),
            "live": shard.live,
            "records": shard.records,
            "damaged": list(shard.damaged.items()),
            "total": shard.total,
            "mortal": shard.columns.mortal,
            "codes": shard.columns.codes,
        }


def _arrays(shard: PlaneShard) -> dict[str, NDArray[Any]]:
    columns = shard.columns
    terms, docs, counts = shard.postings.base
    return {
        **{name: columns.arrays[name][: columns.count] for name in TYPES},
        "high": shard.vectors.high[: shard.count],
        "low": shard.vectors.low[: shard.count],
        "scale": shard.vectors.scale[: shard.count],
        "lengths": shard.postings.lengths[: shard.count],
        "terms": terms,
        "docs": docs,
        "counts": counts,
        "days": columns.days,
    }


def _restore(shard: PlaneShard, header: dict[str, Any], arrays: dict[str, NDArray[Any]], head: Head) -> None:
    columns = shard.columns
    columns.arrays = {name: arrays[name] for name in TYPES}
    columns.codes, columns.mortal, columns.days = header["codes"], header["mortal"], arrays["days"]
    columns.count = columns.live = header["live"]
    columns.records = header["records"]
    shard.damaged = dict(header["damaged"])
    shard.total, shard.head = header["total"], head
    shard.vectors.high, shard.vectors.low = arrays["high"], arrays["low"]
    shard.vectors.scale, shard.vectors.count = arrays["scale"], shard.count
    shard.postings.base = (arrays["terms"], arrays["docs"], arrays["counts"])
    shard.postings.lengths = arrays["lengths"]
    shard.postings.count = shard.postings.base_rows = shard.count


def _write(file: BinaryIO, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    header["arrays"] = {name: _checksum(np.ascontiguousarray(array)) for name, array in arrays.items()}
    text = json.dumps(header).encode()
    file.write(_MAGIC + struct.pack("<II", len(text), zlib.crc32(text)) + text)
    for array in arrays.values():
        np.save(file, array, allow_pickle=False)


def _checksum(array: NDArray[Any]) -> int:
    """Computes the checksum of an array's bytes, form and type."""
    return zlib.crc32(repr((array.dtype.str, array.shape)).encode(), zlib.crc32(array.data))


def _read_header(file: BinaryIO) -> dict[str, Any]:
    start = file.read(len(_MAGIC) + 8)
    if start[: len(_MAGIC)] != _MAGIC:
        raise ValueError("not an index cache of this version")
    size, check = struct.unpack("<II", start[len(_MAGIC) :])
    text = file.read(size)
    if zlib.crc32(text) != check:
        raise ValueError("the header is damaged")
    header: dict[str, Any] = json.loads(text)
    return header


def _read_arrays(file: BinaryIO, header: dict[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, check in header["arrays"].items():
        array = np.load(file, allow_pickle=False)
        if _checksum(array) != check:
            raise ValueError(f"the {name} are damaged")
        yield name, array
