"""What holds of an import, whatever it reads: nothing is doubled, lost, overwritten or half done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.exchange.sources import FOREIGN, SOURCES, list_records, open_memory

from eidet import BadInput, Memory, NotFound
from eidet.exchange import FORMATS, Imported, import_memories, importing

each = pytest.mark.parametrize("name", SOURCES)


def bring(memory: Memory, name: str, **more: Any) -> Imported:
    format, source, options, _ = SOURCES[name]
    return import_memories(memory, format, source, **options, **more)


def test_every_format_has_a_source() -> None:
    assert {format for format, *_ in SOURCES.values()} == FORMATS.keys()


@each
def test_a_dry_run_counts_everything_and_writes_nothing(name: str) -> None:
    with open_memory() as memory:
        before = memory.parts.store.head()
        told = bring(memory, name, dry_run=True)
        assert (told.created, told.found, told.dry_run) == (SOURCES[name][3], SOURCES[name][3], True)
        assert memory.parts.store.head() == before
        done = bring(memory, name)
        assert done.created == told.created
        assert (done.scopes, done.skipped, done.dropped) == (told.scopes, told.skipped, told.dropped)
        assert memory.scopes() == done.scopes


@each
def test_the_same_import_again_changes_nothing(name: str) -> None:
    with open_memory() as memory:
        bring(memory, name)
        before = memory.parts.store.head()
        for _ in range(2):
            again = bring(memory, name)
            assert (again.created, again.changed, again.same, again.ok) == (0, 0, SOURCES[name][3], True)
        assert memory.parts.store.head() == before


class Stopped(Exception):
    """As if somebody had pulled the plug."""


@each
def test_an_import_that_was_stopped_goes_on(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importing, "BATCH", 1)
    count = SOURCES[name][3]

    def stop(done: int, total: int) -> None:
        assert total == count
        if done == stop_at:
            raise Stopped

    with open_memory() as whole:
        bring(whole, name)
        expected = list_records(whole)
    for stop_at in range(1, count):
        with open_memory(tmp_path / "m.db") as memory:
            with pytest.raises(Stopped):
                bring(memory, name, progress=stop)
            assert sum(memory.scopes().values()) == stop_at
    with open_memory(tmp_path / "m.db") as memory:
        done = bring(memory, name)
        assert (done.created, done.same) == (1, count - 1)
        found = list_records(memory)
    assert found.keys() == expected.keys()
    for place, record in found.items():
        wanted = expected[place]
        assert (record.meta, record.who) == (wanted.meta, wanted.who)


@each
def test_what_was_changed_in_the_memory_is_left_and_told_unless_it_may_be_overwritten(name: str) -> None:
    with open_memory() as memory:
        bring(memory, name)
        (scope, _), record = next(iter(list_records(memory).items()))
        memory.revise(record.id, scope=scope, text="Somebody knows better")
        left = bring(memory, name)
        assert (left.conflicts, left.same, left.ok) == (1, SOURCES[name][3] - 1, False)
        assert left.examples[-1].why == importing.CONFLICT
        found = memory.get(record.id, scope=scope)
        assert found is not None
        assert found.text == "Somebody knows better"
        assert bring(memory, name, overwrite=True).changed == 1
        found = memory.get(record.id, scope=scope)
        assert found is not None
        assert (found.text, found.version) == (record.text, 3)


@each
def test_what_was_forgotten_for_good_stays_so_and_is_told(name: str) -> None:
    with open_memory() as memory:
        bring(memory, name)
        (scope, text), record = next(iter(list_records(memory).items()))
        memory.forget(record.id, scope=scope)
        assert bring(memory, name, dry_run=True).entombed == 1
        done = bring(memory, name)
        assert (done.entombed, done.created) == (1, 0)
        assert done.examples[-1].why == importing.ENTOMBED
        assert (scope, text) not in list_records(memory)


@each
def test_a_scope_that_was_forgotten_does_not_return(name: str) -> None:
    with open_memory() as memory:
        count = bring(memory, name).scopes
        for scope in count:
            memory.forget(scope=scope, everything=True)
        done = bring(memory, name)
        assert (done.entombed, done.created) == (sum(count.values()), 0)


@each
def test_what_is_under_a_legal_hold_is_not_overwritten(name: str) -> None:
    with open_memory() as memory:
        bring(memory, name)
        (scope, _), record = next(iter(list_records(memory).items()))
        memory.revise(record.id, scope=scope, text="Somebody knows better")
        memory.upkeep.hold(record.id, scope=scope)
        done = bring(memory, name, overwrite=True)
        assert (done.held, done.changed, done.ok) == (1, 0, False)


@each
def test_a_scope_of_ones_own_takes_all(name: str) -> None:
    format, source, options, count = SOURCES[name]
    with open_memory() as memory:
        if name in ("langgraph", "chroma"):
            options = {**options, "scope": f"old/{{{'namespace' if name == 'langgraph' else 'collection'}}}"}
        done = import_memories(memory, format, source, **{"scope": "old", **options})
        assert sum(done.scopes.values()) == count
        assert all(scope.split("/")[0] == "old" for scope in memory.scopes())


@each
def test_users_do_not_meet_in_one_scope_by_default(name: str) -> None:
    with open_memory() as memory:
        bring(memory, name)
        for record in list_records(memory).values():
            user = record.meta.get("user_id")
            if user is not None:
                assert record.scope == f"mem0/user/{str(user).replace('/', '%2F')}"


@each
def test_the_memory_may_be_guarded(name: str) -> None:
    with Memory(embedder="hashing:16", guard="mask") as memory:
        assert bring(memory, name).created == SOURCES[name][3]
        assert bring(memory, name).same == SOURCES[name][3]


def test_a_backend_of_its_own_takes_an_import_too(postgres_emptied: str) -> None:
    with open_memory(postgres_emptied) as memory:
        assert bring(memory, "mem0 in Qdrant").created == 6
        assert bring(memory, "mem0 in Qdrant").same == 6


BAD: dict[str, tuple[str, str, str]] = {
    "not JSON": ("jsonl", '{"text": "fine"}\n{"text": \n', "line 2: is not JSON"),
    "no object": ("jsonl", '{"text": "fine"}\n[1]\n', "line 2: is neither a JSON object nor a text"),
    "a bad time": ("jsonl", '{"text": "fine"}\n{"text": "x", "occurred": "noon"}\n', "line 2: occurred"),
    "a bad kind": ("jsonl", '{"text": "fine"}\n{"text": "x", "kind": "belief"}\n', "line 2: unknown kind"),
    "a number as text": ("jsonl", '{"text": "fine"}\n{"text": 5}\n', "line 2: text needs a string"),
    "too long": ("jsonl", json.dumps({"text": "x" * 2_000_000}), "line 1: the text has 2,000,000"),
    "an id twice": ("jsonl", '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', "line 2: .*same id"),
    "a scope of many": ("jsonl", '{"scope": "a/**", "text": "x"}\n', r"line 1: scope 'a/\*\*'"),
    "an export": ("jsonl", '{"eidet": "export", "format": 1}\n', "`eidet load` reads it"),
    "not UTF-8": ("jsonl", "\udcff", "is not UTF-8 text"),
    "too few cells": ("csv", "text,who\nx\n", "line 2: has not as many cells"),
    "no columns": ("csv", "", "first row should name the columns"),
    "a column twice": ("csv", "text,text\nx,y\n", "names a column twice"),
    "open quotes": ("csv", 'text\n"x', "is not CSV"),
    "a bad number": ("csv", "text,importance\nx,much\n", "line 2: importance must be a number"),
    "no array": ("chatgpt", '{"a": 1}', "is no export of ChatGPT: it is not a list of conversations"),
    "cut off": ("chatgpt", '[{"mapping": {}}, {"map', "is not JSON, or was cut off"),
    "another's": (
        "chatgpt",
        '[{"chat_messages": []}]',
        "1 is not of ChatGPT: it has no mapping",
    ),
    "ChatGPT's": ("claude", '[{"mapping": {}}]', "conversation 1 is not of Claude: it has no chat_messages"),
    "lines for a list": ("chatgpt", '{"role": "user"}\n{"role": "user"}\n', "is not JSON"),
    "no sender": ("claude", '[{"chat_messages": [{}]}]', "message 1 has no sender"),
    "no results": ("mem0", '{"a": 1}', 'there is no list of "results"'),
    "no memory": ("mem0", '[{"id": 1}]', "memory 1 is not of mem0: a memory needs"),
    "no agent": ("letta", '{"a": 1}', "is not an agent file of Letta"),
    "no graph": ("mcp", '{"type": "entity"}\n', "line 1 is no entity or relation"),
    "no database": ("langgraph", "x", "is not a SQLite file"),
    "no Chroma": ("chroma", "x", "is not a SQLite file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_before_anything_is_written(name: str, tmp_path: Path) -> None:
    format, content, why = BAD[name]
    source = tmp_path / "source"
    source.write_bytes(content.encode("utf-8", "surrogateescape"))
    with open_memory() as memory:
        before = memory.parts.store.head()
        with pytest.raises(BadInput, match=why):
            import_memories(memory, format, source)
        assert memory.parts.store.head() == before


@pytest.mark.parametrize("format", FORMATS)
def test_a_source_must_be_there(format: str, tmp_path: Path) -> None:
    with open_memory() as memory, pytest.raises(NotFound, match="there is no file or folder"):
        import_memories(memory, format, tmp_path / "nowhere")


def test_what_cannot_be_stored_is_left_out_if_the_caller_says_so(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text('{"text": "fine"}\n{"text": 5}\n{"text": "x", "kind": "belief"}\n{"text": "good"}\n')
    with open_memory() as memory:
        done = import_memories(memory, "jsonl", source, skip_bad=True)
        assert done.created == 2
        assert [left.where for left in done.examples] == ["notes.jsonl, line 2", "notes.jsonl, line 3"]
        assert sum(done.skipped.values()) == 2


LINES = {
    "jsonl": '{"text": "fine"}\n{"text": \n[1]\n{"text": "x", "occurred": "noon"}\n{"text": "good"}\n',
    "csv": "text,occurred\nfine,2026-05-01\nx\nx,noon\ny,,\ngood,2026-05-02\n",
}


@pytest.mark.parametrize("format", LINES)
def test_a_line_that_cannot_be_read_is_left_out_if_the_caller_says_so(format: str, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    source.write_text(LINES[format])
    with open_memory() as memory:
        with pytest.raises(BadInput, match="--skip-bad leaves it out"):
            import_memories(memory, format, source)
        done = import_memories(memory, format, source, skip_bad=True)
        assert (done.created, sum(done.skipped.values()), len(done.examples)) == (2, 3, 3)
        assert {record.text for record in memory.find()} == {"fine", "good"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"scope": "a/{planet}"}, r"there is no \{planet\}"),
        ({"scope": "a//b"}, "each label"),
        ({"scope": "a/**"}, "stands once at the end"),
        ({"columns": {"taste": "x"}}, "a memory has no field 'taste'"),
        ({"trust": "much"}, "unknown trust"),
    ],
)
def test_options_are_checked_first(options: dict[str, Any], why: str) -> None:
    with open_memory() as memory, pytest.raises(BadInput, match=why):
        import_memories(memory, "jsonl", FOREIGN / "tables" / "notes.jsonl", **options)


def test_a_format_must_be_known() -> None:
    with open_memory() as memory, pytest.raises(BadInput, match="memories are imported from mem0"):
        import_memories(memory, "telepathy", "x")


def test_what_has_expired_is_skipped(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text(
        '{"text": "over", "expires": "2001-01-01"}\n{"text": "open", "expires": "2999-01-01"}\n'
    )
    with open_memory() as memory:
        done = import_memories(memory, "jsonl", source)
        assert (done.created, done.skipped) == (1, {"has expired": 1})


def test_trust_is_said_of_what_does_not_say_it(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text('{"text": "one"}\n{"text": "two", "trust": "tool"}\n')
    with open_memory() as memory:
        import_memories(memory, "jsonl", source, trust="web")
        assert {str(one.trust) for one in memory.find()} == {"web", "tool"}
