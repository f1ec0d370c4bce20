"""Forgetting for good takes a value out of the vault with the last record that names it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from eidet import Memory, Settings, Upkeep
from eidet.core.errors import Refused
from eidet.trust.privacy import Pattern, Policy
from eidet.trust.privacy.placeholders import tokens_in

KEY = "00112233445566778899aabbccddeeff"
MAIL, OTHER = "ann.lee@example.com", "bob.ray@example.org"
NOW = 1_700_000_000.0


def opened(folder: Path, name: str = "memory.db", **settings: Any) -> Memory:
    how = {"guard": "pseudonym", "guard_key": KEY, "vault": str(folder / "people.vault"), **settings}
    return Memory(folder / name, embedder="hashing:32", settings=Settings(**how), clock=lambda: NOW)


def test_the_value_goes_with_the_only_record_that_names_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        one = memory.remember(f"write to {MAIL}")
        kept = memory.remember(f"and to {OTHER}")
        gone = memory.forget(one.id)
        assert gone.receipt is not None
        assert gone.receipt.counts["vault"] == 1
        assert memory.trust.verify_receipt(gone.receipt)
        assert memory.trust.reveal(one.text) == one.text
        assert memory.trust.reveal(kept.text) == f"and to {OTHER}"


@pytest.mark.parametrize("where", ["text", "data", "meta", "who", "source"])
@pytest.mark.parametrize("scope", ["default", "elsewhere"])
def test_a_value_that_another_record_names_stays_wherever_it_does(
    tmp_path: Path, where: str, scope: str
) -> None:
    told: dict[str, Any] = {"data": {MAIL: [1]}, "meta": {"of": [MAIL]}, "who": MAIL, "source": MAIL}
    with opened(tmp_path) as memory:
        one = memory.remember(f"write to {MAIL}")
        said = {where: told[where]} if where in told else {}
        other = memory.remember(f"or ask {MAIL}" if not said else "or ask her", scope=scope, **said)
        gone = memory.forget(one.id)
        assert gone.receipt is not None
        assert gone.receipt.counts["vault"] == 0
        assert memory.trust.reveal(one.text) == f"write to {MAIL}"
        memory.forget(other.id, scope=scope)
        assert memory.trust.reveal(one.text) == one.text


def test_a_record_that_repeats_a_pseudonym_keeps_its_value(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        one = memory.remember(f"write to {MAIL}")
        memory.remember(f"I wrote to {tokens_in(one.text)[0]}", kind="message")
        memory.forget(one.id)
        assert memory.trust.reveal(one.text) == f"write to {MAIL}"


def test_what_was_lowered_or_quarantined_still_names_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        one = memory.remember(f"write to {MAIL}")
        words = "It was a long day. " * 60 + f"Then she wrote to {MAIL}. " + "It rained. " * 60
        long = memory.remember(words)
        for _ in ("short", "middle"):
            memory.upkeep.maintain(only="move", settings=Upkeep(short_entries=0, middle_entries=0))
        lowered = memory.get(long.id)
        assert lowered is not None
        assert lowered.text != lowered.whole.text
        memory.forget(one.id)
        assert memory.trust.reveal(one.text) == f"write to {MAIL}"
        memory.trust.quarantine(long.id)
        three = memory.remember(f"call {MAIL}")
        memory.forget(three.id)
        assert memory.trust.reveal(one.text) == f"write to {MAIL}"


def test_what_an_archive_holds_still_names_it(tmp_path: Path) -> None:
    upkeep = Upkeep(forget_below=0.99, archive_above=0.0, archive=str(tmp_path / "archive"))
    with opened(tmp_path, upkeep=upkeep) as memory:
        one = memory.remember(f"write to {MAIL}")
        memory.upkeep.maintain(only="forget", now=NOW + 9e8)
        assert memory.count() == 0
        two = memory.remember(f"ask {MAIL}")
        memory.forget(two.id)
        assert memory.trust.reveal(one.text) == f"write to {MAIL}"
        memory.forget(one.id)
        assert memory.trust.reveal(one.text) == one.text


def test_earlier_versions_and_patterns_of_the_policy_are_emptied_too(tmp_path: Path) -> None:
    policy = Policy(
        default="pseudonym", patterns=(Pattern(name="badge", regex=r"B-\d{4}", action="pseudonym"),)
    )
    with opened(tmp_path, guard=policy) as memory:
        one = memory.remember(f"write to {MAIL}")
        memory.revise(one.id, text="badge B-1234 opens it")
        gone = memory.forget(one.id)
        assert gone.receipt is not None
        assert gone.receipt.counts["vault"] == 2


@pytest.mark.parametrize("for_good", [None, True])
def test_a_whole_scope_that_is_not_read_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, for_good: bool | None
) -> None:
    monkeypatch.setattr("eidet.trust.erase.WHOLESALE", 1)
    with opened(tmp_path) as memory:
        memory.remember([f"write to {MAIL}", "and then", f"ask {OTHER}"], scope="a")
        kept = memory.remember(f"ask {OTHER}", scope="b")
        gone = memory.forget(everything=True, scope="a", for_good=for_good)
        assert gone.receipt is not None
        assert gone.receipt.counts["vault"] == 1
        assert memory.trust.reveal(kept.text) == f"ask {OTHER}"


def test_deleting_that_is_not_for_good_leaves_the_vault_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        one = memory.remember(f"write to {MAIL}")
        memory.forget(one.id, for_good=False)
        assert memory.trust.reveal(one.text) == f"write to {MAIL}"


def test_a_vault_that_another_memory_uses_is_not_emptied(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, opened(tmp_path, "second.db") as second:
        one = memory.remember(f"write to {MAIL}")
        other = second.remember(f"ask {MAIL}")
        gone = memory.forget(one.id)
        assert gone.receipt is not None
        assert "another memory uses the same vault" in gone.receipt.pending[0]
        assert second.trust.reveal(other.text) == f"ask {MAIL}"
        with pytest.raises(Refused):
            memory.trust.guarding.pseudonyms.empty(None, list)
        assert memory.trust.forget_value(MAIL) == 1


def test_a_vault_that_was_locked_is_emptied_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eidet.trust.privacy.vault.WAIT_SECONDS", 0.05)
    memory = opened(tmp_path)
    one = memory.remember(f"write to {MAIL}")
    memory.trust.guarding.close()
    other = sqlite3.connect(tmp_path / "people.vault", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    gone = memory.forget(one.id)
    assert gone.receipt is not None
    assert "the vault was not emptied" in gone.receipt.pending[0]
    other.execute("ROLLBACK")
    other.close()
    assert memory.trust.reveal(one.text) == f"write to {MAIL}"
    memory.upkeep.maintain(only="expire")
    assert memory.trust.reveal(one.text) == one.text
    memory.close()


def test_without_a_vault_a_receipt_tells_nothing_of_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashing:32", guard="redact") as memory:
        gone = memory.forget(memory.remember(f"write to {MAIL}").id)
        assert gone.receipt is not None
        assert "vault" not in gone.receipt.counts
