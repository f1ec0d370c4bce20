"""The secrets of tombstones and receipts of a sealed memory lie nowhere in plain."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.store.test_former_state import KEY as FORMER_KEY
from tests.unit.store.test_former_state import restored

from eidet import Memory
from eidet.core.errors import Corrupt, Refused
from eidet.store import SETTINGS
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tombstones import secret_of
from eidet.trust.seal.seal_file import seal_file
from eidet.trust.seal.service import LocalKeys, service_of
from eidet.trust.seal.store import SealedStore

KEY = bytes(range(32))
NAMES = ("marks", "receipts")
PLAIN = "5e" * 32


def opened(path: Path, key: bytes | str | None = KEY) -> Memory:
    return Memory(path, key=key, embedder="hashing:16")


def live(path: Path, key: bytes | None = KEY) -> list[bytes]:
    """A memory that has forgotten something for good; its secrets."""
    with opened(path, key) as memory:
        memory.remember("the PIN is 7731", id="pin")
        assert memory.forget("pin")
        return [secret_of(memory.parts.store, name) for name in NAMES]


def found_in(folder: Path, secrets: list[bytes]) -> list[str]:
    content = b"".join(file.read_bytes() for file in folder.iterdir())
    wanted = [secret.hex().encode() for secret in secrets] + secrets
    return [secret.hex() for secret in wanted if secret in content]


def test_no_secret_is_in_a_sealed_file(tmp_path: Path) -> None:
    assert found_in(tmp_path, live(tmp_path / "m.db")) == []
    with opened(tmp_path / "m.db") as memory, pytest.raises(Refused, match="forgotten for good"):
        memory.remember("the PIN is 7731")


def test_tombstones_work_in_a_sealed_memory_in_ram() -> None:
    with Memory(None, key=KEY, embedder="hashing:16") as memory:
        memory.remember("the PIN is 7731", id="pin")
        done = memory.forget("pin")
        assert done.receipt is not None
        assert memory.trust.verify_receipt(done.receipt)
        with pytest.raises(Refused, match="forgotten for good"):
            memory.remember("the PIN is 7731")


def test_a_file_that_is_sealed_in_place_keeps_its_secrets_to_itself(tmp_path: Path) -> None:
    secrets = live(tmp_path / "m.db", None)
    assert found_in(tmp_path, secrets), "a plain file cannot hide them"
    seal_file(tmp_path / "m.db", LocalKeys(KEY))
    assert found_in(tmp_path, secrets) == []
    with opened(tmp_path / "m.db") as memory:
        assert [secret_of(memory.parts.store, name) for name in NAMES] == secrets
        with pytest.raises(Refused, match="forgotten for good"):
            memory.remember("the PIN is 7731")


@pytest.mark.parametrize("name", ["secret:marks", "secret:receipts", "receipt_keys"])
def test_a_secret_that_somebody_else_wrote_is_not_believed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.db"
    live(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, PLAIN))
    with opened(path) as memory:
        assert any(name in fault for fault in memory.admin.check())
        with pytest.raises(Corrupt, match="cannot be trusted"):
            memory.parts.store.values(SETTINGS, (name,))


# Files of the former form.


def former(path: Path) -> Path:
    restored("sealed.sql", path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("INSERT INTO settings VALUES ('secret:marks', ?)", (PLAIN,))
    return path


def test_a_file_of_the_former_form_is_raised_once_and_its_secrets_are_sealed(tmp_path: Path) -> None:
    path = former(tmp_path / "m.db")
    with opened(path, FORMER_KEY) as memory:
        assert secret_of(memory.parts.store, "marks").hex() == PLAIN
        assert memory.admin.check() == []
        texts = sorted(record.text for record in memory.find(limit=100))
        head = memory.parts.store.head()
    for copy in tmp_path.glob("m.db.schema-*"):
        copy.unlink()  # as it was before: whoever has an old copy has the old secret
    assert found_in(tmp_path, [bytes.fromhex(PLAIN)]) == []
    with opened(path, FORMER_KEY) as memory:
        assert memory.parts.store.head() == head
        assert sorted(record.text for record in memory.find(limit=100)) == texts


def test_a_file_of_the_former_form_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    store = SqliteStore(former(tmp_path / "m.db"))
    store.writable = False
    with closing(store), pytest.raises(Refused, match="open it once for writing"):
        SealedStore(store, service_of(FORMER_KEY))


def test_a_raised_file_cannot_be_made_one_of_the_former_form_again(tmp_path: Path) -> None:
    old, new = former(tmp_path / "old.db"), former(tmp_path / "new.db")
    with opened(new, FORMER_KEY) as memory:
        memory.remember("something new")
    with closing(sqlite3.connect(new)) as raw, raw:
        raw.execute("ATTACH ? AS old", (str(old),))
        raw.execute("REPLACE INTO settings SELECT * FROM old.settings WHERE name = 'seal'")
    kept = new.read_bytes()
    with pytest.raises(Refused, match="put back"):
        opened(new, FORMER_KEY)
    assert new.read_bytes() == kept


def test_a_record_of_the_former_form_is_not_taken_in_a_raised_file(tmp_path: Path) -> None:
    old, new = former(tmp_path / "old.db"), former(tmp_path / "new.db")
    with opened(new, FORMER_KEY):
        pass
    with closing(sqlite3.connect(new)) as raw, raw:
        raw.execute("ATTACH ? AS old", (str(old),))
        raw.execute(
            "UPDATE records SET sealed = (SELECT o.sealed FROM old.records o WHERE o.id = records.id)"
        )
    with opened(new, FORMER_KEY) as memory:
        with pytest.raises(Corrupt):
            memory.get("held")
        assert len(memory.admin.check()) > 10


def test_a_former_file_that_was_tampered_with_stays_damaged(tmp_path: Path) -> None:
    path = former(tmp_path / "m.db")
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE records SET importance = 0.9 WHERE id = 'held'")
    with opened(path, FORMER_KEY) as memory:
        with pytest.raises(Corrupt):
            memory.get("held")
        assert any("'held'" in fault for fault in memory.admin.check())
        assert memory.get("pinned") is not None


def test_events_of_the_former_form_are_told_only_of_the_time_before(tmp_path: Path) -> None:
    path = former(tmp_path / "m.db")
    with opened(path, FORMER_KEY) as memory:
        until = json.loads(memory.parts.store.values(SETTINGS, ("seal",))["seal"])["former_until"]
        assert [event.by for event in memory.history("held")][:2] == [None, "court"]
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE events SET moment = ? WHERE id = 'held' AND what = 'revised'", (until + 1,))
    with opened(path, FORMER_KEY) as memory, pytest.raises(Corrupt):
        memory.history("held")
