"""Making vectors or terms of stored records anew, in batches, with progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from ..core.errors import Conflict
from ..core.where import Where
from ..models.embed import Embedder
from ..models.embed.quantise import quantise
from ..store import Derived, Store, verbs
from ..text import Analyzer
from .ingest import analyse_record, embed_units

T = TypeVar("T")
Progress = Callable[[int, int], None]  # done, of how many


def reanalyse(
    store: Store, analyzer: Analyzer, width: int, progress: Progress | None, *, facts: bool = True
) -> int:
    """What search keeps of every record's text, by another analyzer."""
    total, done = verbs.count(store, Where()), 0
    for batch in batches(verbs.scan(store, Where()), 1000):
        fresh: list[Derived] = []
        for record in batch:
            terms = analyse_record(record, record.vector, width, analyzer, facts=facts)
            fresh.append(Derived(record.seq, record.vector, terms))
        verbs.replace_derived(store, fresh)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return done


def reembed(store: Store, embedder: Embedder, progress: Progress | None) -> int:
    """Vectors of every record by another embedder, switched at once when all are there.

    Writers may go on meanwhile: what they added is made up for before the switch.
    """
    total = verbs.count(store, Where())
    for _ in range(100):
        done = _stage(store, embedder, total, progress)
        names = {"embedder": embedder.name, "width": str(embedder.width)}
        if verbs.switch_vectors(store, embedder.name, names) == 0:
            return done
    raise Conflict("the store is written faster than it can be re-embedded; pause the writers")


def _stage(store: Store, embedder: Embedder, total: int, progress: Progress | None) -> int:
    since = verbs.read_staged(store, embedder.name)
    done = sum(1 for seq in store.match(Where()) if seq <= since)
    for batch in batches(verbs.scan(store, Where(), after=since), 256):
        rows = embed_units(embedder, [record.whole.text for record in batch])
        kept = [(r.seq, quantise(row, r.level, embedder.width)) for r, row in zip(batch, rows, strict=True)]
        verbs.stage_vectors(store, embedder.name, kept, of=batch)
        done += len(batch)
        if progress is not None:
            progress(done, max(total, done))
    return done


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    walk = iter(items)
    while batch := list(islice(walk, size)):
        yield batch
