"""The four memories of an agent: working, conversation, semantic, episodic."""

from __future__ import annotations

import json
import threading
from asyncio import run
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet import Memory
from eidet.compat.agents import (
    ConversationMemory,
    EmbeddingService,
    EpisodicMemory,
    MemoryItem,
    MemoryStore,
    Message,
    SemanticMemory,
    WorkingMemory,
)
from eidet.core.errors import BadInput, Misconfigured
from eidet.text.tokens import Words

T = TypeVar("T")


def said(memory: ConversationMemory) -> list[str | None]:
    return [message.content for message in memory.messages]


@pytest.mark.point(110)
def test_an_item_counts_its_accesses() -> None:
    item = MemoryItem(id="a", content="x")
    assert (item.importance, item.access_count, item.last_accessed, item.metadata) == (0.5, 0, None, {})
    item.access()
    item.access()
    assert item.access_count == 2
    assert isinstance(item.last_accessed, datetime)


@pytest.mark.point(111)
def test_a_store_of_yours_has_the_four_methods_of_the_document() -> None:
    with pytest.raises(TypeError):
        MemoryStore()  # type: ignore[abstract]
    told = {name: list(signature(getattr(MemoryStore, name)).parameters)[1:]
            for name in MemoryStore.__abstractmethods__}  # fmt: skip
    assert told == {"add": ["item"], "get": ["id"], "search": ["query", "limit"], "delete": ["id"]}
    assert signature(MemoryStore.search).parameters["limit"].default == 5


@pytest.mark.point(112, 113, 114, 115, 116, 117, 119)
def test_working_memory_holds_a_task_and_forgets_it(place: Path | None) -> None:
    working = WorkingMemory(memory=place)
    first = working.task_id
    assert len(first) == 8
    working.set_variable("language", "en")
    working.set_task("book a flight")
    assert working.task_id != first
    assert working.current_goal == "book a flight"
    working.add_result("price", {"eur": 120})
    working.add_thought("cheap")
    working.push_subgoal("find")
    working.push_subgoal("compare")
    assert (working.get_result("price"), working.get_result("none")) == ({"eur": 120}, None)
    assert (working.get_variable("language"), working.get_variable("none", 5)) == ("en", 5)
    assert [working.pop_subgoal(), working.pop_subgoal(), working.pop_subgoal()] == ["compare", "find", None]
    working.set_task("another")
    assert (working.results, working.subgoals, working.scratchpad) == ({}, [], [])
    assert working.variables == {"language": "en"}
    working.clear()
    assert (working.task, working.current_goal, working.variables) == ("", "", {})
    working.close()


@pytest.mark.point(118)
def test_the_context_string_is_as_the_document_has_it() -> None:
    working = WorkingMemory()
    assert working.get_context_string() == "Current Task: \nCurrent Goal: "
    working.set_task("T")
    working.push_subgoal("a")
    working.push_subgoal("b")
    working.add_result("long", "x" * 300)
    working.add_result("n", 5)
    for i in range(7):
        working.add_thought(f"t{i}")
    assert working.get_context_string() == (
        "Current Task: T\nCurrent Goal: T\nSubgoals: a > b\n"
        f"\nIntermediate Results:\n long: {'x' * 200}\n n: 5\n"
        "\nRecent Thoughts:\n - t2\n - t3\n - t4\n - t5\n - t6"
    )


@pytest.mark.point(112)
def test_the_fields_can_be_given_set_and_changed_in_place(place: Path | None) -> None:
    working = WorkingMemory("t", "12345678", {"a": 1}, "g", ["s"], ["note"], {"v": 2}, memory=place)
    working.results["b"] = 2
    del working.results["a"]
    working.subgoals.append("s2")
    working.scratchpad[0] = "other"
    working.variables.update(w=3)
    working.current_goal = "g2"
    assert (working.task, working.task_id, working.current_goal) == ("t", "12345678", "g2")
    assert (working.results, working.subgoals) == ({"b": 2}, ["s", "s2"])
    assert (working.scratchpad, working.variables) == (["other"], {"v": 2, "w": 3})
    assert json.dumps(working.results) == '{"b": 2}'
    assert repr(working).startswith("WorkingMemory(task='t', task_id='12345678', results={'b': 2}")
    working.close()


def talked(count: int, **how: Any) -> ConversationMemory:
    conversation = ConversationMemory(**how)
    for i in range(count):
        conversation.add_message("user" if i % 2 == 0 else "assistant", f"Message {i}")
    return conversation


