"""`Memory` and `AsyncMemory` with the methods of mem0's; nothing here needs mem0 (see test_mem0.py)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.promises import cancel_at_once, out_of_reach
from tests.making import Clock

from eidet import Conflict, Unavailable
from eidet import Memory as EidetMemory
from eidet.integrations.mem0 import AsyncMemory, Mem0Config, Memory
from eidet.models.llm import Answer, Request

DAY = 86_400.0
NOW = 1_770_000_000.0  # 2026-02-02


@pytest.fixture
def eidet() -> Any:
    with EidetMemory(embedder="hashing:64", clock=Clock(NOW)) as memory:
        yield memory


@pytest.fixture
def memory(eidet: EidetMemory) -> Memory:
    return Memory(eidet)


def texts(answer: dict[str, Any]) -> list[str]:
    return sorted(one["memory"] for one in answer["results"])


def only_id(answer: dict[str, Any]) -> str:
    (one,) = answer["results"]
    return str(one["id"])


def test_a_fact_told_in_one_run_is_found_in_the_next(reopen: Reopen) -> None:
    with reopen() as eidet:
        Memory(eidet).add("My gate code is 7731.", user_id="ann")
        Memory(eidet).add("My gate code is 1234.", user_id="bob")
    with reopen() as eidet:
        memory = Memory(eidet)
        (hit,) = memory.search("What is the gate code?", filters={"user_id": "ann"})["results"]
        assert (hit["memory"], hit["user_id"]) == ("My gate code is 7731.", "ann")
        assert 0.1 <= hit["score"] <= 1
        assert memory.search("gate code", filters={"user_id": "eve"}) == {"results": []}
        assert eidet.recall("gate code", scope="mem0/user/ann")[0].id == hit["id"]


def test_async_methods_do_the_same(reopen: Reopen) -> None:
    async def talk(eidet: EidetMemory) -> None:
        async with AsyncMemory(eidet) as memory:
            id = only_id(await memory.add("I love pizza", user_id="ann"))
            await memory.update(id, text="I love pasta")
            assert texts(await memory.get_all(filters={"user_id": "ann"})) == ["I love pasta"]
            assert texts(await memory.search("pasta", filters={"user_id": "ann"})) == ["I love pasta"]
            assert [one["event"] for one in await memory.history(id)] == ["ADD", "UPDATE"]
            await memory.delete(id)
            assert await memory.get(id) is None
            await memory.add("I love pizza", user_id="ann")
            await memory.delete_all(user_id="ann")
            await memory.add("I love pizza", user_id="bob")
            await memory.reset()
            assert await memory.get_all(filters={"user_id": "*"}) == {"results": []}
            with pytest.raises(NotImplementedError):
                await memory.chat("hello")

    with reopen() as eidet:
        asyncio.run(talk(eidet))
        assert eidet.count(scope="mem0/**") == 0


def test_what_comes_back_has_the_shapes_of_mem0(memory: Memory) -> None:
    added = memory.add(
        [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "I moved to Porto", "name": "Ann"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Nice"}, {"type": "text", "text": "!"}],
            },
            {"role": "user", "content": None},
            {"role": "user", "content": {"type": "image_url"}},
            {"content": "nobody said this"},
            "neither this",
        ],
        user_id="ann",
        agent_id="guide",
        run_id="r1",
        metadata={"topic": "home", "user_id": "eve", "actor_id": "eve"},
        expiration_date="2026-02-02",
    )
    first, second = added["results"]
    assert first == {
        "id": first["id"], "memory": "I moved to Porto", "event": "ADD", "actor_id": "Ann", "role": "user"
    }  # fmt: skip
    assert (second["memory"], second["role"], second["actor_id"]) == ("Nice !", "assistant", None)
    assert memory.get(first["id"]) == {
        "id": first["id"],
        "memory": "I moved to Porto",
        "hash": "978970b6e1ef6b78e64764de39fccb62",  # md5
        "metadata": {"topic": "home"},
        "created_at": "2026-02-02T02:40:00.000000+00:00",
        "updated_at": "2026-02-02T02:40:00.000000+00:00",
        "user_id": "ann",
        "agent_id": "guide",
        "run_id": "r1",
        "actor_id": "Ann",
        "role": "user",
        "expiration_date": "2026-02-02",
    }
    assert [one["memory"] for one in memory.get_all(filters={"run_id": "r1"})["results"]] == [
        "Nice !",
        "I moved to Porto",
    ]
    (hit,) = memory.search("Porto", filters={"user_id": "ann"}, explain=True)["results"]
    assert hit["score_details"]["final_score"] == hit["score"]


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({"user_id": "ann"}, "abcd"),
    ({"user_id": " ann "}, "abcd"),
    ({"user_id": "ann", "agent_id": "x"}, "ac"),
    ({"agent_id": "x"}, "aceg"),
    ({"run_id": "r"}, "ade"),
    ({"user_id": "ann", "n": 2}, "b"),
    ({"user_id": "ann", "n": {"eq": 2}}, "b"),
    ({"user_id": "ann", "n": {"ne": 2}}, "ac"),
    ({"user_id": "ann", "n": {"in": [1, 2]}}, "ab"),
    ({"user_id": "ann", "n": [1, 2]}, "ab"),
    ({"user_id": "ann", "n": {"nin": [1, 2]}}, "c"),
    ({"user_id": "ann", "created_at": {"ne": "2026-02-02T02:40:00Z"}}, "bcd"),
    ({"user_id": "ann", "n": {"gt": 1, "lte": 3}}, "bc"),
    ({"user_id": "ann", "n": {"gte": 3}}, "c"),
    ({"user_id": "ann", "n": {"lt": 2}}, "a"),
    ({"user_id": "ann", "n": "*"}, "abc"),
    ({"user_id": "ann", "n": None}, "d"),
    ({"user_id": "ann", "tag": {"contains": "Blu"}}, "a"),
    ({"user_id": "ann", "tag": {"icontains": "bLUE."}}, "ab"),
    ({"user_id": "ann", "tags": {"contains": "t1"}}, "c"),
    ({"AND": [{"user_id": "ann"}, {"n": {"gte": 2}}]}, "bc"),
    ({"AND": [{"AND": [{"user_id": "ann"}]}, {"OR": [{"n": 1}, {"n": 3}]}]}, "ac"),
    ({"OR": [{"user_id": "bob"}, {"AND": [{"user_id": "ann"}, {"n": 1}]}]}, "aef"),
    ({"user_id": "ann", "NOT": [{"n": 1}, {"n": 2}]}, "cd"),
    ({"user_id": "ann", "NOT": {"n": 1}}, "bcd"),
    ({"user_id": {"in": ["ann", "bob"]}, "n": 1}, "ae"),
    ({"user_id": {"ne": "ann"}}, "ef"),
    ({"user_id": "*"}, "abcdef"),
    ({"user_id": None, "agent_id": "x"}, "g"),
    ({"agent_id": "*"}, "aceg"),
    ({"agent_id": {"in": ["x", "y"]}, "run_id": {"ne": "r"}}, ""),
    ({"agent_id": {"in": ["x", "y"]}, "NOT": [{"run_id": "r"}]}, "cg"),
    ({"agent_id": {"nin": ["y"]}, "user_id": "bob"}, "e"),
    ({"user_id": "ann", "role": "user"}, "abcd"),
    ({"user_id": "ann", "created_at": {"lt": "2026-02-02T02:40:01Z"}}, "ab"),
    ({"user_id": "ann", "created_at": {"gte": "2026-02-03"}}, "cd"),
    ({"user_id": "ann", "updated_at": {"gte": "2026-02-03"}}, "cd"),
    ({"user_id": "nobody"}, ""),
    ({"user_id": "ann", "n": {"in": []}}, ""),
]


@pytest.fixture(scope="module", params=["ram", "sqlite"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("mem0") / "filled.db" if request.param == "sqlite" else None
    clock = Clock(NOW)
    with EidetMemory(place, embedder="hashing:64", clock=clock) as eidet:
        memory = Memory(eidet)
        memory.add("a", user_id="ann", agent_id="x", run_id="r", metadata={"n": 1, "tag": "Blue.1"})
        memory.add("b", user_id="ann", metadata={"n": 2, "tag": "BLUE.2"})
        clock.now = NOW + 2 * DAY
        memory.add("c", user_id="ann", agent_id="x", metadata={"n": 3, "tags": ["t1", "t2"]})
        memory.add("d", user_id="ann", run_id="r")
        memory.add("e", user_id="bob", agent_id="x", run_id="r", metadata={"n": 1})
        memory.add("f", user_id="bob")
        memory.add("g", agent_id="x")
        yield memory


@pytest.mark.parametrize(("filters", "wanted"), FILTERS, ids=[str(one) for one, _ in FILTERS])
def test_filters_mean_what_mem0_says(filled: Memory, filters: dict[str, Any], wanted: str) -> None:
    assert texts(filled.get_all(filters=filters)) == list(wanted)
    hits = filled.search("a b c d e f g", filters=filters, threshold=0, top_k=100)
    assert set(texts(hits)) <= set(wanted)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (None, "at least one of: user_id"),
        ({}, "at least one of: user_id"),
        ({"n": 1}, "at least one of: user_id"),
        ({"user_id": "ann", "n": {"like": 1}}, "Unsupported metadata filter operator: like"),
        ({"user_id": "ann", "n": {}}, "no operator"),
        ({"user_id": "ann", "AND": {"n": 1}}, "AND operator requires a list"),
        ({"user_id": "ann", "OR": []}, "OR operator requires a non-empty list"),
        ({"user_id": "ann", "NOT": []}, "NOT operator requires a non-empty list"),
        ({"user_id": "ann", "AND": [1]}, "must be a dict"),
        ({"user_id": "ann", "n": {"icontains": 1}}, "needs a text"),
        ({"user_id": "ann", "created_at": {"gte": "soon"}}, "ISO 8601"),
        ({"user_id": ""}, "cannot be empty"),
        ({"user_id": "a b"}, "cannot contain whitespace"),
        ({"agent_id": " "}, "cannot be empty"),
    ],
)
def test_a_wrong_filter_is_a_value_error(filled: Memory, filters: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        filled.get_all(filters=filters)
    with pytest.raises(ValueError, match=reason):
        filled.search("x", filters=filters)


def test_filters_nest_only_so_deep(filled: Memory) -> None:
    deep: dict[str, Any] = {"n": 1}
    for _ in range(5000):
        deep = {"AND": [deep]}
    with pytest.raises(ValueError, match="levels deep"):
        filled.get_all(filters={"user_id": "ann", "OR": [deep]})


WRONG: list[tuple[str, Callable[[Any], Any]]] = [
    ("At least one of 'user_id'", lambda memory: memory.add("x")),
    ("cannot contain whitespace", lambda memory: memory.add("x", user_id="a b")),
    ("messages must be", lambda memory: memory.add(7, user_id="ann")),
    ("Invalid 'memory_type'", lambda memory: memory.add("x", user_id="ann", memory_type="episodic")),
    ("YYYY-MM-DD", lambda memory: memory.add("x", user_id="ann", expiration_date="tomorrow")),
    ("YYYY-MM-DD", lambda memory: memory.add("x", user_id="ann", expiration_date=7)),
    ("metadata must be a dict", lambda memory: memory.add("x", user_id="ann", metadata=[1])),
    ("ISO 8601", lambda memory: memory.add("x", user_id="ann", timestamp="soon")),
    ("Top-level entity", lambda memory: memory.search("x", user_id="ann")),
    ("Top-level entity", lambda memory: memory.get_all(user_id="ann")),
    ("top_k must be", lambda memory: memory.get_all(filters={"user_id": "ann"}, top_k="3")),
    ("top_k must be", lambda memory: memory.search("x", filters={"user_id": "ann"}, top_k=-1)),
    ("threshold must be", lambda memory: memory.search("x", filters={"user_id": "ann"}, threshold=2)),
    ("Invalid query", lambda memory: memory.search(" ", filters={"user_id": "ann"})),
    ("Invalid query", lambda memory: memory.search(None, filters={"user_id": "ann"})),
    ("not found", lambda memory: memory.update("nope", text="x")),
    ("At least one of text", lambda memory: memory.update("nope")),
    ("not found", lambda memory: memory.delete("nope")),
    ("At least one filter", lambda memory: memory.delete_all()),
    ("cannot be empty", lambda memory: memory.delete_all(user_id="")),
    ("vector_store", lambda memory: Memory.from_config({"vector_store": {"provider": "qdrant"}})),
    ("unknown config", lambda memory: Memory.from_config({"plaice": "x"})),
]


@pytest.mark.parametrize(("reason", "ask"), WRONG)
def test_wrong_arguments_are_value_errors(memory: Memory, reason: str, ask: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=reason):
        ask(memory)


def test_nothing_is_no_error_where_it_is_none_in_mem0(memory: Memory) -> None:
    assert memory.get("nope") is None
    assert memory.history("nope") == []
    assert memory.add([], user_id="ann") == {"results": []}
    assert memory.search("x", filters={"user_id": "ann"}, top_k=0) == {"results": []}
    assert memory.get_all(filters={"user_id": "ann"}, top_k=0) == {"results": []}
    assert memory.delete_all(user_id="nobody") == {"message": "Memories deleted successfully!"}


def test_the_same_text_is_stored_twice_and_deleted_once(memory: Memory) -> None:
    first = only_id(memory.add("I love pizza", user_id="ann", run_id="r1"))
    second = only_id(memory.add("I love pizza", user_id="ann", run_id="r2"))
    memory.delete(first)
    assert memory.get(first) is None
    assert memory.get(second) is not None
    memory.delete(second)
    again = only_id(memory.add("I love pizza", user_id="ann"))
    assert texts(memory.get_all(filters={"user_id": "ann"})) == ["I love pizza"]
    assert again not in (first, second)


def test_a_memory_is_hidden_from_the_day_after_it_expires(eidet: EidetMemory, memory: Memory) -> None:
    id = only_id(memory.add("The offer holds", user_id="ann", expiration_date="2026-02-02"))
    ann = {"user_id": "ann"}
    assert texts(memory.get_all(filters=ann)) == ["The offer holds"]
    clock: Any = eidet.parts.clock
    clock.now = NOW + DAY
    assert memory.get_all(filters=ann) == memory.search("offer", filters=ann) == {"results": []}
    assert texts(memory.get_all(filters=ann, show_expired=True)) == ["The offer holds"]
    assert texts(memory.search("offer", filters=ann, show_expired=True)) == ["The offer holds"]
    assert memory.get(id) is not None
    memory.update(id, expiration_date=None)
    assert texts(memory.get_all(filters=ann)) == ["The offer holds"]
    memory.update(id, expiration_date="2026-02-01")
    assert memory.get_all(filters=ann) == {"results": []}


def test_an_update_adds_metadata_and_moves_nothing(memory: Memory) -> None:
    id = only_id(memory.add("I love pizza", user_id="ann", metadata={"a": 1, "b": 1}))
    memory.update(id, data="I love pasta", metadata={"b": 2, "user_id": "bob"})
    found = memory.get(id)
    assert found is not None
    assert (found["memory"], found["metadata"], found["user_id"]) == ("I love pasta", {"a": 1, "b": 2}, "ann")
    told = [(one["event"], one["old_memory"], one["new_memory"]) for one in memory.history(id)]
    assert told == [("ADD", None, "I love pizza"), ("UPDATE", "I love pizza", "I love pasta")]


def test_delete_all_deletes_what_all_names_fit(memory: Memory) -> None:
    for user in ("ann", "bob"):
        for agent in ("x", "y"):
            memory.add(f"{user} {agent}", user_id=user, agent_id=agent)
    memory.add("x alone", agent_id="x")
    memory.delete_all(user_id="ann", agent_id="x")
    assert texts(memory.get_all(filters={"agent_id": "*"})) == ["ann y", "bob x", "bob y", "x alone"]
    memory.delete_all(agent_id="x")
    assert texts(memory.get_all(filters={"agent_id": "*"})) == ["ann y", "bob y"]
    memory.delete_all(user_id="bob")
    assert texts(memory.get_all(filters={"agent_id": "*"})) == ["ann y"]


def test_names_of_users_are_any_text_and_never_a_path(eidet: EidetMemory, memory: Memory) -> None:
    names = ["a/b", "a", "**", "../bob", "a%2Fb", "é/**", "7"]
    for name in names:
        memory.add(f"I am {name}", user_id=name)
    for name in names:
        assert texts(memory.get_all(filters={"user_id": name})) == [f"I am {name}"]
        memory.delete_all(user_id=name)
        assert memory.get_all(filters={"user_id": name}) == {"results": []}
    assert eidet.scopes() == {}


def test_other_scopes_are_left_alone(eidet: EidetMemory, memory: Memory) -> None:
    eidet.remember("not mem0's", id="home", scope="mem0x/user/ann")
    eidet.remember("not mem0's", scope="default")
    memory.add("x", user_id="ann")
    assert memory.get("home") is None
    memory.reset()
    assert eidet.count(scope="mem0/**") == 0
    assert eidet.scopes() == {"default": 1, "mem0x/user/ann": 1}


def test_an_id_that_two_users_have_is_nobodys(eidet: EidetMemory, memory: Memory) -> None:
    """Ids of Eidet are unique in a scope; mem0 has no scope to say which one is meant."""
    for user in ("ann", "bob"):
        eidet.remember(f"{user} lives here", id="home", scope=f"mem0/user/{user}")
    for ask in (memory.get, memory.delete, memory.history):
        with pytest.raises(Conflict, match="several users"):
            ask("home")
    assert texts(memory.get_all(filters={"user_id": "ann"})) == ["ann lives here"]


def test_a_timestamp_says_when_a_memory_was_made(memory: Memory) -> None:
    memory.add([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}], user_id="ann")
    memory.add("long ago", user_id="ann", timestamp=1_600_000_000)
    found = memory.get_all(filters={"user_id": "ann"})["results"]
    assert [one["memory"] for one in found] == ["two", "one", "long ago"]
    assert found[-1]["created_at"].startswith("2020-09-13")
    assert found[-1]["updated_at"].startswith("2026-02-02")
    hits = memory.search("what was yesterday?", filters={"user_id": "ann"}, reference_date="2020-09-14")
    assert [one["memory"] for one in hits["results"]][:1] == ["long ago"]


class Scripted:
    """A model that says what it is told to, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        if not self.answers:
            raise Unavailable("the model is away")
        return Answer(text=self.answers.pop(0))


