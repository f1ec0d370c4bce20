"""Sealed memories, by their verbs."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eidet import Memory, Where
from eidet.cli import app
from eidet.core.errors import Misconfigured, Refused
from eidet.core.settings import Settings, Upkeep
from eidet.core.where import Condition
from eidet.trust.seal.service import new_key

KEY = bytes(range(32))
OTHER = bytes(32)
NOW = 1_700_000_000.0
DAY = 86_400.0
TEXTS = ["Ann lives in Lisbon", "Bob has a giraffe", "the train leaves at nine"]


def opened(path: Path | str | None, key: object = KEY, at: float = NOW) -> Memory:
    return Memory(path, key=key, embedder="hashing:64", clock=lambda: at)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with opened(tmp_path / "m.db") as memory:
        memory.remember(TEXTS, who="Ann")
        memory.remember("Eve likes chess", scope="eve", meta={"n": 1})
    return tmp_path / "m.db"


def test_a_sealed_memory_answers_as_any_other(path: Path) -> None:
    with opened(path) as sealed, Memory(embedder="hashing:64", clock=lambda: NOW) as plain:
        plain.remember(TEXTS, who="Ann")
        for query in ("who has a giraffe?", "Lisbon", "train"):
            told = [[(hit.text, round(hit.score, 6)) for hit in m.recall(query)] for m in (sealed, plain)]
            assert told[0] == told[1]
        assert [r.text for r in sealed.find(who="Ann")] == [r.text for r in plain.find(who="Ann")]
        where = Where(conditions=(Condition("meta.n", "=", 1),))
        assert sealed.recall("chess", scope="eve", where=where)[0].text == "Eve likes chess"
        assert sealed.remember(TEXTS[0], who="Ann").uses > 0, "what is known is not stored again"
        assert "giraffe" in sealed.context("giraffe").text


def test_without_its_key_it_is_not_opened(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(Misconfigured, match=r"is sealed with the master key local:.* open it with"):
        opened(path, None)
    with pytest.raises(Misconfigured, match="give the right key"):
        opened(path, OTHER)
    with pytest.raises(Misconfigured, match="holds no master key"):
        opened(path, "a password")
    assert path.read_bytes() == before


def test_a_key_for_a_file_that_is_not_sealed_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "plain.db", None) as memory:
        memory.remember("something")
    with pytest.raises(Misconfigured, match=r"eidet copy .*plain\.db NEW --to-key"):
        opened(tmp_path / "plain.db")
    with opened(tmp_path / "plain.db", None) as memory:
        assert memory.count() == 1


def test_an_index_of_others_does_not_see_sealed_words(path: Path) -> None:
    for settings, why in (
        (Settings(index="remote"), "index_unsealed=True"),
        (Settings(index="remote", index_unsealed=True), "no entry point"),
    ):
        memory = Memory(path, key=KEY, embedder="hashing:64", settings=settings)
        with memory, pytest.raises(Misconfigured, match=why):
            memory.recall("giraffe")


# Exports and archives.


def test_a_plain_export_is_asked_for(path: Path, tmp_path: Path) -> None:
    with opened(path) as memory:
        with pytest.raises(Refused, match="an export is not"):
            memory.export(tmp_path / "plain.jsonl")
        assert not (tmp_path / "plain.jsonl").exists()
        memory.export(tmp_path / "plain.jsonl", scope="default", plain=True)
    assert b"giraffe" in (tmp_path / "plain.jsonl").read_bytes()
    with opened(None, None) as memory:
        assert memory.load(tmp_path / "plain.jsonl") == 3


def test_what_was_archived_comes_back_until_its_scope_is_shredded(path: Path, tmp_path: Path) -> None:
    upkeep = Upkeep(forget_below=1.0, archive_above=0.0)
    folder = tmp_path / "archive"
    with opened(path, at=NOW + 900 * DAY) as memory:
        told = memory.find(scope="eve")[0]
        memory.upkeep.maintain(settings=upkeep, archive=folder, only=["forget"])
        assert memory.scopes() == {}
        assert not any(b"chess" in piece.read_bytes() for piece in folder.iterdir())
        memory.remember("something else", scope="eve")
        assert memory.upkeep.unarchive(folder, scope="eve") == 1
        back = memory.get(told.id, scope="eve")
        assert back is not None
        assert (back.text, back.meta) == (told.text, told.meta)
        memory.keys.shred("eve")
        assert memory.upkeep.unarchive(folder) == 3, "those of the other scope"
        memory.remember("begun anew", scope="eve")
        assert memory.upkeep.unarchive(folder, scope="eve") == 0


def test_a_plain_piece_of_an_archive_is_loaded_as_a_file_only(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    upkeep = Upkeep(forget_below=1.0, archive_above=0.0)
    with opened(tmp_path / "plain.db", None, at=NOW) as plain:
        plain.remember("a forged memory", id="forged")
        plain.upkeep.maintain(settings=upkeep, archive=folder, only=["forget"], now=NOW + 900 * DAY)
    (piece,) = folder.iterdir()
    with opened(path) as memory:
        with pytest.raises(Misconfigured, match="was not archived by this sealed memory"):
            memory.upkeep.unarchive(folder)
        assert memory.get("forged") is None
        assert memory.load(piece) == 1


# Keys.


def test_the_master_key_is_changed_while_others_go_on(path: Path) -> None:
    with opened(path) as memory, opened(path) as other:
        assert other.recall("giraffe")[0].text == TEXTS[1]
        assert memory.keys.rotate(key=OTHER) == 3, "of two scopes, and that of who acted"
        assert other.recall("giraffe")[0].text == TEXTS[1]
        other.remember("Bob has a zebra")
        assert memory.recall("zebra")[0].text == "Bob has a zebra"
    with opened(path, OTHER) as memory:
        assert memory.count() == 4


def test_a_shredded_scope_is_gone_and_others_are_not(path: Path) -> None:
    with opened(path) as memory, opened(path) as other:
        told = other.recall("chess", scope="eve")[0]
        assert memory.keys.shred("eve") == 1
        for one in (memory, other):
            assert list(one.recall("chess", scope="eve")) == []
            assert one.recall("giraffe")[0].text == TEXTS[1]
            assert one.scopes() == {"default": 3}
            assert one.get(told.id, scope="eve") is None
            assert [event.what for event in one.history(told.id, scope="eve")] == ["created", "forgotten"]
        memory.remember("Eve is back", scope="eve")
        other.remember("Eve plays go", scope="eve")
        for one in (memory, other):
            assert {record.text for record in one.find(scope="eve")} == {"Eve is back", "Eve plays go"}
            assert one.recall("Eve is back", scope="eve")[0].text == "Eve is back"
        assert memory.admin.check() == []
        memory.upkeep.maintain()
        memory.admin.reembed("hashing:96")


def test_a_memory_without_keys_says_so() -> None:
    memory = opened(None, None)
    with pytest.raises(Misconfigured, match="not sealed"):
        memory.keys.rotate(OTHER)
    with pytest.raises(Misconfigured, match="not sealed"):
        memory.keys.shred("ann")


def test_the_use_of_keys_is_audited(path: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with Memory(path, key=KEY, embedder="hashing:64", audit=log) as memory:
        memory.recall("giraffe")
        memory.keys.shred("eve")
        memory.remember("Eve is back", scope="eve")
        memory.keys.rotate(OTHER)
    told = [(line.get("verb"), line.get("scope")) for line in map(json.loads, log.read_text().splitlines())]
    asked = {("key unwrap", "default"), ("drop", "eve"), ("key shred", "eve"), ("key new", "eve")}
    assert asked | {("key rewrap", None)} <= set(told)


# The command line.


def run(*words: object, **environment: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words], env={"EIDET_KEY": "", **environment})
    return result.exit_code, result.output


def test_the_command_line_seals_rewraps_checks_and_shreds(tmp_path: Path) -> None:
    plain, file, key, new = (tmp_path / name for name in ("plain.db", "m.db", "k", "k2"))
    with opened(plain, None) as memory:
        memory.remember(TEXTS)
        memory.remember("Eve likes chess", scope="eve")
    for made in (key, new):
        assert run("keys", "master", made)[0] == 0
    assert run("keys", "master", key)[0] == 2, "a key is never overwritten"
    assert run("copy", plain, file, "--to-key", f"file:{key}")[0] == 0
    assert run("scopes", "--at", file)[0] == 7
    code, told = run("find", "--at", file, "--json", EIDET_KEY=key.read_text())
    assert (code, "giraffe" in told) == (0, True)
    assert run("keys", "master", "--to", "secret", "--at", file, "--key-file", key)[0] == 2
    assert run("keys", "master", "--to", new, "--at", file, "--key-file", key)[0] == 0
    assert run("doctor", "--at", file, "--key-file", key)[0] == 1
    assert run("forget", "--shred", "--scope", "eve", "--at", file, "--key-file", new)[0] == 2
    assert run("forget", "--shred", "--scope", "eve", "--yes", "--at", file, "--key-file", new)[0] == 0
    assert run("doctor", "--json", "--at", file, "--key-file", new)[0] == 0
    assert "chess" not in run("find", "--scope", "eve", "--at", file, "--key-file", new)[1]


def test_the_key_of_the_command_line_makes_new_memories_sealed(tmp_path: Path) -> None:
    file, key = tmp_path / "m.db", new_key()
    words = ("remember", "a giraffe", "--at", file, "--embedder", "hashing:64")
    assert run(*words, EIDET_KEY=key)[0] == 0
    assert run("recall", "giraffe", "--at", file)[0] == 7
    assert "giraffe" in run("recall", "giraffe", "--at", file, EIDET_KEY=key)[1]


def test_the_same_words_from_many_threads_are_one_record_in_a_new_scope(tmp_path: Path) -> None:
    """Jobs of one group commit see the keys that an earlier one has just made."""
    with opened(tmp_path / "m.db") as memory, ThreadPoolExecutor(12) as pool:
        for round_ in range(5):
            say = partial(memory.remember, "the very same words", scope=f"new{round_}")
            for told in [pool.submit(say) for _ in range(24)]:
                told.result()
        assert set(memory.scopes().values()) == {1}