@pytest.mark.point(120, 122)
def test_a_message_is_kept_with_its_metadata(memory: Memory) -> None:
    conversation = ConversationMemory(memory=memory)
    conversation.add_message("user", "hello", mood="good", n=1)
    [message] = conversation.messages
    assert isinstance(message, Message)
    assert (message.role, message.content, message.metadata) == ("user", "hello", {"mood": "good", "n": 1})


@pytest.mark.point(123)
def test_over_the_threshold_ten_stay_and_the_rest_is_summed_up(memory: Memory) -> None:
    conversation = talked(30, memory=memory)
    assert (len(said(conversation)), conversation.summary) == (30, None)
    conversation.add_message("user", "Message 30")
    assert said(conversation) == [f"Message {i}" for i in range(21, 31)]
    old = "\n".join(f"{'user' if i % 2 == 0 else 'assistant'}: Message {i}" for i in range(21))
    assert conversation.summary == f"Previous conversation summary:\n{old[:1000]}"
    assert memory.count() == 32, "what was summed up is still in the memory"


@pytest.mark.point(123)
def test_a_summary_has_a_hundred_characters_of_each_and_a_thousand_in_all() -> None:
    conversation = ConversationMemory(summarize_threshold=20)
    for _ in range(21):
        conversation.add_message("user", "x" * 150)
    line = "user: " + "x" * 100
    assert conversation.summary == "Previous conversation summary:\n" + "\n".join([line] * 11)[:1000]


@pytest.mark.point(124)
def test_messages_for_a_model_begin_with_what_was_before(memory: Memory) -> None:
    conversation = talked(2, memory=memory)
    plain = [{"role": "user", "content": "Message 0"}, {"role": "assistant", "content": "Message 1"}]
    assert conversation.get_messages_for_llm() == plain
    conversation.summary = "They met."
    assert conversation.get_messages_for_llm() == [
        {"role": "user", "content": "[Context from earlier conversation]\nThey met."},
        {"role": "assistant", "content": "I understand the context. Please continue."},
        *plain,
    ]
    conversation.summary = None
    assert conversation.get_messages_for_llm() == plain


@pytest.mark.point(121)
def test_never_more_than_the_messages_allowed(memory: Memory) -> None:
    conversation = talked(9, max_messages=5, memory=memory)
    assert said(conversation) == [f"Message {i}" for i in range(4, 9)]
    assert "Message 3" in (conversation.summary or "")


@pytest.mark.point(121)
def test_the_tokens_allowed_are_counted_to_the_last_one() -> None:
    conversation = ConversationMemory(max_tokens=8, token_counter=lambda text: len(text.split()))
    for word in ("a", "b"):
        conversation.add_message("user", f"{word} " * 4)
    assert len(conversation.messages) == 2
    conversation.add_message("user", "c")
    assert said(conversation) == ["c"]


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=25), st.integers(40, 200))
def test_never_more_than_the_tokens_allowed(lengths: list[int], most: int) -> None:
    conversation = ConversationMemory(max_tokens=most, token_counter="words", summarize_threshold=12)
    for length in lengths:
        conversation.add_message("user", "word " * length)
        told = conversation.get_messages_for_llm()
        spent = sum(Words().count(message["content"]) for message in told)
        assert spent <= most or len(conversation.messages) == 1
        assert told[-1]["content"] == "word " * length


@pytest.mark.point(123)
def test_a_client_words_the_summary_and_is_told_the_one_before() -> None:
    asked: list[str] = []

    def client(prompt: str) -> str:
        asked.append(prompt)
        return f"summary {len(asked)}"

    conversation = talked(11, summarize_threshold=10)
    conversation.client = client
    for i in range(11, 12):
        conversation.add_message("user", f"Message {i}")
    assert conversation.summary == "Previous conversation summary:\nsummary 1"
    conversation.add_message("user", "one more")
    assert "user: Message 2" in asked[1]
    assert "summary 1" in asked[1]


@pytest.mark.point(125, 126, 127)
def test_search_last_and_clear(memory: Memory) -> None:
    conversation = ConversationMemory(memory=memory)
    for i in range(8):
        conversation.add_message("user", f"The Invoice {i}")
    conversation.add_message("user", "else")
    found = conversation.search("INVOICE")
    assert [message.content for message in found] == [f"The Invoice {i}" for i in range(5)]
    assert len(conversation.search("invoice", limit=2)) == 2
    assert conversation.search("nothing") == []
    assert [message.content for message in conversation.get_last_n(2)] == ["The Invoice 7", "else"]
    assert conversation.get_last_n(0) == []
    conversation.summary = "x"
    conversation.clear()
    assert conversation.export() == {"messages": [], "summary": None}
    conversation.add_message("user", "else")
    assert said(conversation) == ["else"]


