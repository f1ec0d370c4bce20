"""Every door, how it is opened and filled, what of it may write, what only reads, and what it tells.

What all doors promise is tried with this table: see `test_every_door.py`. A new verb has to be decided about.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eidet import Memory, Scope, Where
from eidet.compat import agents, api, enhanced, manager, messages

FERNET = b"3q2-796tvu_erb7v3q2-796tvu_erb7v3q2-796tvu8="
WORD = "ishmael@example.com"  # personal, and easily found in files
TEXT = f"The contract was signed by {WORD}"
ELSE = f"Another contract was sent to {WORD}"
LONG_AGO = 1_000_000_000.0
STATE = {"x": 1, "note": ELSE}

Verb = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Door:
    """How a door is opened on a scope and filled, what of it may write or only reads, and what it tells."""

    of: type
    open: Callable[[Memory, Path, str], Any]
    fill: Verb
    writes: dict[str, Verb]
    reads: str
    tell: Verb


def wait_for(answer: object) -> Any:
    if not inspect.isawaitable(answer):
        return answer

    async def wait(work: Awaitable[Any]) -> Any:
        return await work

    return asyncio.run(wait(answer))


def said(text: str = ELSE, **more: Any) -> messages.Message:
    return messages.Message("user", text, **more)


def ids_of(door: Any) -> list[str]:
    return [message.record_id for message in door.messages]


MESSAGES: dict[str, Verb] = {
    "add_message": lambda d: d.add_message(said()),
    "add_messages": lambda d: d.add_messages([said(), said(f"{ELSE} too"), said(f"{ELSE} again")]),
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
    for text in (TEXT, f"Bob came along with {WORD}"):
        wait_for(door.add_message(messages.Message("user", text, timestamp=LONG_AGO)))  # type: ignore[arg-type]


def tell_history(door: Any) -> object:
    return [(message.role, message.content) for message in wait_for(door.get_history())]


def of_messages(
    of: type, *given: object, more: dict[str, Verb] | None = None, reads: str = "", **how: object
) -> Door:
    return Door(
        of,
        lambda memory, _, scope: of(*given, memory=memory, scope=scope, **how),
        fill_messages,
        MESSAGES | (more or {}),
        f"{MESSAGES_READ} {reads}",
        tell_history,
    )


def fill_agent(door: Any) -> None:
    door.store_agent_state("ann", {"health": 0.5, "note": TEXT}, 1)
    door.store_agent_action("ann", {"action": "sign"}, 2)


def some_id(door: Any) -> str:
    return str(door.memory.parts.store.find(Where(), limit=1)[0].id)


def by_their_ids(space: Any) -> Iterator[Any]:
    for record in space.memory.parts.store.find(Where(scope=Scope(space.scope))):
        yield space.retrieve_state_by_id(record.id)


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
    "store": lambda d: d.store(STATE, 3),
    "store_state": lambda d: d.store_state(STATE, 3),
    "store_action": lambda d: d.store_action(STATE, 3),
    "store_interaction": lambda d: d.store_interaction(STATE, 3),
    "store_batch": lambda d: d.store_batch([{"contents": STATE, "step_number": 1}]),
    "trigger_event": lambda d: d.trigger_event("moved", STATE),
}
SPACE_READS = """
    get_attribute_change_history get_memory_snapshots hybrid_retrieve retrieve_by_attributes
    retrieve_by_time_range retrieve_recent_states retrieve_similar_states retrieve_state_by_id
    search_by_content search_by_embedding cache_info clear_cache set_cache_ttl register_hook
