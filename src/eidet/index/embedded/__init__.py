"""The embedded index: scopes in RAM, loaded when first asked for, dropped when memory runs short."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import Changes, Head, Store, verbs
from ...store.rules import check_order
from ...text import Analyzer, term_id
from ...text.chunks import units_of
from .. import Found, Neighbours, Probe, Span
from .lexicon import Lexicon, Reader
from .shard import Shard
from .sidecar import Sidecars

T = TypeVar("T")
BATCH: Final = 5_000  # entries read from the store at once


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """How much the index may keep in RAM, and from which size a scope gets a cache file."""

    memory_mb: int = 1024
    sidecar_from: int = 20_000


class _Slot:
    """A scope's place in the index: its shard, behind a lock, and the bytes it takes."""

    __slots__ = ("attributes", "lock", "nbytes", "shard")

    def __init__(self, shard: Shard) -> None:
        self.lock = threading.RLock()
        self.shard = shard
        self.nbytes = 0
        self.attributes = 0  # of them, for columns of attributes


class EmbeddedIndex:
    """Follows a store by its seq: before each search it reads what it has not seen yet."""

    def __init__(
        self,
        store: Store,
        width: int,
        *,
        folder: Path | None = None,
        settings: EmbeddedSettings | None = None,
        renewed: Callable[[], None] | None = None,
        lexicon: Lexicon | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        self._lexicon, self._analyzer = lexicon, analyzer
        self._renewed = renewed
        self._epoch = store.head().epoch
        self._store = store
        self._width = width
        self._settings = settings or EmbeddedSettings()
        self._sidecars = Sidecars(folder, store)
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    def search(self, probe: Probe) -> Found:
        head = self._head(probe.head)
        parts = [self._ask(path, head, partial(self._searched, probe)) for path in self._scopes(probe.scope)]
        return parts[0] if len(parts) == 1 else merged(parts)

    def _searched(self, probe: Probe, shard: Shard) -> Found:
        return shard.search(probe, self._resolver(shard), self._reader(shard))

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        name, descending = check_order(order)
        if name == "uses":
            raise BadInput("the index does not keep uses; `find` orders by them")
        head = self._head()
        keys: list[tuple[float, int, str]] = []
        for path in self._scopes(scope):
            keys += self._ask(
                path,
                head,
                lambda shard: _first(shard, self._rows(shard, where, now), name, descending, limit),
            )
        keys.sort()
        return [(path, abs(seq)) for _, seq, path in keys[:limit]]

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        return self._ask(
            scope, self._head(), lambda shard: shard.around(seqs, reach, where, now, self._resolver(shard))
        )

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        head = self._head(head)
        parts = [self._ask(path, head, lambda shard: shard.voices) for path in self._scopes(scope)]
        return (
            parts[0]
            if len(parts) == 1
            else tuple(dict.fromkeys(who for part in parts for who in part if who))
        )

    def follow(self, scope: str) -> None:
        if scope in self._slots:
            self._ask(scope, self._head(), lambda shard: shard.head)

    def cleanse(self, scope: str) -> list[str]:
        """Cache files are not asked for here: they go as a whole."""
        self.follow(scope)
        return []

    def rebuild(self, scope: str) -> int:
        self._drop(scope)
        self._sidecars.remove(scope)  # after the drop, which may save what is to be made anew
        return self._ask(scope, self._store.head(), lambda shard: shard.records)

    def check(self, scope: str) -> list[str]:
        held, damaged = self._ask(
            scope,
            self._store.head(),
            lambda shard: (set(shard.seq[shard.alive].tolist()), set(shard.damaged)),
        )
        truth = set(self._store.match(Where(scope=Scope(scope))))
        faults = (("misses", len(truth - held - damaged)), ("still holds", len(held - truth)))
        told = [
            f"scope {scope}: the index {verb} {count:,} records; run `eidet rebuild`"
            for verb, count in faults
            if count
        ]
        if damaged:
            told.append(f"scope {scope}: {len(damaged):,} records are damaged; restore a copy or an export")
        return told

    def stats(self) -> dict[str, Any]:
        with self._lock:
            slots = list(self._slots.values())
        return {
            "loaded_scopes": len(slots),
            "loaded_records": sum(slot.shard.records for slot in slots),
            "memory_bytes": sum(slot.nbytes for slot in slots),
        }

    def close(self) -> None:
        for scope in list(self._slots):
            self._drop(scope)

    # Loading and following.

    def _head(self, known: Head | None = None) -> Head:
        head = known or self._store.head()
        if head.epoch != self._epoch:
            if self._renewed is not None:
                self._renewed()
            self._epoch = head.epoch
        return head

    def _scopes(self, scope: Scope) -> list[str]:
        return list(verbs.count_scopes(self._store, scope)) if scope.below else [scope.path]

    def _ask(self, scope: str, head: Head, question: Callable[[Shard], T]) -> T:
        """Answers from a shard that has seen everything up to `head`."""
        slot = self._slot(scope)
        with slot.lock:
            if slot.shard.head != head:
                self._catch_up(slot, head)
            answer = question(slot.shard)
            if slot.attributes != slot.shard.attributes.nbytes:
                self._weigh(slot)
        if self._nbytes > self._settings.memory_mb * 2**20:
            self._make_room(scope)
        return answer

    def _slot(self, scope: str) -> _Slot:
        with self._lock:
            slot = self._slots.get(scope)
            if slot is None:
                slot = self._slots[scope] = _Slot(Shard(scope, self._width))
            self._slots.move_to_end(scope)
            return slot

    def _catch_up(self, slot: _Slot, head: Head) -> None:
        shard = slot.shard
        if shard.head.seq == 0:
            shard = self._sidecars.load(shard.scope, self._width, head) or shard
        before, away = shard.count, shard.head.seq
        while shard.head.seq < head.seq or shard.head.epoch < head.epoch:
            changes = self._store.changes(shard.scope, shard.head.seq, BATCH)
            stale = changes.head.epoch != shard.head.epoch and shard.head.seq > 0
            if stale or 0 < away < changes.pruned:  # of another epoch, or away for longer than is told
                shard, before, away = Shard(shard.scope, self._width), 0, 0
            else:
                away = 0
                self._make_ready(shard, changes)
                _apply(shard, changes)
        slot.shard = shard
        self._weigh(slot)
        if shard.count - before >= self._settings.sidecar_from:
            self._sidecars.save(shard)

    def _make_ready(self, shard: Shard, changes: Changes) -> None:
        """Before the first of many pages: room for all of them, instead of growing and copying on the way."""
        if not shard.count and len(changes.entries) == BATCH:
            shard.reserve(verbs.count(self._store, Where(scope=Scope(shard.scope))))

    def _resolver(self, shard: Shard) -> Callable[[Where], NDArray[np.int64]]:
        return partial(self._resolve, shard)

    def _resolve(self, shard: Shard, where: Where) -> NDArray[np.int64]:
        """The seqs that pass what the columns of records cannot tell: ids and conditions."""
        if where.ids is None:
            try:
                held = shard.attributes.holding(where.conditions, shard.seq, partial(self._records, shard))
            except (Corrupt, Unavailable):  # some record cannot be read; the store need not read them whole
                held = None
            if held is not None:
                return shard.seq[held]
        return np.array(self._store.match(where), np.int64)

    def _records(self, shard: Shard, seqs: list[int]) -> Iterator[Record | None]:
        for start in range(0, len(seqs), BATCH):
            yield from self._store.read(shard.scope, seqs[start : start + BATCH])

    def _rows(self, shard: Shard, where: Where | None, now: float) -> NDArray[np.intp]:
        keep = shard.passing(where, now, self._resolver(shard))
        first = shard.unit == 0
        return np.flatnonzero(first if keep is None else keep & first)

    # Words and their vectors.

    def _reader(self, shard: Shard) -> Reader | None:
        return None if self._lexicon is None else self._lexicon.reader(partial(self._spelt, shard))

    def _spelt(self, shard: Shard, unknown: Sequence[int]) -> dict[int, str]:
        """The terms behind ids, from texts of the scope that have them."""
        assert self._analyzer is not None
        which, rows, _ = shard.postings.lookup(unknown)
        _, first = np.unique(which, return_index=True)
        seqs = np.unique(shard.seq[rows[first]])
        wanted = set(unknown)
        found: dict[int, str] = {}
        for start in range(0, len(seqs), BATCH):
            for record in self._store.read(shard.scope, seqs[start : start + BATCH].tolist()):
                for said in () if record is None else _said(record):
                    terms = self._analyzer.terms(said)
                    found.update((id, term) for term in terms if (id := term_id(term)) in wanted)
        return found

    # Memory.

    def _weigh(self, slot: _Slot) -> None:
        nbytes, slot.attributes = slot.shard.nbytes, slot.shard.attributes.nbytes
        with self._lock:
            if self._slots.get(slot.shard.scope) is slot:  # else it was dropped while it was loading
                self._nbytes += nbytes - slot.nbytes
                slot.nbytes = nbytes

    def _make_room(self, current: str) -> None:
        """Drops the scopes asked for longest ago until the rest fits; never the one just used."""
        with self._lock:
            excess = self._nbytes - self._settings.memory_mb * 2**20
            victims = []
            for scope, slot in self._slots.items():
                if excess <= 0 or scope == current:
                    break
                victims.append(scope)
                excess -= slot.nbytes
        for scope in victims:
            self._drop(scope)

    def _drop(self, scope: str) -> None:
        with self._lock:
            slot = self._slots.pop(scope, None)
            self._nbytes -= slot.nbytes if slot else 0
        if slot is not None and slot.shard.live >= self._settings.sidecar_from:
            with slot.lock:
                self._sidecars.save(slot.shard)


def _said(record: Record) -> set[str]:
    """What the terms of a record were read from: all of its text, or each of its units."""
    text, speaker = record.whole.text, f"{record.who}: " if record.who else ""
    return {speaker + part for part in (text, *units_of(text))}


def _apply(shard: Shard, changes: Changes) -> None:
    try:
        shard.apply(changes)
    except (KeyError, ValueError, TypeError) as error:
        raise Corrupt(
            f"a stored row of scope {shard.scope} is damaged ({error!r}); restore a copy"
        ) from error


def _first(
    shard: Shard, rows: NDArray[np.intp], name: str, descending: bool, limit: int
) -> list[tuple[float, int, str]]:
    """Sort keys of the first `limit` rows by a column: (value, seq, scope), absent values last."""
    sign = -1 if descending else 1
    values = getattr(shard, name)[rows] * float(sign)
    values[np.isnan(values)] = np.inf
    if len(rows) > limit * 4 > 0:
        near = values <= np.partition(values, limit - 1)[limit - 1]
        rows, values = rows[near], values[near]
    seqs = shard.seq[rows] * sign
    order = np.lexsort((seqs, values))[:limit]
    return [(float(values[i]), int(seqs[i]), shard.scope) for i in order]


def merged(parts: list[Found]) -> Found:
    """Candidates of several scopes (one to a part) as one answer; scores stay as they are."""
    by_seq = np.argsort(_joined([part.seq for part in parts], np.int64), kind="stable")

    def column(name: str) -> NDArray[Any]:
        return _joined([getattr(part, name) for part in parts], _DTYPES[name])[by_seq]

    sizes = np.cumsum([0, *map(len, parts)])
    place = np.empty(len(by_seq), np.int32)
    place[by_seq] = np.arange(len(by_seq), dtype=np.int32)
    codes = [np.full(len(part), at, np.int32) for at, part in enumerate(parts)]
    scope = _joined(codes, np.int32)[by_seq]
    voices = tuple(dict.fromkeys(who for part in parts for who in part.voices))
    days = [_moved(part.days, start) for part, start in zip(parts, sizes, strict=False)]
    told = np.concatenate(days) if days else np.empty((0, 3), np.int32)
    told[:, 0] = place[told[:, 0]]
    aligned = all(part.aligned is not None for part in parts) and bool(parts)
    return Found(
        scopes=[scope for part in parts for scope in part.scopes],
        scope=scope,
        aligned=column("aligned") if aligned else None,
        session=_renumbered([part.session for part in parts])[by_seq],
        who=_joined([_coded(part, voices) for part in parts], np.int32)[by_seq],
        days=told,
        voices=voices,
        mentions=tuple(
            np.concatenate(masks)[by_seq] for masks in zip(*(part.mentions for part in parts), strict=True)
        ),
        inside=_optional([part.inside for part in parts], by_seq),
        away=_optional([part.away for part in parts], by_seq),
        spans={arm: _widest([part.spans[arm] for part in parts if part.kept]) for arm in _arms(aligned)},
        damaged=dict(sum((Counter(part.damaged) for part in parts), Counter())),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        rarity=max((part.rarity for part in parts), default=0.0),
        searched=sum(part.searched for part in parts),
        kept=sum(part.kept for part in parts),
        **{name: column(name) for name in _DTYPES if name != "aligned"},
    )


_DTYPES: Final[dict[str, Any]] = {
    "seq": np.int64,
    "dense": np.float32,
    "words": np.float32,
    "aligned": np.float32,
    "importance": np.float64,
    "occurred": np.float64,
    "turn": np.int32,
    "kind": np.uint8,
    "flags": np.uint8,
    "length": np.float32,
}


def _optional(parts: list[Any], by_seq: NDArray[np.intp]) -> NDArray[Any] | None:
    return None if not parts or any(part is None for part in parts) else np.concatenate(parts)[by_seq]


def _arms(aligned: bool) -> tuple[str, ...]:
    return ("dense", "words", "aligned") if aligned else ("dense", "words")


def _moved(days: NDArray[np.int32], start: int) -> NDArray[np.int32]:
    moved = days.copy()
    moved[:, 0] += start
    return moved


def _renumbered(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Codes of several scopes, so that no two scopes share one; none stays none."""
    fresh, start = [], 0
    for codes in parts:
        fresh.append(np.where(codes >= 0, codes + start, codes))
        start += int(codes.max(initial=-1)) + 1
    return _joined(fresh, np.int32)


def _coded(part: Found, voices: tuple[str, ...]) -> NDArray[np.int32]:
    """Who spoke, by the numbers of `voices`."""
    number = {who: at for at, who in enumerate(voices)}
    table = np.array([*[number[who] for who in part.voices], -1], np.int32)
    return table[part.who]


def _joined(arrays: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(arrays).astype(dtype) if arrays else np.empty(0, dtype)


def _widest(spans: list[Span]) -> Span:
    return Span(min(s.low for s in spans), max(s.high for s in spans)) if spans else Span()