@pytest.mark.point(128)
def test_an_export_is_json_and_comes_back_as_it_was(memory: Memory) -> None:
    conversation = ConversationMemory(memory=memory, summarize_threshold=12)
    for i in range(14):
        conversation.add_message("user", f"Message {i}", n=i)
    exported = json.loads(json.dumps(conversation.export()))
    assert exported["messages"][0].keys() == {"role", "content", "timestamp", "metadata"}
    assert datetime.fromisoformat(exported["messages"][0]["timestamp"])
    other = ConversationMemory(memory=memory, session_id="other")
    other.add_message("user", "goes away")
    other.import_from(exported)
    assert list(other.messages) == list(conversation.messages)
    assert other.summary == conversation.summary
    assert other.export() == conversation.export()
    other.add_message("user", "goes on")
    assert said(other)[-1] == "goes on"


@pytest.mark.point(128)
def test_an_export_of_the_document_is_imported(memory: Memory) -> None:
    conversation = ConversationMemory(memory=memory)
    given = {"role": "user", "content": "x", "timestamp": "2024-05-06T07:08:09"}
    conversation.import_from({"messages": [given], "summary": "They met."})
    assert conversation.export() == {"messages": [given], "summary": "They met."}
    conversation.import_from({})
    assert conversation.export() == {"messages": [], "summary": None}


def test_a_bad_import_changes_nothing(memory: Memory) -> None:
    conversation = talked(2, memory=memory)
    conversation.summary = "They met."
    wrongs: list[Any] = [
        {"messages": [{"role": "user", "content": "x" * 2_000_000}]},
        {"messages": [], "summary": 5},
        {"messages": [{"content": "x"}]},
        {"messages": "x"},
        [],
        {"messages": [5]},
    ]
    for wrong in wrongs:
        with pytest.raises(BadInput):
            conversation.import_from(wrong)
    assert said(conversation) == ["Message 0", "Message 1"]
    assert conversation.summary == "They met."


@pytest.mark.parametrize("wrong", [{"max_messages": 0}, {"max_tokens": -5}, {"summarize_threshold": "many"}])
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        ConversationMemory(**wrong)


async def vowels(text: str) -> list[float]:
    assert isinstance(text, str)
    return [text.count(vowel) + 0.001 for vowel in "aeiou"]


@pytest.mark.point(129, 130, 131)
def test_facts_are_found_by_cosine_from_the_threshold_on(place: Path | None) -> None:
    semantic = SemanticMemory(embedding_fn=vowels, memory=place)

    async def work() -> tuple[list[str], list[MemoryItem], list[MemoryItem]]:
        ids = [
            await semantic.add(text, importance=i) for text, i in (("aaaa", 0.2), ("aae", 0.9), ("uuu", 0.9))
        ]
        found = await semantic.search("a")
        return ids, found, await semantic.search("a", min_importance=0.5)

    ids, found, important = run(work())
    assert [len(id) for id in ids] == [8, 8, 8]
    assert [item.content for item in found] == ["aaaa", "aae"]
    near = [item.metadata["last_similarity"] for item in found]
    a, b = np.array(run(vowels("a"))), np.array(run(vowels("aae")))
    assert near[1] == pytest.approx(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), abs=1e-5)
    assert [item.content for item in important] == ["aae"]
    assert [item.access_count for item in important] == [2]
    assert semantic.memories[ids[1]].access_count == 2
    assert semantic.memories[ids[1]].last_accessed is not None
    assert semantic.memories[ids[2]].access_count == 0
    assert semantic.memories[ids[0]].metadata["last_similarity"] == near[0]
    assert semantic.embeddings.keys() == set(ids)
    semantic.close()


@pytest.mark.point(132)
def test_without_an_embedding_function_nothing_is_found_unless_the_memory_may_recall(memory: Memory) -> None:
    async def work() -> tuple[list[MemoryItem], list[MemoryItem]]:
        plain = SemanticMemory(memory=memory)
        await plain.add("Ann lives in Lisbon", metadata={"source": "Ann"})
        return await plain.search("Lisbon"), await SemanticMemory(memory=memory, fallback=True).search(
            "Lisbon"
        )

    nothing, found = run(work())
    assert nothing == []
    assert [(item.content, item.metadata["source"]) for item in found] == [("Ann lives in Lisbon", "Ann")]