def worded(*memories: str) -> str:
    return json.dumps({"memory": [{"text": text, "attributed_to": "user"} for text in memories]})


def test_a_model_words_memories_once(eidet: EidetMemory) -> None:
    model = Scripted(
        worded("Ann loves pizza", "Ann lives in Porto", "Ann loves pizza"), worded("Ann loves pizza")
    )
    memory = Memory(Mem0Config(place=eidet, llm=model, custom_instructions="Only food."))
    said = [{"role": "user", "content": "I'm Ann, I love pizza, and I live in Porto"}]
    added = memory.add(said, user_id="ann", metadata={"k": 1})
    assert texts(added) == ["Ann lives in Porto", "Ann loves pizza"]
    found = memory.get(added["results"][0]["id"])
    assert found is not None
    assert (found["attributed_to"], found["metadata"]) == ("user", {"k": 1})
    assert "Only food." in model.asked[0].prompt
    assert memory.add("I love pizza", user_id="ann", prompt="Names only.") == {"results": []}
    assert "Ann loves pizza" in model.asked[1].prompt
    assert "Names only." in model.asked[1].prompt
    assert len(memory.get_all(filters={"user_id": "ann"})["results"]) == 2
    raw = memory.add("I love pizza", user_id="ann", infer=False)
    assert texts(raw) == ["I love pizza"]
    assert len(model.asked) == 2


