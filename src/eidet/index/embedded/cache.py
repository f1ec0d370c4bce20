"""Caches scopes in RAM: they follow the store and are evicted when memory runs short."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ...core.errors import Corrupt, EidetError
from ...core.scope import Scope
from ...core.where import Where
from ...store import Changes, Head, Store, verbs
from .shard import Shard
from .vectors import VectorPlanes

if TYPE_CHECKING:
    from .sidecar import Sidecars

T = TypeVar("T")
V = TypeVar("V", bound=VectorPlanes)
BATCH: Final = 5_000  # entries read from the store at once
log: logging.Logger = logging.getLogger("eidet.index")


class _Slot(Generic[V]):
    """A scope's entry in the cache: its shard with a lock, and its size in bytes."""

    __slots__ = ("learnt", "lock", "nbytes", "shard")

    def __init__(self, shard: Shard[V]) -> None:
        self.lock = threading.RLock()
        self.shard = shard
        self.nbytes = 0
        self.learnt = 0  # of these, the bytes of structures that questions made it build


class ScopeCache(Generic[V]):
    """Shards by scope. Before each question a shard reads the changes since the last. Thread-safe.

    `create` makes an empty shard, and `files` has cache files of large ones. `applied` is called after each
    page of changes, and `renewed` before an answer from replaced vectors or terms, which it may refuse by
    raising.
    """

    def __init__(
        self,
        store: Store,
        create: Callable[[str], Shard[V]],
        *,
        memory_mb: int,
        files: Sidecars | None = None,
        applied: Callable[[Shard[V]], object] | None = None,
        renewed: Callable[[], None] | None = None,
    ) -> None:
        self._store, self._create, self._files, self._applied = store, create, files, applied
        self._most = memory_mb * 2**20
        self._renewed = renewed
        self._epoch = store.head().epoch
        self._slots: OrderedDict[str, _Slot[V]] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    def read_head(self, known: Head | None = None) -> Head:
        head = known or self._store.head()
        if head.epoch != self._epoch:
            if self._renewed is not None:
                self._renewed()
            self._epoch = head.epoch
        return head

    def ask_each(self, scope: Scope, known: Head | None, ask: Callable[[str, Head], T]) -> list[T]:
        """Returns the answers of all scopes of a question, as of one head."""
        head = self.read_head(known)
        return [ask(path, head) for path in verbs.list_paths(self._store, scope)]

    def ask(self, scope: str, head: Head, question: Callable[[Shard[V]], T]) -> T:
        """Returns the question's answer from a shard that has everything up to `head`."""
        slot = self._find_slot(scope)
        with slot.lock:
            if slot.shard.head != head:
                self._catch_up(slot, head)
            answer = question(slot.shard)
            if slot.learnt != _count_learnt(slot.shard):
                self._weigh(slot)
        if self._nbytes > self._most:
            self._make_room(scope)
        return answer

    def peek(self, scope: str) -> Shard[V] | None:
        """Returns the shard of a scope as it is; None if it is not in RAM."""
        slot = self._slots.get(scope)
        return None if slot is None else slot.shard

    def weigh(self, scope: str) -> None:
        """Updates the size of a scope after its shard shrank."""
        slot = self._slots.get(scope)
        if slot is not None:
            self._weigh(slot)

    def drop(self, scope: str) -> None:
        with self._lock:
            slot = self._slots.pop(scope, None)
            self._nbytes -= slot.nbytes if slot else 0
        if slot is not None and self._files is not None and self._files.is_worth_saving(slot.shard.live):
            with slot.lock, suppress(EidetError):  # only a cache: it is rebuilt if the store is down now
                self._catch_up(slot, self._store.head())  # what was deleted since must not be in a file
                self._files.save(slot.shard)

    def drop_all(self) -> None:
        for scope in self.scopes:
            self.drop(scope)

    @property
    def scopes(self) -> list[str]:
        with self._lock:
            return list(self._slots)

    @property
    def shards(self) -> list[Shard[V]]:
        with self._lock:
            return [slot.shard for slot in self._slots.values()]

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def _find_slot(self, scope: str) -> _Slot[V]:
        with self._lock:
            slot = self._slots.get(scope)
            if slot is None:
                slot = self._slots[scope] = _Slot(self._create(scope))
            self._slots.move_to_end(scope)
            return slot

    def _catch_up(self, slot: _Slot[V], head: Head) -> None:
        shard = slot.shard
        if shard.head.seq == 0 and self._files is not None and not self._files.load(shard, head):
            shard = self._create(shard.scope)
        before, away, began = shard.count, shard.head.seq, time.monotonic()
        while shard.head.seq < head.seq or shard.head.epoch < head.epoch:
            changes = self._store.changes(shard.scope, shard.head.seq, BATCH)
            stale = changes.head.epoch != shard.head.epoch and shard.head.seq > 0
            if stale or 0 < away < changes.pruned:  # another epoch, or deletions missed
                shard, before = self._create(shard.scope), 0
            else:
                self._apply(shard, changes)
            away = 0
        slot.shard = shard
        self._weigh(slot)
        if self._files is not None and self._files.is_worth_saving(shard.count - before):
            spent = time.monotonic() - began
            log.info(
                "scope %s: %s rows read from the store in %.1f s", shard.scope, shard.count - before, spent
            )
            self._files.save(shard)

    def _apply(self, shard: Shard[V], changes: Changes) -> None:
        """Applies a page of changes; before the first of many, reserves room for all of them."""
        if self._files is not None and not shard.count and len(changes.entries) == BATCH:
            shard.reserve(verbs.count(self._store, Where(scope=Scope(shard.scope))))
        try:
            shard.apply(changes)
        except (KeyError, ValueError, TypeError) as error:
            raise Corrupt(
                f"a stored row of scope {shard.scope} is damaged ({error!r}); restore a copy"
            ) from error
        if self._applied is not None:
            self._applied(shard)

    def _weigh(self, slot: _Slot[V]) -> None:
        nbytes, slot.learnt = slot.shard.nbytes, _count_learnt(slot.shard)
        with self._lock:
            if self._slots.get(slot.shard.scope) is slot:  # else it was dropped while it was loading
                self._nbytes += nbytes - slot.nbytes
                slot.nbytes = nbytes

    def _make_room(self, current: str) -> None:
        """Evicts the least recently used scopes until the rest fits; never the one just used."""
        with self._lock:
            excess = self._nbytes - self._most
            victims = []
            for scope, slot in self._slots.items():
                if excess <= 0 or scope == current:
                    break
                victims.append(slot)
                excess -= slot.nbytes
        for slot in victims:
            self.drop(slot.shard.scope)


def _count_learnt(shard: Shard[VectorPlanes]) -> int:
    return shard.words_nbytes + shard.attributes.nbytes
