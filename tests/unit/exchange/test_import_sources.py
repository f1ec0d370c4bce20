"""What each format says survives: texts, ids, times, roles, users and metadata. The rest is reported."""

from __future__ import annotations

import csv
import json
import pickle
import shutil
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.unit.exchange.sources import FOREIGN, SOURCES, list_records, open_memory

from eidet import BadInput, Memory
from eidet.core.record import Record, key_id
from eidet.exchange import Imported, import_memories


@pytest.fixture
def memory() -> Any:
    with open_memory() as opened:
        yield opened


def bring(memory: Memory, name: str, **more: Any) -> tuple[Imported, dict[tuple[str, str], Record]]:
    format, source, options, _ = SOURCES[name]
    return import_memories(memory, format, source, **{**options, **more}), list_records(memory)


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


GET_ALL: list[dict[str, Any]] = json.loads((FOREIGN / "mem0" / "get_all.json").read_text())["results"]


@pytest.mark.parametrize("name", ["mem0 in Qdrant", "mem0 get_all"])
def test_mem0_memories_are_those_that_mem0_itself_tells(memory: Memory, name: str) -> None:
    done, found = bring(memory, name)
    by_id = {record.id: record for record in found.values()}
    assert by_id.keys() == {row["id"] for row in GET_ALL}
    for row in GET_ALL:
        record = by_id[row["id"]]
        assert (record.text, record.occurred) == (row["memory"], at(row["created_at"]))
        assert (record.agent, record.session) == (row.get("agent_id"), row.get("run_id"))
        assert (record.who, record.data) == (row["role"], {"role": row["role"]})
        kept = {"user_id": row.get("user_id"), "updated_at": row["updated_at"], **(row["metadata"] or {})}
        for key, value in kept.items():
            assert record.meta.get(key) == value
    assert done.dropped["hash: is made from the text"] == 6


def test_mem0_owners_have_scopes_of_their_own(memory: Memory) -> None:
    bring(memory, "mem0 in Qdrant")
    assert memory.scopes() == {"mem0/user/ann": 3, "mem0/user/bob%2Foffice": 2, "mem0/agent/waiter": 1}


def test_mem0_expiry_is_the_end_of_its_day(memory: Memory) -> None:
    _, found = bring(memory, "mem0 in Qdrant")
    voucher = found["mem0/user/ann", "A voucher for Ann"]
    assert voucher.expires == at("3000-01-01T00:00:00+00:00")
    assert voucher.meta["expiration_date"] == "2999-12-31"


class Evil:
    def __reduce__(self) -> Any:
        return eval, ("__import__('pathlib').Path('harmed').write_text('x')",)


@pytest.mark.parametrize("content", [pickle.dumps(({"a": Evil()}, {})), b"\x80\x04garbage", b""])
def test_a_pickle_runs_nothing(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FOREIGN / "mem0" / "qdrant", tmp_path / "qdrant")
    with closing(sqlite3.connect(tmp_path / "qdrant/collection/mem0/storage.sqlite")) as database, database:
        database.execute("UPDATE points SET point = ?", (content,))
    with pytest.raises(BadInput, match="cannot be read"):
        import_memories(memory, "mem0", tmp_path / "qdrant")
    assert not (tmp_path / "harmed").exists()


def test_mem0_names_of_entities_are_no_memories(memory: Memory, tmp_path: Path) -> None:
    collections = tmp_path / "qdrant" / "collection"
    for name in ("mem0", "mem0_entities"):
        shutil.copytree(FOREIGN / "mem0" / "qdrant" / "collection" / "mem0", collections / name)
    done = import_memories(memory, "mem0", tmp_path / "qdrant")
    assert done.created == 6
    assert done.dropped["mem0_entities: is an index of names; Eidet makes its own"] == 1