@pytest.mark.parametrize("answers", [(), ("no JSON", "nor this"), ("",)])
def test_a_model_that_fails_loses_nothing(
    eidet: EidetMemory, answers: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(Mem0Config(place=eidet, llm=Scripted(*answers)))
    assert texts(memory.add("I love pizza", user_id="ann")) == ["I love pizza"]
    assert "the rules decided" in caplog.text


def test_one_call_of_async_add_may_have_its_own_model(eidet: EidetMemory) -> None:
    memory = AsyncMemory(eidet)
    added = asyncio.run(memory.add("I love pizza", user_id="ann", llm=Scripted(worded("Ann loves pizza"))))
    assert texts(added) == ["Ann loves pizza"]


def test_a_cancelled_call_has_written_once_when_it_ends(reopen: Reopen) -> None:
    async def cancel(memory: AsyncMemory) -> None:
        await cancel_at_once(memory.add("I love pizza", user_id="ann"))
        assert texts(await memory.get_all(filters={"user_id": "ann"})) == ["I love pizza"]

    with reopen() as eidet:
        asyncio.run(cancel(AsyncMemory(eidet)))


def test_a_store_that_fails_keeps_no_half_of_a_turn(
    eidet: EidetMemory,
    memory: Memory,
) -> None:
    turn = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    with out_of_reach(eidet), pytest.raises(Unavailable):
        memory.add(turn, user_id="ann")
    assert memory.get_all(filters={"user_id": "ann"}) == {"results": []}
    memory.add(turn, user_id="ann")
    assert texts(memory.get_all(filters={"user_id": "ann"})) == ["one", "two"]


def test_two_that_update_at_once_lose_nothing(eidet: EidetMemory, memory: Memory) -> None:
    async def update(memory: AsyncMemory, id: str) -> None:
        await asyncio.gather(*(memory.update(id, metadata={f"k{number}": number}) for number in range(8)))

    id = only_id(memory.add("I love pizza", user_id="ann"))
    asyncio.run(update(AsyncMemory(eidet), id))
    found = memory.get(id)
    assert found is not None
    assert len(found["metadata"]) == 8


def test_a_memory_is_opened_from_a_config_or_where_mem0_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with Memory() as memory:
        memory.add("I love pizza", user_id="ann")
    assert (tmp_path / "home" / "eidet.db").exists()
    with Memory(tmp_path / "home" / "eidet.db") as memory:
        assert texts(memory.get_all(filters={"user_id": "ann"})) == ["I love pizza"]
    config = {
        "place": str(tmp_path / "other.db"),
        "scope": "acme/mem0",
        "embedder": "hashing:64",
        "llm": "openai:gpt-x",
        "version": "v1.1",
    }
    with Memory.from_config(config) as memory:
        assert memory.llm is not None
        assert "gpt-x" in memory.llm.name
        memory.add("I love pizza", user_id="ann", infer=False)
        assert memory.memory.scopes() == {"acme/mem0/user/ann": 1}
