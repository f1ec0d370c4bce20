"""`EnhancedAgentMemory`: the façade of the advanced memory guide, and the calls it stands in for."""

from __future__ import annotations

import inspect
import multiprocessing
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.timing import within

from eidet import Memory
from eidet.compat.enhanced import (
    EnhancedAgentMemory,
    InMemoryStore,
    MemoryStore,
    SqliteStore,
    VectorMemoryStore,
)
from eidet.core.errors import BadInput, Misconfigured
from eidet.views import Conversation


@pytest.fixture
def agent(place: Path | None) -> Iterator[EnhancedAgentMemory]:
    with EnhancedAgentMemory(memory=place) as made:
        yield made


class OwnStore(MemoryStore[str]):
    """A store as a reader of the document would write it, with a length that is 0 at first."""

    def __init__(self, fails: bool = False) -> None:
        self.kept: dict[str, str] = {}
        self.fails = fails

    def add(self, key: str, value: str, meta: dict[str, Any] | None = None) -> None:
        if self.fails:
            raise RuntimeError("the disk is full")
        self.kept[key] = value

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def search(self, query: str, top_k: int = 5) -> list[tuple[str, str, float]]:
        return [(key, value, 0.5) for key, value in self.kept.items() if query in value][:top_k]

    def forget(self, key: str) -> bool:
        return self.kept.pop(key, None) is not None

    def __len__(self) -> int:
        return len(self.kept)


class TestItsShape:
    @pytest.mark.point(12)
    def test_it_has_three_stores_and_the_arguments_of_the_document(self) -> None:
        memory = EnhancedAgentMemory()
        assert isinstance(memory.working, InMemoryStore)
        assert isinstance(memory.long_term, InMemoryStore)
        assert isinstance(memory.vector, VectorMemoryStore)
        told = inspect.signature(EnhancedAgentMemory).parameters
        assert [(name, told[name].default) for name in list(told)[:2]] == [
            ("persistent", False),
            ("vector", True),
        ]
        assert inspect.signature(EnhancedAgentMemory.recall).parameters["k"].default == 5
        assert inspect.signature(EnhancedAgentMemory.get_recent_messages).parameters["n"].default == 10

    @pytest.mark.point(13)
    def test_persistent_means_a_sqlite_store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with EnhancedAgentMemory(persistent=True) as memory:
            assert isinstance(memory.long_term, SqliteStore)
        assert (tmp_path / "agent_memory.db").exists()

    @pytest.mark.point(14)
    def test_without_vectors_recall_is_by_substring(self) -> None:
        memory = EnhancedAgentMemory(vector=False)
        memory.add_experience("The deploy script needs Python 3.11")
        assert memory.vector is None
        assert memory.recall("DEPLOY script") == [("exp_0", "The deploy script needs Python 3.11", 1.0)]
        assert memory.recall("rollout program") == []


