"""Variables of the environment are obeyed where no settings are given; those that are not are told."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eidet import Memory, Misconfigured, Settings
from eidet.core.settings import SECURITY, UnusedVariable
from eidet.trust.seal.service import new_key

MAIL = "write to ann@example.com"


def test_a_guard_of_the_environment_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIDET_GUARD", "redact")
    with Memory(embedder="hashing:16") as memory:
        assert memory.remember(MAIL).text == "write to [EMAIL]"


def test_an_audit_of_the_environment_audits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EIDET_AUDIT", str(tmp_path / "audit.jsonl"))
    with Memory(embedder="hashing:16") as memory:
        memory.remember("x")
    assert '"put"' in (tmp_path / "audit.jsonl").read_text()


@pytest.mark.parametrize("way", ["EIDET_KEY", "EIDET_KEY_FILE", "EIDET_CONFIG"])
def test_a_key_of_the_environment_seals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str) -> None:
    key, file, config = new_key(), tmp_path / "key", tmp_path / "eidet.toml"
    file.write_text(key)
    file.chmod(0o600)
    config.write_text(f'[eidet]\nkey = "file:{file}"\n')
    value = {"EIDET_KEY": key, "EIDET_KEY_FILE": str(file), "EIDET_CONFIG": str(config)}[way]
    monkeypatch.setenv(way, value)
    with Memory(tmp_path / "m.db", embedder="hashing:16") as memory:
        memory.remember("giraffe")
    assert b"giraffe" not in (tmp_path / "m.db").read_bytes()
    monkeypatch.delenv(way)
    with pytest.raises(Misconfigured, match="sealed"):
        Memory(tmp_path / "m.db", embedder="hashing:16")


def test_other_settings_of_the_environment_are_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIDET_TEXT_CHARS", "7")
    monkeypatch.setenv("EIDET_UPKEEP_SHORT_AGE_DAYS", "3")
    with Memory(embedder="hashing:16") as memory:
        assert memory.parts.settings.text_chars == 7
        assert memory.parts.settings.upkeep.short_age_days == 3
    with Memory(embedder="hashing:16", settings=Settings()) as memory:
        assert memory.parts.settings.text_chars == 1_000_000


VALUES = {
    "guard": "redact",
    "guard_key": "ab" * 32,
    "poison": "all",
    "quarantine_above": "0.5",
    "review": "all",
    "waiting": "marked",
    "key": new_key(),
    "audit": "audit.jsonl",
    "audit_recalls": "yes",
    "audit_sync": "yes",
    "audit_key_file": "audit.key",
}


@pytest.mark.parametrize("name", SECURITY)
def test_a_security_variable_that_is_not_obeyed_is_told(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"EIDET_{name.upper()}", VALUES[name])
    with pytest.warns(UnusedVariable, match=f"EIDET_{name.upper()}: set, but not used"):
        Memory(embedder="hashing:16", settings=Settings()).close()


def test_a_key_file_that_is_not_obeyed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIDET_KEY_FILE", "key")
    with pytest.warns(UnusedVariable, match="EIDET_KEY_FILE"):
        Memory(embedder="hashing:16", settings=Settings()).close()


def test_a_key_that_receipts_had_is_not_ignored_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIDET_RECEIPT_KEY", "key.pem")
    with pytest.raises(Misconfigured, match="EIDET_RECEIPT_KEY is no setting any more"):
        Memory(embedder="hashing:16")


SAID: list[Callable[[], dict[str, Any]]] = [
    lambda: {"settings": Settings(guard="mask")},
    lambda: {"settings": Settings(), "guard": "mask"},
    dict,
]


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_what_the_caller_says_is_no_cause_for_a_warning(
    monkeypatch: pytest.MonkeyPatch, said: Callable[[], dict[str, Any]]
) -> None:
    monkeypatch.setenv("EIDET_GUARD", "redact")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Memory(embedder="hashing:16", **said()).close()


@pytest.mark.parametrize("given", [{}, {"text_chars": 5}, "settings", 5])
def test_settings_are_settings(given: Any) -> None:
    with pytest.raises(Misconfigured, match=r"settings must be Settings\(…\), not"):
        Memory(embedder="hashing:16", settings=given)
