"""Archives of deleted records: a port with five verbs, and its implementation as a folder of JSON lines.

A file of an archive is an export: manifest, records, count and checksum. Once `keep` returns, its
records are on disk and may be deleted from the store.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from ..core.errors import Misconfigured, NotFound, Unavailable
from ..core.private_files import OWNER_FOLDER, remove_partial
from ..core.record import Record, new_id
from ..core.scope import Scope
from ..core.validate import dump_json
from ..store import Store, verbs
from ..store.traits import home_of, is_sealed

SETTING: Final = "archives"  # setting of a store: the folders and buckets of its archives
_CLAIMS: Final = "archive_claims"  # setting of a store: by its owner name, the owners that it claimed
OWNER: Final = "owner"  # field of a manifest: the store that archived the piece, at its place then
_MACHINE: Final = Path("/etc/machine-id")
ABOUT: Final = ("ids", "scopes", "created")  # fields of a manifest by which a search skips pieces
OF_FILES = ("eidet", "format", "count", "archived", *ABOUT)  # fields that each new file sets itself
_NAME = re.compile(r"archive-[0-9a-f]+\.jsonl")


@runtime_checkable
class Archive(Protocol):
    """Keeps records that a memory deletes. `keep` is durable when it returns, or raises.

    A manifest should contain the fields of `about`. An attribute `folder` or `url` lets the memory find the
    archive when it is opened again.
    """

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        """Writes the records as one piece, durably. Returns its name."""

    def names(self) -> list[str]:
        """Lists the names of the pieces, oldest first."""

    def manifest(self, name: str) -> dict[str, Any]:
        """Returns a piece's manifest with its `count` of records; raises `Corrupt` if it was changed."""

    def read(self, name: str) -> Iterator[Record]:
        """Yields the records of a piece, exactly as they were."""

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Removes the records for which `gone` is true from a piece. Returns how many."""


def about(records: Sequence[Record]) -> dict[str, Any]:
    """Describes records for a manifest: their ids, counts by scope, first and last creation."""
    moments = [record.created for record in records]
    return {
        "ids": sorted({record.id for record in records}),
        "scopes": dict(sorted(Counter(record.scope for record in records).items())),
        "created": [min(moments), max(moments)] if moments else None,
    }


def may_hold(
    manifest: Mapping[str, Any],
    *,
    ids: Container[str] | None = None,
    scope: Scope | None = None,
    since: float | None = None,
    until: float | None = None,
) -> bool:
    """Returns whether a piece may hold the records sought, by its manifest; True if that lacks a field."""
    held, places, times = (manifest.get(name) for name in ABOUT)
    first, last = times or (since, until)
    return not (
        (ids is not None and held is not None and not any(id in ids for id in held))
        or (scope is not None and places is not None and not any(map(scope.holds, places)))
        or (since is not None and last is not None and last < since)
        or (until is not None and first is not None and first > until)
    )


class FolderArchive:
    """An archive in a folder, which is created when first needed. Each file is written atomically."""

    def __init__(self, folder: str | Path) -> None:
        self.folder: Path = Path(folder).expanduser()

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        from ..store.export_file import write_export

        name = f"archive-{new_id(now)}.jsonl"
        fresh = self.folder / f".{name}"
        try:
            self.folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            write_export(fresh, records, {**manifest, "archived": now, **about(records)})
            _to_disk(fresh)
            fresh.replace(self.folder / name)
            _to_disk(self.folder)
        except OSError as error:
            raise Unavailable(
                f"{self.folder} cannot be written ({error.strerror}): nothing is deleted"
            ) from error
        finally:
            remove_partial(fresh)
        return name

    def names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def manifest(self, name: str) -> dict[str, Any]:
        from ..store.export_file import verify_export

        return verify_export(self._path(name))

    def read(self, name: str) -> Iterator[Record]:
        from ..store.export_file import read_export

        return read_export(self._path(name))

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Removes records from a piece for good. Returns how many. Deletes a piece that becomes empty."""
        manifest, records = self.manifest(name), list(self.read(name))
        kept = [record for record in records if not gone(record)]
        if len(kept) < len(records):
            if kept:
                self.keep(kept, {k: v for k, v in manifest.items() if k not in OF_FILES}, now=now)
            self._path(name).unlink()
            _to_disk(self.folder)
        return len(records) - len(kept)

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if not _NAME.fullmatch(name) or not path.is_file():
            raise NotFound(f"the archive {self.folder} has no {name!r}")
        return path


def archive_of(thing: Archive | str | Path | None) -> Archive | None:
    """Opens the archive in a bucket (`s3://…`) or a folder; returns an archive or None as it is."""
    if thing is None or isinstance(thing, Archive):
        return thing
    if isinstance(thing, str) and thing.startswith("s3:"):
        return _in_bucket(thing, os.getpid())
    if isinstance(thing, Path) and thing.parts[:1] == ("s3:",):
        raise Misconfigured(
            f"a Path drops a slash of s3://…: pass the address of a bucket as text, not {thing!r}"
        )
    if isinstance(thing, str | Path):
        return FolderArchive(thing)
    raise Misconfigured(f"an archive must be a folder, s3://… or an Archive, not {type(thing).__name__}")