class TestExperiences:
    @pytest.mark.point(15, 16)
    def test_they_are_recalled_by_meaning_as_key_text_and_score(self, agent: EnhancedAgentMemory) -> None:
        agent.add_experience("Ann's favourite food is sushi", importance=7)
        agent.add_experience("The server room is on the third floor")
        agent.add_experience("Restarting the router fixes the network")
        [(key, text, score), *_] = agent.recall("what does Ann like to eat?", k=1)
        assert (key, text) == ("exp_0", "Ann's favourite food is sushi")
        assert 0 < score <= 1
        assert len(agent.recall("anything")) == 3

    @pytest.mark.point(15)
    def test_the_importance_stays_a_whole_number_and_counts_as_a_share(self, memory: Memory) -> None:
        agent = EnhancedAgentMemory(memory=memory)
        agent.add_experience("usual")
        agent.add_experience("grave", importance=7)
        assert [agent.long_term.meta[key]["importance"] for key in ("exp_0", "exp_1")] == [1, 7]  # type: ignore[attr-defined]
        found = {record.text: record.importance for record in memory.find(kinds="episode")}
        assert found == {"usual": 0.1, "grave": 0.7}

    def test_a_number_is_never_given_twice(self, agent: EnhancedAgentMemory) -> None:
        for at in range(3):
            agent.add_experience(f"experience {at}")
        assert agent.forget("exp_2")
        assert agent.forget("exp_0")
        agent.add_experience("another one")
        assert list(agent.long_term.data) == ["exp_1", "exp_3"]  # type: ignore[attr-defined]
        assert agent.long_term.get("exp_3") == "another one"

    @pytest.mark.point(2)
    def test_numbers_and_knowledge_survive_a_restart(self, tmp_path: Path) -> None:
        with EnhancedAgentMemory(persistent=True, path=tmp_path / "a.db") as memory:
            memory.add_experience("Ann's favourite food is sushi", importance=3)
            memory.add_experience("short-lived")
            memory.forget("exp_1")
        with EnhancedAgentMemory(persistent=True, path=tmp_path / "a.db") as memory:
            assert memory.recall("what does Ann eat?", 1)[0][:2] == ("exp_0", "Ann's favourite food is sushi")
            assert memory.add_experience("after the restart") == "exp_2"
            assert memory.long_term.meta["exp_0"] == {"importance": 3}  # type: ignore[attr-defined]

    def test_an_export_that_was_loaded_is_not_overwritten(self, tmp_path: Path) -> None:
        with EnhancedAgentMemory(memory=tmp_path / "a.db") as memory:
            for at in range(3):
                memory.add_experience(f"old {at}")
            memory.memory.export(tmp_path / "a.jsonl")
        with EnhancedAgentMemory(memory=tmp_path / "b.db") as memory:
            memory.memory.load(tmp_path / "a.jsonl")
            assert memory.add_experience("new") == "exp_3"
            assert memory.long_term.get("exp_0") == "old 0"

    def test_many_threads_get_a_number_each(self, agent: EnhancedAgentMemory) -> None:
        def work(name: int) -> None:
            for at in range(10):
                agent.add_experience(f"thread {name} step {at}")

        threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        texts = list(agent.long_term.data.values())  # type: ignore[attr-defined]
        assert len(texts) == len(set(texts)) == 60
        assert set(agent.long_term.data) == {f"exp_{n}" for n in range(60)}  # type: ignore[attr-defined]

    def test_two_processes_on_one_file_never_overwrite_each_other(self, tmp_path: Path) -> None:
        path = tmp_path / "a.db"
        EnhancedAgentMemory(memory=path).close()
        spawn = multiprocessing.get_context("spawn")
        children = [spawn.Process(target=_experiences, args=(path, name)) for name in ("one", "two")]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
            assert child.exitcode == 0
        with EnhancedAgentMemory(memory=path) as memory:
            assert len(set(memory.long_term.data.values())) == 30  # type: ignore[attr-defined]

    @pytest.mark.parametrize("text", ["", "   ", None, 5])
    def test_an_experience_needs_words(self, agent: EnhancedAgentMemory, text: Any) -> None:
        with pytest.raises(BadInput):
            agent.add_experience(text)
        assert len(agent.long_term.data) == 0  # type: ignore[attr-defined]

    @pytest.mark.point(19)
    def test_the_facade_adds_searches_sums_up_and_forgets(self, agent: EnhancedAgentMemory) -> None:
        key = agent.add("The key is under the mat", 5, {"place": "home"})
        assert agent.long_term.meta[key] == {"place": "home", "importance": 5}  # type: ignore[attr-defined]
        assert agent.search("key", 1)[0][0] == key
        agent.add_message("user", "We meet on Friday at the harbour.")
        assert "Friday" in agent.summary()
        assert (agent.forget(key), agent.forget(key)) == (True, False)
        assert agent.search("key") == []

    @pytest.mark.point(1)
    def test_experiences_documents_and_messages_are_one_memory(self, memory: Memory) -> None:
        agent = EnhancedAgentMemory(memory=memory)
        agent.add_experience("The pump fails when the filter is full")
        agent.add_message("user", "Please order new filters for the pump")
        memory.remember("Manual: the pump filter is changed monthly", kind="document")
        kinds = {hit.record.kind.value for hit in memory.recall("pump filter")}
        assert kinds == {"episode", "message", "document"}

    @pytest.mark.point(32, 33)
    def test_thousands_of_memories_are_recalled_quickly(self) -> None:
        memory = Memory()
        memory.remember([f"note {n}: the sensor in hall {n % 97} read {n * 7 % 1013}" for n in range(5000)])
        agent = EnhancedAgentMemory(memory=memory)
        for at in range(300):
            agent.add_experience(f"experience {at} with the sensor of hall {at}")
        agent.recall("warm up")

        def ask_twenty_times() -> None:
            for at in range(20):
                assert agent.recall(f"sensor of hall {at}", 5)

        within(20 * 0.1, ask_twenty_times)


def _experiences(path: Path, name: str) -> None:
    with EnhancedAgentMemory(memory=path) as memory:
        for at in range(15):
            memory.add_experience(f"{name} {at}")


