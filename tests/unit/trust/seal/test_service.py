"""Where a master key may come from, and what is said where it is none."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings, read_settings
from eidet.trust.seal import KeyService
from eidet.trust.seal.contract import KeyServiceContract
from eidet.trust.seal.service import LocalKeys, new_key, service_of

KEY = bytes(range(32))
TEXT = base64.b64encode(KEY).decode()
NAME = LocalKeys(KEY).name


class TestLocalKeys(KeyServiceContract):
    def make(self) -> KeyService:
        return LocalKeys(KEY)

    def other(self) -> KeyService:
        return LocalKeys(bytes(32))


def key_file(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / "master.key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "key",
    [
        KEY,
        TEXT,
        TEXT.rstrip("="),
        base64.urlsafe_b64encode(KEY).decode(),
        KEY.hex(),
        f" {TEXT}\n",
        TEXT.encode(),
        lambda: KEY,
        lambda: TEXT,
        LocalKeys(KEY),
        "env:MY_KEY",
    ],
)
def test_a_key_is_read_however_it_is_given(key: object) -> None:
    assert service_of(key, {"MY_KEY": TEXT}).name == NAME  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [KEY, TEXT.encode(), KEY.hex().encode() + b"\n"])
def test_a_key_is_read_from_a_file(tmp_path: Path, content: bytes) -> None:
    path = key_file(tmp_path, content)
    assert service_of(f"file:{path}").name == service_of(path).name == NAME


@pytest.mark.parametrize(
    "key", ["", "opensesame", "x" * 44, TEXT[:-2], b"short", b"", KEY * 2, "é" * 32, 5, None]
)
def test_what_is_no_key_is_refused_without_telling_it(key: object) -> None:
    with pytest.raises(Misconfigured) as told:
        service_of(key)  # type: ignore[arg-type]
    if isinstance(key, str) and key:
        assert key not in str(told.value)


def test_a_variable_or_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="MY_KEY is not set"):
        service_of("env:MY_KEY", {})
    with pytest.raises(Misconfigured, match="nowhere"):
        service_of(f"file:{tmp_path}/nowhere")


def test_new_keys_differ_and_are_keys() -> None:
    assert new_key() != new_key()
    assert service_of(new_key()).name != service_of(new_key()).name


def test_a_key_is_never_shown() -> None:
    assert TEXT not in repr(Settings(key=TEXT))
    assert TEXT not in repr(service_of(TEXT))
    assert read_settings({"EIDET_KEY": TEXT}).key == TEXT