def test_langgraph_items_are_what_the_adapter_keeps(memory: Memory) -> None:
    bring(memory, "langgraph")
    record = memory.get(key_id("home"), scope="langgraph/users/ann")
    assert record is not None
    assert record.data == {"text": "Ann lives in Porto", "floor": 3}
    assert record.meta["namespace"] == ["users", "ann"]
    assert (record.meta["key"], record.kind) == ("home", "document")
    with closing(sqlite3.connect(FOREIGN / "langgraph" / "store.sqlite")) as database:
        [(created,)] = database.execute("SELECT created_at FROM store WHERE key = 'home'")
    assert record.occurred == at(f"{created}+00:00")
    other = memory.get(key_id("drink"), scope="langgraph/users/bob%2Foffice")
    assert other is not None
    assert other.data == {"text": "Bob drinks tea", "tags": ["tea", None]}
    voucher = memory.get(key_id("voucher"), scope="langgraph/users/ann")
    assert voucher is not None
    assert voucher.expires is not None
    assert voucher.meta["ttl"] == 60 * 24 * 365 * 900


def test_chroma_documents_keep_their_ids_and_metadata(memory: Memory) -> None:
    done, found = bring(memory, "chroma")
    one, two = found["notes", "Ann lives in Lisbon"], found["notes", "Bob drinks green tea"]
    assert (one.id, two.id) == ("n1", "n2")
    assert one.meta["page"] == 3
    assert one.meta["score"] == 0.5
    assert one.meta["read"] is True
    assert one.meta["tags"] == ["home", "city"]
    assert two.source == "https://example.org/bob"
    assert done.skipped == {"has no document": 2}
    assert done.dropped["vector: Eidet embeds the text itself"] == 4


def test_letta_blocks_and_messages_belong_to_their_agents(memory: Memory) -> None:
    done, found = bring(memory, "letta")
    persona = found["calm_agent", "I am a calm agent."]
    assert persona.meta == {
        "mood": "calm",
        "letta": {
            "label": "persona",
            "description": "Who the agent is",
            "limit": persona.meta["letta"]["limit"],
            "read_only": True,
        },
    }
    assert ("default", "The team meets on Mondays.") in found  # which two agents share
    said = found["calm_agent", "I moved to Lisbon"]
    assert (said.who, said.kind, said.occurred) == ("Ann", "message", at("2025-03-01T09:31:00+00:00"))
    answer = found["calm_agent", "Nice!"]
    assert answer.data["tool_calls"][0]["function"]["name"] == "send_message"
    assert found["calm_agent", '{"status": "OK"}'].trust == "tool"
    assert done.skipped == {"has no text": 2, "is a system prompt": 1}
    assert done.dropped == {"agent: its prompt, tools, files and settings are no memories": 2}


def test_chatgpt_conversations_are_the_branch_that_was_shown(memory: Memory) -> None:
    done, _ = bring(memory, "chatgpt")
    said = memory.find(order="occurred", session="conv-1")
    assert [(record.who, record.text) for record in said] == [
        ("user", "I moved to Lisbon"),
        ("assistant", 'search("Lisbon")'),
        ("browser", "Lisbon is in Portugal"),
        ("user", "What is on this picture?"),
        ("assistant", "A tram."),  # of which the export tells no time
    ]
    assert said[0].occurred == 1735725601.5
    assert said[2].trust == "tool"
    assert said[1].meta == {
        "chatgpt": {"message": "a2", "title": "Moving house", "model": "gpt-4o", "recipient": "browser"}
    }
    assert done.skipped["is on a branch that was left"] == 1
    assert not memory.find({"meta.chatgpt.message": "a1"})


@pytest.mark.parametrize(("format", "count"), [("chatgpt", 5), ("claude", 4)])
def test_an_export_may_be_a_zip_archive(memory: Memory, tmp_path: Path, format: str, count: int) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in (FOREIGN / format).rglob("*.json"):
            archive.write(path, f"data-2025/{path.relative_to(FOREIGN / format)}")
    assert import_memories(memory, format, tmp_path / "export.zip").created == count
    assert import_memories(memory, format, FOREIGN / format).same == count


@pytest.mark.parametrize(("format", "count"), [("chatgpt", 5), ("claude", 2)])
def test_an_export_may_be_a_single_file(memory: Memory, format: str, count: int) -> None:
    assert import_memories(memory, format, FOREIGN / format / "conversations.json").created == count


