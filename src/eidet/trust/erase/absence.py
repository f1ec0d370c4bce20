"""Proof of absence: every place where words of a memory could be, looked at one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from ...core.errors import BadInput
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json, clean_json, clean_text, dump_json
from ...core.where import Where
from ...index.embedded.sidecar import Sidecars
from ...models.embed import FiledEmbedder
from ...parts import Parts
from ...store import SETTINGS, STAGED, verbs
from ...store.tombstones import Marker, fold_text
from ...upkeep.archive import Archive
from .archives import records_in
from .files import count_in, forms_of, originals_in, schema_copies, sidecar_folder, sidecars, store_files
from .histories import earlier_versions
from .receipt import Receipt

NAMED: Final = 5  # findings of a place that are told one by one
WHOLE_FILE: Final = "whole file: other scopes may hold it too"


class Place(NamedTuple):
    """One place: how many things are there, whether they were searched, and what was found."""

    name: str
    looked_at: int
    found: int = 0
    told: tuple[str, ...] = ()
    searched: bool = True  # False where nothing was given that could be found there, such as words
    note: str = ""  # what a finding does not prove

    def __str__(self) -> str:
        if self.note:
            return f"{self.name} ({self.note}): {self.found} ({', '.join(self.told)})"
        return f"{self.name}: {self.found} ({', '.join(self.told)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Where was looked, and what was found. True if that is nothing."""

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
class Sought:
    """What is looked for. Several texts may be one value written in several ways."""

    ids: frozenset[str] = frozenset()
    marks: frozenset[bytes] = frozenset()
    text: str | None = None
    data: Json = None
    since: float | None = None  # records with such an id that were created later are others

    @property
    def words(self) -> bool:
        """Whether there are words to look for; a receipt and an id have none."""
        return self.text is not None or self.data is not None

    @property
    def forms(self) -> list[bytes]:
        return forms_of(self.text, self.data)


@dataclass(slots=True)
class Search:
    """The places of one memory, as far as a scope reaches."""

    parts: Parts
    marker: Marker
    scope: Scope
    archives: Sequence[Archive]
    unasked: Sequence[str] = ()  # archives that only the file names
    places: list[Place] = field(default_factory=list)

    def note(
        self, name: str, looked_at: int, found: Sequence[str] = (), *, searched: bool = True, but: str = ""
    ) -> None:
        names = tuple(dict.fromkeys(found))
        if not names:
            but = ""
        self.places.append(Place(name, looked_at, len(names), names[:NAMED], searched, but))


def absence_of(search: Search, what: object) -> Absence:
    sought = read_sought(search, what)
    _in_store(search, sought)
    _in_settings(search, sought)
    _in_staged(search)
    _in_index(search)
    _in_archives(search, sought)
    _in_files(search, sought)
    return Absence(scope=str(search.scope), places=tuple(search.places))


def read_sought(search: Search, what: object) -> Sought:
    """A receipt, an id or a text (which of the two a string is need not be said), or a value."""
    if isinstance(what, Receipt):
        marks = frozenset(map(bytes.fromhex, what.marks))
        return Sought(ids=frozenset(what.ids), marks=marks, since=what.at)
    if isinstance(what, str):
        text = clean_text(what, "what was forgotten")
        if not text.strip():
            raise BadInput("say what was forgotten: a receipt, an id, a text or a value")
        if search.parts.store.history(search.scope.path, text):  # ids stay in the history
            return Sought(ids=frozenset([text]))
        return Sought(ids=frozenset([text]), marks=frozenset(_marks(search, text, None)), text=text)
    if what is None:
        raise BadInput("say what was forgotten: a receipt, an id, a text or a value")
    data = clean_json(what, "what was forgotten")
    return Sought(marks=frozenset(_marks(search, "", data)), data=data)


def _marks(search: Search, text: str, data: Json) -> Iterator[bytes]:
    yield search.marker.of_content(search.scope.path, text, data)


def _in_store(search: Search, sought: Sought) -> None:
    by_id, by_mark, by_word, derived, in_history, count, revised = [], [], [], [], [], 0, 0
    says = _says(sought)
    for record in verbs.scan(search.parts.store, Where(scope=search.scope)):
        count += 1
        name = f"{record.scope}/{record.id}"
        if record.id in sought.ids and (sought.since is None or record.created <= sought.since):
            by_id.append(name)
        if search.marker.always_of(record) in sought.marks:
            by_mark.append(name)
        if says(_join_words(record)):
            by_word.append(name)
        if sought.ids.intersection(record.derived_from):
            derived += [] if _is_there(search, record, sought) else [name]
        if record.version > 1:
            revised += 1
            in_history += [name] if _history_says(search, record, sought, says) else []
    gone = [id for id in sought.ids if _history(search, search.scope.path, id)]
    search.note("records, by id", count, by_id, searched=bool(sought.ids))
    search.note("records, by what they say", count, by_mark, searched=bool(sought.marks))
    search.note("records, by words in them", count, by_word, searched=sought.words)
    search.note("records made of it", count, derived, searched=bool(sought.ids))
    search.note("history", revised + len(sought.ids), [*in_history, *(gone if not by_id else [])])


