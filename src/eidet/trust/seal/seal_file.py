"""Sealing a file that holds records already: in place, in one transaction, then without a trace.

Everything stays: ids, versions, seqs, history, tombstones, tallies. A file on which this was
interrupted is as it was; one that was sealed but not yet cleaned is cleaned when it is called again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from ...core.errors import Corrupt
from ...core.record import Record
from ...core.validate import dump_json
from ...store import SETTINGS, STAGED, TALLIES, Transaction
from ...store.model import STAGED_NAME
from ...store.sql.column_names import RECORD_COLUMNS as COLUMNS
from ...store.sql.raw_file import RawConnection, open_alone
from ...store.sql.rows import event_of, record_of, row_of
from ...store.sql.sqlite import SqliteDriver, SqliteStore
from ...store.sql.sqlite_errors import translate_errors
from ...store.sql.statements import Statements
from ...store.sql.transaction import SqlTransaction
from . import KeyService
from .codec import seal_record
from .history import seal_event
from .key_rotation import remove_copies
from .keyring import ACTORS, JobShelf, Keyring, begin, check_master, is_sealed
from .small_values import KeysFor, read_secrets, seal_secrets, seal_tallies
from .unsealed import check_unsealed

Progress = Callable[[int, int], None]
BATCH: Final = 500
_UPDATE: Final = f"UPDATE records SET {', '.join(f'{c} = ?' for c in COLUMNS)} WHERE seq = ?"  # noqa: S608
_UPDATE_EVENT: Final = "UPDATE events SET actor = ?, author = ?, earlier = ? WHERE seq = ?"
_ALL: Final = ", ".join(COLUMNS)


def seal_file(path: Path, service: KeyService, progress: Progress | None = None) -> int:
    """Seals what a file holds; how many records. Nobody else may have it open."""
    with closing(SqliteStore(path)) as store:
        sealed, identity = is_sealed(store), store.identity
        if sealed:
            check_master(store, service)
        else:
            check_unsealed(store)
    with translate_errors(path), open_alone(path) as raw:
        count = 0 if sealed else _seal(raw, identity, service, progress)
        raw.execute("VACUUM")
    shutil.rmtree(f"{path}-index", ignore_errors=True)  # caches of the index have words, too
    remove_copies(path)
    return count


def _seal(raw: RawConnection, identity: str, service: KeyService, progress: Progress | None) -> int:
    statements = Statements(SqliteDriver.json.mark)
    raw.execute("BEGIN IMMEDIATE")
    try:
        _check_plain(raw)
        transaction = SqlTransaction(statements, SqliteDriver.json, raw.cursor())
        shelf = JobShelf(identity, transaction)
        begin(shelf, service)
        keys_for = partial(Keyring(shelf, service).open_scope, again=False)
        count = _seal_records(raw, keys_for, progress)
        _seal_histories(raw, keys_for)
        _seal_values(transaction, keys_for)
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


def _seal_records(raw: RawConnection, keys_for: KeysFor, progress: Progress | None) -> int:
    total, done, at = raw.execute("SELECT count(*) FROM records").fetchone()[0], 0, 0
    page = f"SELECT {_ALL} FROM records WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608
    while rows := raw.execute(page, (at, BATCH)).fetchall():
        for record in map(record_of, rows):
            form = seal_record(record, keys_for(record.scope))
            raw.execute(_UPDATE, (*row_of(form, record.seq), record.seq))
        at, done = rows[-1][0], done + len(rows)
        if progress is not None:
            progress(done, total)
    return done


def _seal_histories(raw: RawConnection, keys_for: KeysFor) -> None:
    """Who acted and whose a record was; what it said before, which only a record that is there has."""
    rows = raw.execute(
        "SELECT what, id, scope, moment, actor, version, earlier, seq, born, author FROM events"
    ).fetchall()
    for *columns, seq, born, author in rows:
        event = event_of(columns)
        token = None if author is None else keys_for(event.scope).label("agent", author)
        whose = Record(id=event.id, scope=event.scope, text="", created=born, agent=token)
        kept = seal_event(event, whose, keys_for(ACTORS), keys_for)
        earlier = None if kept.before is None else dump_json(kept.before)
        raw.execute(_UPDATE_EVENT, (kept.by, token, earlier, seq))


def _seal_values(transaction: Transaction, keys_for: KeysFor) -> None:
    """Who judged, in tallies, and the secrets of tombstones and receipts. Staged vectors are given up."""
    tallies = seal_tallies(transaction.values(TALLIES), keys_for)
    secrets = seal_secrets(read_secrets(transaction), keys_for)
    transaction.set_values(TALLIES, tallies, clear=True)
    transaction.set_values(SETTINGS, {**secrets, STAGED_NAME: ""})
    transaction.set_values(STAGED, {}, clear=True)
