"""Copies one memory into another, whatever backends they use: without loss, and as often as you like.

    arriving.py    what a batch of records needs to be in the target as it is in the source

    copied = copy("agent.db", "postgresql://host/agent")
    assert copied.ok, copied.differences

Each call goes through all records of the source, batch by batch, and writes those that the target lacks or
has otherwise. A call that was stopped can simply be repeated, and a later one copies what is new.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import BadInput, Misconfigured, NotFound, Refused
from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Settings, settings_of
from ..core.validate import dump_json
from ..core.where import Where
from ..memory import Memory
from ..models.embed import embedder_of
from ..open import open_store
from ..parts import Parts
from ..store import TOMBSTONES, Store, verbs
from ..store.model import BELOW_MARK, SCOPE_MARK
from ..store.sql.inspect_file import file_of
from ..store.tombstones import Marker, secret_of
from ..store.traits import is_sealed, path_of
from ..trust.seal import SEAL
from ..trust.seal.keyring import read_master
from ..upkeep.archive import SETTING as ARCHIVES
from ..write.ingest import batches
from .arriving import BY, Arrivals, RecordDifference

if TYPE_CHECKING:
    from ..trust.seal.service import Key

BATCH: Final = 256
_NUMBERS: Final = "number of "  # prefix of counters whose numbers are given only once
_MARKS: Final = "secret:marks"  # the key of the marks of content that was forgotten for good
_HIDDEN_NAMES: Final = "secret:names"  # used by doors to find their unguessable scopes

Place = Memory | str | Path

__all__ = ["Copied", "RecordDifference", "copy"]

Progress = Callable[[int, int], None]  # (done, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The result of a copy; `ok` if the target now has everything that the source has."""

    created: int = 0
    changed: int = 0
    same: int = 0  # already there, and equal
    forgotten: int = 0  # deleted from the target, because the source had forgotten them since
    left_out: int = 0  # forgotten in the target, and not brought back
    embedder: str = ""
    embedded: bool = False  # whether vectors were computed again
    differences: tuple[RecordDifference, ...] = ()  # at most 100 of them
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Returns whether nothing differs."""
        return not self.differences


def copy(
    source: Place,
    target: Place,
    *,
    scope: str | Scope | None = None,
    embedder: object = None,
    language: str | None = None,
    progress: Progress | None = None,
) -> Copied:
    """Copies a scope (None: all) from one memory to another; each is a path, a URL or an open memory.

    Every field and the history of revisions are copied. With the same embedder, vectors are copied too;
    otherwise they are computed again. A new target gets the source's embedder and language unless others are
    given. Records forgotten in the target are not brought back. Records changed in the target itself are left
    alone and listed in `differences`. A repeated call copies what is new, and deletes what the source has
    forgotten since.
    """
    place = None if scope is None else Scope.of(scope)
    with ExitStack() as ends:
        one = _open_source(source, ends)
        other = _open_target(target, one, embedder, language, ends)
        _check_ends(one, other)
        return _copy(one, other, place, progress)


def _open_source(place: Place, ends: ExitStack) -> Memory:
    return place if isinstance(place, Memory) else ends.enter_context(source_at(place))


def _open_target(
    place: Place, source: Memory, embedder: object, language: str | None, ends: ExitStack
) -> Memory:
    if not isinstance(place, Memory):
        return ends.enter_context(target_at(place, source, embedder=embedder, language=language))
    parts = place.parts
    asked = None if embedder is None else embedder_of(embedder).name
    wishes = (("embedder", asked, parts.embedder.name), ("language", language, parts.analyzer.language))
    for name, wanted, there in wishes:
        if wanted not in (None, there):
            raise Misconfigured(
                f"the target is open with the {name} {there!r}: to use another, reopen the target with it"
            )
    return place


def _check_ends(source: Memory, target: Memory) -> None:
    ours, theirs = source.parts.store, target.parts.store
    if ours.identity == theirs.identity:
        raise BadInput("source and target are the same memory, or one is a copy of the other's file")
    if not theirs.writable:
        raise Refused("the target is open read-only: nothing can be copied into it")


def _copy(source: Memory, target: Memory, scope: Scope | None, progress: Progress | None) -> Copied:
    ours, theirs = source.parts, target.parts
    source.admin.flush()
    target.admin.flush()
    where, upto = Where(scope=scope, alive_at=theirs.clock()), ours.store.head().seq
    arrivals = Arrivals(ours, theirs, target.trust.guarding)
    total, done = verbs.count(ours.store, where), 0
    walk = verbs.scan(ours.store, where, batch=BATCH)
    for batch in batches(takewhile(lambda record: record.seq <= upto, walk), BATCH):
        arrivals.take_in(batch)
        done += len(batch)
        if progress is not None:
            progress(done, max(total, done))
    _copy_settings(ours.store, theirs.store)
    _copy_tombstones(ours.store, theirs.store, scope)
    theirs.key_ids.adopt(ours.key_ids.secrets())  # records keep their ids, and their keys
    counts: Counter[str] = arrivals.counts
    forgotten = 0
    if verbs.count(theirs.store, where) > counts["created"] + counts["changed"] + counts["same"]:
        forgotten = _follow(ours, target, scope)
    told: dict[str, Any] = dict(counts)
    return Copied(
        **told,
        forgotten=forgotten,
        embedder=theirs.embedder.name,
        embedded=not arrivals.embedded,
        differences=tuple(arrivals.differences),
        notes=_notes_about(ours.store, theirs.store, target.trust.guarding.guards, where),
    )


def _follow(source: Parts, target: Memory, scope: Scope | None) -> int:
    """Deletes what the source has forgotten; returns how many. Keeps held records and the target's own."""
    store = target.parts.store
    count = 0
    for batch in batches(verbs.scan(store, Where(scope=scope), batch=BATCH), BATCH):
        dead = list(_list_dead(source, batch))
        for_good = [record for record in dead if _is_for_good(source.store, record)]
        rest = [record for record in dead if record not in for_good]
        count += len(verbs.delete_unchanged(store, rest, now=target.parts.clock(), by=BY))
        for path in {record.scope for record in for_good}:
            ids = [record.id for record in for_good if record.scope == path]
            count += target.forget(ids, scope=path, by=BY, why="forgotten in the memory it was copied from")
    return count


