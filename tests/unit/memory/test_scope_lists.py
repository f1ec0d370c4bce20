"""A list of scopes in the verbs that read, and what takes a record from one scope into another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock

from eidet import Audit, BadInput, Conflict, Memory, NotFound, Refused, Scope, acting

DAY = 86_400.0
READS: dict[str, Callable[[Memory, Any], int]] = {
    "recall": lambda memory, scope: len(memory.recall("gate", scope=scope)),
    "recall_all": lambda memory, scope: memory.recall_all("gate", scope=scope).count,
    "context": lambda memory, scope: memory.context("gate", scope=scope).text.count("the gate of"),
    "find": lambda memory, scope: len(memory.find(scope=scope)),
    "count": lambda memory, scope: memory.count(scope=scope),
    "as of": lambda memory, scope: len(memory.find(scope=scope, as_of="2090-01-01")),
    "known at": lambda memory, scope: len(memory.recall("gate", scope=scope, known_at="2090-01-01")),
    "explain": lambda memory, scope: len(memory.admin.explain("gate", scope=scope).hits),
    "sessions": lambda memory, scope: len(memory.admin.sessions(scope)),
}
WRITES: dict[str, Callable[[Memory, Any], object]] = {
    "remember": lambda memory, scope: memory.remember("x", scope=scope),
    "revise": lambda memory, scope: memory.revise("id", scope=scope, text="x"),
    "forget": lambda memory, scope: memory.forget("id", scope=scope),
    "forget where": lambda memory, scope: memory.forget(kinds="fact", scope=scope),
    "forget everything": lambda memory, scope: memory.forget(everything=True, scope=scope),
    "preview": lambda memory, scope: memory.trust.preview_forget("id", scope=scope),
    "promote": lambda memory, scope: memory.promote("id", scope=scope, to="other"),
    "promote to": lambda memory, scope: memory.promote("id", to=scope),
    "pin": lambda memory, scope: memory.upkeep.pin("id", scope=scope),
    "add": lambda memory, scope: memory.facts.add("Ann", "likes", "tea", scope=scope),
    "export": lambda memory, scope: memory.export("x.jsonl", scope=scope),
    "rebuild": lambda memory, scope: memory.admin.rebuild(scope),
    "feedback": lambda memory, scope: memory.feedback("id", useful=True, scope=scope),
}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:64") as opened:
        for scope in ("ann", "ann/work", "team/core", "other"):
            opened.remember(f"the gate of {scope} is green", scope=scope, session="s", id=scope[:3])
        yield opened


@pytest.mark.parametrize("verb", READS)
@pytest.mark.parametrize(
    ("scopes", "shown"),
    [
        ("ann/**", 2),
        (Scope.under("ann"), 2),
        (["ann", "team/core"], 2),
        (("ann", "team/core"), 2),
        ([Scope.of("ann"), Scope.under("team")], 2),
        (["ann", "ann"], 1),
        (["ann/work", "ann/**", "ann"], 2),
        (["ann"], 1),
        (["ann", "nobody"], 1),
        (["nobody", "nowhere"], 0),
        (Scope.among(["ann", "other", "team/core"]), 3),
    ],
)
def test_every_verb_that_reads_takes_a_list(memory: Memory, verb: str, scopes: Any, shown: int) -> None:
    assert READS[verb](memory, scopes) == shown


@pytest.mark.parametrize("verb", READS)
@pytest.mark.parametrize("scopes", [[], ["ann", ""], ["ann", 7], ["ann", ["**"]], [["ann"]], ["ann"] * 101])
def test_a_list_that_names_no_scopes_is_refused(memory: Memory, verb: str, scopes: Any) -> None:
    with pytest.raises(BadInput):
        READS[verb](memory, scopes)


@pytest.mark.parametrize("verb", WRITES)
@pytest.mark.parametrize("scopes", [["ann", "team/core"], Scope.among(["ann", "team/core"])])
def test_a_verb_that_writes_takes_one_scope(memory: Memory, verb: str, scopes: Any) -> None:
    before = memory.parts.store.head()
    with pytest.raises(BadInput, match="one scope"):
        WRITES[verb](memory, scopes)
    assert memory.parts.store.head() == before


def test_a_hit_says_its_scope_and_is_ranked_as_if_all_were_one() -> None:
    texts = [f"note {at} about the weather" for at in range(40)]
    with Memory(embedder="hashing:64") as memory:
        memory.remember([*texts, "the cobalt glaze"], scope="large")
        memory.remember("weather", scope="small")
        memory.remember([*texts, "the cobalt glaze", "weather"], scope="all")
        found = memory.recall("cobalt weather", scope=["small", "large"], least=0.0)
        one = memory.recall("cobalt weather", scope="all", least=0.0)
    assert (found[0].scope, found[0].text) == ("large", "the cobalt glaze")
    assert [round(hit.score, 4) for hit in found] == [round(hit.score, 4) for hit in one]


def entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_audit_has_a_note_for_each_scope_with_its_own_ids(tmp_path: Path) -> None:
    log = Audit(path=tmp_path / "audit.log", recalls=True)
    with Memory(embedder="hashing:64", audit=log) as memory:
        for scope in ("ann", "team/core"):
            memory.remember("the gate", scope=scope, id=f"of {scope}")
        memory.recall("gate", scope=["ann", "team/core"])
        memory.get("of ann", scope=["ann", "team/core"])
        told = [(one["verb"], one.get("scope"), one.get("ids")) for one in entries(tmp_path / "audit.log")]
    assert told[-4:] == [
        ("recall", "ann", ["of ann"]),
        ("recall", "team/core", ["of team/core"]),
        ("get", "ann", ["of ann"]),
        ("get", "team/core", []),
    ]


# promote


def test_a_copy_says_where_it_comes_from_and_leaves_the_original() -> None:
    clock = Clock(1_000.0)
    with Memory(embedder="hashing:64", clock=clock) as memory:
        old = memory.remember("Ann likes tea", scope="ann", who="Ann", meta={"a": 1}, pinned=True)
        memory.revise(old.id, scope="ann", text="Ann likes green tea")
        clock.pass_(DAY)
        with acting(by="zoe"):
            new = memory.promote(old.id, scope="ann", to="team/core")
        assert (new.scope, new.id, new.text, new.who, new.meta) == (
            *("team/core", old.id, "Ann likes green tea", "Ann"),
            {"a": 1},
        )
        assert new.state.promoted is not None
        assert (new.state.promoted.scope, new.state.promoted.by) == ("ann", "zoe")
        assert new.state.promoted.at == pytest.approx(1_000.0 + DAY)
        assert memory.get(old.id, scope="ann").text == "Ann likes green tea"  # type: ignore[union-attr]
        assert [event.what for event in memory.history(old.id, scope="team/core")] == ["created"]
        assert memory.recall("green tea", scope="team/core")[0].id == old.id


def test_a_move_takes_the_history_along(memory: Memory) -> None:
    memory.revise("ann", scope="ann", text="the gate is red", by="bo")
    moved = memory.promote("ann", scope="ann", to="team/core", move=True)
    assert memory.get("ann", scope="ann") is None
    assert moved.text == "the gate is red"
    told = memory.history("ann", scope="team/core")
    assert [(event.what, event.by, event.before) for event in told] == [
        ("created", None, None),
        ("revised", "bo", {"text": "the gate of ann is green"}),
    ]
    assert memory.history("ann", scope="ann")[-1].what == "forgotten"


@pytest.mark.parametrize("move", [False, True])
def test_promoting_twice_is_the_same_as_once(memory: Memory, move: bool) -> None:
    first = memory.promote("ann", scope="ann", to="team/core", move=move)
    head = memory.parts.store.head()
    assert memory.promote("ann", scope="ann", to="team/core", move=move) == first
    assert memory.parts.store.head() == head


def test_what_changed_since_becomes_the_next_version_of_the_copy(memory: Memory) -> None:
    memory.promote("ann", scope="ann", to="team/core")
    memory.revise("ann", scope="ann", text="the gate is blue")
    again = memory.promote("ann", scope="ann", to="team/core")
    assert (again.version, again.text) == (2, "the gate is blue")
    memory.revise("ann", scope="team/core", text="the gate is white")
    assert memory.promote("ann", scope="team/core", to="ann").text == "the gate is white"


def test_a_hold_keeps_a_record_in_its_scope_but_not_from_being_copied(memory: Memory) -> None:
    memory.upkeep.hold("ann", scope="ann")
    with pytest.raises(Refused, match="legal hold"):
        memory.promote("ann", scope="ann", to="team/core", move=True)
    assert memory.get("ann", scope="team/core") is None
    assert memory.promote("ann", scope="ann", to="team/core").state.hold is None
    memory.upkeep.hold("ann", scope="team/core")
    memory.upkeep.release("ann", scope="ann")
    memory.revise("ann", scope="ann", text="the gate is blue")
    with pytest.raises(Refused, match="legal hold"):
        memory.promote("ann", scope="ann", to="team/core")


@pytest.mark.parametrize(
    ("id", "to", "error"),
    [
        ("nobody", "team", NotFound),
        ("ann", "ann", BadInput),
        ("ann", "full", Conflict),
        ("ann", "gone", Refused),
    ],
)
def test_a_promotion_that_cannot_be_changes_nothing(memory: Memory, id: str, to: str, error: type) -> None:
    memory.remember("another record", scope="full", id="ann")
    memory.remember("the gate of ann is green", scope="gone", id="was")
    memory.forget("was", scope="gone")
    before = memory.parts.store.head()
    with pytest.raises(error):
        memory.promote(id, scope="ann", to=to, move=True)
    assert memory.parts.store.head() == before


def test_a_promotion_is_audited_before_it_is_done(tmp_path: Path) -> None:
    with Memory(embedder="hashing:64", audit=tmp_path / "audit.log") as memory:
        memory.remember("the gate", scope="ann", id="a")
        memory.promote("a", scope="ann", to="team", move=True, by="zoe")
        told = [(one["verb"], one.get("scope"), one.get("by")) for one in entries(tmp_path / "audit.log")]
    assert told[-3:] == [("promote", "ann", "zoe"), ("put", "team", "zoe"), ("drop", "ann", "zoe")]


# recall_all

CLIMBS = {
    "2026-01-03": "Went climbing with Bo at the quarry",
    "2026-02-10": "Climbing in the hall, my fingers hurt",
    "2026-04-05": "Climbing the north wall took two hours",
}


@pytest.fixture
def diary() -> Iterator[Memory]:
    with Memory(embedder="hashing:256") as memory:
        for day, text in reversed(CLIMBS.items()):
            memory.remember(text, occurred=day)
        memory.remember(["The cat was at the vet", "Bought a bicycle", "Dinner at Luigi's was awful"])
        yield memory


def test_all_on_a_topic_comes_in_order_of_time_and_counted(diary: Memory) -> None:
    found = diary.recall_all("how many times did I go climbing?")
    assert [hit.text for hit in found] == list(CLIMBS.values())
    assert found.count == len(found) == 3
    assert found.complete == (not found.reason)
    assert not {hit.id for hit in found} & {hit.id for hit in found.maybe}


def test_an_answer_that_may_lack_something_says_so(diary: Memory) -> None:
    found = diary.recall_all("climbing", limit=2)
    assert (found.count, found.complete) == (2, False)
    assert "more belong" in found.reason
    assert diary.recall_all("climbing", since="2026-02-01").count == 2
    nothing = diary.recall_all("quantum chromodynamics")
    assert (nothing.count, list(nothing.maybe)) == (0, [])
    assert diary.recall_all("").count == 6


def test_only_what_belongs_counts_as_used(diary: Memory) -> None:
    ids = {hit.id for hit in diary.recall_all("climbing")}
    diary.admin.flush()
    assert {record.id for record in diary.find() if record.uses} == ids


@pytest.mark.parametrize(
    ("question", "wants_all"),
    [
        ("How many times did I go climbing?", True),
        ("how often did it rain", True),
        ("Which restaurants did I not like?", True),
        ("When did I last see Bo?", True),
        ("list all trips", True),
        ("every time we lost", True),
        ("Wie oft war ich klettern?", True),
        ("Where does Ann live?", False),
        ("What is my name?", False),
        ("What did Bo say last week?", False),
        ("Is Ann allergic to nuts?", False),
    ],
)
def test_a_question_that_wants_all_is_recognised_and_ranked_as_before(
    diary: Memory, question: str, wants_all: bool
) -> None:
    assert diary.recall(question).wants_all == wants_all


SAME_IDS = {
    "ann": {
        "style": "Always answer me in German.",
        "old": "Ann lives in Lisbon.",
        "new": "Ann moved to Porto.",
    },
    "team/core": {
        "style": "Always use metric units.",
        "old": "The team has a lathe.",
        "new": "Ann visited Rome.",
    },
}


@pytest.mark.parametrize(
    "question",
    ["where does Ann live?", "where does Ann live now?", "Ann", "who moved to Porto?", "the lathe"],
)
def test_records_of_two_scopes_with_one_id_do_not_hide_each_other(question: str) -> None:
    clock = Clock()
    with Memory(embedder="hashing:256", clock=clock) as memory:
        for id in ("style", "old", "new"):
            for scope in SAME_IDS:
                clock.pass_(DAY)
                memory.remember(SAME_IDS[scope][id], scope=scope, id=id)
        scopes = list(SAME_IDS)
        shown = {(hit.scope, hit.id, hit.text) for hit in memory.recall(question, scope=scopes, least=0)}
        for scope in scopes:
            alone = memory.recall(question, scope=scope, least=0)
            assert {(hit.scope, hit.id, hit.text) for hit in alone} <= shown
        told = str(memory.context(question, scope=scopes))
        assert all(SAME_IDS[scope]["style"] in told for scope in scopes)
        memory.promote("style", scope="ann", to="team/promoted")
        told = str(memory.context(question, scope=[*scopes, "team/promoted"]))
        assert told.count(SAME_IDS["ann"]["style"]) == 1, "a copy is told once"