class TestMessages:
    @pytest.mark.point(17, 18)
    def test_recent_messages_are_lines_of_role_and_content(self, agent: EnhancedAgentMemory) -> None:
        agent.add_message("user", "Hello")
        agent.add_message("assistant", "Hi: how can I help?")
        assert dict(agent.working.data) == {
            "msg_0": "user: Hello",
            "msg_1": "assistant: Hi: how can I help?",
        }
        assert agent.get_recent_messages() == "user: Hello\nassistant: Hi: how can I help?"
        assert agent.get_recent_messages(1) == "assistant: Hi: how can I help?"
        assert agent.get_recent_messages(0) == ""

    @pytest.mark.point(18)
    def test_ten_are_recent_if_nothing_else_is_said(self, agent: EnhancedAgentMemory) -> None:
        for at in range(15):
            agent.add_message("user", f"message {at}")
        lines = agent.get_recent_messages().split("\n")
        assert lines == [f"user: message {at}" for at in range(5, 15)]

    def test_messages_that_were_loaded_are_not_in_the_way_of_new_ones(self, tmp_path: Path) -> None:
        with EnhancedAgentMemory(memory=tmp_path / "a.db", session_id="s") as memory:
            memory.add_message("user", "old")
            memory.memory.export(tmp_path / "a.jsonl")
        with EnhancedAgentMemory(memory=tmp_path / "b.db", session_id="s") as memory:
            memory.memory.load(tmp_path / "a.jsonl")
            memory.add_message("user", "new")
            assert memory.get_recent_messages() == "user: old\nuser: new"

    def test_messages_are_those_of_every_other_view(self, memory: Memory) -> None:
        agent = EnhancedAgentMemory(memory=memory, session_id="s")
        agent.add_message("user", "Hello")
        Conversation(memory, "s").add({"role": "assistant", "content": "Hi"})
        assert [m.content for m in Conversation(memory, "s").messages()] == ["Hello", "Hi"]
        assert agent.get_recent_messages() == "user: Hello\nassistant: Hi"
        assert list(agent.working.data.values()) == ["user: Hello", "assistant: Hi"]
        [record] = memory.find(kinds="message", who="user")
        assert (record.session, record.text) == ("s", "Hello")

    def test_any_text_can_be_put_into_working_memory(self, agent: EnhancedAgentMemory) -> None:
        agent.working.add("note", "remember: the milk", {"n": 1})
        agent.add_message("user", "Hello")
        assert agent.working.get("note") == "remember: the milk"
        agent.working.add("note", "the bread")
        assert agent.get_recent_messages() == "the bread\nuser: Hello"
        assert agent.working.search("BREAD") == [("note", "the bread", 1.0)]
        assert agent.forget("note")
        assert agent.working.get("note") is None

    @pytest.mark.point(20)
    def test_a_summary_takes_the_place_of_older_messages(self, agent: EnhancedAgentMemory) -> None:
        for at in range(30):
            agent.add_message("user", f"Point {at}: the budget of project {at} is {at * 100} euros.")
        text = agent.create_summary(keep=5)
        assert text
        assert len(agent.working.data) == 5
        assert agent.get_recent_messages(100).split("\n")[0].startswith("user: Point 25")
        assert agent.memory.count() >= 31, "nothing is lost"
        assert agent.create_summary(keep=5) == text

    @pytest.mark.point(20)
    def test_every_so_many_messages_it_is_summed_up_by_itself(self, place: Path | None) -> None:
        with EnhancedAgentMemory(memory=place, summary_every=8, summary_keep=3) as agent:
            for at in range(20):
                agent.add_message("user", f"Step {at} was to check valve {at}.")
            assert len(agent.working.data) == 7
            assert "valve" in agent.prompt_context("valve").split("Recent messages")[0]

    @pytest.mark.parametrize("every", [0, -1])
    def test_summary_every_is_a_number_of_messages(self, every: int) -> None:
        with pytest.raises(Misconfigured, match="summary_every"):
            EnhancedAgentMemory(summary_every=every)

    @pytest.mark.point(24)
    def test_the_prompt_has_what_matters_for_the_question(self, agent: EnhancedAgentMemory) -> None:
        agent.add_experience("The API of the\nweather service needs a key in the header")
        agent.add_experience("Lunch is at noon")
        agent.add_message("user", "What is the weather?")
        assert agent.prompt_context("calling the weather API", k=1) == (
            "Relevant experience:\n- The API of the weather service needs a key in the header\n\n"
            "Recent messages:\nuser: What is the weather?"
        )


