"""`eidet serve` and the keys of its callers."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.servers import free_port
from tests.unit.cli.shell import Shell

for _package in ("fastapi", "uvicorn"):
    pytest.importorskip(_package, reason="needs eidet[server]: pip install 'eidet[server]'")


def test_a_key_is_shown_once_and_taken_away(eidet: Shell, tmp_path: Path) -> None:
    file = str(tmp_path / "keys.toml")
    made = eidet(
        "keys", "api", "bob", "--scopes", "acme,beta", "--rights", "read", "--rights", "write", "--keys", file
    )
    assert made.code == 0
    assert made.out.startswith("eidet_")
    assert made.out.strip() not in Path(file).read_text()
    assert eidet("keys", "api", "--keys", file).out == "bob: read, write in acme, beta\n"
    assert eidet("keys", "api", "--json", "--keys", file).json["scopes"] == ["acme", "beta"]
    again = eidet("keys", "api", "bob", "--scopes", "x", "--rights", "read", "--keys", file)
    assert again.code == 2
    wrong = eidet("keys", "api", "eve", "--scopes", "x", "--rights", "fly", "--keys", file)
    assert (wrong.code, "there are read, write, forget, admin" in wrong.err) == (7, True)
    assert eidet("keys", "api", "bob", "--revoke", "--keys", file).code == 0
    assert eidet("keys", "api", "--keys", file).out == ""
    assert eidet("keys", "api", "bob", "--revoke", "--keys", file).code == 3


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--host", "0.0.0.0"), "--keys"),
        (("--host", "0.0.0.0", "--keys", "none.toml"), "cannot be read"),
        (("--tls-cert", "x.pem"), "--tls-key"),
    ],
)
def test_it_refuses_to_start_where_strangers_could_come_in(
    eidet: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = eidet("serve", *words)
    assert said.code == 7
    assert why in said.err


@pytest.mark.parametrize("words", [("serve",), ("demo", "--serve")])
def test_a_port_that_is_taken_is_told(
    eidet: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = str(taken.getsockname()[1])
        said = eidet(*words, "--at", "new.db", "--port", port)
    assert (said.code, "--port" in said.err, f"port {port}:" in said.err) == (5, True, True)
    assert "http://" not in said.err
    assert not list(tmp_path.iterdir())


def test_a_memory_in_ram_has_one_worker(eidet: Shell) -> None:
    said = eidet("serve", "--at", "ram://", "--workers", "2")
    assert (said.code, "--workers 1" in said.err) == (7, True)


def test_it_says_where_it_is_once_it_listens_and_ends_when_asked(tmp_path: Path) -> None:
    words = ["serve", "--at", str(tmp_path / "a.db"), "--port", "0", "--embedder", "hashing:16"]
    process = subprocess.Popen(
        [sys.executable, "-m", "eidet.cli", *words], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stderr is not None
    told = ""
    while "stop it with Ctrl-C" not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    found = re.search(r"http://127\.0\.0\.1:(\d+)/v1", told)
    assert found is not None
    with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/v1/health", timeout=60) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert "Traceback" not in told + rest
