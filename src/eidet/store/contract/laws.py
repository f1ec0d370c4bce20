"""Shared parts of the store laws: sample records, helpers, and the base class with the store under test."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from ...core.record import Kind, Original, Record, Tier, pack_original
from ...core.scope import Scope
from ...core.state import Protection, State
from ...core.where import Where
from ...quality import Tally
from .. import Store, verbs

E = TypeVar("E", bound=Exception)

NOW: Final = 1_700_000_000.0
LATER: Final = NOW + 60
ALL: Final = Where()
FULL: Final = Record(
    id="full",
    scope="acme/ann b",
    text="naïve café 🙂 \0 after the NUL\r\n\u2028 e\u0301",
    kind=Kind.EPISODE,
    tier=Tier.LONG,
    data={"big": 2**80, "nul\0key": ["\0", {"deep": [None, True, 1, 1.0, -0.0, 1e-320, ""]}], "": {}},
    who="Ann",
    agent="planner",
    session="s 1",
    step=2**53,
    place=(1.5, -2.5, 0.1 + 0.2),
    importance=0.25,
    created=NOW + 1e-6,
    occurred=-5.25,
    uses=3,
    last_used=NOW - 1,
    expires=NOW + 1e9,
    source="mail",
    meta={"tags": ["x", "é"], "n": -(2**70)},
    state=State(pinned=Protection(at=NOW, by="é\0"), ttl=0.5, pii=("email",), more={"n": 2**70}),
    vector=bytes(range(256)),
    terms=b"\0\1\2\3\4",
    level=2,
    original=pack_original(Original(text="the whole of it", data=(None,), vector=bytes(64), embedder="x")),
    derived_from=("one", "two"),
    version=4,
)


def fact(id: str, scope: str = "a", **fields: Any) -> Record:
    """Builds a plain record whose text differs from that of any other (scope, id)."""
    return Record(
        id=id, scope=scope, **{"text": f"{id} of {scope}", "created": NOW, "occurred": NOW, **fields}
    )


def within(scope: str, **parts: Any) -> Where:
    return Where(scope=Scope(scope), **parts)


def catch(kind: type[E], call: Callable[[], object]) -> E:
    """Returns the error of this kind that the call raises; fails if it raises none."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def ids(records: list[Record]) -> list[str]:
    return [record.id for record in records]


class StoreLaws:
    """The base of the store laws: the store under test, and how to write to it."""

    lacks: Collection[type] = ()  # abilities that the laws test and this store lacks

    def make(self) -> Store:
        raise NotImplementedError

    def reopen(self, store: Store) -> Store | None:
        """Opens the same records as another object; returns None if they end with their object."""
        del store
        return None

    @cached_property
    def folder(self) -> Path:
        self._folder = TemporaryDirectory(prefix="eidet-contract-")
        return Path(self._folder.name)

    @cached_property
    def store(self) -> Store:
        return self.make()

    def teardown_method(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        if "folder" in self.__dict__:
            self._folder.cleanup()

    def put(self, *records: Record, now: float = NOW, **how: Any) -> list[Record]:
        return verbs.put(self.store, records, now=now, **how)

    def tally(self, *rows: Tally, since: int = -1) -> None:
        verbs.add_counts(self.store, rows, since=since)