class TestOldCalls:
    """An agent that was written for `AgentMemory()` runs unchanged (22, 23)."""

    @pytest.mark.point(22, 23)
    def test_the_loop_of_an_agent_runs_as_before(self, agent: EnhancedAgentMemory) -> None:
        task = agent.create_task("t1", "Find the capital of Portugal")
        agent.add_message("system", "You are an agent.")
        agent.add_message("user", f"Task: {task.description}")
        agent.add_tool_call(
            tool_name="search", parameters={"q": "capital"}, result={"success": True}, success=True
        )
        agent.add_tool_call("broken", {"x": 1}, {"error": "no"}, success=False)
        assert [(c.tool_name, c.parameters, c.success) for c in agent.tool_call_history] == [
            ("search", {"q": "capital"}, True),
            ("broken", {"x": 1}, False),
        ]
        assert [m.role for m in agent.conversation_history[-10:]] == ["system", "user"]
        assert agent.messages[1].content == "Task: Find the capital of Portugal"
        assert agent.get_messages(1) == [{"role": "user", "content": "Task: Find the capital of Portugal"}]
        summary = agent.create_summary(step=5)
        assert summary.startswith("Step 5 summary:")
        assert "2 messages, 2 tool calls" in summary
        assert agent.get_final_answer() is None
        agent.update_state("final_answer", {"final_answer": "Lisbon"})
        assert agent.get_final_answer() == {"final_answer": "Lisbon"}
        assert {id: t.status for id, t in agent.tasks.items()} == {"t1": "in_progress"}
        for one in agent.tasks.values():
            one.complete(success=True)
        assert {id: t.status for id, t in agent.tasks.items()} == {"t1": "completed"}

    def test_what_a_tool_returns_need_not_be_json(self, agent: EnhancedAgentMemory) -> None:
        agent.add_tool_call("read", {"path": Path("a.txt")}, {1, 2} and object)
        [call] = agent.tool_call_history
        assert call.parameters == {"path": "a.txt"}
        assert isinstance(call.result, str)

    def test_clear_empties_the_session_and_keeps_experiences(self, agent: EnhancedAgentMemory) -> None:
        agent.add_experience("kept")
        agent.add_message("user", "gone")
        agent.add_tool_call("tool")
        agent.update_state("x", 1)
        agent.clear()
        assert (agent.messages, agent.tool_call_history, agent.get_state("x")) == ([], [], None)
        assert agent.long_term.get("exp_0") == "kept"
        agent.add_message("user", "again")
        assert agent.get_recent_messages() == "user: again"


class TestStoresOfYourOwn:
    @pytest.mark.point(5, 21)
    def test_long_term_and_vectors_can_be_replaced(self) -> None:
        long_term, vector = OwnStore(), OwnStore()
        agent = EnhancedAgentMemory(long_term=long_term, vector_store=vector)
        agent.add_experience("the sky is blue")
        assert long_term.kept == vector.kept == {"exp_0": "the sky is blue"}
        assert agent.recall("sky") == [("exp_0", "the sky is blue", 0.5)]
        assert agent.forget("exp_0")
        assert not long_term.kept
        assert not vector.kept

    @pytest.mark.point(21)
    def test_experiences_elsewhere_are_still_found_by_meaning_here(self) -> None:
        long_term = OwnStore()
        agent = EnhancedAgentMemory(long_term=long_term)
        agent.add_experience("Ann's favourite food is sushi")
        agent.add_experience("The bridge is closed")
        assert agent.recall("what does Ann eat?", 1)[0][0] == "exp_0"
        agent.forget("exp_0")
        assert [key for key, _, _ in agent.recall("what does Ann eat?")] == ["exp_1"]

    @pytest.mark.point(21)
    def test_a_number_that_the_store_has_already_is_passed_over(self) -> None:
        long_term = OwnStore()
        long_term.add("exp_0", "from before")
        agent = EnhancedAgentMemory(long_term=long_term, vector=False)
        assert agent.add_experience("new") == "exp_1"

    def test_an_experience_is_in_both_stores_or_in_neither(self) -> None:
        long_term = OwnStore()
        agent = EnhancedAgentMemory(long_term=long_term, vector_store=OwnStore(fails=True))
        with pytest.raises(RuntimeError, match="disk"):
            agent.add_experience("half")
        assert not long_term.kept

    @pytest.mark.point(31)
    def test_a_package_can_offer_a_store_by_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "agents_mem_own.py").write_text(
            "from tests.doors.test_enhanced_agent import OwnStore\nnothing = dict\n"
        )
        info = tmp_path / "agents_mem_own-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agents-mem-own\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[eidet.memory_stores]\nown = agents_mem_own:OwnStore\nwrong = agents_mem_own:nothing\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        agent = EnhancedAgentMemory(vector=False, long_term="own")
        agent.add_experience("the sky is blue")
        assert agent.recall("sky") == [("exp_0", "the sky is blue", 0.5)]
        with pytest.raises(Misconfigured, match="does not return a MemoryStore"):
            EnhancedAgentMemory(long_term="wrong")
        with pytest.raises(Misconfigured, match="own, wrong"):
            EnhancedAgentMemory(long_term="another")

    def test_stores_of_a_file_can_be_mixed(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "long.db", name="facts") as long_term:
            agent = EnhancedAgentMemory(long_term=long_term)
            agent.add_experience("Ann's favourite food is sushi", importance=2)
            assert long_term.meta["exp_0"] == {"importance": 2}
            assert agent.recall("what does Ann eat?", 1)[0][0] == "exp_0"


