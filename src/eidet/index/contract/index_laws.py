"""Helpers that the laws of an index share: they make records and search for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from ...core.record import Kind, Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import Store, verbs
from ...store.ram import RamStore
from ...text import pack, term_id
from ...text.analysis import pack_analysis
from .. import Candidates, Floats, Hints, Index, Probe
from ..embedded.postings import PRIOR

NOW: Final = 1_700_000_000.0
WIDTH: Final = 16


def unit(*parts: tuple[int, float]) -> Floats:
    """Makes a vector of length one along these (axis, value) coordinates."""
    vector = np.zeros(WIDTH, np.float32)
    for axis, value in parts:
        vector[axis] = value
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length or 1)


def make_record(
    id: str, scope: str = "a", *, words: str = "", axis: int | None = None, **fields: Any
) -> Record:
    """Makes a record with the words given and a vector along one axis."""
    return long(id, [words], scope, axes=() if axis is None else (axis,), **fields)


def long(
    id: str,
    units: Sequence[str],
    scope: str = "a",
    *,
    axes: Sequence[int] = (),
    flags: int = 0,
    days: Sequence[tuple[int, int]] = (),
    **fields: Any,
) -> Record:
    """Makes a record in several units of words, with a vector along each axis."""
    text = f"{id} {' '.join(units)}"
    values = {"text": text, "created": NOW, "occurred": NOW, "kind": Kind.EPISODE, **fields}
    vector = b"".join(unit((axis, 1.0)).tobytes() for axis in axes) or None
    terms = pack_analysis([pack(words.split()) for words in units], flags, days)
    return Record(id=id, scope=scope, vector=vector, terms=terms, **values)


def bm25(tf: float, length: float, mean: float, holding: int, of: int) -> float:
    """Returns the textbook BM25 score of one term, with k1 = 1.2 and b = 0.4."""
    rarity = np.log1p((PRIOR + of - holding + 0.5) / (holding + 0.5))
    return float(rarity * tf * 2.2 / (tf + 1.2 * (0.6 + 0.4 * length / mean)))


class IndexLaws:
    """The base of the index laws. `make` builds an index over a store; `folder` is for its files.

    For an index that needs a store of its own kind, override `make_store`, and `reopen`, which returns a
    second object on the same records.
    """

    def make(self, store: Store, width: int) -> Index:
        raise NotImplementedError

    def make_store(self) -> Store:
        return RamStore()

    def reopen(self, store: Store) -> Store:
        """Returns another object on the same records, as another process would have; by default the same."""
        return store

    @cached_property
    def folder(self) -> Path:
        self._folder = TemporaryDirectory(prefix="eidet-contract-")
        return Path(self._folder.name)

    @cached_property
    def store(self) -> Store:
        return self.make_store()

    @cached_property
    def index(self) -> Index:
        return self.make(self.store, WIDTH)

    def teardown_method(self) -> None:
        for part in ("index", "store"):
            if part in self.__dict__:
                getattr(self, part).close()
        if "folder" in self.__dict__:
            self._folder.cleanup()

    def put(self, *records: Record) -> list[Record]:
        return verbs.put(self.store, records, now=NOW, unique=False)

    def search(
        self,
        words: str = "",
        *,
        axis: int | None = None,
        scope: str | Scope = "a",
        now: float = NOW,
        index: Index | None = None,
        hints: Hints | None = None,
        **how: Any,
    ) -> Candidates:
        vector = None if axis is None else unit((axis, 1.0))
        terms = tuple(term_id(word) for word in words.split())
        probe = Probe(
            scope=Scope.of(scope), now=now, vector=vector, terms=terms, hints=hints or Hints(), **how
        )
        return (index or self.index).search(probe)

    def find_scores(self, words: str = "", **how: Any) -> dict[str, tuple[float, float]]:
        """Searches and returns both arms' scores by id."""
        return self.scores(self.search(words, **how))

    def scores(self, found: Candidates) -> dict[str, tuple[float, float]]:
        scopes = [found.scopes[code] for code in found.scope.tolist()]
        records = [
            self.store.read(path, [seq])[0] for path, seq in zip(scopes, found.seq.tolist(), strict=True)
        ]
        arms = zip(found.dense.tolist(), found.words.tolist(), strict=True)
        return {record.id: arm for record, arm in zip(records, arms, strict=True) if record is not None}

    def pick_ids(self, order: str, where: Where | None = None, **how: Any) -> list[str]:
        """Returns the ids that `select` gives, in its order."""
        asked: dict[str, Any] = {"scope": Scope("a"), "now": NOW, "limit": 100, **how}
        chosen = self.index.select(asked.pop("scope"), where, order=order, **asked)
        records = [self.store.read(scope, [seq])[0] for scope, seq in chosen]
        return [record.id for record in records if record is not None]