def _list_dead(source: Parts, records: Sequence[Record]) -> Iterator[Record]:
    """Yields records that the source once had and has forgotten."""
    there = verbs.find_same_ids(source.store, records)
    for record in records:
        if (record.scope, record.id) not in there and record.state.hold is None:
            story = source.store.history(record.scope, record.id)
            if story and story[-1].what == "forgotten" and record.created <= story[-1].at:
                yield record


def _is_for_good(store: Store, record: Record) -> bool:
    if verbs.get_setting(store, _MARKS) is None:
        return False
    mark = Marker(secret_of(store, "marks", make=False)).of_id(record.scope, record.id)
    return bool(verbs.tombstones_in(store, record.scope, [mark]))


def _copy_settings(source: Store, target: Store) -> None:
    """Copies counters (no number is given twice), the list of archives, and the secret of hidden names."""
    wanted = {
        name: value
        for name, value in verbs.get_settings(source, _NUMBERS).items()
        if int(value) > int(verbs.get_setting(target, name) or 0)
    }
    ours, theirs = (json.loads(verbs.get_setting(store, ARCHIVES) or "[]") for store in (source, target))
    if unknown := [place for place in ours if place not in theirs]:
        wanted[ARCHIVES] = dump_json([*theirs, *unknown])
    hidden = verbs.get_setting(source, _HIDDEN_NAMES)
    if hidden is not None and verbs.get_setting(target, _HIDDEN_NAMES) is None:
        wanted[_HIDDEN_NAMES] = hidden
    if wanted:
        verbs.set_settings(target, wanted)