"""
STORE: dict[str, Verb] = {
    "add": lambda d: d.add("law", ELSE),
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
        lambda memory, folder, scope: messages.ArchiveMemoryStore(
            folder / "archive", memory=memory, scope=scope
        ),
        fill_messages,
        MESSAGES,
        f"{MESSAGES_READ} archive",
        tell_history,
    ),
    Door(
        messages.S3MemoryStore,
        lambda memory, folder, scope: messages.S3MemoryStore(
            "bucket", archive=folder / "archive", memory=memory, scope=scope
        ),
        fill_messages,
        MESSAGES,
        f"{MESSAGES_READ} archive",
        tell_history,
    ),
    of_messages(messages.FileMemoryStore, "chat.db", max_messages=2),
    of_messages(messages.PostgresMemoryStore, "postgresql://127.0.0.1/chat"),
    of_messages(messages.RedisMemoryStore, "redis://127.0.0.1", max_messages=2),
    Door(
        agents.ConversationMemory,
        lambda memory, _, scope: agents.ConversationMemory(
            memory=memory, scope=scope, max_messages=2, max_tokens=5, summarize_threshold=2
        ),
        lambda d: [d.add_message("user", text) for text in (TEXT, f"Bob came along with {WORD}")],
        {name: call for name, call in MESSAGES.items() if name != "add_messages"}
        | {
            "add_message": lambda d: d.add_message("user", ELSE),
            "import_from": lambda d: d.import_from(
                {"messages": [{"role": "user", "content": ELSE}], "summary": None}
            ),
        },
        "close export get_last_n get_messages_for_llm search",
        lambda d: d.export(),
    ),
    Door(
        agents.SemanticMemory,
        lambda memory, _, scope: agents.SemanticMemory(memory=memory, scope=scope),
        lambda d: d.add(TEXT, 0.1),
        {
            "add": lambda d: d.add(TEXT, 0.9, keep_duplicates=False),
            "consolidate": lambda d: d.consolidate(),
            "forget": lambda d: d.forget(some_id(d)),
            "update_importance": lambda d: d.update_importance(some_id(d), 0.9),
        },
        "close get search",
        lambda d: [d.memory.get(record.id, scope=d.scope) for record in d.memory.find(scope=d.scope)],
    ),
    Door(
        agents.EpisodicMemory,
        lambda memory, _, scope: agents.EpisodicMemory(memory=memory, scope=scope),
        lambda d: d.record(TEXT),
        {"record": lambda d: d.record(TEXT), "forget": lambda d: d.forget(some_id(d))},
        "close lessons search",
        lambda d: d.search(TEXT),
    ),
    Door(
        agents.WorkingMemory,
        lambda memory, _, scope: agents.WorkingMemory("sign", memory=memory, scope=scope, session_id="s"),
        lambda d: (d.set_variable("law", TEXT), d.push_subgoal("sign"), d.add_result("law", TEXT)),
        {
            "set_variable": lambda d: d.set_variable("law", ELSE),
            "add_result": lambda d: d.add_result("law", ELSE),
            "add_thought": lambda d: d.add_thought(ELSE),
            "push_subgoal": lambda d: d.push_subgoal(ELSE),
            "pop_subgoal": lambda d: d.pop_subgoal(),
            "set_task": lambda d: d.set_task(ELSE),
            "clear": lambda d: d.clear(),
        },
        "close get_context_string get_result get_variable",
        lambda d: (d.get_context_string(), d.get_variable("law")),
    ),
    Door(
        agents.AgentMemorySystem,
        lambda memory, _, scope: agents.AgentMemorySystem(memory=memory, scope=scope, session_id="s"),
        fill_task,
        {
            "start_task": lambda d: d.start_task(ELSE),
            "end_task": lambda d: d.end_task(False, ELSE),
            "learn": lambda d: d.learn(TEXT, 0.9),
            "record_step": lambda d: d.record_step("think", "act", ELSE),
        },
        "close get_relevant_context",
        lambda d: d.get_relevant_context("Who signed the contract?"),
    ),
    Door(
        api.AgentMemoryAPI,
        lambda memory, _, scope: api.AgentMemoryAPI(memory=memory, scope=scope),
        fill_agent,
        {
            "clear_agent_memory": lambda d: d.clear_agent_memory("ann"),
            "flush_to_ltm": lambda d: d.flush_to_ltm("ann"),
            "force_memory_maintenance": lambda d: d.force_memory_maintenance(),
            "set_importance_score": lambda d: d.set_importance_score("ann", some_id(d), 0.1),
            "store_agent_state": lambda d: d.store_agent_state("ann", STATE, 3),
            "store_agent_action": lambda d: d.store_agent_action("ann", STATE, 3),
            "store_agent_interaction": lambda d: d.store_agent_interaction("ann", STATE, 3),
            "store_batch": lambda d: d.store_batch("ann", [{"contents": STATE, "step_number": 1}]),
            "trigger_event": lambda d: d.trigger_event("ann", "moved", STATE),
            "load": lambda d: hasattr(d, "before") and d.load(d.before),  # a sealed memory saves no files
        },
        f"{SPACE_READS} agents close configure_memory_system get_memory_space get_memory_statistics save",
        lambda d: d.retrieve_recent_states("ann"),
    ),
    Door(
        api.MemorySpace,
        lambda memory, _, scope: api.AgentMemoryAPI(memory=memory, scope=scope).get_memory_space("ann"),
        lambda d: d.store_state({"health": 0.5, "note": TEXT}, 1),
        SPACE,
        f"{SPACE_READS} configure focus get_statistics query search search_scored",
        lambda d: [entry["contents"] for entry in (*d.retrieve_recent_states(), *by_their_ids(d)) if entry],
    ),
    Door(
        enhanced.InMemoryStore,
        lambda memory, _, scope: enhanced.InMemoryStore(memory=memory, scope=scope),
        lambda d: d.add("law", TEXT),
        STORE,
        STORE_READS,
        lambda d: d.get("law"),
    ),
    Door(
        enhanced.VectorMemoryStore,
        lambda memory, _, scope: enhanced.VectorMemoryStore(memory=memory, scope=scope),
        lambda d: d.add("law", TEXT),
        STORE,
        f"{STORE_READS} over shares",
        lambda d: d.search(TEXT),
    ),
    Door(
        enhanced.WorkingStore,
        lambda memory, _, scope: enhanced.WorkingStore(memory, "s", scope=scope),
        lambda d: (d.add("law", TEXT), d.say("user", TEXT)),
        STORE | {"say": lambda d: d.say("user", ELSE)},
        f"{STORE_READS} recent",
        lambda d: (d.get("law"), d.recent(9)),
    ),
    Door(
        enhanced.EnhancedAgentMemory,
        lambda memory, _, scope: enhanced.EnhancedAgentMemory(
            memory=memory, scope=scope, session_id="s", summary_every=2
        ),
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
            "add_message": lambda d: d.add_message("user", ELSE),
            "add_tool_call": lambda d: d.add_tool_call(ELSE),
            "clear": lambda d: d.clear(),
            "create_summary": lambda d: d.create_summary(keep=0),
            "create_task": lambda d: d.create_task("t", ELSE),
            "forget": lambda d: [d.forget(record.id) for record in d.memory.find()],
            "maintain": lambda d: d.maintain(),
            "prune": lambda d: d.prune(1.0),
            "update_state": lambda d: d.update_state("law", ELSE),
            "feedback": lambda d: (d.recall(TEXT), d.feedback(True)),
        },
        "close get_final_answer get_messages get_recent_messages get_state metrics prompt_context recall "
        "search summary",
        lambda d: (d.recall(TEXT), d.get_recent_messages(), d.get_state("law"), d.tool_call_history),
    ),
    Door(
        manager.MemoryManager,
        lambda memory, _, scope: manager.MemoryManager(
            manager.MemoryConfig(memory=memory, scope=scope, working_capacity=1), conversation_id="c"
        ),
        fill_manager,
        {
            "add_message": lambda d: d.add_message(manager.Message("user", ELSE)),
            "add_memory": lambda d: d.add_memory(ELSE, "long_term"),
            "consolidate": lambda d: d.consolidate(),
            "prune": lambda d: d.prune(1.0),
            "summarize": lambda d: d.summarize(),
            "summarize_if_due": lambda d: d.summarize_if_due(),
            "feedback": lambda d: (wait_for(d.search_memory(TEXT, "long_term")), wait_for(d.feedback(True))),
            "working_memory, set": lambda d: d.working_memory.__setitem__("law", ELSE),
            "working_memory, deleted": lambda d: d.working_memory.pop("law"),
            "working_memory, emptied": lambda d: d.working_memory.clear(),
        },
        "close metrics search_memory",
        lambda d: (dict(d.working_memory), wait_for(d.search_memory(TEXT, "long_term"))),
    ),
    Door(
        manager.ConversationContext,
        lambda memory, _, scope: manager.ConversationContext(
            "c", manager.MemoryConfig(memory=memory, scope=scope)
        ),
        lambda d: d.add_message(manager.Message("user", TEXT)),
        {
            "add_message": lambda d: d.add_message(manager.Message("user", ELSE)),
            "end": lambda d: d.end(),
        },
        "close",
        lambda d: [message.content for message in d.history],
    ),
]