class TestFigures:
    @pytest.mark.point(28, 29, 30)
    def test_success_rate_hit_ratio_and_drift_are_told(self, agent: EnhancedAgentMemory) -> None:
        assert agent.metrics()["retrieval_success_rate"] is None
        agent.add_experience("Ann's favourite food is sushi")
        agent.recall("what does Ann eat?")
        agent.feedback(True)
        agent.feedback(True, key="exp_0")
        agent.recall("what does Bob eat?")
        agent.feedback(False)
        told = agent.metrics()
        assert told["retrieval_success_rate"] == pytest.approx(2 / 3)
        assert told["hit_ratio"] == 1.0
        assert told["drift"]["verdict"] == "unknown"
        assert told["eidet_recalls"] == 2

    @pytest.mark.point(29)
    def test_a_recall_without_hits_lowers_the_hit_ratio(self, agent: EnhancedAgentMemory) -> None:
        agent.recall("is anybody there?")
        agent.add_experience("somebody is there")
        agent.recall("is anybody there?")
        assert agent.metrics()["hit_ratio"] == 0.5

    @pytest.mark.point(30)
    def test_drift_is_detected_from_the_weeks_before(self) -> None:
        now = 1_700_000_000.0
        agent = EnhancedAgentMemory(memory=Memory(clock=lambda: now))
        agent.add_experience("Ann's favourite food is sushi")
        for _ in range(120):
            agent.recall("Ann's favourite food")
            now += 86_400 / 5
        agent.forget("exp_0")
        for _ in range(60):
            agent.recall("Ann's favourite food")
            now += 86_400 / 10
        assert agent.metrics()["drift"]["verdict"] == "drifted"

    def test_there_must_be_something_to_judge(self, agent: EnhancedAgentMemory) -> None:
        with pytest.raises(BadInput, match="recall"):
            agent.feedback(True)
        with pytest.raises(BadInput, match="exp_9"):
            agent.feedback(True, key="exp_9")

    @pytest.mark.point(35, 36)
    def test_what_has_faded_is_pruned_and_what_matters_stays(self) -> None:
        now = 1_700_000_000.0
        agent = EnhancedAgentMemory(memory=Memory(clock=lambda: now))
        agent.add_experience("a trifle", importance=1)
        agent.add_experience("a matter of life and death", importance=10)
        now += 400 * 86_400
        assert agent.prune(below=0.2) == 1
        assert list(agent.long_term.data) == ["exp_1"]  # type: ignore[attr-defined]


@pytest.mark.point(26, 27)
def test_a_guard_and_a_key_are_for_a_memory_that_is_opened_here(tmp_path: Path) -> None:
    mail, key = "ann.smith@example.com", bytes(range(32))
    with EnhancedAgentMemory(memory=tmp_path / "a.db", privacy="redact", key=key) as memory:
        memory.add_experience(f"Ann can be reached at {mail} in the harbour")
        assert mail not in memory.recall("how can Ann be reached?")[0][1]
    assert not any(b"harbour" in file.read_bytes() for file in tmp_path.rglob("*.db*"))
    for given in ({"privacy": "redact"}, {"key": key}):
        with pytest.raises(Misconfigured, match=r"guard|key"):
            EnhancedAgentMemory(memory=Memory(), **given)


class TestClosing:
    def test_a_memory_of_its_own_is_closed(self, tmp_path: Path) -> None:
        with EnhancedAgentMemory(memory=tmp_path / "a.db") as agent:
            pass
        with pytest.raises(Misconfigured, match="closed"):
            agent.add_experience("too late")
