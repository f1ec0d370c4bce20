"""Runs on real memories: what is counted, compared, refused and left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.eval.made import lines, locomo, longmemeval, written

from eidet import BadInput, Draft, Hit, Memory, Recipe, Record, Refused
from eidet.eval import (
    Case,
    Question,
    QuestionAnswer,
    RankedHit,
    Report,
    Variant,
    check_least,
    evaluate,
    find_missed,
    least_of,
    read_cases,
)
from eidet.eval.figures import measure_run
from eidet.eval.runner import RunAnswers, rank_hit

HASHING = Variant(embedder="hashing")


@pytest.fixture
def own(tmp_path: Path) -> list[Case]:
    return read_cases(written(tmp_path / "lines.jsonl", lines()))


def test_plain_words_are_found_first_and_scopes_do_not_mix(own: list[Case]) -> None:
    report = evaluate(own, HASHING)
    assert report["MRR"].value == 1
    assert report["R@20"].value == 1
    assert report["R@1"].value == pytest.approx((1 + 1 + 0.5) / 3)
    assert report["craft.R@1"].value == 1
    assert report["session-hit@1"].questions == 2
    assert (report.base.leaks, report.base.empty) == (0, 0)
    assert set(report.base.categories) == {"place", "craft"}
    assert report.base.records == 5
    assert all(answer.found for answer in report.base.answers)
    assert all(found.scope == answer.scope for answer in report.base.answers for found in answer.found)
    with pytest.raises(BadInput, match="there is no figure 'R@7'"):
        report["R@7"]
    with pytest.raises(BadInput, match=r"there is no figure 'joy\.R@1'"):
        report["joy.R@1"]


def test_facts_that_say_the_same_stay_apart() -> None:
    """Else the gold that was merged away could never be found."""
    case = Case(
        scope="s",
        records=tuple(Draft(id=id, text="The kiln is hot.") for id in ("a", "b")),
        questions=(Question(id="q", text="kiln", gold=("a", "b")),),
    )
    assert evaluate([case], HASHING)["all@20"].value == 1


def test_contexts_are_measured_unless_left_out(own: list[Case]) -> None:
    figures = evaluate(own, HASHING, budgets=[200]).base.overall
    for way in ("context", "listed", "plain"):
        assert figures[f"{way}@200"].value == figures[f"{way}-all@200"].value == 1
    assert 0 < figures["context-gold@200"].value <= 1
    assert "context@200" not in evaluate(own, HASHING, budgets=[]).base.overall


def test_a_copy_of_the_gold_tells_what_it_says() -> None:
    case = Case(
        scope="s",
        records=tuple(
            Draft(id=id, text="The kiln is hot.", who="Ann", occurred=9.0) for id in ("a", "b", "c")
        ),
        questions=tuple(Question(id=f"q{id}", text="Is the kiln hot?", gold=(id,)) for id in ("a", "b", "c")),
    )
    figures = evaluate([case], HASHING, budgets=[200]).base.overall
    assert figures["context@200"].value == 1
    assert figures["context-gold@200"].value < 1


def test_a_block_without_room_holds_nothing(own: list[Case]) -> None:
    figures = evaluate(own, HASHING, budgets=[1]).base.overall
    assert figures["context@1"].value == figures["listed@1"].value == figures["plain-all@1"].value == 0


def test_the_time_a_question_is_asked_reaches_the_memory() -> None:
    """By recency alone the one nearest before the asking comes first; asked at another time, another one."""
    day = 86_400.0
    case = Case(
        scope="s",
        records=(
            Draft(id="old", text="The tide table of the harbour.", occurred=0.0),
            Draft(id="new", text="The tide table of the harbour!", occurred=100 * day),
        ),
        questions=(Question(id="then", text="tide table", gold=("new",), asked=101 * day),),
    )
    recent = Variant(embedder="hashing", recipe=Recipe(recency=5.0, half_life_days=1))
    scores = [found.score for found in evaluate([case], recent).base.answers[0].found]
    assert scores[0] > scores[1] + 0.3, "years later both would be equally old"


def test_variants_are_compared_question_by_question(own: list[Case]) -> None:
    report = evaluate(own, HASHING, against=[Variant(embedder="hashing:8"), Variant(embedder="wordllama")])
    assert [run.name for run in report.runs] == ["hashing", "hashing:8", "wordllama"]
    assert [(one.name, one.base) for one in report.comparisons] == [
        ("hashing:8", "hashing"),
        ("wordllama", "hashing"),
    ]
    first = report.comparisons[0].overall["R@1"]
    values = report.runs[1].columns["R@1"] - report.runs[0].columns["R@1"]
    assert first.value == pytest.approx(values.mean())
    assert (first.won, first.lost) == ((values > 0).sum(), (values < 0).sum())


def test_recipes_of_ones_own_are_named_by_what_they_change(own: list[Case]) -> None:
    ours = [Variant(embedder="hashing", recipe=Recipe(words=weight)) for weight in (3.0, 7.0)]
    report = evaluate(own, HASHING, against=ours)
    assert [run.name for run in report.runs] == ["auto", "Recipe(words=3.0)", "Recipe(words=7.0)"]


def test_the_same_variant_twice_is_refused(own: list[Case]) -> None:
    with pytest.raises(BadInput, match="two variants are the same"):
        evaluate(own, HASHING, against=[Variant(embedder="hashing")])


@pytest.mark.parametrize(
    "given", [{"depth": 0}, {"depth": 2000}, {"budgets": [0]}, {"ks": (30,)}, {"ks": ()}]
)
def test_what_cannot_be_measured_is_refused(own: list[Case], given: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        evaluate(own, HASHING, **given)  # type: ignore[arg-type]


def test_unknown_recipes_are_refused_before_anything_runs(own: list[Case]) -> None:
    told: list[int] = []
    with pytest.raises(BadInput, match="sorcery"):
        evaluate(
            own, HASHING, against=[Variant(recipe="sorcery")], progress=lambda done, _: told.append(done)
        )
    assert not told


def test_progress_ends_at_its_total(own: list[Case]) -> None:
    told: list[tuple[int, int]] = []
    evaluate(own, HASHING, against=[Variant(embedder="hashing:8")], progress=lambda *at: told.append(at))
    assert told[-1] == (16, 16)
    assert told == sorted(told)


def test_a_file_is_left_as_empty_as_it_was(own: list[Case], tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    for _ in range(2):
        evaluate(own, Variant(embedder="hashing", place=place))
    with Memory(place, embedder="hashing") as memory:
        assert memory.scopes() == {}
        memory.remember("Mine.")
    with pytest.raises(Refused, match="already has records"):
        evaluate(own, Variant(embedder="hashing", place=str(place)))
    with Memory(place, embedder="hashing") as memory:
        assert memory.scopes() == {"default": 1}


def test_a_file_and_ram_answer_alike(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path / "talk.json", locomo()))
    report = evaluate(cases, HASHING, against=[Variant(embedder="hashing", place=tmp_path / "m.db")])
    differences = report.comparisons[0].overall
    assert "R@10" in differences
    assert all(one.value == 0 for one in differences.values())


def test_the_same_again_gives_the_same_figures(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path / "chats.json", longmemeval(8)))
    first, again = (_without_times(evaluate(cases, HASHING)) for _ in range(2))
    assert first == again


def _without_times(report: Report) -> dict[str, object]:
    told = report.to_json()
    for run in told["runs"]:
        del run["latency_ms"], run["load_seconds"]
        for question in run["questions"]:
            del question["ms"]
    return told


def test_a_hit_of_another_scope_is_a_leak_and_no_gold() -> None:
    hit = Hit(record=Record(id="a", scope="theirs", text="x", session="s1"), score=0.9)
    seen = rank_hit(hit, "ours", frozenset({"a"}), told=True)
    assert (seen.leaked, seen.gold, seen.session) == (True, False, None)
    own = rank_hit(hit, "theirs", frozenset({"a"}), told=True)
    assert (own.leaked, own.gold, own.session) == (False, True, "s1")


def _found(id: str, *, gold: bool = False, leaked: bool = False) -> RankedHit:
    return RankedHit(id=id, scope="s", session=None, score=0.5, gold=gold, leaked=leaked)


def _answers(*found: tuple[RankedHit, ...]) -> RunAnswers:
    question = Question(id="q", text="x?", gold=("a",))
    answers = tuple(
        QuestionAnswer(question=question, scope="s", found=one, sessions=(), millis=1.0) for one in found
    )
    return RunAnswers(answers=answers, contexts={}, records=1, load_seconds=0.1)


def test_leaks_and_empty_answers_are_counted() -> None:
    leaked = _found("a", leaked=True)
    asked = _answers((leaked, _found("b")), (), (_found("a", gold=True),), ())
    run = measure_run(asked, "made", HASHING, depth=3, ks=(1,))
    assert (run.leaks, run.empty) == (1, 0.5)
    assert run.overall["R@1"].value == 0.25, "the same id of another scope is no gold"


def test_a_memory_that_finds_nothing_scores_nothing() -> None:
    run = measure_run(_answers((), ()), "made", HASHING, depth=3, ks=(1, 3))
    told = {name: figure.value for name, figure in run.overall.items()}
    assert told.pop("calibration") == 1  # a score of 0 for nothing is right
    assert set(told.values()) == {0}
    assert run.calibration == ()


def test_gates_name_what_is_below(own: list[Case]) -> None:
    gates = [least_of(text) for text in ("R@1=0.9", "craft.R@1=1", "MRR=1.0", "nDCG@7=0", "place.hit@3=.5")]
    check_least(gates, own, 20)
    run = evaluate(own, HASHING, ks=(1, 3, 7)).base
    (below,) = find_missed(run, gates)
    assert str(below) == "R@1 is 0.8333, below 0.9"


@pytest.mark.parametrize(
    "text", ["R@10", "R@10=", "R@10=80%", "R@10=1.2", "R@10=nan", "R@0=0.5", "P@10=0.5", "=0.5", "R=0.5", ""]
)
def test_gates_that_say_nothing_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a figure to reach"):
        least_of(text)


def test_gates_about_what_is_not_measured_are_refused(own: list[Case]) -> None:
    for text, told in (
        ("joy.R@10=0.5", "there is no category 'joy'; there are craft, place"),
        ("R@30=0.5", "--depth 30"),
    ):
        with pytest.raises(BadInput, match=told):
            check_least([least_of(text)], own, 20)
    with pytest.raises(BadInput, match="no gold record has a session"):
        check_least([least_of("session-hit@5=0.5")], own[1:], 20)


def test_json_has_the_documented_keys(own: list[Case]) -> None:
    told = evaluate(own, HASHING, against=[Variant(embedder="hashing:8")]).to_json()
    assert list(told) == ["format", "eidet", "data", "settings", "runs", "comparisons"]
    assert told["data"] == {"scopes": 2, "records": 5, "questions": 3, "left_out": {"without gold": 1}}
    run = told["runs"][0]
    assert run["overall"]["R@1"]["value"] == 0.833333
    assert set(run["overall"]["R@10"]) == {"value", "low", "high", "questions"}
    assert set(run["latency_ms"]) == {"p50", "p95", "p99"}
    assert run["questions"][2]["gold_ranks"] == [1, 2]
    assert run["variant"] == {"embedder": "hashing", "recipe": "auto", "place": ":memory:"}
    assert set(told["comparisons"][0]["overall"]["R@10"]) == {
        "value",
        "low",
        "high",
        "won",
        "lost",
        "questions",
    }
