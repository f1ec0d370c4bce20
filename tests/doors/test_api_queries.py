"""The door `eidet.compat.api`: every search strategy on one query model, and the fluent builder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock

from eidet import Memory
from eidet.compat.api import (
    AgentMemoryAPI,
    Attribute,
    Compound,
    Content,
    ContentPath,
    Example,
    Importance,
    Location,
    MemoryQuery,
    MemoryRetrievalException,
    MemorySpace,
    Narrative,
    Similarity,
    StepRange,
    Strategy,
    Temporal,
    TimeWindow,
    Weighted,
    query,
)

NOW = 1_700_000_000.0
MOODS = ("calm", "Calm", "angry", "afraid")


@pytest.fixture(scope="module", params=["ram", "file"])
def space(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemorySpace]:
    """Twelve states, an hour apart, and two actions; now is an hour after the last."""
    clock = Clock()
    place: Path | None = tmp_path_factory.mktemp("q") / "q.db" if request.param == "file" else None
    with Memory(place, clock=clock) as memory:
        api = AgentMemoryAPI({"memory_priority_decay": 1.0}, memory=memory)
        for step in range(12):
            clock.now = NOW + 3600 * step
            state = {
                "mood": MOODS[step % 4],
                "health": round(step / 12, 3),
                "inventory": {"wood": step % 3, "tools": ["axe"] if step == 7 else []},
                "position": [step, 0],
                "note": "the harbour is full of ships" if step == 4 else f"walking through the forest {step}",
            }
            api.store_agent_state("a", state, step, priority=step / 11)
        api.store_agent_action("a", {"action_type": "trade", "reward": 2}, 5)
        api.store_agent_action("a", {"action_type": "rest", "reward": 0}, 8)
        clock.now = NOW + 3600 * 12
        yield api.get_memory_space("a")


def steps(entries: Sequence[dict[str, Any]]) -> list[int]:
    return [entry["step_number"] for entry in entries]


def found(
    space: MemorySpace, strategy: Strategy, k: int | None = 20, kind: str | None = "state"
) -> list[int]:
    return steps(space.search(strategy, k, kind))


@pytest.mark.point(202, 179)
def test_similarity_is_to_a_state_a_text_or_a_vector(space: MemorySpace) -> None:
    assert found(space, Similarity(state="ships in the harbour"), 1) == [4]
    assert found(space, Similarity(state={"note": "the harbour is full of ships"}), 1) == [4]
    vector = space.retrieve_by_time_range(4, 4)[0]["embeddings"]["full_vector"]
    ((entry, score),) = space.search_scored(Similarity(vector=vector), 1)
    assert (entry["step_number"], round(score, 3)) == (4, 1.0)
    assert found(space, Similarity(vector=vector, least=0.99)) == [4]
    scores = [score for _, score in space.search_scored(Similarity(vector=vector), 14)]
    assert scores == sorted(scores, reverse=True)
    for wrong in ({}, {"state": "x", "vector": [1.0]}):
        with pytest.raises(MemoryRetrievalException, match="needs a state"):
            Similarity(**wrong)  # type: ignore[arg-type]


@pytest.mark.point(202, 179)
def test_content_is_found_by_its_words(space: MemorySpace) -> None:
    assert found(space, Content(text="harbour ships"), 1) == [4]


@pytest.mark.point(202, 179)
def test_time_is_asked_by_step_or_clock_with_a_weight_for_recency(space: MemorySpace) -> None:
    assert found(space, Temporal(start_step=3, end_step=5)) == [3, 4, 5]
    assert found(space, Temporal(since=NOW + 9.5 * 3600)) == [10, 11]
    assert found(space, Temporal(until=NOW)) == [0]
    assert found(space, Temporal(start_step=3, end_step=5, recency_weight=1.0)) == [5, 4, 3]
    scored = space.search_scored(Temporal(recency_weight=0.5, half_life=3600), 3, "state")
    assert [round(score, 4) for _, score in scored] == [0.75, 0.625, 0.5625]
    by_step = space.search_scored(Temporal(start_step=9, recency_weight=1, half_life=1), 3)
    assert [round(score, 3) for _, score in by_step] == [1.0, 0.5, 0.25]
    for wrong in ({"recency_weight": 2}, {"half_life": 0}, {"start_step": 5, "end_step": 3}):
        with pytest.raises(MemoryRetrievalException):
            Temporal(**wrong)


@pytest.mark.point(202)
def test_attributes_match_all_or_any_whatever_case_or_by_pattern(space: MemorySpace) -> None:
    assert found(space, Attribute(fields={"mood": "calm", "inventory.wood": 1})) == [4]
    assert sorted(found(space, Attribute(fields={"mood": "calm"}, case_sensitive=False))) == [
        0,
        1,
        4,
        5,
        8,
        9,
    ]
    assert sorted(found(space, Attribute(fields={"mood": "^a"}, regex=True))) == [2, 3, 6, 7, 10, 11]
    assert sorted(found(space, Attribute(fields={"mood": "^C"}, regex=True, case_sensitive=False))) == [
        0, 1, 4, 5, 8, 9,
    ]  # fmt: skip
    either = Attribute(fields={"mood": "angry", "inventory.wood": 2}, mode="any")
    scored = space.search_scored(either, 20)
    assert {entry["step_number"]: score for entry, score in scored} == {
        2: 1.0, 5: 0.5, 6: 0.5, 8: 0.5, 10: 0.5, 11: 0.5,
    }  # fmt: skip
    assert scored[0][1] == 1.0
    with pytest.raises(MemoryRetrievalException, match="mode"):
        Attribute(fields={}, mode="most")
    with pytest.raises(MemoryRetrievalException, match="not a regular expression"):
        space.search(Attribute(fields={"mood": "("}, regex=True))


@pytest.mark.point(202)
def test_steps_around_a_reference_come_nearest_first(space: MemorySpace) -> None:
    around = found(space, StepRange(reference=5, before=2, after=1))
    assert around[0] == 5
    assert set(around) == {3, 4, 5, 6}
    assert found(space, StepRange(reference=5, before=9, after=9), 1) == [5]


@pytest.mark.point(202)
def test_a_narrative_is_what_came_before_and_after(space: MemorySpace) -> None:
    (middle,) = space.retrieve_by_time_range(5, 5, "state")
    asked = Narrative(memory_id=middle["memory_id"], before=2, after=3)
    told = space.search(asked, None)
    assert steps(told) == [3, 4, 5, 5, 6, 7]
    assert [e["metadata"]["memory_type"] for e in told][2:4] == ["state", "action"]
    assert found(space, asked, None) == [3, 4, 5, 6, 7, 8]
    assert steps(
        space.search(Narrative(memory_id=middle["memory_id"], before=0, after=1, include=False))
    ) == [5]
    (first,) = space.retrieve_by_time_range(0, 0)
    assert steps(space.search(Narrative(memory_id=first["memory_id"]), None)) == [0, 1, 2, 3]
    with pytest.raises(MemoryRetrievalException, match="no memory 'nowhere'"):
        space.search(Narrative(memory_id="nowhere"))


@pytest.mark.point(202)
def test_a_narrative_without_steps_goes_by_time() -> None:
    clock = Clock()
    memory = Memory(clock=clock)
    ids = []
    for n in range(5):
        clock.now += n % 2  # some at the same time
        ids.append(memory.remember({"n": n}, scope="a").id)
    space = AgentMemoryAPI(memory=memory).get_memory_space("a")
    told = space.search(Narrative(memory_id=ids[2], before=1, after=2), None)
    assert [e["contents"]["n"] for e in told] == [1, 2, 3, 4]


@pytest.mark.point(178, 179)
def test_places_are_asked_for_by_radius_or_box(space: MemorySpace) -> None:
    assert found(space, Location(position=(6.2, 0), radius=1.5)) == [6, 7, 5]
    assert found(space, Location(position=(6.2, 0, 0), radius=1.5), 1) == [6]
    assert found(space, Location(position=(6, 0), radius=0)) == [6]
    assert sorted(found(space, Location(low=(2, -1), high=(4, 1)))) == [2, 3, 4]
    calm = space.query().near((4, 0), 3).attribute("mood", "calm").limit(9)
    assert steps(calm.run()) == [4]
    assert set(steps(space.query().in_box((0, 0), (1, 0)).run())) == {0, 1}
    for wrong in ({}, {"low": (1, 1)}, {"position": (1, 1), "low": (0, 0), "high": (1, 1)}):
        with pytest.raises(MemoryRetrievalException, match="a location is a position with a radius"):
            space.search(Location(**wrong))  # type: ignore[arg-type]
    with pytest.raises(MemoryRetrievalException, match="two or three numbers"):
        space.search(Location(position=("x", 1), radius=1))  # type: ignore[arg-type]


@pytest.mark.point(202)
def test_an_example_is_a_partial_pattern(space: MemorySpace) -> None:
    assert found(space, Example(pattern={"inventory": {"tools": ["axe"]}})) == [7]
    assert sorted(found(space, Example(pattern={"mood": "afraid", "inventory": {"wood": None}}))) == [
        3,
        7,
        11,
    ]
    assert found(space, Example(pattern={"nothing": None})) == []


@pytest.mark.point(202, 179)
def test_a_time_window_reaches_back_from_now(space: MemorySpace) -> None:
    assert found(space, TimeWindow(hours=2)) == [11, 10]
    assert found(space, TimeWindow(minutes=61)) == [11]
    assert len(found(space, TimeWindow(days=1))) == 12
    with pytest.raises(MemoryRetrievalException, match="above 0"):
        TimeWindow()


@pytest.mark.point(202)
@pytest.mark.parametrize(
    ("path", "operator", "value", "wanted"),
    [
        ("inventory.tools.0", "exists", True, [7]),
        ("inventory.tools", "contains", "axe", [7]),
        ("mood", "equals", "angry", [10, 6, 2]),
        ("mood", "not_equals", "angry", [11, 9, 8, 7, 5, 4, 3, 1, 0]),
        ("note", "regex", "ships$", [4]),
        ("health", "greater", 0.8, [11, 10]),
        ("health", "greater_equal", 0.833, [11, 10]),
        ("health", "less", 0.1, [1, 0]),
        ("health", "<=", 0.083, [1, 0]),
        ("health", "in", [0.0, 0.5], [6, 0]),
        ("nothing.here", "exists", False, list(range(11, -1, -1))),
    ],
)
def test_a_path_of_the_contents_is_tested(
    space: MemorySpace, path: str, operator: str, value: Any, wanted: list[int]
) -> None:
    assert found(space, ContentPath(path=path, operator=operator, value=value)) == wanted


@pytest.mark.point(202, 179)
def test_importance_is_a_range_a_level_or_the_top(space: MemorySpace) -> None:
    assert found(space, Importance(top=3)) == [11, 10, 9]
    assert found(space, Importance(minimum=0.9)) == [11, 10]
    assert found(space, Importance(maximum=1 / 11)) == [1, 0]
    assert found(space, Importance(minimum=4 / 11, maximum=5 / 11)) == [5, 4]
    levels = {level: set(found(space, Importance(level=level))) for level in ("low", "medium", "high")}
    assert set.union(*levels.values()) == set(range(12))
    assert sum(map(len, levels.values())) == 12
    assert levels["high"] == {8, 9, 10, 11}
    with pytest.raises(MemoryRetrievalException, match="low, medium or high"):
        space.search(Importance(level="vast"))


@pytest.mark.point(202, 179)
def test_strategies_nest(space: MemorySpace) -> None:
    early_or_late = Compound(parts=(Temporal(end_step=2), Temporal(start_step=10)), how="or")
    calm = Attribute(fields={"mood": "calm"}, case_sensitive=False)
    assert sorted(found(space, Compound(parts=(early_or_late, calm)))) == [0, 1]
    ranked = Compound(parts=(early_or_late, Similarity(state="walking through the forest 11")))
    assert found(space, ranked, 1) == [11]
    assert set(found(space, ranked)) == {0, 1, 2, 10, 11}
    two = Compound(parts=(Importance(top=6), Similarity(state="forest"), Temporal(end_step=8)))
    assert set(found(space, two)) == {3, 4, 5, 6, 7, 8}
    other = Compound(parts=(Similarity(state="forest"), Importance(top=3)))
    assert set(found(space, other)) == {9, 10, 11}
    mixed = Compound(
        parts=(Attribute(fields={"mood": "angry"}), Similarity(state="ships harbour", least=0.5)), how="or"
    )
    assert set(found(space, mixed)) == {2, 4, 6, 10}
    for wrong in ({"parts": ()}, {"parts": (calm,), "how": "xor"}):
        with pytest.raises(MemoryRetrievalException, match="joins strategies"):
            Compound(**wrong)


@pytest.mark.point(202)
def test_the_best_of_a_graded_compound_are_not_cut_off(space: MemorySpace) -> None:
    both = Compound(parts=(StepRange(reference=2, before=9, after=9), Attribute(fields={})))
    assert found(space, both, 1) == [2]


@pytest.mark.point(202)
def test_strategies_are_weighed(space: MemorySpace) -> None:
    ships, recent = Similarity(state="ships in the harbour"), Temporal(recency_weight=1.0, half_life=3600)
    assert found(space, Weighted(parts=((ships, 1.0), (recent, 0.1))), 1) == [4]
    assert found(space, Weighted(parts=((ships, 0.1), (recent, 1.0))), 1) == [11]
    scored = space.search_scored(Weighted(parts=((Temporal(end_step=3), 3), (Temporal(start_step=3), 1))), 1)
    assert (scored[0][0]["step_number"], scored[0][1]) == (3, 1.0)
    for wrong in ((), ((ships, -1),), ((ships, 0),)):
        with pytest.raises(MemoryRetrievalException, match="weights"):
            Weighted(parts=wrong)


@pytest.mark.point(202, 197)
def test_a_query_is_built_word_by_word(space: MemorySpace) -> None:
    built = (
        space.query().similar_to("ships in the harbour").steps(2, 8).of_type("state").in_tiers("stm").limit(2)
    )
    assert steps(built.run())[0] == 4
    assert len(built.run()) == 2
    assert [entry["step_number"] for entry, score in built.run_scored() if score > 0] == steps(built.run())
    assert steps(space.query().in_tiers("ltm").run()) == []
    assert len(space.query().limit(None).run()) == 14
    assert len(space.query().run()) == 10
    either = query().any_of(query().attribute("mood", "angry").steps(0, 4), query().path("inventory.tools.0"))
    assert set(steps(space.search(either))) == {2, 7}
    assert set(
        steps(space.query().any_of(query().steps(0, 0), StepRange(reference=9, before=0, after=0)).run())
    ) == {0, 9}
    both = space.query().match(query().important(0.5).attribute("mood", "ANGRY", case_sensitive=False))
    assert set(steps(both.run())) == {6, 10}
    weighed = (
        space.query()
        .of_type("state")
        .weigh(query().about("ships"), 0.2)
        .weigh(query().recent_first(half_life=3600), 9)
    )
    assert steps(weighed.limit(1).run()) == [11]
    assert steps(space.query().around_step(5, 1, 1).of_type("action").run()) == [5]
    assert steps(space.query().within(hours=2).of_type("state").run()) == [11, 10]
    assert steps(space.query().like({"action_type": "rest"}).run()) == [8]
    assert steps(space.query().important(top=1).of_type("state").run()) == [11]
    assert steps(space.query().between(until=NOW).run()) == [0]
    some = space.retrieve_by_time_range(1, 1)[0]["memory_id"]
    assert steps(space.query().around_memory(some, 1, 1).run()) == [0, 1, 2]
    with pytest.raises(TypeError, match="belongs to no memory space"):
        query().run()


@pytest.mark.point(202)
def test_a_builder_is_not_changed_by_its_calls(space: MemorySpace) -> None:
    base = space.query().of_type("state")
    base.steps(3, 3).limit(1)
    assert len(base.limit(None).run()) == 12


@pytest.mark.point(202, 185)
def test_a_query_is_a_value_and_its_answer_is_kept(space: MemorySpace) -> None:
    space.clear_cache()
    asked = space.query().attribute("mood", "calm").build()
    assert isinstance(asked, MemoryQuery)
    assert asked == space.query().attribute("mood", "calm").build()
    before = space.cache_info()["hits"]
    assert space.search(asked) == space.search(space.query().attribute("mood", "calm"))
    assert space.cache_info()["hits"] == before + 1


def test_a_strategy_of_ones_own_can_be_used(space: MemorySpace) -> None:
    class Odd(Temporal):
        def score(self, look: Any, record: Any) -> float:
            return float(record.step % 2)

    scored = space.search_scored(Odd(), 5)
    assert len(scored) == 5
    assert [score for _, score in scored] == [float(entry["step_number"] % 2) for entry, _ in scored]


@pytest.mark.point(179)
def test_an_unknown_type_is_told(space: MemorySpace) -> None:
    with pytest.raises(MemoryRetrievalException, match="memory_type, kinds: unknown kind 'dream'; there are"):
        space.query().of_type("dream")
