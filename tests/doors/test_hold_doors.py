"""A legal hold, through every door: whatever a door offers, what is held stays as it is.

Each door is filled, everything in its memory is held, and then each of its verbs is called. A verb may
refuse, or go on around what is held. A new verb of a door has to be decided about here.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.making import make_store

from eidet import Memory, Where
from eidet.compat import agents, api, enhanced, manager, messages
from eidet.core.errors import EidetError
from eidet.core.record import Record

FERNET = b"3q2-796tvu_erb7v3q2-796tvu_erb7v3q2-796tvu8="
TEXT = "The contract was signed on Monday"
LONG_AGO = 1_000_000_000.0

REFUSALS = ("legal hold", "leaves a trail", "append-only")  # some doors refuse, held or not

Verb = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Door:
    """How a door is opened on a memory and filled, what of it may write, and what only reads."""

    of: type
    open: Callable[[Memory, Path], Any]
    fill: Verb
    writes: dict[str, Verb]
    reads: str


def wait_for(answer: object) -> object:
    if not inspect.isawaitable(answer):
        return answer

    async def wait(work: Awaitable[object]) -> object:
        return await work

    return asyncio.run(wait(answer))


def said(text: str = "else") -> messages.Message:
    return messages.Message("user", text)


def ids_of(door: Any) -> list[str]:
    return [message.record_id for message in door.messages]


MESSAGES: dict[str, Verb] = {
    "add_message": lambda d: d.add_message(said()),
    "add_messages": lambda d: d.add_messages([said(), said("more"), said("and more")]),
    "append": lambda d: d.append([said()]),
    "clear": lambda d: d.clear(),
    "drop": lambda d: d.drop(ids_of(d)),
    "drop_all": lambda d: d.drop_all(),
    "replace": lambda d: d.replace(ids_of(d), [said()]),
    "messages, assigned": lambda d: setattr(d, "messages", [said()]),
    "messages, emptied": lambda d: d.messages.clear(),
    "messages, one deleted": lambda d: d.messages.pop(0),
    "messages, one replaced": lambda d: d.messages.__setitem__(0, said()),
}
MESSAGES_READ = "close get_context_window get_history initialize"


def fill_messages(door: Any) -> None:
    for text in (TEXT, "Bob came along"):
        wait_for(door.add_message(messages.Message("user", text, timestamp=LONG_AGO)))  # type: ignore[arg-type]


def of_messages(
    of: type, *given: object, more: dict[str, Verb] | None = None, reads: str = "", **how: object
) -> Door:
    return Door(
        of,
        lambda memory, _: of(*given, memory=memory, **how),
        fill_messages,
        MESSAGES | (more or {}),
        f"{MESSAGES_READ} {reads}",
    )


def fill_agent(door: Any) -> None:
    door.store_agent_state("ann", {"health": 0.5, "note": TEXT}, 1)
    door.store_agent_action("ann", {"action": "sign"}, 2)


def some_id(door: Any) -> str:
    return str(door.memory.parts.store.find(Where(), limit=1)[0].id)


def fill_task(door: Any) -> None:
    door.start_task("sign the contract")
    door.record_step("think", "sign", TEXT)
    wait_for(door.learn(TEXT))
    wait_for(door.end_task(True, "signed"))
    door.start_task("another")


def fill_manager(door: Any) -> None:
    door.add_message(manager.Message("user", TEXT))
    for kind in ("episodic", "long_term"):
        wait_for(door.add_memory(f"{TEXT} ({kind})", kind))
    door.working_memory["law"] = TEXT


SPACE: dict[str, Verb] = {
    "clear": lambda d: d.clear(),
    "flush_to_ltm": lambda d: d.flush_to_ltm(),
    "maintain": lambda d: d.maintain(),
    "set_importance_score": lambda d: d.set_importance_score(
        d.retrieve_recent_states(1)[0]["memory_id"], 0.1
    ),
    "store": lambda d: d.store({"x": 1}, 3),
    "store_state": lambda d: d.store_state({"x": 1}, 3),
    "store_action": lambda d: d.store_action({"x": 1}, 3),
    "store_interaction": lambda d: d.store_interaction({"x": 1}, 3),
    "store_batch": lambda d: d.store_batch([{"contents": {"x": 1}, "step_number": 1}]),
    "trigger_event": lambda d: d.trigger_event("moved", {"x": 1}),
}
SPACE_READS = """
    get_attribute_change_history get_memory_snapshots hybrid_retrieve retrieve_by_attributes
    retrieve_by_time_range retrieve_recent_states retrieve_similar_states retrieve_state_by_id
    search_by_content search_by_embedding cache_info clear_cache set_cache_ttl register_hook
