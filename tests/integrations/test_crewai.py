"""The storage for CrewAI, judged by crews with a scripted model and by CrewAI's own on random steps."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import os
import random
import socket
import time
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("crewai", "crewai")
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # CrewAI's own, while it is imported
    from crewai import Agent, BaseLLM, Crew, Task
    from crewai import Memory as CrewMemory
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
    from crewai.memory.storage.lancedb_storage import LanceDBStorage
    from crewai.memory.types import MemoryRecord

    from eidet import BadInput, Memory, Unavailable, Upkeep
    from eidet.integrations.crewai import EidetStorage
    from eidet.models.adapt import adapt_embedder

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # CrewAI's own

GATE = "The gate code is 7731."
START = datetime(2026, 5, 1, 12)  # noqa: DTZ001  # CrewAI's times do not say that they are in UTC


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """CrewAI keeps its files in the test's folder, and nobody reaches for the network."""
    reached: list[object] = []

    def connect(_socket: socket.socket, address: object) -> None:
        reached.append(address)
        raise OSError("no network in tests")

    for name in ("CREWAI_STORAGE_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "crewai"))
    monkeypatch.setattr(socket.socket, "connect", connect)
    yield
    assert reached == []


class Script(BaseLLM):
    """A model that gives one answer, and analyses memories as CrewAI asks for it."""

    answer: str = "Done."
    prompts: list[str]

    def call(self, messages: Any, *_args: Any, **_options: Any) -> str:
        prompt = str(messages)
        if "You extract discrete" in prompt:
            return json.dumps({"memories": [self.answer]})
        if "You analyze content" in prompt:
            return json.dumps(
                {"suggested_scope": "/home", "categories": ["code"], "importance": 0.8}
                | {"extracted_metadata": {"entities": ["gate"], "dates": [], "topics": []}}
            )
        self.prompts.append(prompt)
        return f"Thought: I know it.\nFinal Answer: {self.answer}"

    async def acall(self, messages: Any, *_args: Any, **_options: Any) -> str:
        return self.call(messages)

    def supports_function_calling(self) -> bool:
        return False


def make_crew(storage: EidetStorage, answer: str, description: str) -> tuple[Crew, Script, CrewMemory]:
    script = Script(model="scripted", answer=answer, prompts=[])
    memory = CrewMemory(storage=storage, llm=script, embedder=storage.embed)
    agent = Agent(role="porter", goal="help", backstory="You know the house.", llm=script)
    task = Task(description=description, expected_output="the code", agent=agent)
    return Crew(agents=[agent], tasks=[task], memory=memory), script, memory


def run_crew(storage: EidetStorage, answer: str, description: str, native: bool) -> Script:
    crew, script, memory = make_crew(storage, answer, description)
    try:
        if native:
            asyncio.run(crew.akickoff())
        else:
            crew.kickoff()
    finally:
        memory.close()
    return script


@pytest.mark.parametrize("native", [False, True], ids=["sync", "async"])
def test_what_one_crew_found_out_the_next_is_told_after_a_restart(native: bool, reopen: Reopen) -> None:
    with reopen() as memory:
        run_crew(EidetStorage(memory, scope="users/ann"), GATE, "Find out the gate code.", native)
    with reopen() as memory:
        storage = EidetStorage(memory, scope="users/ann")
        (kept,) = storage.list_records()
        assert (kept.content, kept.categories, kept.importance) == (GATE, ["code"], 0.8)
        assert kept.scope.endswith("/home")
        assert memory.recall("What is the gate code?", scope="users/ann")[0].text == GATE
        own = run_crew(storage, "7731", "What is the gate code?", native)
        assert GATE in own.prompts[0]
        other = run_crew(EidetStorage(memory, scope="users/bob"), "?", "What is the gate code?", native)
        assert GATE not in str(other.prompts)


def test_a_crew_memory_recalls_updates_and_forgets(reopen: Reopen) -> None:
    with reopen() as memory:
        storage = EidetStorage(memory)
        crew = CrewMemory(storage=storage, llm=Script(model="scripted", prompts=[]), embedder=storage.embed)
        given: dict[str, Any] = {"categories": ["code"], "metadata": {"by": "ann"}, "importance": 0.5}
        record = crew.remember(GATE, scope="/home", source="ann", private=True, **given)
        assert record is not None
        assert crew.recall("gate code", depth="shallow") == []
        (match,) = crew.recall("gate code", depth="shallow", source="ann")
        assert match.record.content == GATE
        before = storage.get_record(record.id)
        assert before is not None
        crew.update(record.id, importance=0.9)
        after = storage.get_record(record.id)
        assert after is not None
        assert (after.importance, after.embedding) == (0.9, before.embedding)
        crew.update(record.id, content="The gate code is 8842.")
        assert [one.content for one in crew.list_records()] == ["The gate code is 8842."]
        assert len(memory.history(memory.find(scope="crewai")[0].id, scope="crewai")) == 3
        assert crew.forget(scope="/home") == 1
        assert crew.list_records() == []
        crew.close()


def direction(angle: float) -> list[float]:
    return [math.cos(angle), math.sin(angle), 0.0, 0.0]


def embed_length(texts: list[str]) -> list[list[float]]:
    return [direction(len(text) / 10) for text in texts]


def open_narrow() -> Memory:
    return Memory(embedder=adapt_embedder(embed_length, name="narrow", batch=True))


SCOPES = ["/home", "/home/gate", "/music", "/music/cello", "/music/cello/bow"]
CATEGORIES = ["code", "tune", "it's"]
METADATA = [{}, {"by": "ann"}, {"by": "bob", "page": 3}, {"a.b": "it's"}]


def make_record(pick: random.Random, number: int) -> MemoryRecord:
    return MemoryRecord(
        id=f"it's {number}",
        content=f"memory {number} 100% «ü»",
        scope=pick.choice(SCOPES),
        categories=pick.sample(CATEGORIES, pick.randint(0, 2)),
        metadata=pick.choice(METADATA),
        importance=pick.random(),
        created_at=START + timedelta(seconds=number),
        last_accessed=START,
        source=pick.choice([None, "ann"]),
        private=pick.random() < 0.3,
        embedding=direction(pick.uniform(0, 1.5)),
    )


def pick_criteria(pick: random.Random, number: int) -> dict[str, Any]:
    """Criteria of a deletion on which CrewAI's storage keeps to its protocol."""
    return pick.choice(
        [
            {"record_ids": [f"it's {pick.randint(0, number)}", f"it's {pick.randint(0, number)}"]},
            {"scope_prefix": pick.choice(SCOPES)},
            {"older_than": START + timedelta(seconds=number // 3)},
            {"categories": [pick.choice(CATEGORIES)], "scope_prefix": pick.choice([None, *SCOPES])},
            {"metadata_filter": {"by": pick.choice(["ann", "carl"])}},
            {"categories": ["code"], "older_than": START + timedelta(seconds=number // 2)},
        ]
    )


def take_step(storage: StorageBackend, pick: random.Random, number: int) -> object:
    chosen = pick.random()
    if chosen < 0.6:
        return storage.save([make_record(pick, number), make_record(pick, number + 1000)])
    if chosen < 0.75:
        there = storage.list_records()
        if there:
            changed = {
                "content": f"changed {number}",
                "scope": pick.choice(SCOPES),
                "metadata": {"by": "eve"},
            }
            return storage.update(pick.choice(there).model_copy(update=changed))
        return None
    if chosen < 0.95:
        return storage.delete(**pick_criteria(pick, number))
    return storage.reset(scope_prefix=pick.choice(SCOPES))


def tell(record: MemoryRecord | None) -> object:
    if record is None:
        return None
    rounded = [round(value, 5) for value in record.embedding or ()]
    return record.model_dump(exclude={"last_accessed"}), rounded


def read_all(storage: StorageBackend, pick: random.Random) -> list[object]:
    """All that a storage tells, for one and the same choice of questions."""
    prefix = pick.choice([None, "/", *SCOPES])
    told: list[object] = [
        storage.count(prefix),
        storage.list_scopes(pick.choice(["/", *SCOPES])),
        sorted(storage.list_categories(prefix).items()),
        storage.get_scope_info(pick.choice(["/", *SCOPES])),
        tell(storage.get_record(f"it's {pick.randint(0, 30)}")),
        [tell(record) for record in storage.list_records(prefix, limit=7, offset=pick.randint(0, 2))],
    ]
    return told


def search_all(storage: StorageBackend, pick: random.Random) -> list[tuple[str, float]]:
    found = storage.search(
        direction(pick.uniform(0, 1.5)),
        scope_prefix=pick.choice([None, *SCOPES]),
        categories=pick.choice([None, ["code", "tune"]]),
        metadata_filter=pick.choice([None, {"by": "ann"}, {"a.b": "it's"}]),
        limit=100,
    )
    return [(record.id, score) for record, score in found]


@pytest.mark.parametrize("seed", range(4))
def test_it_behaves_as_the_storage_of_crewai_does(seed: int, tmp_path: Path) -> None:
    reference = LanceDBStorage(tmp_path / "lance", compact_every=0)
    with open_narrow() as memory:
        storage = EidetStorage(memory)
        for number in range(25):
            at = f"seed {seed}, step {number}"
            theirs, ours = (
                take_step(one, random.Random(f"step {seed} {number}"), number) for one in (reference, storage)
            )
            assert ours == theirs, at
            theirs, ours = (
                read_all(one, random.Random(f"read {seed} {number}")) for one in (reference, storage)
            )
            assert ours == theirs, at
            far = search_all(reference, random.Random(f"search {seed} {number}"))
            near = search_all(storage, random.Random(f"search {seed} {number}"))
            assert [name for name, _ in near] == [name for name, _ in far], at
            for (_, cosine), (_, score) in zip(near, far, strict=True):
                assert cosine == pytest.approx(1 - (1 / score - 1) / 2, abs=1e-4), at


def test_paths_are_taken_step_by_step() -> None:
    """Where CrewAI's storage compares letters: `/home` is not above `/homestead`, nor the root below it."""
    with open_narrow() as memory:
        storage = EidetStorage(memory)
        for scope in ("/home", "/homestead", "/", "home/gate/"):
            storage.save([MemoryRecord(content=f"at {scope}", scope=scope)])
        assert storage.count("/home") == storage.count("home/") == 2
        assert storage.list_scopes() == ["/home", "/homestead"]
        assert storage.get_scope_info("/home").child_scopes == ["/home/gate"]
        assert storage.delete(scope_prefix="/home", older_than=START) == 0
        assert storage.delete(record_ids=[]) == 0
        assert storage.delete(scope_prefix="/home") == 2
        assert storage.count() == 2
        storage.reset()
        assert storage.count() == 0


def test_low_scores_are_left_out_and_a_limit_is_kept() -> None:
    with open_narrow() as memory:
        storage = EidetStorage(memory)
        for angle in (0.1, 0.5, 1.0, 3.0):
            storage.save([MemoryRecord(content=f"at {angle}", embedding=direction(angle))])
        found = storage.search(direction(0.0), min_score=0.8)
        assert [record.content for record, _ in found] == ["at 0.1", "at 0.5"]
        assert [record.content for record, _ in storage.search(direction(0.0), limit=1)] == ["at 0.1"]
        assert storage.search(direction(0.0), limit=0) == []
        assert storage.search(direction(0.0))[-1][1] == 0.0


def test_records_come_back_exactly_after_a_restart(reopen: Reopen) -> None:
    pick = random.Random(7)
    with reopen() as memory:
        storage = EidetStorage(memory)
        records = [make_record(pick, number) for number in range(5)]
        for record in records:
            (record.embedding,) = storage.embed([record.content])
        storage.save([*records, MemoryRecord(id="blank", content=" ", created_at=START)])
    with reopen() as memory:
        storage = EidetStorage(memory)
        assert [tell(storage.get_record(record.id)) for record in records] == [tell(one) for one in records]
        blank = storage.get_record("blank")
        assert blank is not None
        assert blank.content == " "
        assert storage.count() == 6
        assert EidetStorage(memory, scope="other").count() == 0
        assert EidetStorage(memory, scope="other").get_record("blank") is None


def test_records_of_a_lower_tier_are_found_and_told_as_before() -> None:
    with Memory() as memory:
        storage = EidetStorage(memory)
        (vector,) = storage.embed([GATE])
        record = MemoryRecord(content=GATE, metadata={"n": 1.23456789}, created_at=START, embedding=vector)
        storage.save([record])
        settings = Upkeep(short_age_days=1, middle_age_days=10)
        for days in (5, 50):
            memory.upkeep.maintain(settings=settings, only="move", now=time.time() + days * 86400)
        (lowered,) = memory.find(scope="crewai")
        assert lowered.level == 2
        ((found, score),) = storage.search(vector, metadata_filter={"n": 1.23456789})
        assert found.model_dump(exclude={"last_accessed"}) == record.model_dump(exclude={"last_accessed"})
        assert 0.7 < score <= 1


def test_vectors_of_another_width_are_refused_with_a_way_out() -> None:
    with open_narrow() as memory:
        storage = EidetStorage(memory)
        wide = [0.1] * 7
        with pytest.raises(EmbeddingDimensionMismatchError) as refused:
            storage.save([MemoryRecord(content="narrow"), MemoryRecord(content="wide", embedding=wide)])
        assert "embedder=storage.embed" in str(refused.value.__notes__)
        assert storage.count() == 0
        with pytest.raises(EmbeddingDimensionMismatchError):
            storage.search(wide)


def test_a_cancelled_call_has_written_once_when_it_ends(reopen: Reopen) -> None:
    async def cancel(storage: EidetStorage) -> None:
        for work in (
            storage.asave([MemoryRecord(id="one", content=GATE)]),
            storage.adelete(scope_prefix="/x"),
        ):
            await cancel_at_once(work)
        ((record, score),) = await storage.asearch(storage.embed([GATE])[0])
        assert (record.content, round(score, 3)) == (GATE, 1.0)
        assert await storage.adelete(record_ids=["one"]) == 1

    with reopen() as memory:
        asyncio.run(cancel(EidetStorage(memory)))


def test_a_store_that_fails_keeps_no_half_of_a_save() -> None:

    with Memory() as memory:
        storage = EidetStorage(memory)
        storage.save([MemoryRecord(content="zero")])
        records = [MemoryRecord(content="one"), MemoryRecord(content="two")]
        with out_of_reach(memory), pytest.raises(Unavailable):
            storage.save(records)
        assert storage.count() == 1
        storage.save(records)
        storage.save(records)
        assert storage.count() == 3


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")  # CrewAI's own
def test_copies_of_a_crew_share_its_memory() -> None:
    with Memory() as memory:
        crew, _script, crew_memory = make_crew(EidetStorage(memory), GATE, "Find out the gate code.")
        assert copy.deepcopy(crew_memory.storage) is crew_memory.storage
        results = crew.kickoff_for_each([{"house": "one"}, {"house": "two"}])
        assert [result.raw for result in results] == [GATE, GATE]
        crew_memory.close()


def test_a_wrong_scope_is_refused_at_once() -> None:
    with Memory() as memory, pytest.raises(BadInput):
        EidetStorage(memory, scope="users/**")
