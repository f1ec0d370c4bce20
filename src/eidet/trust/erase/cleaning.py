"""Cleaning after a deletion: caches, archives, and the bytes of files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Final

from ...core.errors import EidetError, Unavailable
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import dump_json
from ...index.embedded.sidecar import Sidecars
from ...models.embed import ForgettingEmbedder
from ...parts import Parts
from ...store import TOMBSTONES, Erasure, Reader, verbs
from ...store.rules import ends_of
from ...store.tombstones import Marker
from ...store.verbs.values import ONCE_SECONDS
from ...text.sentences import units_of
from ...upkeep.archive import Archives, Ownership
from .elsewhere import (
    clean_histories,
    expunge,
    forms_of,
    name_foreign,
    records_in,
    remove_files,
    schema_copies,
    sidecar_folder,
    sidecars,
)
from .erasure_plan import Doom, Wish

log: logging.Logger = logging.getLogger("eidet")
PLACES = ("sidecars", "schema_copies", "archived", "freed_bytes")


@dataclass(slots=True)
class Cleaned:
    """The result of cleaning: counts by place, notes on what is left, and whether to try again."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PLACES, 0))
    notes: list[str] = field(default_factory=list)
    unfinished: bool = False


class Cleaning:
    """Removes forgotten content from everything beside the records of a store."""

    def __init__(
        self,
        parts: Parts,
        archives: Archives,
        marker: Marker,
    ) -> None:
        self._parts = parts
        self._archives = archives
        self._marker = marker

    def find_archived(self, wish: Wish) -> list[Record]:
        """Finds matching records in archives, which must not come back from there either."""
        found: list[Record] = []
        for archive in self._archives.known() if wish.entombs else ():
            try:
                found += [record for _, record in records_in(archive) if wish.where.matches(record)]
            except EidetError as error:
                log.warning("an archive cannot be read: %s", error)  # cleaning it will say so in the receipt
        return found

    def after(self, wish: Wish, doom: Doom, gone: Sequence[tuple[str, str]], *, now: float) -> Cleaned:
        """Cleans up after a deletion. Failures do not undo it: they are reported and retried later."""
        cleaned, known = Cleaned(), set(gone)
        marks = {(stone.scope, stone.mark) for stone in doom.stones}

        def is_doomed(record: Record) -> bool:
            mark = self._marker.of_record(record)
            entombed = mark is not None and (record.scope, mark) in marks
            return (record.scope, record.id) in known or wish.where.matches(record) or entombed

        cleaned.counts["archived"], cleaned.notes = self._from_archives(is_doomed, wish.scope, now)
        for place in self._archives.unnamed():
            cleaned.notes.append(
                f"the archive {place} was not asked, because only the file names it: open the memory with "
                f"upkeep.archive={place!r} and forget it again"
            )
        scopes = {scope for scope, _ in gone} | {old.scope for old, _ in doom.anew}
        if not (scopes or cleaned.counts["archived"]):
            return cleaned
        texts = list(doom.said)
        if wish.entombs and not wish.wholesale:
            histories, notes = clean_histories(self._parts.store, self._marker, wish.scope, known)
            cleaned.counts["other_histories"] = histories
            cleaned.notes += notes
        self._drop_marks(cleaned, None if wish.wholesale else doom.gone)
        self._drop_caches(texts)
        with suppress(Unavailable):  # already noted; the rest needs no store
            self._cleanse(cleaned, scopes)
        self._clean_files(cleaned, self._sidecars_of(scopes), None if wish.wholesale else _bytes_of(texts))
        return cleaned

    def _drop_marks(self, cleaned: Cleaned, gone: Sequence[Record] | None) -> None:
        """Drops the marks of requests that may have stored the records; if None are given, all marks."""
        born = [record.created for record in gone or ()] or [-inf, inf]
        try:
            verbs.drop_marks(self._parts.store, since=min(born) - ONCE_SECONDS, until=max(born))
        except Unavailable as error:
            cleaned.notes.append(f"marks of requests may tell what was asked: {error}")
            cleaned.unfinished = True

    def finish(self, now: float, *, index: bool) -> None:
        """Finishes what was interrupted or had to wait; does nothing if all is clean."""
        store = self._parts.store
        if not store.writable or not (entries := _read_journal(partial(verbs.get_setting, store))):
            return
        gone = {(scope, id) for entry in entries for scope, id in entry["ids"]}
        for entry in entries:
            clean_histories(store, self._marker, Scope.of(entry["scope"]), gone)
        cleaned = Cleaned()
        self._drop_marks(cleaned, None)
        self._from_archives(
            lambda record: (record.scope, record.id) in gone or self._is_over(record), None, now
        )
        scopes = {scope for scope, _ in gone}
        if index:
            self._cleanse(cleaned, scopes)
        else:
            cleaned.unfinished = not self._parts.has_embedded_index
        self._clean_files(cleaned, sidecars(store), None)  # all sidecars, as they are only caches
        for note in cleaned.notes:
            log.warning("forgotten content is not fully cleaned up yet: %s", note)
        for entry in () if cleaned.unfinished else entries:
            self.settle(entry["token"])

    def settle(self, token: str) -> None:
        """Removes an erasure from the journal."""
        verbs.erase(self._parts.store, lambda look: Erasure(settings=_without_entry(look, token)), now=0.0)

    def _clean_files(self, cleaned: Cleaned, caches: Sequence[Path], texts: Sequence[bytes] | None) -> None:
        store = self._parts.store
        try:
            cleaned.counts["sidecars"] = remove_files(caches)
            cleaned.counts["schema_copies"] = remove_files(schema_copies(store))
            cleaned.counts["freed_bytes"], pending = verbs.scrub_files(store, texts)
        except (Unavailable, OSError) as error:
            pending = (f"files could not be cleaned: {error}",)
        cleaned.notes += pending
        cleaned.unfinished |= bool(pending)

    def _cleanse(self, cleaned: Cleaned, scopes: Iterable[str]) -> None:
        """Cleans the index, wherever it is kept. Raises `Unavailable` if the store itself is."""
        try:
            held = list(chain.from_iterable(map(self._parts.cleanse, sorted(scopes))))
        except EidetError as error:
            cleaned.notes.append(f"the index may hold what is gone: {error}")
            cleaned.unfinished = True
            if isinstance(error, Unavailable):
                raise
        else:
            cleaned.notes += held
            cleaned.unfinished |= bool(held)

    def _drop_caches(self, records: Sequence[Record]) -> None:
        embedder = self._parts.embedder
        if isinstance(embedder, ForgettingEmbedder):
            texts = dict.fromkeys(record.text for record in records)
            embedder.forget([*texts, *chain.from_iterable(map(units_of, texts))])

    def _sidecars_of(self, scopes: Iterable[str]) -> list[Path]:
        """Lists the cache files of these scopes, with temporary files of interrupted writers."""
        files = Sidecars(sidecar_folder(self._parts.store), self._parts.store)
        paths = filter(None, map(files.path, scopes))
        return [file for path in paths for file in path.parent.glob(f"{path.name}*")]

    def _from_archives(
        self, is_doomed: Callable[[Record], bool], scope: Scope | None, now: float
    ) -> tuple[int, list[str]]:
        """Removes doomed records from the archives. Returns how many, and notes on what is left.

        With a `scope`, the notes name pieces of other owners that may hold records of it.
        """
        total, notes, ours = 0, [], Ownership(self._parts.store)
        for archive in self._archives.known():
            count, failures = expunge(archive, is_doomed, ours, now=now)
            total += count
            notes += failures
            notes += [] if scope is None else name_foreign(archive, scope, ours)
        return total, notes

    def _is_over(self, record: Record) -> bool:
        """Returns whether a tombstone covers the record's content or its whole scope."""
        says, keys = self._marker.of_record(record), list(ends_of(record.scope))
        if says is not None:
            keys.append((record.scope, says))
        stones = self._parts.store.values(TOMBSTONES, keys)
        return (record.scope, says) in stones or any(record.created <= at for at in stones.values())


def _bytes_of(records: Iterable[Record]) -> list[bytes]:
    return [form for record in records for form in forms_of(record.text, record.data)]


# The journal, a setting of the store: erasures from their deletion until all is clean.

SETTING: Final = "unclean"
MOST_IDS: Final = 10_000  # kept per erasure; the tombstones cover the rest


Entry = dict[str, Any]  # of an erasure: its token and scope, and (scope, id) of the records that it deleted


def _read_journal(setting: Callable[[str], str | None]) -> list[Entry]:
    entries: list[Entry] = json.loads(setting(SETTING) or "[]")
    return entries


def with_entry(look: Reader, token: str, scope: Scope, gone: Sequence[Record]) -> dict[str, str]:
    ids = [(record.scope, record.id) for record in gone[:MOST_IDS]]
    return _as_setting([*_read_journal(look.setting), {"token": token, "scope": str(scope), "ids": ids}])


def _without_entry(look: Reader, token: str) -> dict[str, str]:
    return _as_setting([entry for entry in _read_journal(look.setting) if entry["token"] != token])


def _as_setting(entries: list[Entry]) -> dict[str, str]:
    return {SETTING: dump_json(entries) if entries else ""}