"""
STORE: dict[str, Verb] = {
    "add": lambda d: d.add("law", "else"),
    "forget": lambda d: d.forget("law"),
    "forget, for good": lambda d: d.forget("law", for_good=True),
}
STORE_READS = "close describe get key record records search show"

DOORS = [
    of_messages(messages.BaseMemoryStore),
    of_messages(messages.InMemoryMemoryStore, max_messages=2),
    of_messages(messages.TokenLimitedMemoryStore, 5),
    of_messages(messages.SlidingWindowMemory, 1),
    of_messages(messages.SafeMemoryStore, 2, lambda gone: None),
    of_messages(
        messages.AutoCleanupMemory,
        more={"cleanup": lambda d: d.cleanup(), "archive": lambda d: d.archive(list(d.messages))},
    ),
    of_messages(
        messages.SummaryMemory,
        more={"summarize_and_compress": lambda d: d.summarize_and_compress()},
        threshold=11,
    ),
    of_messages(messages.FilterableMemoryStore, reads="get_messages_by_date_range get_messages_by_metadata"),
    of_messages(messages.SemanticMemoryStore, reads="search"),
    of_messages(messages.ScopedMemoryStore, reads="get_scope"),
    of_messages(messages.EncryptedMemoryStore, FERNET, reads="pack unpack"),
    of_messages(messages.AuditMemoryStore, reads="check_compliance pack unpack"),
    Door(
        messages.ArchiveMemoryStore,
        lambda memory, folder: messages.ArchiveMemoryStore(folder / "archive", memory=memory),
        fill_messages,
        MESSAGES,
        f"{MESSAGES_READ} archive",
    ),
    Door(
        messages.S3MemoryStore,
        lambda memory, folder: messages.S3MemoryStore("bucket", archive=folder / "archive", memory=memory),
        fill_messages,
        MESSAGES,
        f"{MESSAGES_READ} archive",
    ),
    of_messages(messages.FileMemoryStore, "chat.db", max_messages=2),
    of_messages(messages.PostgresMemoryStore, "postgresql://127.0.0.1/chat"),
    of_messages(messages.RedisMemoryStore, "redis://127.0.0.1", max_messages=2),
    Door(
        agents.ConversationMemory,
        lambda memory, _: agents.ConversationMemory(
            memory=memory, max_messages=2, max_tokens=5, summarize_threshold=2
        ),
        lambda d: [d.add_message("user", text) for text in (TEXT, "Bob came along")],
        {name: call for name, call in MESSAGES.items() if name != "add_messages"}
        | {
            "add_message": lambda d: d.add_message("user", "else"),
            "import_from": lambda d: d.import_from(
                {"messages": [{"role": "user", "content": "new"}], "summary": None}
            ),
        },
        "close export get_last_n get_messages_for_llm search",
    ),
    Door(
        agents.SemanticMemory,
        lambda memory, _: agents.SemanticMemory(memory=memory),
        lambda d: d.add(TEXT, 0.1),
        {
            "add": lambda d: d.add(TEXT, 0.9, keep_duplicates=False),
            "consolidate": lambda d: d.consolidate(),
            "forget": lambda d: d.forget(some_id(d)),
            "update_importance": lambda d: d.update_importance(some_id(d), 0.9),
        },
        "close get search",
    ),
    Door(
        agents.EpisodicMemory,
        lambda memory, _: agents.EpisodicMemory(memory=memory),
        lambda d: d.record(TEXT),
        {"record": lambda d: d.record(TEXT), "forget": lambda d: d.forget(some_id(d))},
        "close lessons search",
    ),
    Door(
        agents.FactStore,
        lambda memory, _: agents.FactStore(memory=memory),
        lambda d: d.add(agents.MemoryItem(id="law", content=TEXT)),
        {
            "add": lambda d: d.add(agents.MemoryItem(id="law", content="else")),
            "delete": lambda d: d.delete("law"),
        },
        "close get search",
    ),
    Door(
        agents.WorkingMemory,
        lambda memory, _: agents.WorkingMemory("sign", memory=memory, session_id="s"),
        lambda d: (d.set_variable("law", TEXT), d.push_subgoal("sign"), d.add_result("law", TEXT)),
        {
            "set_variable": lambda d: d.set_variable("law", "else"),
            "add_result": lambda d: d.add_result("law", "else"),
            "add_thought": lambda d: d.add_thought("else"),
            "push_subgoal": lambda d: d.push_subgoal("else"),
            "pop_subgoal": lambda d: d.pop_subgoal(),
            "set_task": lambda d: d.set_task("else"),
            "clear": lambda d: d.clear(),
        },
        "close get_context_string get_result get_variable",
    ),
    Door(
        agents.AgentMemorySystem,
        lambda memory, _: agents.AgentMemorySystem(memory=memory, session_id="s"),
        fill_task,
        {
            "start_task": lambda d: d.start_task("else"),
            "end_task": lambda d: d.end_task(False, "else"),
            "learn": lambda d: d.learn(TEXT, 0.9),
            "record_step": lambda d: d.record_step("think", "act", "else"),
        },
        "close get_relevant_context",
    ),
    Door(
        api.AgentMemoryAPI,
        lambda memory, _: api.AgentMemoryAPI(memory=memory),
        fill_agent,
        {
            "clear_agent_memory": lambda d: d.clear_agent_memory("ann"),
            "flush_to_ltm": lambda d: d.flush_to_ltm("ann"),
            "force_memory_maintenance": lambda d: d.force_memory_maintenance(),
            "set_importance_score": lambda d: d.set_importance_score("ann", some_id(d), 0.1),
            "store_agent_state": lambda d: d.store_agent_state("ann", {"x": 1}, 3),
            "store_agent_action": lambda d: d.store_agent_action("ann", {"x": 1}, 3),
            "store_agent_interaction": lambda d: d.store_agent_interaction("ann", {"x": 1}, 3),
            "store_batch": lambda d: d.store_batch("ann", [{"contents": {"x": 1}, "step_number": 1}]),
            "trigger_event": lambda d: d.trigger_event("ann", "moved", {"x": 1}),
            "load": lambda d: d.load(d.before),
        },
        f"{SPACE_READS} agents close configure_memory_system get_memory_space get_memory_statistics save "
        "unregister_hook",
    ),
    Door(
        api.MemorySpace,
        lambda memory, _: api.AgentMemoryAPI(memory=memory).get_memory_space("ann"),
        lambda d: d.store_state({"health": 0.5, "note": TEXT}, 1),
        SPACE,
        f"{SPACE_READS} configure focus get_statistics query search search_scored",
    ),
    Door(
        enhanced.InMemoryStore,
        lambda memory, _: enhanced.InMemoryStore(memory=memory),
        lambda d: d.add("law", TEXT),
        STORE,
        STORE_READS,
    ),
    Door(
        enhanced.VectorMemoryStore,
        lambda memory, _: enhanced.VectorMemoryStore(memory=memory),
        lambda d: d.add("law", TEXT),
        STORE,
        f"{STORE_READS} over shares",
    ),
    Door(
        enhanced.WorkingStore,
        lambda memory, _: enhanced.WorkingStore(memory, "s"),
        lambda d: (d.add("law", TEXT), d.say("user", TEXT)),
        STORE | {"say": lambda d: d.say("user", "else")},
        f"{STORE_READS} recent",
    ),
    Door(
        enhanced.EnhancedAgentMemory,
        lambda memory, _: enhanced.EnhancedAgentMemory(memory=memory, session_id="s", summary_every=2),
        lambda d: (
            d.add_message("user", TEXT),
            d.add_tool_call("sign"),
            d.create_task("t", TEXT),
            d.update_state("law", TEXT),
            d.add_experience(TEXT),
        ),
        {
            "add": lambda d: d.add(TEXT, 5),
            "add_experience": lambda d: d.add_experience(TEXT, 5),
            "add_message": lambda d: d.add_message("user", "else"),
            "add_tool_call": lambda d: d.add_tool_call("else"),
            "clear": lambda d: d.clear(),
            "create_summary": lambda d: d.create_summary(keep=0),
            "create_task": lambda d: d.create_task("t", "else"),
            "forget": lambda d: [d.forget(record.id) for record in d.memory.find()],
            "maintain": lambda d: d.maintain(),
            "prune": lambda d: d.prune(1.0),
            "update_state": lambda d: d.update_state("law", "else"),
            "feedback": lambda d: (d.recall(TEXT), d.feedback(True)),
        },
        "close get_final_answer get_messages get_recent_messages get_state metrics prompt_context recall "
        "search summary",
    ),
    Door(
        manager.MemoryManager,
        lambda memory, _: manager.MemoryManager(manager.MemoryConfig(memory=memory, working_capacity=1)),
        fill_manager,
        {
            "add_message": lambda d: d.add_message(manager.Message("user", "else")),
            "add_memory": lambda d: d.add_memory("else", "long_term"),
            "consolidate": lambda d: d.consolidate(),
            "prune": lambda d: d.prune(1.0),
            "summarize": lambda d: d.summarize(),
            "summarize_if_due": lambda d: d.summarize_if_due(),
            "feedback": lambda d: (wait_for(d.search_memory(TEXT, "long_term")), wait_for(d.feedback(True))),
            "working_memory, set": lambda d: d.working_memory.__setitem__("law", "else"),
            "working_memory, deleted": lambda d: d.working_memory.pop("law"),
            "working_memory, emptied": lambda d: d.working_memory.clear(),
        },
        "close metrics search_memory",
    ),
    Door(
        manager.ConversationContext,
        lambda memory, _: manager.ConversationContext("c", manager.MemoryConfig(memory=memory)),
        lambda d: d.add_message(manager.Message("user", TEXT)),
        {
            "add_message": lambda d: d.add_message(manager.Message("user", "else")),
            "end": lambda d: d.end(),
        },
        "close",
    ),
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.of.__name__)
def test_somebody_has_decided_about_every_verb_of_a_door(door: Door) -> None:
    found = {name for name, _ in inspect.getmembers(door.of, callable) if not name.startswith("_")}
    writing = {verb for verb in door.writes if "," not in verb}
    assert writing | set(door.reads.split()) == found


def look_at(memory: Memory) -> dict[str, Record]:
    """What a hold protects of every record; uses, vectors and terms are Eidet's own."""
    found = memory.parts.store.find(Where())
    return {one.id: one.but(uses=0, last_used=None, vector=None, terms=b"", seq=0) for one in found}


