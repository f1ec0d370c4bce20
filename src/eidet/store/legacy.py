"""Stores that still have every verb as a method of their own. This file goes when the last is converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeGuard, TypeVar, cast

from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..quality import Survey, Tally
from .model import SETTINGS, Derived, Erased, Erasure, K, Look, Scrubbed, Table, Uses, V, Watch

T = TypeVar("T")


class LegacyStore(Protocol):
    """The verbs as methods. A class that inherits it gets the reading half of the new port from them."""

    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]: ...

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]: ...

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]: ...

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]: ...

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]: ...

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]: ...

    def count(self, where: Where) -> int: ...

    def census(self, where: Where) -> dict[tuple[str, str], int]: ...

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]: ...

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased: ...

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]: ...

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int: ...

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed: ...

    def note(self, uses: Uses) -> None: ...

    def tally(self, rows: Sequence[Tally], *, since: int) -> None: ...

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]: ...

    def survey(
        self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float
    ) -> Survey: ...

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int: ...

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]: ...

    def witness(self, seq: int) -> str | None: ...

    def setting(self, name: str) -> str | None: ...

    def settings(self, prefix: str) -> dict[str, str]: ...

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None: ...

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool: ...

    def prune(self, before: float, *, dead: bool, most: int) -> int: ...

    def trim(self, most: int) -> int: ...

    def rewrite(self, derived: Iterable[Derived]) -> None: ...

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None: ...

    def staged(self, name: str) -> int: ...

    def adopt(self, name: str, settings: Mapping[str, str]) -> int: ...

    def size(self) -> int: ...

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        if keys and isinstance(keys[0], int):
            return self.fetch(scope, cast("Sequence[int]", keys))
        return self.get(scope, cast("Sequence[str]", keys))

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        if not columns:
            return {(): self.count(where)}
        counts: Counter[tuple[str, ...]] = Counter()
        for record in self.scan(where):
            counts[tuple(str(getattr(record, name)) for name in columns)] += 1
        return dict(counts)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        del within
        if table.name != SETTINGS.name:
            raise NotImplementedError(f"{type(self).__name__} is not converted to the port of `eidet.store`")
        if keys is None:
            return cast("dict[K, V]", dict(list(self.settings(prefix).items())[:limit]))
        found = {key: self.setting(cast("str", key)) for key in keys}
        return cast("dict[K, V]", {key: value for key, value in found.items() if value is not None})

    def write(self, job: Callable[..., T]) -> T:
        del job
        name = type(self).__name__
        raise NotImplementedError(f"{name} is not converted to the port of `eidet.store`")


def is_legacy(store: object) -> TypeGuard[LegacyStore]:
    """By one method that only such stores have: `isinstance` would look for all of them at each write."""
    return hasattr(store, "recast")
