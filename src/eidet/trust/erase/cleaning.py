"""Cleaning after a deletion: caches, archives, and the bytes of files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
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
from ...text.chunks import units_of
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
PLACES = ("sidecars", "schema_copies", "archived", "other_histories", "freed_bytes")


@dataclass(slots=True)
class Cleaned:
    """The result of cleaning: counts by place, notes on what is left, and whether to try again."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PLACES, 0))
    notes: list[str] = field(default_factory=list)
    unfinished: bool = False


class Cleaning:
    """Removes forgotten content from everything beside the records of a store."""

    def __init__(self, parts: Parts, archives: Archives, marker: Marker) -> None:
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
        cleaned, scopes = Cleaned(), {scope for scope, _ in gone} | {old.scope for old, _ in doom.anew}
        self._clean_archives(cleaned, set(gone), now, wish)
        for place in self._archives.unnamed():
            cleaned.notes.append(
                f"the archive {place} was not asked, because only the file names it: open the memory with "
                f"upkeep.archive={place!r} and forget it again"
            )
        if not (scopes or cleaned.counts["archived"]):
            return cleaned
        whole = wish.wholesale
        self._clean(
            cleaned,
            set(gone),
            scopes=scopes,
            caches=self._sidecars_of(scopes),
            histories=(wish.scope,) if wish.entombs and not whole else (),
            said=None if whole else list(doom.said),
            born=[record.created for record in doom.gone],
        )
        return cleaned

    def finish(self, now: float, *, index: bool) -> None:
        """Finishes what was interrupted or had to wait; does nothing if all is clean."""
        store = self._parts.store
        if not store.writable or not (entries := _read_journal(partial(verbs.get_setting, store))):
            return
        cleaned, gone = Cleaned(), {(scope, id) for entry in entries for scope, id in entry["ids"]}
        self._clean_archives(cleaned, gone, now)
        self._clean(
            cleaned,
            gone,
            scopes={scope for scope, _ in gone},
            caches=sidecars(store),  # all of them, as they can be made anew
            histories=[Scope.of(entry["scope"]) for entry in entries],
            index=index,
        )
        for note in cleaned.notes:
            log.warning("forgotten content is not fully cleaned up yet: %s", note)
        for entry in () if cleaned.unfinished else entries:
            self.settle(entry["token"])

    def settle(self, token: str) -> None:
        """Removes an erasure from the journal."""
        verbs.erase(self._parts.store, lambda look: Erasure(settings=_without_entry(look, token)), now=0.0)

    def _clean(
        self,
        cleaned: Cleaned,
        gone: Collection[tuple[str, str]],
        *,
        scopes: Iterable[str],
        caches: Sequence[Path],
        histories: Iterable[Scope],
        said: Sequence[Record] | None = None,
        born: Sequence[float] = (),
        index: bool = True,
    ) -> None:
        """Cleans everything but archives.

        `histories` are scopes in which other records may tell the same; `said` is what may not remain in
        files (None if unknown) and `born` when it was stored. Without `index`, an index on a server waits.
        """
        for scope in histories:
            count, notes = clean_histories(self._parts.store, self._marker, scope, gone)
            cleaned.counts["other_histories"] += count
            cleaned.notes += notes
        try:
            since, until = min(born, default=-inf) - ONCE_SECONDS, max(born, default=inf)
            verbs.drop_marks(self._parts.store, since=since, until=until)
        except Unavailable as error:
            cleaned.notes.append(f"marks of requests may tell what was asked: {error}")
            cleaned.unfinished = True
        embedder = self._parts.embedder
        if said is not None and isinstance(embedder, ForgettingEmbedder):
            texts = dict.fromkeys(record.text for record in said)
            embedder.forget([*texts, *chain.from_iterable(map(units_of, texts))])
        if index or self._parts.has_embedded_index:
            self._cleanse(cleaned, scopes)
        else:
            cleaned.unfinished = True
        self._clean_files(cleaned, caches, said)

    def _cleanse(self, cleaned: Cleaned, scopes: Iterable[str]) -> None:
        """Cleans the index, wherever it is kept."""
        try:
            held = list(chain.from_iterable(map(self._parts.cleanse, sorted(scopes))))
        except EidetError as error:
            held = [f"the index may hold what is gone: {error}"]
        cleaned.notes += held
        cleaned.unfinished |= bool(held)

    def _clean_files(self, cleaned: Cleaned, caches: Sequence[Path], said: Sequence[Record] | None) -> None:
        store = self._parts.store
        rows = None if said is None else [form for one in said for form in forms_of(one.text, one.data)]
        try:
            cleaned.counts["sidecars"] = remove_files(caches)
            cleaned.counts["schema_copies"] = remove_files(schema_copies(store))
            cleaned.counts["freed_bytes"], pending = verbs.scrub_files(store, rows)
        except (Unavailable, OSError) as error:
            pending = (f"files could not be cleaned: {error}",)
        cleaned.notes += pending
        cleaned.unfinished |= bool(pending)

    def _sidecars_of(self, scopes: Iterable[str]) -> list[Path]:
        """Lists the cache files of these scopes, with temporary files of interrupted writers."""
        files = Sidecars(sidecar_folder(self._parts.store), self._parts.store)
        paths = filter(None, map(files.path, scopes))
        return [file for path in paths for file in path.parent.glob(f"{path.name}*")]

    def _clean_archives(
        self, cleaned: Cleaned, gone: Collection[tuple[str, str]], now: float, wish: Wish | None = None
    ) -> None:
        """Removes what is gone from the archives. Notes pieces of other owners that may hold the scope."""

        def is_doomed(record: Record) -> bool:
            asked = wish is not None and wish.where.matches(record)
            return asked or (record.scope, record.id) in gone or self._is_over(record)

        ours = Ownership(self._parts.store)
        for archive in self._archives.known():
            count, failures = expunge(archive, is_doomed, ours, now=now)
            cleaned.counts["archived"] += count
            cleaned.notes += failures
            cleaned.notes += [] if wish is None else name_foreign(archive, wish.scope, ours)

    def _is_over(self, record: Record) -> bool:
        """Returns whether a tombstone covers the record's content, its id or its whole scope."""
        says = self._marker.of_record(record)
        own = (record.scope, self._marker.of_id(record.scope, record.id))
        keys = [own, *ends_of(record.scope)]
        stones = self._parts.store.values(TOMBSTONES, keys if says is None else [*keys, (record.scope, says)])
        return (record.scope, says) in stones or any(
            record.created <= stones[key] for key in keys if key in stones
        )


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