def _copy_tombstones(source: Store, target: Store, scope: Scope | None) -> None:
    """Copies tombstones, so that the target refuses what the source refuses.

    Marks are keyed, so their secret is copied first. Nothing is copied to a target with another secret, which
    could not compare them, nor from a sealed source to an unsealed target, which must not learn the secret.
    """
    secret = verbs.get_setting(source, _MARKS)
    exposed = is_sealed(source) and not is_sealed(target)
    if secret is None or exposed:
        return
    verbs.set_settings(target, {_MARKS: secret}, fresh=True)
    if verbs.get_setting(target, _MARKS) != secret:
        return
    ours, there = source.values(TOMBSTONES, within=scope), target.values(TOMBSTONES, within=scope)
    keyed = {key: since for key, since in ours.items() if key[1] not in (SCOPE_MARK, BELOW_MARK)}
    stones = {key: since for key, since in keyed.items() if key not in there or there[key] < since}

    if stones:
        target.write(lambda transaction: transaction.set_values(TOMBSTONES, stones))


def _notes_about(source: Store, target: Store, guarded: bool, where: Where) -> tuple[str, ...]:
    """Lists remarks for the caller of `copy`."""
    notes = []
    if not verbs.count(source, where):
        place = "" if where.scope is None else f" in scope {where.scope}"
        notes.append(f"the source holds no memories{place}: is it the one that was meant?")
    if verbs.get_setting(source, _MARKS) not in (None, verbs.get_setting(target, _MARKS)):
        notes.append(
            "the source has forgotten memories for good: the target does not know which, because only "
            "keyed hashes of them are left; what it had of them from an earlier copy is gone there, too"
        )
    if guarded:
        notes.append("the target has a guard, which words records its own way: only ids were compared")
    return tuple(notes)


# The two ends. An open memory stays open; one given by name is opened and closed.


def source_at(place: str | Path, *, key: Key | None = None, settings: Settings | None = None) -> Memory:
    """Opens a memory that must exist; uses the key of the settings only if it is sealed."""
    file = file_of(str(place))
    if file is not None and not file.exists():
        raise NotFound(f"there is no memory {file} to copy from")
    chosen = settings_of(settings)
    store = open_store(place, chosen)
    return _open_end(store, chosen, key or _own_key(store, chosen), "from")


def target_at(
    place: str | Path,
    source: Memory,
    *,
    embedder: object = None,
    language: str | None = None,
    key: Key | None = None,
    settings: Settings | None = None,
) -> Memory:
    """Opens or creates the target: like the source, except for what is given here."""
    chosen = settings_of(settings)
    store = open_store(place, chosen)
    origin = source.parts  # its embedder made the vectors
    new = verbs.get_setting(store, "embedder") is None
    fallback = chosen.key if new and not store.head().seq else _own_key(store, chosen)
    return _open_end(
        store,
        chosen,
        key or fallback,
        "to",
        embedder=origin.embedder if new and embedder is None else embedder,
        language=verbs.get_setting(origin.store, "language") if new and language is None else language,
    )


def _open_end(store: Store, settings: Settings, key: Key | None, end: str, **how: Any) -> Memory:
    try:
        _check_key(store, key, end)
        return Memory(store, settings=replace(settings, key=None), key=key, **how)
    except BaseException:
        store.close()
        raise


def _check_key(store: Store, key: Key | None, end: str) -> None:
    if key is None and verbs.get_setting(store, SEAL) is not None:
        name = path_of(store) or "the memory that is copied"
        raise Misconfigured(
            f"{name} is sealed with the master key {read_master(store)['master']}: name it by "
            f"--{end}-key file:PATH or --{end}-key env:NAME, or set EIDET_KEY; in Python, open it with "
            "Memory(…, key=…) and copy that"
        )


def _own_key(store: Store, settings: Settings) -> str | None:
    return None if verbs.get_setting(store, SEAL) is None else settings.key
