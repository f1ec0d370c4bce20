"""Reads records beyond what the port answers by itself; uses a store's abilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import cast

from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...quality import Survey
from .. import Store
from ..abilities import AnswersVerbs, ListsTelling, MaintainsStorage
from ..model import SETTINGS, Changes, Scrubbed
from ..rules import UNIQUE_KINDS, key_of


def scan(store: Store, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
    """Yields matching records above a seq, by ascending seq; holds no lock, and reads them in batches."""
    if hasattr(store, "scan"):
        yield from cast("AnswersVerbs", store).scan(where, after=after, batch=batch)
        return
    while found := store.find(where, limit=batch, after=after):
        yield from found
        if len(found) < batch:
            return
        after = found[-1].seq


def find_same_ids(store: Store, records: Sequence[Record]) -> dict[tuple[str, str], Record]:
    """Returns the records of a store that have the ids of others, by scope and id."""
    ids: dict[str, list[str]] = {}
    for record in records:
        ids.setdefault(record.scope, []).append(record.id)
    found = (record for scope, names in ids.items() for record in store.read(scope, names))
    return {(record.scope, record.id): record for record in found if record is not None}


def count(store: Store, where: Where) -> int:
    """Counts matching records."""
    return store.count_by(where)[()]


def count_kinds(store: Store, where: Where) -> dict[tuple[str, str], int]:
    """Counts matching records by (kind, tier)."""
    return {(kind, tier): n for (kind, tier), n in store.count_by(where, ("kind", "tier")).items()}


def count_scopes(
    store: Store, scope: Scope | None = None, *, alive_at: float | None = None
) -> dict[str, int]:
    """Counts the records of each scope that holds any, by name; of all scopes, or of those in `scope`.

    With `alive_at`, records that have expired by then do not count.
    """
    counts = store.count_by(Where(scope=scope, alive_at=alive_at), ("scope",))
    return {path: n for (path,), n in sorted(counts.items())}


def list_paths(store: Store, scope: Scope) -> list[str]:
    """Lists the single scopes that a question is about; asks the store for those below others."""
    paths = (count_scopes(store, one) if one.below else [one.path] for one in scope.members)
    return list(chain.from_iterable(paths))


def changes_telling(store: Store, scope: str, since: int, limit: int) -> Changes:
    """Works like `Store.changes`, but may leave out vectors, and entries that state and decide nothing.

    A reader that starts at 0 gets all entries at once, if the store can select them.
    """
    if since == 0 and isinstance(store, ListsTelling):
        return store.list_telling(scope)
    return store.changes(scope, since, limit)


def fingerprint(store: Store, seq: int) -> str | None:
    """A stable fingerprint of the write at `seq`, or None if it was pruned."""
    if hasattr(store, "fingerprint"):
        return cast("AnswersVerbs", store).fingerprint(seq)
    for record in store.find(Where(), limit=1, after=seq - 1):
        if record.seq == seq:
            return f"{record.id} {record.created}"
    return None


def quality_counts(
    store: Store, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float
) -> Survey:
    """Counts live records as of one moment; may have to read each.

    Fresh ones were created at `fresh` or later, ripe ones before `ripe`; stale ones were created before
    `stale` and not used since. Duplicates are facts and documents that say what another one of their
    scope says, with the same details; the first one does not count.
    """
    if hasattr(store, "survey"):
        return cast("AnswersVerbs", store).survey(scope, now=now, fresh=fresh, ripe=ripe, stale=stale)
    living = store.find(Where(scope=scope, alive_at=now))
    said = Counter((record.scope, key_of(record)) for record in living if record.kind in UNIQUE_KINDS)
    return survey_of(living, said, fresh=fresh, ripe=ripe, stale=stale)


def survey_of(
    living: Sequence[Record], said: Counter[tuple[str, bytes]], *, fresh: float, ripe: float, stale: float
) -> Survey:
    """Counts living records. `said` counts facts and documents by scope and key."""
    old = [record for record in living if record.created < ripe]
    return Survey(
        records=len(living),
        used=sum(record.uses > 0 for record in living),
        fresh=sum(record.created >= fresh for record in living),
        oldest=min((record.created for record in living), default=None),
        ripe=len(old),
        never=sum(record.uses == 0 for record in old),
        stale=sum(_is_stale(record, stale) for record in living),
        distinct=len(said),
        duplicates=said.total() - len(said),
    )


def _is_stale(record: Record, stale: float) -> bool:
    return record.created < stale and (record.last_used is None or record.last_used < stale)


def prune_history(store: Store, before: float, *, dead: bool, most: int) -> int:
    """Removes up to `most` events of moves older than `before` from the history. Returns how many.

    With `dead`, also removes all older events of records that no longer exist. Returns 0 if the store cannot.
    """
    if not hasattr(store, "prune"):
        return 0
    return cast("MaintainsStorage", store).prune(before, dead=dead, most=most)


def compact(store: Store, most: int) -> int:
    """Frees up to `most` unused bytes. Returns how many; 0 if there are none or it cannot."""
    return cast("MaintainsStorage", store).trim(most) if hasattr(store, "trim") else 0


def scrub_files(store: Store, said: Sequence[bytes] | None) -> Scrubbed:
    """Removes every trace of deleted content from the store's files, if it has any.

    `said` lists bytes that must no longer be found there; None if they are unknown.
    """
    return cast("MaintainsStorage", store).scrub(said) if hasattr(store, "scrub") else Scrubbed()


def measure_size(store: Store) -> int:
    """Returns the bytes that the store takes where it lives; 0 if it does not know."""
    return cast("MaintainsStorage", store).size() if hasattr(store, "size") else 0


def get_setting(store: Store, name: str) -> str | None:
    return store.values(SETTINGS, (name,)).get(name)


def get_settings(store: Store, prefix: str) -> dict[str, str]:
    """Returns the settings with this prefix, by name."""
    return store.values(SETTINGS, prefix=prefix)
