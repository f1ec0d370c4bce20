"""Proof of absence: every place where words of a memory could be, looked at one by one."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from ...core.errors import BadInput, Corrupt
from ...core.record import Record, decode_original
from ...core.scope import Scope
from ...core.validate import Json, clean_json, clean_text, dump_json
from ...core.where import Where
from ...index.embedded.sidecar import Sidecars
from ...parts import Parts
from ...store import SETTINGS, STAGED, Store, verbs
from ...store.sql.inspect_file import read_packed_originals
from ...store.tombstones import Marker, fold_text
from ...store.traits import paths_of
from ...upkeep.archive import Archive
from .elsewhere import (
    earlier_versions,
    forms_of,
    records_in,
    schema_copies,
    sidecar_folder,
    sidecars,
)
from .receipt import Receipt

NAMED: Final = 5  # findings of a place that are told one by one
WHOLE_FILE: Final = "whole file: other scopes may hold it too"
_NOTHING_SAID: Final = "say what was forgotten: a receipt, an id, a text or a value"


class Place(NamedTuple):
    """One place: how many items it has, whether they were searched, and what was found."""

    name: str
    looked_at: int
    found: int = 0
    told: tuple[str, ...] = ()
    searched: bool = True  # False where nothing was given that could be found there, such as words
    note: str = ""  # what a finding does not prove

    def __str__(self) -> str:
        name = f"{self.name} ({self.note})" if self.note else self.name
        return f"{name}: {self.found} ({', '.join(self.told)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Where was searched, and what was found. True if nothing was."""

    scope: str
    places: tuple[Place, ...]

    @property
    def found(self) -> int:
        return sum(place.found for place in self.places)

    def __bool__(self) -> bool:
        return self.found == 0

    def __str__(self) -> str:
        if not self.found:
            searched = sum(place.searched for place in self.places)
            return f"nothing found in {searched} places of scope {self.scope}"
        places = [str(place) for place in self.places if place.found]
        return f"found in scope {self.scope}: " + "; ".join(places)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What to search for: ids, marks of content, and words, which a receipt does not have."""

    ids: frozenset[str] = frozenset()
    marks: frozenset[bytes] = frozenset()
    words: tuple[str, ...] = ()  # folded
    forms: tuple[bytes, ...] = ()  # the words as they may stand in a file
    since: float | None = None  # records with such an id that were created later are others

    def is_one(self, record: Record) -> bool:
        return record.id in self.ids and (self.since is None or record.created <= self.since)

    def is_said(self, text: str) -> bool:
        return bool(self.words) and any(word in fold_text(text) for word in self.words)


@dataclass(slots=True, kw_only=True)
class Search:
    """The places of one memory, as far as a scope reaches."""

    parts: Parts
    marker: Marker
    scope: Scope
    archives: Sequence[Archive]
    unasked: Sequence[str] = ()  # archives that only the file names
    places: list[Place] = field(default_factory=list)

    def find(self, what: object) -> Absence:
        """Looks everywhere for a receipt, an id or a text (which of the two need not be said), or a value."""
        sought = self._parse(what)
        self._look_in_store(sought)
        self._look_in_settings(sought)
        self._look_in_index()
        self._look_in_archives(sought)
        self._look_in_files(sought)
        return Absence(scope=str(self.scope), places=tuple(self.places))

    def _parse(self, what: object) -> _Sought:
        if isinstance(what, Receipt):
            marks = frozenset(map(bytes.fromhex, what.marks))
            return _Sought(ids=frozenset(what.ids), marks=marks, since=what.at)
        if what is None:
            raise BadInput(_NOTHING_SAID)
        if not isinstance(what, str):
            return self._words("", clean_json(what, "what was forgotten"))
        text = clean_text(what, "what was forgotten")
        if not text.strip():
            raise BadInput(_NOTHING_SAID)
        if self.parts.store.history(self.scope.path, text):  # ids stay in the history
            return _Sought(ids=frozenset([text]))
        return self._words(text, None)

    def _words(self, text: str, data: Json) -> _Sought:
        said = fold_text(dump_json(data) if data is not None else text)
        mark = self.marker.of_content(self.scope.path, text, data)
        return _Sought(
            ids=frozenset([text] if text else ()),
            marks=frozenset([mark]),
            words=(said,) if said else (),
            forms=tuple(forms_of(text, data)),
        )

    def _note(
        self, name: str, looked_at: int, found: Iterable[str] = (), *, searched: bool = True, but: str = ""
    ) -> None:
        names = tuple(dict.fromkeys(found))
        self.places.append(Place(name, looked_at, len(names), names[:NAMED], searched, but if names else ""))

    def _look_in_store(self, sought: _Sought) -> None:
        found: dict[str, list[str]] = {"id": [], "mark": [], "words": [], "derived": [], "history": []}
        count = revised = 0
        for record in verbs.scan(self.parts.store, Where(scope=self.scope)):
            count, revised = count + 1, revised + (record.version > 1)
            tests = {
                "id": sought.is_one(record),
                "mark": self.marker.always_of(record) in sought.marks,
                "words": sought.is_said(_join_words(record)),
                "derived": self._is_derived(record, sought),
                "history": record.version > 1 and self._has_said(record, sought),
            }
            for name in (name for name, holds in tests.items() if holds):
                found[name].append(f"{record.scope}/{record.id}")
        gone = [] if found["id"] else [id for id in sought.ids if self._history(self.scope.path, id)]
        self._note("records, by id", count, found["id"], searched=bool(sought.ids))
        self._note("records, by what they say", count, found["mark"], searched=bool(sought.marks))
        self._note("records, by words in them", count, found["words"], searched=bool(sought.words))
        self._note("records made of it", count, found["derived"], searched=bool(sought.ids))
        self._note("history", revised + len(sought.ids), [*found["history"], *gone])

    def _is_derived(self, record: Record, sought: _Sought) -> bool:
        """Tells whether it derives from what was forgotten; not if its sources exist today."""
        named = [id for id in record.derived_from if id in sought.ids]
        return bool(named) and not all(self.parts.store.read(record.scope, named))

    def _has_said(self, record: Record, sought: _Sought) -> bool:
        """Tells whether an earlier version said it, by words or by a receipt's marks."""
        story = self.parts.store.history(record.scope, record.id)
        versions = (version for _, version in earlier_versions(record, story))
        if any(self.marker.always_of(version) in sought.marks for version in versions):
            return True
        return sought.is_said(self._history(record.scope, record.id))

    def _history(self, scope: str, id: str) -> str:
        """Returns what history holds of a record's content."""
        return "\n".join(dump_json(e.before) for e in self.parts.store.history(scope, id) if e.before)

    def _look_in_settings(self, sought: _Sought) -> None:
        """Names and values of settings, and vectors that the next embedder made of records that are gone."""
        store = self.parts.store
        settings, staged = store.values(SETTINGS), store.values(STAGED)
        found = [name for name, value in settings.items() if sought.is_said(f"{name}\n{value}")]
        self._note("settings", len(settings), found, searched=bool(sought.words))
        dead = staged.keys() - set(store.match(Where())) if staged else ()
        self._note("staged vectors", len(staged), [f"vector {seq}" for seq in sorted(dead)])

    def _look_in_index(self) -> None:
        """Searches the index and its cache files, which another process may write."""
        store = self.parts.store
        scopes = list(verbs.count_scopes(store, self.scope)) or [self.scope.path]
        faults = [fault for scope in scopes for fault in self.parts.index.check(scope)]
        self._note("index", len(scopes), [fault for fault in faults if "still holds" in fault])
        files = Sidecars(sidecar_folder(store), store)
        self._note(
            "caches of the index", len(scopes), [d for scope in scopes for d in files.find_dead(scope)]
        )

    def _look_in_archives(self, sought: _Sought) -> None:
        kept = [(name, record) for archive in self.archives for name, record in records_in(archive)]
        found = [
            f"{name}: {record.scope}/{record.id}"
            for name, record in kept
            if self.scope.holds(record.scope) and self._is_archived(record, sought)
        ]
        self._note("archives", len(kept), found)
        self._note("archives that only the file names", len(self.unasked), self.unasked)

    def _is_archived(self, record: Record, sought: _Sought) -> bool:
        made = sought.is_one(record) or not sought.ids.isdisjoint(record.derived_from)
        said = self.marker.always_of(record) in sought.marks or sought.is_said(_join_words(record))
        return made or said

    def _look_in_files(self, sought: _Sought) -> None:
        """Searches the bytes of every file. A finding may belong to another scope."""
        store = self.parts.store
        others = (scope for scope in verbs.count_scopes(store) if not self.scope.holds(scope))
        but, copies, searched = WHOLE_FILE if any(others) else "", schema_copies(store), bool(sought.words)
        for name, files in (
            ("files of the store", _store_files(store)),
            ("files of the index", sidecars(store)),
            ("copies of older schemas", copies),
        ):
            found = [file.name for file in files if _count_in(file, sought.forms)]
            self._note(f"{name}, bytes", len(files), found, searched=searched, but=but)
        packed = [file.name for file in copies if any(map(sought.is_said, _originals_in(file)))]
        self._note("copies of older schemas, compressed", len(copies), packed, searched=searched, but=but)


def _join_words(record: Record) -> str:
    """Joins all words of a record, names included, before any lowering."""
    whole = record.whole
    trees = (record.data, whole.data, dict(record.meta), record.state.to_json())
    names = (record.who, record.agent, record.session, record.source)
    return "\n".join(filter(None, (record.text, whole.text, *map(dump_json, trees), *names)))


def _store_files(store: Store) -> list[Path]:
    named = (Path(f"{path}{end}") for path in paths_of(store) for end in ("", "-wal", "-journal"))
    return [file for file in named if file.exists()]


def _count_in(path: Path, wanted: Sequence[bytes]) -> int:
    """Counts how many of the wanted byte strings a file holds; a missing file holds none."""
    try:
        if not path.stat().st_size:
            return 0
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            return sum(held.find(bytes_) >= 0 for bytes_ in wanted)
    except FileNotFoundError:
        return 0


def _originals_in(path: Path) -> Iterator[str]:
    """The compressed originals of a copy of a database, as JSON."""
    for blob in read_packed_originals(path):
        try:
            kept = decode_original(blob)
        except Corrupt:
            continue
        yield dump_json([kept.text, kept.data])