def _history_says(search: Search, record: Record, sought: Sought, says: Callable[[str], bool]) -> bool:
    """Whether the record said it in an earlier version: by words, or by the marks of a receipt."""
    story = search.parts.store.history(record.scope, record.id)
    for _, version in earlier_versions(record, story):
        if search.marker.always_of(version) in sought.marks:
            return True
    return says(_history(search, record.scope, record.id))


def _in_settings(search: Search, sought: Sought) -> None:
    """Names and values of settings: doors and upkeep may keep names in them."""
    says, found = _says(sought), []
    settings = search.parts.store.values(SETTINGS)
    for name, value in settings.items():
        if says(f"{name}\n{value}"):
            found.append(name)
    search.note("settings", len(settings), found, searched=sought.words)


def _in_staged(search: Search) -> None:
    """Vectors that the next embedder made of records which are gone by now."""
    store = search.parts.store
    staged = store.values(STAGED)
    dead = staged.keys() - set(store.match(Where())) if staged else ()
    search.note("staged vectors", len(staged), [f"vector {seq}" for seq in sorted(dead)])


def _says(sought: Sought) -> Callable[[str], bool]:
    wanted = []
    for text in (sought.text, _json(sought.data)):
        if text:
            wanted.append(fold_text(text))
    return lambda said: any(text in fold_text(said) for text in wanted if text)


def _json(data: Json) -> str | None:
    if data is None:
        return None
    return dump_json(data)


def _join_words(record: Record) -> str:
    """All words of a record, names included, as they were before its tier showed less."""
    whole = record.whole
    lines = (
        record.text,
        whole.text,
        dump_json(record.data),
        dump_json(whole.data),
        dump_json(dict(record.meta)),
        dump_json(record.state.to_json()),
        record.who,
        record.agent,
        record.session,
        record.source,
    )
    return "\n".join(line for line in lines if line)


def _is_there(search: Search, record: Record, sought: Sought) -> bool:
    """Whether the sources that it names are records of today: then it was made of those."""
    named = [id for id in record.derived_from if id in sought.ids]
    return all(search.parts.store.read(record.scope, named))


def _history(search: Search, scope: str, id: str) -> str:
    """What history tells of the content of a record."""
    versions = []
    for event in search.parts.store.history(scope, id):
        if event.before:
            versions.append(event.before)
    return "\n".join(map(dump_json, versions))


def _in_index(search: Search) -> None:
    scopes = list(verbs.count_scopes(search.parts.store, search.scope)) or [search.scope.path]
    faults: list[str] = []
    for scope in scopes:
        faults += (fault for fault in search.parts.index.check(scope) if "still holds" in fault)
    search.note("index", len(scopes), faults)
    _in_sidecars(search, scopes)


def _in_sidecars(search: Search, scopes: Sequence[str]) -> None:
    """Cache files of the index that still have records which are gone: another process may write them."""
    store = search.parts.store
    files = Sidecars(sidecar_folder(store), store)
    found = [dead for scope in scopes for dead in files.find_dead(scope)]
    search.note("caches of the index", len(scopes), found)


def _in_archives(search: Search, sought: Sought) -> None:
    count, found, says = 0, [], _says(sought)
    for archive in search.archives:
        for name, record in records_in(archive):
            count += 1
            if search.scope.holds(record.scope) and _is(search, sought, record, says):
                found.append(f"{name}: {record.scope}/{record.id}")
    search.note("archives", count, found)
    search.note("archives that only the file names", len(search.unasked), search.unasked)


def _is(search: Search, sought: Sought, record: Record, says: Callable[[str], bool]) -> bool:
    return (
        (record.id in sought.ids and (sought.since is None or record.created <= sought.since))
        or bool(sought.ids.intersection(record.derived_from))
        or search.marker.always_of(record) in sought.marks
        or says(_join_words(record))
    )


def _in_files(search: Search, sought: Sought) -> None:
    """The bytes of every file; without words to look for, a receipt is not sought in bytes."""
    store, forms = search.parts.store, sought.forms
    copies, but = schema_copies(store), _doubt_bytes(search)
    for name, files in (
        ("files of the store", store_files(store)),
        ("files of the index", sidecars(store)),
        ("copies of older schemas", copies),
        ("cache of the embedder", _cache_files(search)),
    ):
        found = [file.name for file in files if count_in(file, forms)]
        search.note(f"{name}, bytes", len(files), found, searched=sought.words, but=but)
    says = _says(sought)
    packed = []
    for file in copies:
        if any(map(says, originals_in(file))):
            packed.append(file.name)
    search.note("copies of older schemas, compressed", len(copies), packed, searched=sought.words, but=but)


def _doubt_bytes(search: Search) -> str:
    """Bytes do not tell their scope: where there are other scopes, what is found may be theirs."""
    for scope in verbs.count_scopes(search.parts.store):
        if not search.scope.holds(scope):
            return WHOLE_FILE
    return ""


def _cache_files(search: Search) -> list[Path]:
    embedder = search.parts.embedder
    if not isinstance(embedder, FiledEmbedder):
        return []
    return list(embedder.cache_files())