@lru_cache(maxsize=32)
def _in_bucket(url: str, _process: int) -> Archive:
    """Returns one archive per bucket and process, so that all callers share what it learns of its server."""
    from .archive_s3 import S3Archive

    return S3Archive(url)


class Archives:
    """The archives of an open memory."""

    def __init__(self, store: Store, chosen: str | None) -> None:
        """`chosen` is the archive that the settings name, if any."""
        self._store = store
        self._chosen = chosen
        self._given: list[Archive] = []  # those that are no folders

    def known(self) -> list[Archive]:
        """Lists all known archives that may hold records of this memory.

        Leaves out buckets that only the store names: a file must not choose the servers that Eidet contacts.
        """
        folders = [place for place in _read_places(self._store) if not _is_remote(place)]
        chosen = [] if self._chosen is None else [_absolute(self._chosen)]
        named = filter(None, map(archive_of, dict.fromkeys([*folders, *chosen])))
        return [self.sealed(source) for source in (*named, *self._given)]

    def unnamed(self) -> list[str]:
        """Lists the buckets that only the store names and that are therefore never asked; without secrets."""
        named = {self._chosen, *map(_find_place, self._given)}
        places = (place for place in _read_places(self._store) if _is_remote(place) and place not in named)
        return [place.partition("?")[0] for place in places]

    def sealed(self, archive: Archive) -> Archive:
        """Wraps an archive so that it seals its records if the store does."""
        if not is_sealed(self._store):
            return archive
        from ..trust.seal.archives import archive_for

        return archive_for(self._store, archive)

    def note(self, archive: Archive) -> None:
        """Records an archive before its first use, so that later erasures search it."""
        note_archive(self._store, archive)
        if not isinstance(archive, FolderArchive) and archive not in self._given:
            self._given.append(archive)

    def claim(self, archive: Archive) -> int:
        """Makes the pieces of an archive the store's own, at its present place. Returns how many were not."""
        self.note(archive)
        ours, claims = Ownership(self._store), _read_claims(self._store)
        manifests = map(archive.manifest, archive.names())
        foreign = [str(manifest.get(OWNER)) for manifest in manifests if not ours.has(manifest)]
        if foreign:
            owners = sorted({*claims.get(ours.name, ()), *foreign})
            verbs.set_settings(self._store, {_CLAIMS: dump_json({ours.name: owners})})
        return len(foreign)


class Ownership:
    """Decides which pieces a store may change: those it archived from its present place or has claimed.

    A copy of a file has the same identity and names the same archives, so an owner is an identity at a
    place. A file that was moved or restored is not the owner until its archive is claimed for it.
    """

    def __init__(self, store: Store) -> None:
        self.name: str = name_owner(store)
        self._owners = {self.name, *_read_claims(store).get(self.name, ())}

    def has(self, manifest: Mapping[str, Any]) -> bool:
        return str(manifest.get(OWNER)) in self._owners


def name_owner(store: Store) -> str:
    """Returns a hash that identifies a store at its present place and reveals neither."""
    machine = _MACHINE.read_text() if _MACHINE.is_file() else ""
    told = "\n".join((store.identity, home_of(store), machine))
    return blake2b(told.encode(), digest_size=16).hexdigest()


def _read_claims(store: Store) -> dict[str, list[str]]:
    claims: dict[str, list[str]] = json.loads(verbs.get_setting(store, _CLAIMS) or "{}")
    return claims


def _is_remote(place: str) -> bool:
    return place.startswith("s3:")


def note_archive(store: Store, archive: object) -> None:
    """Records an archive in the store before its first use, so that later erasures search it."""
    place, noted = _find_place(archive), _read_places(store)
    if place is not None and store.writable and place not in noted:
        verbs.set_settings(store, {SETTING: dump_json([*noted, place])})


def _find_place(archive: object) -> str | None:
    """Returns the `folder` or `url` of an archive, or None if it has neither."""
    place = getattr(archive, "folder", None) or getattr(archive, "url", None)
    return None if place is None else _absolute(place)


def name_place(archive: object) -> str:
    """Returns the place of an archive, without the secrets in its address."""
    return (_find_place(archive) or repr(archive)).partition("?")[0]


def _read_places(store: Store) -> list[str]:
    places = json.loads(verbs.get_setting(store, SETTING) or "[]")
    return [place for place in places if isinstance(place, str)]


def _absolute(place: str | Path) -> str:
    named = str(place)
    return named if _is_remote(named) else str(Path(named).expanduser().absolute())


def _to_disk(path: Path) -> None:
    """Syncs a file, or a folder for the names in it. A folder that may not be opened needs no sync."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