def fill(door: Door, memory: Memory, folder: Path) -> Any:
    """The door, open, with everything behind it under a hold."""
    opened = door.open(memory, folder)
    wait_for(door.fill(opened))
    if door.of is api.AgentMemoryAPI:
        opened.before = folder / "before.jsonl"
        opened.save(opened.before)
        opened.set_importance_score("ann", some_id(opened), 0.3)
    filled = memory.parts.store.find(Where())
    assert filled
    for record in filled:
        memory.upkeep.hold(record.id, scope=record.scope, by="court")
    if door.of is messages.RedisMemoryStore:
        opened.ttl = timedelta(microseconds=1)  # from now on, each message is due at once
    return opened


def check_verb(door: Door, verb: str, opened: Any, memory: Memory, before: dict[str, Record]) -> None:
    try:
        wait_for(door.writes[verb](opened))
    except EidetError as error:
        assert any(word in str(error) for word in REFUSALS)  # noqa: PT017
    after = look_at(memory)
    assert {id: after.get(id) for id in before} == before, verb


BACKENDS = ("ram", "postgres", "redis", "tiered", "sealed", "audited")  # the last two on SQLite
KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"


@pytest.fixture(params=BACKENDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    wrapped: dict[str, Any] = {"sealed": {"key": KEY}, "audited": {"audit": tmp_path / "audit.jsonl"}}
    store = make_store(request.param, tmp_path, request)
    with Memory(store, embedder="hashing:16", **wrapped.get(request.param, {})) as opened:
        yield opened


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.of.__name__)
def test_no_door_changes_what_is_held_on_any_store(door: Door, kept: Memory, tmp_path: Path) -> None:
    """All verbs of a door, one after the other: what was held at first is as it was after each."""
    opened = fill(door, kept, tmp_path)
    before = look_at(kept)
    for verb in door.writes:
        check_verb(door, verb, opened, kept, before)