@pytest.mark.point(133, 134, 135)
def test_importance_forgetting_and_consolidation(memory: Memory) -> None:
    semantic = SemanticMemory(memory=memory, fallback=True)

    async def work() -> None:
        minor = await semantic.add("The bus was late on Monday", importance=0.2)
        used = await semantic.add("The password hint is a fish", importance=0.2)
        major = await semantic.add("Ann is allergic to nuts", importance=0.9)
        assert await semantic.update_importance(major, 0.3) is True
        assert await semantic.update_importance("nobody", 0.3) is False
        with pytest.raises(BadInput):
            await semantic.update_importance(major, 3)
        for _ in range(2):
            await semantic.search("password hint fish", limit=1)
        assert await semantic.consolidate() == 1
        assert semantic.memories.keys() == {used, major}
        assert await semantic.get(minor) is None
        assert [await semantic.forget(used), await semantic.forget(used)] == [True, False]
        await semantic.add("The password hint is a fish")
        assert len(semantic.memories) == 2

    run(work())


@pytest.mark.point(130)
def test_what_is_learned_twice_is_there_twice_unless_asked(memory: Memory) -> None:
    semantic = SemanticMemory(memory=memory)

    async def work() -> list[str]:
        first, second = await semantic.add("same"), await semantic.add("same")
        return [first, second, await semantic.add("same", keep_duplicates=False)]

    first, second, third = run(work())
    assert first != second
    assert third in (first, second)


def test_another_embedder_than_that_of_the_memory_is_refused(memory: Memory) -> None:
    with pytest.raises(Misconfigured, match="fallback=True"):
        run(SemanticMemory(vowels, memory=memory).add("x"))


@pytest.mark.point(129, 136)
def test_the_local_service_makes_vectors_offline() -> None:
    service = EmbeddingService(provider="local")

    async def work() -> tuple[list[float], list[list[float]], list[MemoryItem]]:
        semantic = SemanticMemory(service.embed, similarity_threshold=0.3)
        await semantic.add("I love my cat")
        await semantic.add("The invoice is due")
        return (
            await service.embed("cat"),
            await service.embed_batch(["a", "cat"]),
            await semantic.search("my kitten"),
        )

    one, both, found = run(work())
    assert both[1] == one
    assert all(isinstance(number, float) for number in one)
    assert found[0].content == "I love my cat"


@pytest.mark.point(136)
def test_an_unknown_provider_is_a_value_error() -> None:
    service = EmbeddingService("nobody")
    with pytest.raises(ValueError, match=r"^Unknown provider: nobody$"):
        run(service.embed("x"))
    with pytest.raises(ValueError, match="Unknown provider"):
        run(service.embed_batch(["x"]))
    with pytest.raises(Misconfigured, match="VOYAGE_API_KEY"):
        run(EmbeddingService(environment={}).embed("x"))


class _Voyage(BaseHTTPRequestHandler):
    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Authorization"]
        self.asked.append({"path": self.path, "key": key, **body})
        rows = [
            {"object": "embedding", "index": i, "embedding": [float(len(t)), 1.0]}
            for i, t in enumerate(body["input"])
        ]
        content = json.dumps({"object": "list", "data": rows[::-1], "model": body["model"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.mark.point(136)
def test_voyage_is_asked_over_http() -> None:
    handler = type("Handler", (_Voyage,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/v1"
            service = EmbeddingService(environment={"VOYAGE_API_KEY": "pa-secret", "VOYAGE_BASE_URL": url})
            assert run(service.embed("four")) == [4.0, 1.0]
            assert run(service.embed_batch(["a", "bb"])) == [[1.0, 1.0], [2.0, 1.0]]
        finally:
            server.shutdown()
            thread.join()
    first = handler.asked[0]  # type: ignore[attr-defined]
    assert (first["path"], first["model"], first["key"]) == ("/v1/embeddings", "voyage-2", "Bearer pa-secret")


@pytest.mark.point(21, 109)
def test_experiences_are_found_with_their_outcomes(memory: Memory) -> None:
    episodic = EpisodicMemory(memory=memory, session_id="s")

    async def work() -> None:
        id = await episodic.record(
            "deploy on a Friday", "ship it", "the site was down", False, lessons=["never deploy on Fridays"]
        )
        await episodic.record("deploy on a Monday", outcome="all went well", success=True)
        failed = await episodic.search("deploy the site", success=False)
        assert [(e.situation, e.outcome, e.success) for e in failed] == [
            ("deploy on a Friday", "the site was down", False)
        ]
        assert failed[0].lessons == ("never deploy on Fridays",)
        assert len(await episodic.search("deploy the site")) == 2
        assert await episodic.lessons("deploy") == ["never deploy on Fridays"]
        assert [await episodic.forget(id), await episodic.forget(id)] == [True, False]
        assert len(episodic) == 1

    run(work())
    assert [record.session for record in memory.find(kinds="episode")] == ["s"]
