"""Sealing a file that holds records already: in place, in one transaction, then without a trace.

Everything stays: ids, versions, seqs, history, tombstones, tallies. A file on which this was
interrupted is as it was; one that was sealed but not yet cleaned is cleaned when it is called again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.record import Record
from ...core.validate import dump_json
from ...store.sql.column_names import RECORD_COLUMNS as COLUMNS
from ...store.sql.raw_file import RawConnection, open_alone
from ...store.sql.rows import event_of, record_of, row_of
from ...store.sql.sqlite import SqliteStore
from ...store.sql.sqlite_errors import translate_errors
from . import KeyService
from .codec import seal_record
from .history import seal_event
from .key_rotation import remove_copies
from .keyring import ACTORS, Keyring, begin, check_master, is_sealed
from .small_values import is_secret, seal_setting
from .unsealed import check_unsealed

Progress = Callable[[int, int], None]
BATCH: Final = 500
_UPDATE: Final = f"UPDATE records SET {', '.join(f'{c} = ?' for c in COLUMNS)} WHERE seq = ?"  # noqa: S608
_UPDATE_EVENT: Final = "UPDATE events SET actor = ?, author = ?, earlier = ? WHERE seq = ?"
_ALL: Final = ", ".join(COLUMNS)


def seal_file(path: Path, service: KeyService, progress: Progress | None = None) -> int:
    """Seals what a file holds; how many records. Nobody else may have it open."""
    with closing(SqliteStore(path)) as store:
        sealed = is_sealed(store)
        if sealed:
            check_master(store, service)
        else:
            check_unsealed(store)
    with translate_errors(path), open_alone(path) as raw:
        count = 0 if sealed else _seal(raw, service, progress)
        raw.execute("VACUUM")
    shutil.rmtree(f"{path}-index", ignore_errors=True)  # caches of the index have words, too
    remove_copies(path)
    return count


def _seal(raw: RawConnection, service: KeyService, progress: Progress | None) -> int:
    shelf = _Shelf(raw)
    raw.execute("BEGIN IMMEDIATE")
    try:
        _check_plain(raw)
        begin(shelf, service)
        ring = Keyring(shelf, service)
        count = _seal_records(raw, ring, progress)
        _seal_histories(raw, ring)
        _seal_values(raw, shelf, ring)
        raw.execute("DELETE FROM vectors_next")
        shelf.configure({"staged": ""})
        raw.execute("COMMIT")
    except BaseException:
        raw.execute("ROLLBACK")
        raise
    return count


def _check_plain(raw: RawConnection) -> None:
    """Sealing a sealed record once more would blank it for good."""
    (count,) = raw.execute("SELECT count(*) FROM records WHERE sealed IS NOT NULL").fetchone()
    if count:
        raise Corrupt(
            f"{count:,} records of this file are sealed already, but it does not say by which key: restore a "
            "copy (nothing was changed)"
        )


def _seal_records(raw: RawConnection, ring: Keyring, progress: Progress | None) -> int:
    total, done, at = raw.execute("SELECT count(*) FROM records").fetchone()[0], 0, 0
    page = f"SELECT {_ALL} FROM records WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608
    while rows := raw.execute(page, (at, BATCH)).fetchall():
        for record in map(record_of, rows):
            keys = ring.open_scope(record.scope, again=False)
            raw.execute(_UPDATE, (*row_of(seal_record(record, keys), record.seq), record.seq))
        at, done = rows[-1][0], done + len(rows)
        if progress is not None:
            progress(done, total)
    return done


def _seal_histories(raw: RawConnection, ring: Keyring) -> None:
    """Who acted and whose a record was; what it said before, which only a record that is there has."""
    actors = ring.open_scope(ACTORS, again=False)
    rows = raw.execute(
        "SELECT what, id, scope, moment, actor, version, earlier, seq, born, author FROM events"
    ).fetchall()
    for *told, seq, born, author in rows:
        event = event_of(told)
        whose = Record(
            id=event.id,
            scope=event.scope,
            text="",
            created=born,
            agent=_token(ring, event.scope, "agent", author),
        )
        kept = seal_event(event, whose, actors, partial(ring.open_scope, again=False))
        earlier = None if kept.before is None else dump_json(kept.before)
        raw.execute(_UPDATE_EVENT, (kept.by, whose.agent, earlier, seq))


def _seal_values(raw: RawConnection, shelf: _Shelf, ring: Keyring) -> None:
    """Who judged, in tallies, and the secrets of tombstones and receipts."""
    for (what,) in raw.execute("SELECT DISTINCT what FROM tallies WHERE instr(what, '/') > 0").fetchall():
        thing, _, judge = what.partition("/")
        told = f"{thing}/{_token(ring, ACTORS, 'by', judge)}"
        raw.execute("UPDATE tallies SET what = ? WHERE what = ?", (told, what))
    for name, value in shelf.settings("").items():
        if is_secret(name):
            shelf.configure({name: seal_setting(name, value, ring.open_scope(ACTORS, again=False))})


def _token(ring: Keyring, scope: str, name: str, label: str | None) -> str | None:
    return None if label is None else ring.open_scope(scope, again=False).label(name, label)


class _Shelf:
    """The settings of a file, inside of the transaction that its connection is in."""

    def __init__(self, raw: RawConnection) -> None:
        self._raw = raw
        self.identity = self.setting("identity") or ""

    def setting(self, name: str) -> str | None:
        row: Any = self._raw.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def settings(self, prefix: str) -> dict[str, str]:
        rows = self._raw.execute("SELECT name, value FROM settings ORDER BY name").fetchall()
        return {name: value for name, value in rows if name.startswith(prefix)}

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        how = "IGNORE" if fresh else "REPLACE"
        self._raw.executemany(f"INSERT OR {how} INTO settings (name, value) VALUES (?, ?)", settings.items())  # noqa: S608
