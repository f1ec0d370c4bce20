"""Imports and exports, judged by the programs: we read what they write, and they read what we write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.needs import need
from tests.unit.exchange.sources import FOREIGN, list_records, open_memory

from eidet.exchange import import_memories

need("portable_ai_memory", "exchange")


@pytest.mark.parametrize(("format", "converter"), [("chatgpt", "openai"), ("claude", "anthropic")])
def test_another_reader_finds_the_same_messages(format: str, converter: str) -> None:
    from portable_ai_memory.converters.anthropic import AnthropicConverter
    from portable_ai_memory.converters.openai import OpenAIConverter

    reader: Any = {"openai": OpenAIConverter, "anthropic": AnthropicConverter}[converter]()
    source = json.loads((FOREIGN / format / "conversations.json").read_text())
    assert reader.detect(source)
    theirs = {
        message.id: (conversation.id, str(message.role), message.created_at.timestamp())
        for conversation in reader.convert_conversations(source)
        for message in conversation.messages
    }
    with open_memory() as memory:
        import_memories(memory, format, FOREIGN / format / "conversations.json")
        ours = {record.meta[format]["message"]: record for record in list_records(memory).values()}
    assert ours.keys() <= theirs.keys()
    for id, record in ours.items():
        session, role, created = theirs[id]
        assert (record.session, record.data["role"]) == (session, role)
        if id != "a3":  # of which the export tells no time
            assert record.occurred == pytest.approx(created)
    left = theirs.keys() - ours.keys()
    assert left <= {"th", "cm3", "a1", "s0"}  # reasoning, no text, another branch, a hidden prompt


def test_a_sqlite_store_of_langgraph_is_served_on_by_the_adapter(tmp_path: Path) -> None:
    sqlite = pytest.importorskip("langgraph.store.sqlite", reason="`.ci/integrations exchange` installs it")
    with sqlite.SqliteStore.from_conn_string(str(tmp_path / "s.sqlite")) as store:
        store.setup()
        fill(store)
        store.conn.commit()
        check_served(store, str(tmp_path / "s.sqlite"))


def test_a_postgres_store_of_langgraph_is_served_on_by_the_adapter(postgres_emptied: str) -> None:
    postgres = pytest.importorskip(
        "langgraph.store.postgres", reason="`.ci/integrations exchange` installs it"
    )
    with postgres.PostgresStore.from_conn_string(postgres_emptied) as store:
        store.setup()
        fill(store)
        check_served(store, postgres_emptied)
        for table in ("store", "store_migrations"):
            store.conn.execute(f"DROP TABLE {table}")


def fill(store: Any) -> None:
    for number in range(30):
        store.put(
            ("users", f"u/{number % 3}"), f"key {number}", {"text": f"note {number}", "n": [number, None]}
        )
    store.delete(("users", "u/0"), "key 0")


def check_served(store: Any, source: str) -> None:
    from eidet.integrations.langgraph import EidetStore

    with open_memory() as memory:
        assert import_memories(memory, "langgraph", source).created == 29
        assert import_memories(memory, "langgraph", source).same == 29
        served = EidetStore(memory)
        assert served.list_namespaces() == store.list_namespaces()
        for item in store.search(("users",), limit=100):
            found = served.get(item.namespace, item.key)
            assert found is not None
            assert (found.value, found.key, found.namespace) == (item.value, item.key, item.namespace)
            assert found.updated_at.timestamp() == pytest.approx(item.updated_at.timestamp(), abs=1)
        assert served.get(("users", "u/0"), "key 0") is None


@pytest.mark.filterwarnings("ignore")
def test_a_folder_of_chroma_is_read_as_chroma_reads_it(tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb", reason="`.ci/integrations exchange` installs it")
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(tmp_path), settings=settings)
    notes = client.create_collection("notes", embedding_function=None)
    ids = [f"id {number}" for number in range(300)]
    metas = [{"n": number, "share": number / 7, "odd": bool(number % 2)} for number in range(300)]
    notes.add(ids=ids, documents=[f"note {id}" for id in ids], metadatas=metas, embeddings=[[0.5, 1.0]] * 300)
    notes.delete(ids=ids[:10])
    notes.update(ids=ids[10:12], documents=["changed", "changed too"], embeddings=[[1.0, 0.0]] * 2)
    there = notes.get()
    with open_memory() as memory:
        assert import_memories(memory, "chroma", tmp_path).created == 290
        for id, text, meta in zip(there["ids"], there["documents"], there["metadatas"], strict=True):
            record = memory.get(id, scope="notes")
            assert record is not None
            assert record.text == text
            assert {name: value for name, value in record.meta.items() if name != "chroma"} == meta
