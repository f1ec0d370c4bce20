"""The vault: values behind pseudonyms, sealed, in a file of their own that several processes may share.

Every value is sealed with AES-256-GCM and bound to its pseudonym. The file says which key it was made
with (by a mark, not the key), so that another key is told at once and not value by value.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from hmac import compare_digest
from itertools import chain
from pathlib import Path
from typing import Final

from ...core.errors import BadInput, Corrupt, Misconfigured, Unavailable
from ...core.private_files import create_private, decode_key, load_secret
from ...core.record import Record
from ...core.validate import dump_json
from ..seal import WrongKey
from ..seal.service import LocalKeys
from .placeholders import tokens_in

Living = Callable[[], Iterable[Record]]  # all records there are, archives included

WAIT_SECONDS: Final = 10.0
USER: Final = "user:"
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS sealed (token TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
)


def key_of(given: object) -> bytes:
    """Returns the bytes of a key, given as bytes, hexadecimal, base64, `file:PATH` or `env:NAME`.

    What is wrong with a key is told without the key.
    """
    key = given if isinstance(given, bytes) else decode_key(load_secret(str(given).strip(), "the guard key"))
    if not key:
        raise BadInput("a guard key is hexadecimal or base64 text, or file:PATH or env:NAME of such a text")
    if not 16 <= len(key) <= 64:
        raise BadInput(f"a guard key has 16 to 64 bytes, not {len(key)}: secrets.token_hex(32) makes one")
    return key


def subkey(key: bytes, purpose: bytes) -> bytes:
    """Derives a key for one purpose."""
    return blake2b(purpose, key=key, digest_size=32, person=b"eidet.vault").digest()


class VaultFile:
    """Sealed values under their pseudonyms. Safe from many threads and in several processes."""

    def __init__(self, path: str | Path, key: bytes, *, lasting: bool = False) -> None:
        self._path = Path(path)
        self._seal = LocalKeys(subkey(key, b"seal"))
        self._mark = subkey(key, b"mark")
        self._sync = "FULL" if lasting else "NORMAL"
        self._lock = threading.RLock()
        self._open: tuple[int, sqlite3.Connection] | None = None
        self._check_key()

    def keep(self, values: Mapping[str, str]) -> None:
        """Seals and stores values, all or none; existing ones stay."""
        if not values:
            return
        with self._lock_connection() as file, file:
            missing = [token for token in values if self._row(file, token) is None]
            file.executemany(
                "INSERT OR IGNORE INTO sealed VALUES (?, ?)",
                [(token, self._seal.wrap(_encode(values[token]), token.encode())) for token in missing],
            )

    def get(self, token: str) -> str | None:
        with self._lock_connection() as file:
            sealed = self._row(file, token)
        return None if sealed is None else self._decrypt(token, sealed)

    def drop(self, tokens: Iterable[str]) -> int:
        """Forgets values for good: they are overwritten in the file, too. How many there were."""
        with self._lock_connection() as file:
            with file:
                gone = sum(
                    file.execute("DELETE FROM sealed WHERE token = ?", (token,)).rowcount for token in tokens
                )
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def tokens(self) -> set[str]:
        """Lists all pseudonyms with a known value."""
        with self._lock_connection() as file:
            return {row[0] for row in file.execute("SELECT token FROM sealed")}

    def note_user(self, identity: str) -> None:
        """Notes a memory that has pseudonyms of this vault."""
        with self._lock_connection() as file, file:
            file.execute("INSERT OR IGNORE INTO about VALUES (?, x'')", (USER + identity,))

    def users(self) -> set[str]:
        """The memories that were noted."""
        with self._lock_connection() as file:
            rows = file.execute("SELECT name FROM about WHERE substr(name, 1, ?) = ?", (len(USER), USER))
            return {row[0].removeprefix(USER) for row in rows}

    def close(self) -> None:
        with self._lock:
            if self._open is not None and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    @staticmethod
    def _row(file: sqlite3.Connection, token: str) -> bytes | None:
        row = file.execute("SELECT value FROM sealed WHERE token = ?", (token,)).fetchone()
        return None if row is None else bytes(row[0])

    def _decrypt(self, token: str, sealed: bytes) -> str:
        try:
            return self._seal.unwrap(sealed, token.encode()).decode("utf-8", "surrogatepass")
        except WrongKey:
            raise Corrupt(f"{token} is damaged in the vault {self._path}; restore a copy") from None

    @contextmanager
    def _lock_connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection()
            except sqlite3.OperationalError as error:
                raise Unavailable(f"the vault {self._path} cannot be used now: {error}") from None
            except sqlite3.DatabaseError as error:
                raise Corrupt(f"the vault {self._path} is damaged or not a vault: {error}") from None

    def _connection(self) -> sqlite3.Connection:
        """Returns this process's connection: a connection does not survive a fork."""
        if self._open is None or self._open[0] != os.getpid():
            create_private(self._path)
            file = sqlite3.connect(self._path, timeout=WAIT_SECONDS, check_same_thread=False)
            for line in ("journal_mode=WAL", f"synchronous={self._sync}", "secure_delete=ON"):
                file.execute(f"PRAGMA {line}")
            for line in _TABLES:
                file.execute(line)
            self._open = (os.getpid(), file)
        return self._open[1]

    def _check_key(self) -> None:
        """Refuses a key other than the file's, before any use."""
        try:
            with self._lock_connection() as file, file:
                file.execute("INSERT OR IGNORE INTO about VALUES ('key', ?)", (self._mark,))
                mark = bytes(file.execute("SELECT value FROM about WHERE name = 'key'").fetchone()[0])
        except OSError as error:
            raise Unavailable(f"the vault {self._path} cannot be opened: {error}") from error
        finally:
            self.close()
        if not compare_digest(mark, self._mark):
            raise Misconfigured(
                f"the vault {self._path} was created with another key: pass that one as guard_key. "
                "Without it the values behind its pseudonyms are lost; a new vault needs a new file"
            )


def _encode(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


# Values that no record names any more.


def empty_vault(
    vault: VaultFile, records: Iterable[Record] | None, living: Living, names: tuple[str, ...]
) -> int:
    """Forgets the values behind the pseudonyms of these records, except those still named elsewhere.

    None where nobody knows what was said: then every value that no record names. How many values went.
    Somebody may have stored a record with one of them meanwhile: its value is put back.
    """
    said = () if records is None else chain.from_iterable(tokens_in_record(one, names) for one in records)
    asked = vault.tokens() if records is None else set(said)
    unnamed = _still_unnamed(asked, living(), names)
    values = {token: value for token in unnamed if (value := vault.get(token))}
    if not values:
        return 0
    vault.drop(values)
    lost = _still_unnamed(values, living(), names)
    vault.keep({token: value for token, value in values.items() if token not in lost})
    return len(lost)


def _still_unnamed(tokens: Iterable[str], records: Iterable[Record], names: tuple[str, ...]) -> set[str]:
    """Returns the tokens that no record names; stops reading once all are named."""
    left = set(tokens)
    for record in records if left else ():
        left.difference_update(tokens_in_record(record, names))
        if not left:
            break
    return left


def tokens_in_record(record: Record, names: tuple[str, ...]) -> Iterator[str]:
    """The pseudonyms in all that a guard looks at, before its tier showed less of it and after."""
    for one in (record,) if record.original is None else (record, record.whole):
        trees = (one.data, one.meta, one.state.to_json())
        for text in (one.text, one.who, one.source, *map(dump_json, trees)):
            yield from tokens_in(text, names) if text else ()
