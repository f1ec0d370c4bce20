from __future__ import annotations

import pytest
from tests.unit.cli.shell import Shell

from eidet.memory import Memory


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon", "Bob drinks tea")
    eidet("remember", "Cleo plays chess", "--scope", "club")
    eidet("remember", "Dora swims", "--scope", "club/water")
    return eidet


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ((), 4),
        (("--scope", "default"), 2),
        (("--scope", "club"), 1),
        (("--scope", "club/**"), 2),
    ],
)
def test_an_export_loads_into_another_memory(filled: Shell, words: tuple[str, ...], count: int) -> None:
    file, other = str(filled.folder / "out.jsonl"), str(filled.folder / "other.db")
    assert filled("export", file, *words, "--json").json["exported"] == count
    assert filled("load", file, "--at", other, "--json").json == {"loaded": count}
    assert filled("stats", "--at", other, "--json").json["records"] == count


def test_a_damaged_export_loads_nothing(filled: Shell) -> None:
    file = filled.folder / "out.jsonl"
    filled("export", str(file))
    file.write_text(file.read_text().replace("Lisbon", "London"))
    said = filled("load", str(file))
    assert said.code == 6
    assert said.err.startswith("error: ")


def test_rebuild_counts_the_records_of_all_scopes_or_one(filled: Shell) -> None:
    assert filled("rebuild", "--json").json == {"rebuilt": 4}
    assert filled("rebuild", "--scope", "club").out == "rebuilt the index of 1 records\n"


def test_rebuild_changes_the_language_for_good(filled: Shell) -> None:
    assert filled("stats", "--language", "de").code == 7
    filled("rebuild", "--language", "de", EIDET_LANGUAGE="de")
    assert filled("stats", "--language", "de", "--json").json["language"] == "de"


def test_reembed_changes_the_embedder_without_the_old_one(filled: Shell) -> None:
    said = filled("rebuild", "--reembed", "--embedder", "hashing:64", "--json").json
    assert said == {"embedded": 4, "embedder": "hashing:64"}
    assert filled("recall", "tea").code == 7
    assert filled("recall", "tea", "--embedder", "hashing:64").code == 0


def test_reembed_needs_a_name(filled: Shell) -> None:
    said = filled("rebuild", "--reembed", EIDET_EMBEDDER="")
    assert (said.code, said.out) == (2, "")
    assert "whole memory" in filled("rebuild", "--reembed", "--scope", "club").err


def test_what_embeds_nothing_needs_no_embedder(filled: Shell) -> None:
    for words in (("find",), ("stats",), ("scopes",), ("rebuild",), ("export", str(filled.folder / "x"))):
        assert filled(*words, EIDET_EMBEDDER="").code == 0


def test_settings_come_from_a_file_and_the_environment(eidet: Shell) -> None:
    config = eidet.folder / "eidet.toml"
    config.write_text("[eidet]\ntext_chars = 10\n")
    assert eidet("remember", "longer than that", "--config", str(config)).code == 2
    assert eidet("remember", "longer than that", EIDET_CONFIG=str(config), EIDET_TEXT_CHARS="50").code == 0
    config.write_text("[eidet]\nnonsense = 1\n")
    assert eidet("stats", "--config", str(config)).code == 7


def test_a_closed_memory_leaves_the_use_counts_behind(filled: Shell) -> None:
    filled("recall", "tea")
    with Memory(filled.file, embedder="hashing") as memory:
        assert max(record.uses for record in memory.find()) == 1
