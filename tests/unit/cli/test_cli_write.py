from __future__ import annotations

import shlex

import pytest
from tests.unit.cli.shell import Shell


def test_remember_prints_one_id_per_text(eidet: Shell) -> None:
    ids = eidet("remember", "Ann lives in Lisbon", "Bob likes tea").ids
    texts = [eidet("show", id, "--json").json["text"] for id in ids]
    assert texts == ["Ann lives in Lisbon", "Bob likes tea"]


def test_remember_takes_every_detail(eidet: Shell) -> None:
    (id,) = eidet(
        *("remember", "The lamp is on", "--kind", "state", "--importance", "0.9", "--session", "s1"),
        *("--agent", "a1", "--who", "Ann", "--occurred", "2026-05-08T10:00:00+00:00", "--expires", "30d"),
        *("--meta", "floor=3", "--meta", "room=hall", "--meta", 'tags=["x"]', "--data", '{"lamp": true}'),
        *("--step", "7", "--place", "1,2.5", "--id", "lamp", "--scope", "house/hall"),
    ).ids
    record = eidet("show", id, "--scope", "house/hall", "--json").json
    assert record["meta"] == {"floor": 3, "room": "hall", "tags": ["x"]}
    assert record["data"] == {"lamp": True}
    assert (record["id"], record["kind"], record["importance"], record["step"]) == ("lamp", "state", 0.9, 7)
    assert (record["session"], record["agent"], record["who"]) == ("s1", "a1", "Ann")
    assert record["occurred"] == "2026-05-08T10:00:00+00:00"
    assert record["place"] == [1.0, 2.5]
    assert record["expires"] > record["created"]


def test_who_speaks_is_read_from_texts_that_say_it(eidet: Shell) -> None:
    (id,) = eidet("remember", "[2026-05-08] Ann: I moved to Porto", "--read-speakers").ids
    record = eidet("show", id, "--json").json
    assert (record["who"], record["occurred"][:10]) == ("Ann", "2026-05-08")
    assert record["text"] == "[2026-05-08] Ann: I moved to Porto", "the original is kept"
    assert eidet("recall", "Porto").out.count("Ann") == 1


def test_remember_takes_data_alone(eidet: Shell) -> None:
    (id,) = eidet("remember", "--data", '{"health": 0.5}').ids
    assert eidet("show", id, "--json").json["text"] == "health: 0.5"


def test_a_procedure_needs_its_parts(eidet: Shell) -> None:
    words = ("remember", "--kind", "procedure", "--data")
    assert "steps is missing" in eidet(*words, '{"when": "we release"}').err
    (id,) = eidet(*words, '{"when": "we release", "steps": ["Run the tests"]}').ids
    assert eidet("show", id, "--json").json["text"] == "When: we release.\n1. Run the tests."


def test_a_key_that_exists_gets_its_next_version(eidet: Shell) -> None:
    first = eidet("remember", "Ann lives in Lisbon", "--key", "home", "--json").json
    second = eidet("remember", "Ann lives in Porto", "--key", "home", "--json").json
    assert (first["id"], first["version"] + 1) == (second["id"], second["version"])


def test_each_line_of_a_file_is_a_memory(eidet: Shell) -> None:
    notes = eidet.folder / "notes.txt"
    notes.write_text("first\n\n  \nsecond\n", encoding="utf-8-sig")
    assert len(eidet("remember", "--file", str(notes)).ids) == 2
    assert {record["text"] for record in eidet("find", "--json").lines} == {"first", "second"}


def test_a_file_of_several_batches_is_remembered_whole(eidet: Shell) -> None:
    said = eidet("remember", "--file", "-", "--json", input="\n".join(f"note {n}" for n in range(2500)))
    assert len({line["id"] for line in said.lines}) == 2500
    assert eidet("stats", "--json").json["records"] == 2500


@pytest.mark.parametrize("named", ["docs/boiler.md", "docs/Boiler.PDF", "my notes.txt", "docs/", "./docs"])
def test_the_path_of_a_document_says_which_command_reads_it(
    eidet: Shell, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(eidet.folder)
    docs = eidet.folder / "docs"
    docs.mkdir()
    for file in (docs / "boiler.md", docs / "Boiler.PDF", eidet.folder / "my notes.txt"):
        file.write_text("# Boiler\n\nThe pressure is 1.5 bar.")
    said = eidet("remember", "a text", named)
    assert (said.code, said.out) == (2, "")
    assert f"eidet sync {shlex.quote(named)}" in " ".join(said.err.split())
    assert eidet("remember", "--file", "-", input=named).code == 0
    assert [record["text"] for record in eidet("find", "--json").lines] == [named]


@pytest.mark.parametrize(
    "text", ["docs/other.md", "docs", "and/or", "boiler.md", "Makefile", "a.bin", "x" * 5000]
)
def test_a_text_that_merely_looks_like_a_path_stays_a_text(
    eidet: Shell, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(eidet.folder)
    (eidet.folder / "docs").mkdir()
    for file in ("docs/boiler.md", "Makefile", "a.bin"):
        (eidet.folder / file).write_text("x")
    assert eidet("remember", text).code == 0
    assert [record["text"] for record in eidet("find", "--json").lines] == [text]


def test_forget_by_id_counts_only_what_existed(eidet: Shell) -> None:
    (id,) = eidet("remember", "gone soon").ids
    assert eidet("forget", id, "unknown", "--yes").out == "forgot 1 of 2\n"
    assert eidet("show", id).code == 1


def test_forget_by_filters_needs_all_of_them_to_hold(eidet: Shell) -> None:
    eidet("remember", "old one", "--kind", "episode", "--session", "s1", "--occurred", "2026-01-01")
    eidet("remember", "new one", "--kind", "episode", "--session", "s1", "--occurred", "2026-03-01")
    eidet("remember", "other", "--kind", "episode", "--session", "s2", "--occurred", "2026-01-01")
    filters = ("--kind", "episode", "--session", "s1", "--until", "2026-02-01")
    assert eidet("forget", *filters, "--yes", "--json").json == {"forgotten": 1}
    assert {record["text"] for record in eidet("find", "--json").lines} == {"new one", "other"}
    eidet("remember", "hers", "--agent", "a2")
    assert eidet("forget", "--agent", "a2", "--yes", "--json").json == {"forgotten": 1}


def test_forget_everything_empties_the_scope_that_is_named(eidet: Shell) -> None:
    eidet("remember", "one", "two", "--scope", "a")
    eidet("remember", "three", "--scope", "b")
    assert eidet("forget", "--everything", "--scope", "a", "--yes").out == "forgot 2\n"
    assert eidet("scopes", "--json").json == {"b": 1}


@pytest.mark.parametrize(
    "words", [("--everything", "--yes"), ("--yes",), ("some-id",), ("id", "--everything", "-s", "a", "--yes")]
)
def test_forget_refuses_what_is_unclear_or_unconfirmed(eidet: Shell, words: tuple[str, ...]) -> None:
    eidet("remember", "stays", "--id", "some-id")
    said = eidet("forget", *words)
    assert (said.code, said.out) == (2, "")
    assert eidet("stats", "--json").json["records"] == 1
