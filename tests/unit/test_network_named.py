"""A file alone makes nobody talk to the network: every place there is named by whoever opens it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shell import Shell

from eidet import Memory, Settings
from eidet.core.errors import Misconfigured
from eidet.core.settings import Upkeep
from eidet.models.embed import BUILT_IN, OFFLINE, embedder_named, is_offline
from eidet.models.embed.hashing import Hashing
from eidet.store import verbs
from eidet.store.sql.sqlite import SqliteStore

WIDTH = 16


class Reached(Exception):
    """Somebody opened a connection."""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise Reached

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-whoever-opens-the-file")


def write_file(path: Path, rows: dict[str, str]) -> None:
    """A file as somebody sends it: with a record, and settings of their choice."""
    with Memory(path, embedder=Hashing(WIDTH)) as memory:
        memory.remember("Ann lives in Lisbon", id="x")
    with closing(SqliteStore(path)) as store:
        verbs.set_settings(store, rows)


ROWS: dict[str, dict[str, str]] = {
    "openai": {"embedder": "openai:text-embedding-3-small", "width": str(WIDTH)},
    "a model from a hub": {"embedder": "sentence-transformers:evil/model", "width": str(WIDTH)},
    "another hub": {"embedder": "fastembed:evil/model", "width": str(WIDTH)},
    "a plugin": {"embedder": "some-plugin:http://10.0.0.1", "width": str(WIDTH)},
    "a bucket": {"archives": '["s3://bucket/x?endpoint=http://10.0.0.1:9000"]'},
    "a setting that only callers have": {
        "index": "qdrant+http://10.0.0.1:6333",
        "reranker": "http:http://10.0.0.1/rerank",
        "llm": "openai:gpt",
        "upkeep.archive": "s3://bucket/x",
        "audit": "",
        "key": "https://10.0.0.1/key",
    },
}
VERBS: dict[str, Callable[[Memory], object]] = {
    "remember": lambda m: m.remember("Bob lives in Porto"),
    "recall": lambda m: m.recall("where does Ann live?"),
    "context": lambda m: m.context("Ann"),
    "get": lambda m: m.get("x"),
    "maintain": lambda m: m.upkeep.maintain(),
    "stats": lambda m: m.admin.stats(),
    "health": lambda m: m.admin.health(),
    "forget": lambda m: m.forget("x"),
}

EMBEDS = ("remember", "recall", "context")


@pytest.mark.parametrize("rows", ROWS)
def test_no_row_of_a_file_makes_a_verb_reach_the_network(rows: str, tmp_path: Path) -> None:
    write_file(tmp_path / "m.db", ROWS[rows])
    with Memory(tmp_path / "m.db") as memory:
        for verb, call in VERBS.items():
            if "embedder" in ROWS[rows] and verb in EMBEDS:
                with pytest.raises(Misconfigured, match="open it with embedder=") as caught:
                    call(memory)
                assert ROWS[rows]["embedder"] in str(caught.value)
            else:
                call(memory)


def test_whoever_names_the_embedder_may_reach_it(tmp_path: Path) -> None:
    name = ROWS["openai"]["embedder"]
    write_file(tmp_path / "m.db", ROWS["openai"])
    with Memory(tmp_path / "m.db", embedder=name) as memory, pytest.raises(Reached):
        memory.recall("where does Ann live?")


def test_the_command_line_says_how_to_allow_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    write_file(shell.file, ROWS["openai"])
    said = shell("recall", "Ann", EIDET_EMBEDDER="")
    assert said.code == 7
    assert "openai:text-embedding-3-small" in said.err
    assert "EIDET_EMBEDDER" in said.err


def test_somebody_has_decided_about_every_embedder() -> None:
    asks = {"openai", "sentence-transformers", "fastembed"}
    assert asks | set(OFFLINE) == set(BUILT_IN)
    assert all(map(is_offline, OFFLINE))
    assert is_offline("wordllama:l2-supercat-256")
    assert not is_offline("")
    assert embedder_named("hashing:16", 16).embed(["a"]).shape == (1, 16)


def test_a_bucket_that_only_the_file_names_is_told_and_not_asked(tmp_path: Path) -> None:
    write_file(tmp_path / "m.db", ROWS["a bucket"])
    with Memory(tmp_path / "m.db") as memory:
        receipt = memory.forget("x").receipt
        assert receipt is not None
        assert "the archive s3://bucket/x was not asked, because only the file names it" in receipt.pending[0]


def test_a_bucket_that_the_settings_name_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("boto3", reason="needs boto3: pip install 'eidet[test-s3]'")
    write_file(tmp_path / "m.db", ROWS["a bucket"])
    named = Upkeep(archive="s3://bucket/x?endpoint=http://10.0.0.1:9000")
    with Memory(tmp_path / "m.db", settings=Settings(upkeep=named)) as memory:
        assert memory.upkeep.keeping.archives.unnamed() == []
        assert len(memory.upkeep.keeping.archives.known()) == 1
