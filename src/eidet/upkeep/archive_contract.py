"""The laws of `Archive` as tests. Subclass the contract in a test file and build your archive in `make`:

class TestMine(ArchiveContract):
    def make(self) -> Archive:
        return Mine(self.folder / "mine")
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ..core.errors import NotFound
from ..core.record import Record, Tier
from ..core.scope import Scope
from ..store.contract import FULL, NOW, catch, fact
from .archive import Archive, ErasableArchive, may_hold

_SAID: Final = {"embedder": "e", "analyzer": "a", "exported": NOW}
GONE: Final = NOW + 60


class ArchiveContract:
    """Tests for every archive. `make` returns an empty one; `folder` is for its files.

    For an archive that outlives its object, override `reopen` to open the same one a second time.
    """

    def make(self) -> Archive:
        raise NotImplementedError

    def reopen(self, archive: Archive) -> Archive | None:
        del archive
        return None

    @cached_property
    def folder(self) -> Path:
        self._folder = TemporaryDirectory(prefix="eidet-contract-")
        return Path(self._folder.name)

    @cached_property
    def archive(self) -> Archive:
        return self.make()

    @property
    def expunge(self) -> Callable[..., int]:
        assert isinstance(self.archive, ErasableArchive), (
            "what was forgotten for good could not be taken out of it"
        )
        return self.archive.expunge

    def teardown_method(self) -> None:
        if "folder" in self.__dict__:
            self._folder.cleanup()

    def keep(self, *records: Record, now: float = NOW) -> str:
        return self.archive.keep(records, dict(_SAID), now=now)

    def test_an_archive_that_was_never_written_holds_nothing(self) -> None:
        assert self.archive.names() == []

    def test_every_field_comes_back_exactly(self) -> None:
        sealed = fact("sealed", text="", sealed=b"\0" * 16 + b"box")
        name = self.keep(FULL, fact("x"), sealed)
        assert list(self.archive.read(name)) == [replace(FULL, seq=0), fact("x"), sealed]

    def test_lines_that_look_like_more_than_one_are_one(self) -> None:
        odd = fact("odd", text="a\u2028b\x85c\r\nd\x1ce\0f", meta={"nul\0": "\u2029"})
        assert list(self.archive.read(self.keep(odd))) == [odd]

    def test_a_manifest_tells_what_was_said_and_how_many(self) -> None:
        manifest = self.archive.manifest(self.keep(fact("x"), fact("y")))
        assert {name: manifest[name] for name in _SAID} == _SAID
        assert (manifest["count"], manifest["archived"]) == (2, NOW)

    def test_a_manifest_tells_what_need_not_be_read(self) -> None:
        manifest = self.archive.manifest(self.keep(fact("x", created=5.0), fact("y", "b/c", created=7.0)))
        assert may_hold(manifest)
        assert may_hold(manifest, ids={"x"}, scope=Scope.under("b"), since=7.0, until=9.0)
        assert not may_hold(manifest, ids={"z"})
        assert not may_hold(manifest, scope=Scope("b"))
        assert not may_hold(manifest, since=7.1)
        assert not may_hold(manifest, until=4.9)

    def test_pieces_are_named_oldest_first(self) -> None:
        names = [self.keep(fact(f"{n}"), now=NOW + n) for n in range(5)]
        assert self.archive.names() == names
        assert len(set(names)) == 5

    def _read_all(self, name: str) -> list[Record]:
        return list(self.archive.read(name))

    def test_a_piece_that_is_not_there_is_not_found(self) -> None:
        self.keep(fact("x"))
        for name in ("archive-0123.jsonl", "archive-0123", "../x", "", "archive-"):
            catch(NotFound, partial(self.archive.manifest, name))
            catch(NotFound, partial(self._read_all, name))

    def test_what_is_forgotten_leaves_and_the_rest_stays_as_it_was(self) -> None:
        self.keep(fact("x"), FULL, fact("y"))
        (name,) = self.archive.names()
        assert self.expunge(name, lambda record: record.id in {"x", "y"}, now=GONE) == 2
        (left,) = self.archive.names()
        assert list(self.archive.read(left)) == [replace(FULL, seq=0)]
        manifest = self.archive.manifest(left)
        assert {name: manifest[name] for name in _SAID} == _SAID
        assert manifest["count"] == 1
        assert not may_hold(manifest, ids={"x"})

    def test_a_piece_without_anything_left_is_removed(self) -> None:
        name, other = self.keep(fact("x")), self.keep(fact("y"))
        assert self.expunge(name, lambda _: True, now=GONE) == 1
        assert self.archive.names() == [other]

    def test_taking_out_nothing_changes_nothing(self) -> None:
        name = self.keep(fact("x"))
        before = self.archive.manifest(name)
        assert self.expunge(name, lambda _: False, now=GONE) == 0
        assert self.archive.manifest(name) == before

    def test_many_writers_lose_nothing(self) -> None:
        assert self.archive.names() == []
        with ThreadPoolExecutor(6) as pool:
            names = list(pool.map(lambda n: self.keep(fact(f"{n}", tier=Tier.LONG)), range(18)))
        assert sorted(names) == self.archive.names()
        kept = [record.id for name in names for record in self.archive.read(name)]
        assert sorted(kept) == sorted(map(str, range(18)))

    def test_another_opening_sees_what_was_kept(self) -> None:
        name = self.keep(FULL)
        again = self.reopen(self.archive)
        if again is not None:
            assert again.names() == [name]
            assert list(again.read(name)) == [replace(FULL, seq=0)]
