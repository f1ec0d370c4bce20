"""The files beside a store, and what is found in the bytes of a file."""

from __future__ import annotations

import glob
import json
import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core.errors import Corrupt
from ...core.lossless import read_original
from ...core.validate import Json, dump_json
from ...store import Store
from ...store.sql.raw_file import read_packed_originals
from ...store.traits import path_of, paths_of


def store_files(store: Store) -> list[Path]:
    found: list[Path] = []
    for path in paths_of(store):
        named = (path, Path(f"{path}-wal"), Path(f"{path}-journal"))
        found += [file for file in named if file.exists()]
    return found


def sidecars(store: Store) -> list[Path]:
    """The cache files of the index, and what an interrupted writer left of one."""
    folder = sidecar_folder(store)
    if folder is not None and folder.is_dir():
        return sorted(folder.iterdir())
    return []


def sidecar_folder(store: Store) -> Path | None:
    """Where the embedded index keeps its cache files; None for a store that is no file."""
    path = path_of(store)
    if path is None:
        return None
    return Path(f"{path}-index")


def schema_copies(store: Store) -> list[Path]:
    """Copies of its files that were made before their tables were changed."""
    found: list[Path] = []
    for path in paths_of(store):
        found += path.parent.glob(f"{glob.escape(path.name)}.schema-*")
    return sorted(found)


def remove(files: Sequence[Path]) -> int:
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


def list_forms(text: str) -> list[bytes]:
    """A text as it may be written in a file: UTF-8, UTF-16, and within JSON in either way."""
    within_json = (dump_json(text)[1:-1], json.dumps(text)[1:-1])
    plain = (text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be"))
    return list(dict.fromkeys([*plain, *(form.encode() for form in within_json)]))


def forms_of(text: str | None, data: Json) -> list[bytes]:
    found = [] if not text else list_forms(text)
    if data is not None:
        found += [dump_json(data).encode(), dump_json(data, sort_keys=True).encode()]
    return list(dict.fromkeys(form for form in found if form))


def count_in(path: Path, wanted: Sequence[bytes]) -> int:
    """How many of the wanted bytes are in a file; a file that is gone holds none."""
    try:
        if not path.stat().st_size:
            return 0
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            return sum(held.find(bytes_) >= 0 for bytes_ in wanted)
    except FileNotFoundError:
        return 0


def originals_in(path: Path) -> Iterator[str]:
    """The compressed originals of a copy of a database, as JSON."""
    for blob in read_packed_originals(path):
        try:
            kept = read_original(blob)
        except Corrupt:
            continue
        yield dump_json([kept.text, kept.data])