def test_a_zip_without_conversations_is_named(memory: Memory, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("other.json", "[]")
    with pytest.raises(BadInput, match=r"holds no conversations\.json"):
        import_memories(memory, "chatgpt", tmp_path / "export.zip")


def test_claude_says_what_was_said_remembered_and_written(memory: Memory) -> None:
    done, found = bring(memory, "claude")
    first, second = memory.find(order="occurred", session="chat-1")
    assert first.text == "lease.txt:\nThe lease runs until May.\n\nI live in Lisbon"
    assert (first.who, first.occurred) == ("user", at("2025-01-02T10:00:00.123456+00:00"))
    assert second.text == "Let me look.\nLisbon it is."
    assert second.data["tool_calls"] == [{"name": "search", "input": {"query": "Lisbon"}, "id": "toolu_1"}]
    assert first.meta["claude"] == {"message": "cm1", "title": "A new home", "account": "acct-1"}
    assert found["default", "Ann lives in Lisbon and drinks tea."].kind == "summary"
    assert found["default", "Ann plans a garden."].meta == {"claude": {"project": "proj-1"}}
    assert done.dropped["content of type thinking: is not said to anybody"] == 1


def test_mcp_memories_become_facts(memory: Memory) -> None:
    bring(memory, "mcp")
    assert {fact.object for fact in memory.facts.about("Ann")} >= {"Acme", "likes green tea"}


def test_json_lines_say_fields_messages_or_texts(memory: Memory) -> None:
    done, found = bring(memory, "jsonl")
    first = found["ann", "Ann lives in Lisbon"]
    assert (first.id, first.importance, first.meta) == ("j1", 0.9, {"topic": "home"})
    assert first.occurred == at("2025-01-02T10:00:00+00:00")
    assert ("default", "Bob drinks tea") in found
    yes = memory.find(session="s1")
    assert [(one.text, one.kind, one.who, one.data) for one in yes] == [
        ("yes", "message", "user", {"role": "user"})
    ] * 2
    cleo = found["cleo", "Cleo plays chess"]
    assert cleo.meta == {"board": 8}
    state = memory.find(kinds=["state"])[0]
    assert (state.data, state.step, state.place) == ({"health": 0.5}, 3, (1.0, 2.5))
    assert done.dropped == {"embedding: Eidet embeds the text itself": 1}


def test_csv_columns_are_named_by_the_caller(memory: Memory) -> None:
    done, found = bring(memory, "csv")
    first = found["default", 'Ann said: "hello"; and left']
    assert (first.who, first.importance, first.meta) == ("ann", 0.5, {"topic": "home"})
    assert first.occurred == at("2025-01-02T00:00:00+00:00")
    second = found["default", "Two\nlines"]
    assert (second.who, second.importance, second.occurred) == (None, 1.0, at("2025-01-03T09:00:00+00:00"))
    assert done.skipped == {"has no text": 1}
    with pytest.raises(BadInput, match="has no column 'taste' for text"):
        import_memories(memory, "csv", SOURCES["csv"][1], columns={"text": "taste"}, delimiter=":")


def test_rows_without_an_id_keep_theirs_while_the_file_grows_and_shuffles(
    memory: Memory, tmp_path: Path
) -> None:
    source = tmp_path / "notes.csv"
    source.write_text("text\none\ntwo\ntwo\n")
    assert import_memories(memory, "csv", source).created == 3
    source.write_text("text\nnew\ntwo\none\ntwo\ntwo\n")
    done = import_memories(memory, "csv", source)
    assert (done.created, done.same) == (2, 3)


def test_cells_may_be_longer_than_the_csv_module_takes(memory: Memory, tmp_path: Path) -> None:
    text, before = "word " * 40_000, csv.field_size_limit()
    (tmp_path / "long.csv").write_text(f"text\n{text}\n")
    assert import_memories(memory, "csv", tmp_path / "long.csv").created == 1
    assert [record.text for record in memory.find()] == [text]
    assert csv.field_size_limit() == before


def test_times_without_a_zone_are_in_utc(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x", "occurred": "2025-06-01 12:00:00"}\n')
    import_memories(memory, "jsonl", tmp_path / "a.jsonl")
    assert memory.find()[0].when == datetime(2025, 6, 1, 12, tzinfo=UTC)
