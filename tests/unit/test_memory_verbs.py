"""Every verb and every promise of its docstring, in RAM and in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making import PLACES, Clock, place_of

from eidet import (
    BadInput,
    Box,
    Condition,
    Conflict,
    Corrupt,
    Draft,
    Kind,
    Memory,
    Message,
    Misconfigured,
    Near,
    NotFound,
    Recipe,
    Refused,
    Scope,
    Settings,
    Tier,
    Unavailable,
    Where,
)
from eidet.core.hit import Hits
from eidet.core.record import Record
from eidet.models.embed.hashing import Hashing
from eidet.store import verbs
from eidet.store.ram import RamStore

HASHING = "hashing:64"
DAY = 86_400.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder=HASHING, clock=clock) as opened:
        yield opened


def texts(found: Hits | list[Record]) -> list[str]:
    return [one.text for one in found]


def head(memory: Memory) -> Any:
    return memory.parts.store.head()


# remember


def test_a_text_becomes_a_fact_with_defaults(memory: Memory, clock: Clock) -> None:
    record = memory.remember("Ann lives in Lisbon")
    assert (record.text, record.kind, record.tier, record.scope) == (
        "Ann lives in Lisbon",
        Kind.FACT,
        Tier.SHORT,
        "default",
    )
    assert (record.created, record.occurred, record.importance, record.uses) == (clock.now, clock.now, 0.5, 0)
    assert (record.version, record.expires, record.data, record.meta) == (1, None, None, {})
    assert memory.get(record.id) == record


def test_everything_that_is_said_of_a_record_is_kept(memory: Memory, clock: Clock) -> None:
    details: dict[str, Any] = {
        "kind": "episode",
        "tier": "long",
        "who": "Ann",
        "agent": "planner",
        "session": "s1",
        "step": 7,
        "importance": 0.9,
        "source": "mail",
        "data": {"n": [1, 2.5, None]},
        "meta": {"tag": "x"},
    }
    record = memory.remember(
        "hello",
        scope="acme/ann",
        place=(1, 2, 3),
        occurred="2024-05-01T12:00:00+00:00",
        expires=timedelta(days=1),
        derived_from=["one", "two"],
        id="mine",
        **details,
    )
    found = memory.get("mine", scope="acme/ann")
    assert found == record
    assert {name: getattr(record, name) for name in details} == details
    assert record.place == (1.0, 2.0, 3.0)
    assert record.occurred == datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp()
    assert record.expires == clock.now + DAY
    assert record.derived_from == ("one", "two")


def test_a_list_is_remembered_in_order_with_the_same_details(memory: Memory) -> None:
    stored = memory.remember(
        ["one", Draft(text="two", who="Bob", meta={"a": 1}), "three"], who="Ann", meta={"b": 2}
    )
    assert texts(stored) == ["one", "two", "three"]
    assert [record.who for record in stored] == ["Ann", "Bob", "Ann"]
    assert [record.meta for record in stored] == [{"b": 2}, {"a": 1, "b": 2}, {"b": 2}]
    assert memory.remember(("four",))[0].text == "four"
    assert memory.remember([]) == []


def test_all_of_a_list_is_remembered_or_none(memory: Memory) -> None:
    before = head(memory)
    with pytest.raises(BadInput):
        memory.remember(["one", "two", ""])
    assert head(memory) == before
    assert memory.find() == []


def test_a_dict_is_structured_data_with_a_text_to_search(memory: Memory) -> None:
    record = memory.remember({"health": 0.85, "inventory": {"wood": 5, "tools": ["axe", "saw"]}})
    assert record.kind == Kind.STATE
    assert record.data == {"health": 0.85, "inventory": {"wood": 5, "tools": ["axe", "saw"]}}
    assert record.text == "health: 0.85; inventory wood: 5; tools: axe, saw"
    assert memory.recall("axe")[0].id == record.id
    assert memory.remember(data=[1, 2]).text == "1, 2"


def test_data_may_come_with_a_text_of_its_own(memory: Memory) -> None:
    record = memory.remember("the state", data={"hp": 1}, kind="state")
    assert (record.text, record.data, record.kind) == ("the state", {"hp": 1}, Kind.STATE)


def test_messages_keep_who_spoke_and_are_never_merged(memory: Memory) -> None:
    said = [
        Message(role="user", content="Shall we?", name="Ann", timestamp=5.0, metadata={"channel": "web"}),
        Message(role="assistant", content="yes"),
        Message(role="assistant", content="yes"),
    ]
    first, *answers = memory.remember(said, session="s1")
    assert (first.kind, first.who, first.occurred, first.meta) == (
        Kind.MESSAGE,
        "Ann",
        5.0,
        {"channel": "web"},
    )
    assert first.data == {"role": "user", "name": "Ann"}
    assert [(r.who, r.text, r.session) for r in answers] == [("assistant", "yes", "s1")] * 2
    assert answers[0].id != answers[1].id
    assert len(memory.find(kinds="message")) == 3


def test_messages_as_openai_writes_them_are_understood(memory: Memory) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}
    parts = [
        {"type": "text", "text": "What is"},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"type": "text", "text": "this?"},
    ]
    user, plain, asking, tool = memory.remember(
        [
            {"role": "user", "content": parts},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "42", "tool_call_id": "c1"},
        ]
    )
    assert (user.text, user.data) == ("What is\nthis?", {"role": "user", "content": parts})
    assert (plain.text, plain.who, plain.data) == ("hello", "user", {"role": "user"})
    assert asking.data == {"role": "assistant", "tool_calls": [call]}
    assert "look" in asking.text
    assert (tool.text, tool.data) == ("42", {"role": "tool", "tool_call_id": "c1"})
    assert {r.kind for r in (user, plain, asking, tool)} == {Kind.MESSAGE}


def test_a_kind_that_is_said_wins_over_the_kind_of_a_message(memory: Memory) -> None:
    assert memory.remember({"role": "user", "content": "x"}, kind="episode").kind == Kind.EPISODE


@pytest.mark.parametrize("kind", ["fact", "document"])
def test_a_duplicate_is_counted_as_a_use(memory: Memory, clock: Clock, kind: str) -> None:
    first = memory.remember("Ann lives in Lisbon", kind=kind)
    clock.pass_()
    again = memory.remember("Ann lives in Lisbon", kind=kind, importance=0.9)
    assert again == first.but(uses=1, last_used=clock.now)
    assert len(memory.find()) == 1


def test_other_words_data_kinds_and_scopes_are_no_duplicates(memory: Memory) -> None:
    ids = {
        memory.remember("Ann lives in Lisbon").id,
        memory.remember("Ann lives in Lisbon.").id,
        memory.remember("Ann lives in Lisbon", data=1).id,
        memory.remember("Ann lives in Lisbon", scope="other").id,
        memory.remember("Ann lives in Lisbon", kind="episode").id,
        memory.remember("Ann lives in Lisbon", kind="episode").id,
    }
    assert len(ids) == 6


def test_duplicates_can_be_kept(memory: Memory, clock: Clock) -> None:
    one, two = memory.remember("same"), memory.remember("same", keep_duplicates=True)
    assert one.id != two.id
    with Memory(embedder=HASHING, settings=Settings(keep_duplicates=True), clock=clock) as keeping:
        assert len({keeping.remember("same").id for _ in range(3)}) == 3
        assert len({keeping.remember("same", keep_duplicates=False).id for _ in range(3)}) == 1


@pytest.mark.parametrize("name", ["id", "key"])
def test_an_id_or_key_makes_an_upsert(memory: Memory, clock: Clock, name: str) -> None:
    named: Any = {name: "ann"}
    first = memory.remember("Ann lives in Lisbon", **named)
    clock.pass_()
    assert memory.remember("Ann lives in Lisbon", **named) == first
    second = memory.remember("Ann lives in Porto", **named)
    assert (second.id, second.version, second.created) == (first.id, 2, first.created)
    assert texts(memory.find()) == ["Ann lives in Porto"]
    assert texts(memory.recall("Lisbon Porto")) == ["Ann lives in Porto"]
    elsewhere = memory.remember("Ann lives in Porto", scope="b", **named)
    assert elsewhere.version == 1


def test_many_may_each_have_an_id_or_key(memory: Memory) -> None:
    drafts = [Draft(text="one", id="1"), Draft(text="two", key="any text\n🙂")]
    first = memory.remember(drafts)
    assert memory.remember(drafts) == first
    assert first[0].id == "1"


def test_a_vector_of_ones_own_is_used(memory: Memory) -> None:
    east, north = np.eye(64, dtype=np.float32)[:2]
    memory.remember("zebra", vector=east)
    memory.remember("giraffe", vector=north.tolist())
    memory.remember("lion", vector=north.tobytes())
    found = memory.recall(vector=east)
    assert found[0].text == "zebra"
    assert found[0].record.vector == east.tobytes()
    assert set(texts(memory.recall(vector=north.tolist(), limit=2))) == {"giraffe", "lion"}


def test_what_expired_is_nowhere(memory: Memory, clock: Clock) -> None:
    record = memory.remember("brief", expires=timedelta(seconds=10))
    memory.remember("until noon", expires=clock.now + 20)
    clock.pass_(9)
    assert memory.get(record.id) is not None
    clock.pass_(1)
    assert memory.get(record.id) is None
    assert texts(memory.recall("brief noon")) == ["until noon"]
    assert texts(memory.find()) == texts(memory.recall()) == ["until noon"]
    assert "brief" not in memory.context("brief").text
    with pytest.raises(NotFound):
        memory.revise(record.id, text="again")
    assert memory.remember("brief").id != record.id


def test_the_default_embedder_finds_meaning(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.remember(["The dog barked at the postman.", "Revenue grew in the third quarter."])
        assert memory.recall("an animal made noise", limit=1)[0].text == "The dog barked at the postman."
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.recall("puppy", limit=1)[0].text == "The dog barked at the postman."


# recall


def test_the_best_come_first_with_their_reasons(memory: Memory) -> None:
    memory.remember(["Ann lives in Lisbon", "Bob lives in Porto", "The weather is nice"])
    hits = memory.recall("where does Ann live?")
    assert hits[0].text == "Ann lives in Lisbon"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert {"ann", "live"} == set(hits[0].matched)
    told = {signal.name for signal in hits[0].signals}
    assert told >= {"dense", "words", "importance"}
    assert all(signal.rank == 1 for signal in hits[0].signals if signal.name in {"dense", "words"})
    assert abs(sum(signal.share for signal in hits[0].signals) - hits[0].score) < 1e-9
    assert "words" in hits[0].why()
    assert hits.trace is None


def test_what_was_remembered_is_recalled_next(memory: Memory) -> None:
    for n in range(30):
        memory.remember(f"the number{n} is remembered")
        assert f"number{n} " in memory.recall(f"number{n}", limit=1)[0].text


def test_a_limit_is_kept(memory: Memory) -> None:
    memory.remember([f"fact {n}" for n in range(150)])
    assert [len(memory.recall("fact", limit=limit)) for limit in (1, 10, 100, 150, 1000)] == [
        1,
        10,
        100,
        150,
        150,
    ]
    assert len(memory.recall(limit=3)) == 3


@pytest.fixture
def diary(memory: Memory) -> Memory:
    """Five records that differ in everything a filter can ask for."""
    memory.remember(
        [
            Draft(
                text="plan a", occurred=100.0, place=(0, 0), importance=0.1, step=1, session="s1", who="Ann"
            ),
            Draft(
                text="plan b", occurred=200.0, place=(1, 1), importance=0.3, step=2, session="s1", who="Bob"
            ),
            Draft(
                text="plan c",
                occurred=300.0,
                place=(5, 5, 5),
                importance=0.5,
                step=3,
                session="s2",
                who="Ann",
            ),
            Draft(
                text="plan d",
                occurred=400.0,
                importance=0.7,
                step=4,
                agent="x",
                data={"hp": 0.2, "bag": ["axe"]},
            ),
            Draft(
                text="plan e", occurred=500.0, importance=0.9, agent="y", data={"hp": 0.9}, meta={"ok": True}
            ),
        ],
        kind="episode",
    )
    memory.remember("plan f", kind="fact", tier="long", occurred=600.0, source="mail")
    return memory


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "abcdef"),
    ({"since": 300.0}, "cdef"),
    ({"until": 200}, "ab"),
    ({"since": "1970-01-01T00:03:20+00:00", "until": datetime.fromtimestamp(400, UTC)}, "bcd"),
    ({"kinds": "fact"}, "f"),
    ({"kinds": ["fact", "state"]}, "f"),
    ({"session": "s1"}, "ab"),
    ({"who": "Ann"}, "ac"),
    ({"agent": "y"}, "e"),
    ({"who": "Ann", "session": "s2"}, "c"),
    ({"where": Where(near=Near(place=(0, 0), radius=1.5))}, "ab"),
    ({"where": Where(box=Box(low=(1, 1), high=(9, 9)))}, "bc"),
    ({"where": Where(box=Box(low=(1, 1, 1), high=(9, 9, 9)))}, "c"),
    ({"where": Where(importance_min=0.5, importance_max=0.7)}, "cdf"),
    ({"where": Where(step_from=2, step_to=3)}, "bc"),
    ({"where": Where(tiers=(Tier.LONG,))}, "f"),
    ({"where": Where(source="mail")}, "f"),
    ({"where": Where(conditions=(Condition("data.hp", "<", 0.5),))}, "d"),
    ({"where": Where(conditions=(Condition("data.bag", "contains", "axe"),))}, "d"),
    ({"where": Where(conditions=(Condition("meta.ok", "=", True),))}, "e"),
    ({"where": Where(conditions=(Condition("data.hp", "exists"),)), "since": 450.0}, "e"),
    ({"where": Where(who="Bob") | Where(importance_min=0.8), "until": 450.0}, "b"),
    ({"where": ~Where(kinds=(Kind.EPISODE,))}, "f"),
    ({"where": Where(created_until=5.0)}, ""),
    ({"where": Where(who="nobody")}, ""),
    ({"where": Where(scope=Scope("other"))}, ""),
]


@pytest.mark.parametrize(("how", "wanted"), FILTERS, ids=lambda value: str(value)[:60])
def test_recall_and_find_filter_by_everything_alike(diary: Memory, how: dict[str, Any], wanted: str) -> None:
    names = {f"plan {letter}" for letter in wanted}
    assert set(texts(diary.recall("plan", **how))) == names
    assert set(texts(diary.recall("", **how))) == names
    assert set(texts(diary.find(**how))) == names
    assert verbs.count(diary.parts.store, Where()) == 6


def test_recall_filters_by_place(diary: Memory) -> None:
    assert set(texts(diary.recall("plan", near=Near(place=(0, 0), radius=1)))) == {"plan a"}
    assert set(texts(diary.recall("plan", box=Box(low=(0, 0), high=(1, 1)), who="Bob"))) == {"plan b"}


def test_without_a_query_the_filter_decides_and_a_field_orders(diary: Memory) -> None:
    assert [text[-1] for text in texts(diary.recall())] == list("fedcba")
    assert [text[-1] for text in texts(diary.recall("  ", order="importance", limit=3))] == list("abc")
    assert [text[-1] for text in texts(diary.recall(order="-step"))] == list("dcbafe")
    assert {hit.score for hit in diary.recall()} == {1.0}
    assert diary.recall()[0].why() == "matches the filter"
    with pytest.raises(BadInput, match="unknown order 'text'"):
        diary.recall(order="text")


def test_find_orders_and_pages(diary: Memory) -> None:
    assert [text[-1] for text in texts(diary.find(order="occurred", limit=2, offset=1))] == list("bc")
    assert [text[-1] for text in texts(diary.find(order="-importance", limit=2))] == list("ed")
    assert texts(diary.find(offset=6)) == []
    diary.recall("", where=Where(who="Bob"))
    diary.admin.flush()
    assert texts(diary.find(order="-uses", limit=1)) == ["plan b"]


def test_a_prefix_is_asked_for_explicitly(memory: Memory) -> None:
    for scope in ("acme", "acme/ann", "acme/ann/work", "acme2"):
        memory.remember(f"note of {scope}", scope=scope)
    assert texts(memory.recall("note", scope="acme")) == ["note of acme"]
    assert texts(memory.recall("note")) == []
    below = {"note of acme", "note of acme/ann", "note of acme/ann/work"}
    assert set(texts(memory.recall("note", scope=Scope.under("acme")))) == below
    assert set(texts(memory.recall(scope=Scope.under("acme")))) == below
    assert set(texts(memory.find(scope=Scope.under("acme")))) == below
    assert memory.scopes("acme") == {"acme": 1, "acme/ann": 1, "acme/ann/work": 1}
    assert list(memory.scopes()) == ["acme", "acme/ann", "acme/ann/work", "acme2"]


def test_explain_tells_how_the_answer_came_about(diary: Memory) -> None:
    hits = diary.recall("plan a", who="Ann", explain=True)
    trace = hits.trace
    assert trace is not None
    assert trace.query == "plan a"
    assert "plan" in trace.terms
    assert (trace.scopes, trace.searched, trace.filtered) == (("default",), 6, 4)
    assert set(trace.arms) == {"dense", "words"}
    for arm in trace.arms.values():
        scores = [score for _, score in arm]
        assert scores == sorted(scores, reverse=True)
        assert {id for id, _ in arm} <= {hit.id for hit in hits}
    assert set(trace.weights) >= {"dense", "words", "importance"}
    assert abs(sum(weight for name, weight in trace.weights.items() if name != "question") - 1) < 1e-9
    assert trace.millis.keys() >= {"understand", "search", "fuse", "fetch"}
    listed = diary.recall(explain=True).trace
    assert listed is not None
    assert listed.notes == ("ordered by -occurred",)


def test_a_recipe_says_what_counts(memory: Memory, clock: Clock) -> None:
    memory.remember("old plan", occurred=clock.now - 300 * DAY, importance=0.9)
    memory.remember("new plan", occurred=clock.now, importance=0.1)
    assert memory.recall("plan", recipe=Recipe(importance=5.0))[0].text == "old plan"
    assert memory.recall("plan", recipe=Recipe(recency=5.0))[0].text == "new plan"
    memory.recall("old", limit=1)
    memory.admin.flush()
    used = memory.recall("plan", recipe=Recipe(importance=0.0, uses=5.0))
    assert used[0].text == "old plan"
    assert "uses" in {signal.name for signal in used[0].signals}


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(words=0.0),
        Recipe(dense=0.0),
        Recipe(importance=0.0),
        Recipe(dense=0.0, words=0.0),
        Recipe(dense=0.0, words=0.0, importance=0.0),
        Recipe(importance=0.0, uses=1.0, recency=1.0),
    ],
)
@pytest.mark.parametrize("query", ["plan", "unheard", "?!", "the"])
def test_any_recipe_answers_any_query(diary: Memory, recipe: Recipe, query: str) -> None:
    hits = diary.recall(query, recipe=recipe, explain=True)
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits or query != "plan" or not (recipe.dense or recipe.words)


def test_reads_do_not_write(memory: Memory, tmp_path: Path) -> None:
    record = memory.remember("Ann lives in Lisbon")
    before = head(memory), bytes_of(tmp_path)
    for _ in range(5):
        memory.recall("Ann")
        memory.recall()
        memory.context("Ann")
        memory.find()
        memory.get(record.id)
        memory.history(record.id)
        memory.admin.stats()
        memory.scopes()
        memory.admin.check()
    assert (head(memory), bytes_of(tmp_path)) == before


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


def test_uses_are_noted_and_written_with_the_next_flush(memory: Memory, clock: Clock) -> None:
    record, other = memory.remember(["Ann lives in Lisbon", "zebra"])
    memory.recall("Ann Lisbon", limit=1)
    clock.pass_()
    memory.recall("Ann Lisbon", limit=1)
    assert memory.get(record.id) == record
    before = head(memory)
    memory.admin.flush()
    assert memory.get(record.id) == record.but(uses=2, last_used=clock.now)
    assert memory.get(other.id) == other
    assert head(memory) == before


def test_uses_are_written_once_enough_wait(clock: Clock) -> None:
    with Memory(embedder=HASHING, settings=Settings(flush_uses=2), clock=clock) as memory:
        one, two = memory.remember(["Ann", "Bob"])
        memory.recall("Ann", limit=1)
        memory.remember("three")
        assert memory.get(one.id) == one
        memory.recall("Bob", limit=1)
        memory.remember("four")
        assert [record.uses for record in memory.get([one.id, two.id]) if record] == [1, 1]


def test_uses_survive_closing(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "memory.db", embedder=HASHING, clock=clock) as memory:
        record = memory.remember("Ann")
        memory.recall("Ann")
    with Memory(tmp_path / "memory.db", embedder=HASHING, clock=clock) as memory:
        found = memory.get(record.id)
        assert found is not None
        assert found.uses == 1


class Revised(RamStore):
    """Somebody changes every record between the moment the index answers and the moment it is read."""

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        if keys and isinstance(keys[0], str):
            return super().read(scope, keys)
        for record in self.find(Where(scope=Scope(scope))):
            verbs.put(self, [record.but(importance=record.importance / 2)], now=5.0)
        return super().read(scope, keys)


def test_find_misses_nothing_that_is_changed_meanwhile(clock: Clock) -> None:
    with Memory(Revised(), embedder=HASHING, clock=clock) as memory:
        memory.remember([f"fact {n}" for n in range(5)])
        assert texts(memory.find(order="seq")) == [f"fact {n}" for n in range(5)]
        assert len(memory.recall()) == 5


# get


def test_get_answers_one_with_one_and_many_with_many(memory: Memory) -> None:
    one, two = memory.remember(["one", "two"])
    assert memory.get(one.id) == one
    assert memory.get([two.id, "no", one.id]) == [two, None, one]
    assert memory.get((one.id,)) == [one]
    assert memory.get([]) == []
    assert memory.get("no") is None
    assert memory.get(one.id, scope="other") is None


@pytest.mark.parametrize("verb", ["get", "history", "revise"])
def test_a_prefix_is_no_place_for_one_record(memory: Memory, verb: str) -> None:
    with pytest.raises(BadInput, match=r"needs one scope, not a/\*\*"):
        getattr(memory, verb)("x", scope=Scope.under("a"))
    with pytest.raises(BadInput, match="needs one scope"):
        memory.remember("x", scope=Scope.under("a"))


# revise


def test_a_revision_replaces_what_it_names(memory: Memory, clock: Clock) -> None:
    old = memory.remember(
        "Ann lives in Lisbon", who="Bob", importance=0.7, place=(1, 2), meta={"a": 1}, step=3
    )
    created = clock.now
    clock.pass_()
    new = memory.revise(old.id, text="Ann lives in Porto", importance=0.8, by="Cid")
    assert (new.text, new.importance, new.version) == ("Ann lives in Porto", 0.8, 2)
    assert (new.who, new.place, new.meta, new.step) == ("Bob", (1.0, 2.0), {"a": 1}, 3)
    assert (new.created, new.occurred) == (created, created)
    assert memory.get(old.id) == new
    assert memory.recall("Porto", limit=1)[0].matched == ("porto",)
    assert [hit.matched for hit in memory.recall("Lisbon", recipe=Recipe(nothing=0.0))] == [()]


def test_a_revision_of_text_makes_vector_and_terms_anew(memory: Memory) -> None:
    old = memory.remember("Ann lives in Lisbon")
    new = memory.revise(old.id, text="zebra")
    assert new.vector == Hashing(64).embed(["zebra"]).tobytes()
    assert new.terms != old.terms
    same = memory.revise(old.id, importance=0.1)
    assert (same.vector, same.terms) == (new.vector, new.terms)


def test_who_spoke_can_be_found_after_a_revision(memory: Memory) -> None:
    old = memory.remember("lives in Lisbon", who="Ann")
    memory.revise(old.id, who="Zoe")
    assert memory.recall("Zoe")[0].matched == ("zoe",)
    assert memory.recall("Ann", recipe=Recipe(nothing=0.0))[0].matched == ()


def test_a_revision_of_told_data_tells_it_anew(memory: Memory) -> None:
    state = memory.remember({"hp": 1})
    assert memory.revise(state.id, data={"hp": 2}).text == "hp: 2"
    own = memory.remember("own words", data={"hp": 1})
    assert memory.revise(own.id, data={"hp": 2}).text == "own words"


def test_clear_resets_fields(memory: Memory) -> None:
    details: dict[str, Any] = {"who": "Ann", "place": (1, 2), "meta": {"a": 1}, "step": 1, "session": "s"}
    old = memory.remember("x", importance=0.9, data=[1], expires=timedelta(1), derived_from=["y"], **details)
    new = memory.revise(old.id, clear=[*details, "importance", "data", "expires", "derived_from"])
    assert (new.who, new.place, new.meta, new.step, new.session) == (None, None, {}, None, None)
    assert (new.importance, new.data, new.expires, new.derived_from) == (0.5, None, None, ())
    assert new.text == "x"


def test_when_it_happened_can_be_revised_and_cleared(memory: Memory, clock: Clock) -> None:
    created = clock.now
    old = memory.remember("x", occurred=5.0)
    clock.pass_()
    assert memory.revise(old.id, occurred=created).occurred == created
    assert memory.revise(old.id, occurred=7.0).occurred == 7.0
    assert memory.revise(old.id, clear=["occurred"]).occurred == created
    assert memory.revise(old.id, text="y").occurred == created


def test_a_vector_can_be_revised(memory: Memory) -> None:
    east = np.eye(64, dtype=np.float32)[0]
    old = memory.remember("x")
    new = memory.revise(old.id, vector=east)
    assert new.vector == east.tobytes()
    assert memory.recall(vector=east)[0].signals[0].value > 0.99


def test_a_revision_that_says_the_same_changes_nothing(memory: Memory) -> None:
    old = memory.remember("x", importance=0.7)
    before = head(memory)
    assert memory.revise(old.id, text="x", importance=0.7) == old
    assert head(memory) == before


def test_compare_and_set_by_version(memory: Memory) -> None:
    old = memory.remember("one")
    memory.revise(old.id, text="two", version=1)
    with pytest.raises(Conflict, match="at version 2, not 1") as caught:
        memory.revise(old.id, text="three", version=1)
    assert caught.value.current == 2
    assert memory.revise(old.id, text="three", version=2).version == 3


def test_compare_and_set_by_digest(memory: Memory) -> None:
    old = memory.remember("one")
    new = memory.revise(old.id, text="two", digest=old.digest)
    with pytest.raises(Conflict, match="says something else now") as caught:
        memory.revise(old.id, text="three", digest=old.digest)
    assert caught.value.current == 2
    memory.revise(old.id, importance=0.9)
    assert memory.revise(old.id, text="three", digest=new.digest).text == "three"


class Meddling(Hashing):
    """Lets somebody else change the record while this change is being embedded."""

    def __init__(self) -> None:
        super().__init__(64)
        self.times = 0
        self.meddle: Any = None

    def embed(self, texts: Any) -> Any:
        if self.times and texts != ["start"]:
            self.times -= 1
            self.meddle()
        return super().embed(texts)


def test_without_compare_and_set_a_change_of_others_is_kept(clock: Clock) -> None:
    embedder = Meddling()
    with Memory(embedder=embedder, clock=clock) as memory:
        record = memory.remember("start")
        embedder.times = 3
        embedder.meddle = lambda: memory.revise(record.id, importance=embedder.times / 10)
        new = memory.revise(record.id, text="mine")
        assert (new.text, new.importance, new.version) == ("mine", 0.0, 5)
        embedder.times = 1
        embedder.meddle = lambda: memory.revise(record.id, importance=0.9)
        with pytest.raises(Conflict):
            memory.revise(record.id, text="yours", version=5)


def test_a_record_that_is_not_there_cannot_be_revised(memory: Memory) -> None:
    old = memory.remember("one")
    with pytest.raises(NotFound, match="there is no record 'no' in scope default"):
        memory.revise("no", text="x")
    with pytest.raises(NotFound):
        memory.revise(old.id, text="x", scope="other")
    for bad in ({"id": "new"}, {"key": "new"}, {"txt": "typo"}):
        with pytest.raises((BadInput, TypeError)):
            memory.revise(old.id, **bad)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="cannot revise"):
        memory.revise(old.id, clear=["id"])


# forget


def test_forgetting_by_id_counts_only_what_existed(memory: Memory) -> None:
    one, two, three = memory.remember(["one", "two", "three"])
    assert memory.forget([one.id, "no"]) == 1
    assert memory.forget(two.id) == 1
    assert memory.forget(two.id) == 0
    assert memory.forget([]) == 0
    assert memory.forget(three.id, scope="other") == 0
    assert texts(memory.find()) == texts(memory.recall("one two three")) == ["three"]


def test_forgetting_by_filter(memory: Memory) -> None:
    memory.remember(["one", "two"], session="s1")
    memory.remember("three", session="s2")
    memory.remember("one", session="s1", scope="other")
    assert memory.forget(where=Where(session="s1")) == 2
    assert texts(memory.find()) == ["three"]
    assert memory.scopes() == {"default": 1, "other": 1}


def test_a_whole_scope_is_forgotten_only_when_it_is_named(memory: Memory) -> None:
    for scope in ("default", "a", "a/b", "ab"):
        memory.remember("note", scope=scope)
    assert memory.forget(everything=True, scope="a") == 1
    assert memory.forget(everything=True, scope=Scope.under("a")) == 1
    assert memory.scopes() == {"ab": 1, "default": 1}


EMPTY = [
    Where(),
    Where(scope=Scope("default")),
    Where(alive_at=5.0),
    Where() & Where(),
    Where() | Where(kinds=(Kind.FACT,)),
    Where(every=(Where(scope=Scope("default")),)),
    Where(some=(Where(),)),
    Where() & (Where() & Where(scope=Scope.under("default"))),
    ~Where(scope=Scope("other")),
]


@pytest.mark.parametrize("where", EMPTY, ids=range(len(EMPTY)))
def test_an_empty_filter_never_forgets_everything(memory: Memory, where: Where) -> None:
    memory.remember(["one", "two"])
    with pytest.raises(Refused, match="would match everything"):
        memory.forget(where=where)
    with pytest.raises(Refused):
        memory.forget(where=where, scope="default")
    assert len(memory.find()) == 2


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"scope": "default"},
        {"everything": True},
        {"everything": True, "ids": "x"},
        {"everything": True, "scope": "default", "ids": ["x"]},
        {"everything": True, "scope": "default", "where": Where(who="x")},
        {"ids": ["x"], "where": Where(who="x")},
    ],
)
def test_what_to_forget_must_be_clear(memory: Memory, how: dict[str, Any]) -> None:
    memory.remember("one")
    with pytest.raises(Refused):
        memory.forget(**how)
    assert len(memory.find()) == 1


def test_what_was_forgotten_leaves_no_content(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder=HASHING, clock=clock) as memory:
        record = memory.remember("first secret", agent="Ann")
        memory.revise(record.id, text="second secret")
        memory.forget(record.id, by="Bob")
        assert [event.before for event in memory.history(record.id)] == [None, None, None]
        assert memory.get(record.id) is None
        memory.export(tmp_path / "export.jsonl", scope=None)
        assert b"secret" not in (tmp_path / "export.jsonl").read_bytes()


# history


def test_history_tells_what_happened_when_and_by_whom(memory: Memory, clock: Clock) -> None:
    record = memory.remember("one", agent="Ann")
    start = clock.now
    clock.pass_()
    memory.revise(record.id, text="two", by="Bob")
    clock.pass_()
    memory.remember("three", id=record.id, agent="Ann")
    clock.pass_()
    told = [(e.what, e.at - start, e.by, e.version) for e in memory.history(record.id)]
    assert told == [("created", 0, "Ann", 1), ("revised", 1, "Bob", 2), ("revised", 2, None, 3)]
    assert [event.before for event in memory.history(record.id)] == [None, {"text": "one"}, {"text": "two"}]
    memory.forget(record.id, by="Cid")
    assert [(e.what, e.by) for e in memory.history(record.id)][-1] == ("forgotten", "Cid")
    assert memory.history("no") == memory.history(record.id, scope="other") == []


def test_history_goes_on_when_a_key_is_used_again(memory: Memory, clock: Clock) -> None:
    first = memory.remember("one", key="k")
    memory.forget(first.id)
    memory.remember("two", key="k")
    assert [event.what for event in memory.history(first.id)] == ["created", "forgotten", "created"]


# count and stats


def test_count_counts_what_matches_in_a_scope(memory: Memory) -> None:
    memory.remember(["one", "two"], session="s1")
    memory.remember("three", scope="a/b")
    assert (memory.count(), memory.count(Where(session="s1")), memory.count(Where(session="x"))) == (2, 2, 0)
    assert (memory.count(scope="a"), memory.count(scope=Scope.under("a"))) == (0, 1)


def test_stats_count_by_kind_and_tier(memory: Memory) -> None:
    memory.remember(["one", "two"])
    memory.remember({"hp": 1}, tier="long")
    memory.remember("three", scope="a/b")
    stats = memory.admin.stats()
    assert (stats["records"], stats["scopes"]) == (4, 2)
    assert stats["kinds"] == {"fact": 3, "state": 1}
    assert stats["tiers"] == {"short": 3, "long": 1}
    assert (stats["embedder"], stats["language"]) == ("hashing:64", "en")
    assert stats["store_bytes"] > 0
    assert memory.admin.stats("a")["records"] == 0
    assert memory.admin.stats(Scope.under("a"))["records"] == 1
    memory.recall("one")
    assert memory.admin.stats()["index"]["loaded_records"] == 3


# export and load


def test_an_export_is_loaded_without_loss(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    memory.remember(
        "one", data={"n": [2**70, "\0"]}, vector=np.eye(64)[3], place=(1, 2), expires=timedelta(1)
    )
    memory.revise(memory.remember("two").id, text="two and a half")
    memory.remember("three", scope="other/scope", who="Ann")
    memory.recall("one")
    steps: list[tuple[int, int]] = []
    path = tmp_path / "export.jsonl"
    assert memory.export(path, scope=None, progress=lambda *at: steps.append(at)) == 3
    with Memory(embedder=HASHING, clock=clock) as other:
        assert other.load(path, progress=lambda *at: steps.append(at)) == 3
        assert [r.but(seq=0) for r in everything(other)] == [r.but(seq=0) for r in everything(memory)]
        assert other.admin.check() == []
        assert texts(other.recall("three", scope="other/scope")) == ["three"]
        before = head(other)
        assert other.load(path) == 3
        assert head(other) == before
    assert steps == [(3, 3), (3, 3)]
    assert [file.name for file in tmp_path.glob("export*")] == ["export.jsonl"]


def everything(memory: Memory) -> list[Record]:
    memory.admin.flush()
    return list(verbs.scan(memory.parts.store, Where()))


def test_an_export_keeps_to_its_scope(memory: Memory, tmp_path: Path) -> None:
    for scope in ("default", "a", "a/b"):
        memory.remember("note", scope=scope)
    path = tmp_path / "export.jsonl"
    assert [memory.export(path, scope=s) for s in ("a", Scope.under("a"), "none", None)] == [1, 2, 0, 3]
    assert memory.export(path) == 1


def test_an_export_of_another_embedder_or_language_is_derived_anew(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "export.jsonl"
    with Memory(embedder="hashing:32", clock=clock) as memory:
        memory.remember(["running dogs", "cats"])
        memory.export(path)
    with Memory(embedder=HASHING, language="none", clock=clock) as other:
        other.load(path)
        assert other.recall("running")[0].matched == ("running",)
        assert {len(record.vector or b"") for record in other.find()} == {256}


def test_a_vector_of_ones_own_outlives_a_change_of_language(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "export.jsonl"
    east = np.eye(64, dtype=np.float32)[0]
    with Memory(embedder=HASHING, clock=clock) as memory:
        memory.remember("running dogs", vector=east)
        memory.export(path)
    with Memory(embedder=HASHING, language="none", clock=clock) as other:
        other.load(path)
        assert other.find()[0].vector == east.tobytes()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"hello", b"\xff\xfe", b'{"eidet":"export","format":1}\n'])
def test_a_file_that_is_no_export_changes_nothing(memory: Memory, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(content)
    with pytest.raises(Corrupt, match="nothing was loaded"):
        memory.load(path)
    assert memory.find() == []


def test_files_that_cannot_be_read_or_written_are_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"none\.jsonl cannot be read: No such file"):
        memory.load(tmp_path / "none.jsonl")
    with pytest.raises(Misconfigured, match="cannot be read"):
        memory.load(tmp_path)
    with pytest.raises(Unavailable, match="could not be written"):
        memory.export(tmp_path / "no" / "folder.jsonl")
    path = tmp_path / "newer.jsonl"
    path.write_text('{"eidet":"export","format":99}\n{}\n')
    with pytest.raises(Misconfigured, match="pip install --upgrade eidet"):
        memory.load(path)


# rebuild, reembed, check, close


def test_a_rebuilt_index_answers_the_same(memory: Memory) -> None:
    memory.remember([f"fact number {n}" for n in range(20)])
    memory.remember("elsewhere", scope="a/b")
    before = memory.recall("number 7", limit=20)
    assert memory.admin.rebuild() == 21
    assert memory.admin.rebuild("default") == 20
    assert memory.admin.rebuild(Scope.under("a")) == 1
    after = memory.recall("number 7", limit=20)
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert memory.admin.check() == []


def test_a_rebuild_with_another_language_analyses_anew(memory: Memory) -> None:
    memory.remember("Die Häuser der Städte")
    assert memory.recall("Haus", recipe=Recipe(nothing=0.0))[0].matched == ()
    steps: list[tuple[int, int]] = []
    memory.admin.rebuild(language="de", progress=lambda *at: steps.append(at))
    assert memory.recall("Haus")[0].matched == ("haus",)
    assert memory.admin.stats()["language"] == "de"
    memory.remember("Viele Häuser")
    assert [hit.matched for hit in memory.recall("Haus")] == [("haus",)] * 2
    assert steps == [(1, 1)]


def test_a_memory_that_was_opened_with_a_language_can_change_it(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=HASHING, language="en", clock=clock) as memory:
        memory.remember("Die Häuser")
        memory.admin.rebuild(language="de")
        memory.remember("Das Haus")
        assert len([hit for hit in memory.recall("Haus") if hit.matched]) == 2
    with pytest.raises(Misconfigured, match="analysed as 'de', not 'en'"):
        Memory(tmp_path / "m.db", embedder=HASHING, language="en")
    with Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as memory:
        assert memory.admin.stats()["language"] == "de"


def test_a_writer_learns_that_another_changed_the_language(tmp_path: Path, clock: Clock) -> None:
    with (
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as one,
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as other,
    ):
        one.remember("Die Häuser")
        other.admin.rebuild(language="de")
        with pytest.raises(Misconfigured, match="analysed as 'de', not 'en'"):
            one.remember("Das Haus")
        assert len(other.find()) == 1


def test_another_embedder_is_refused_until_reembedding(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder=HASHING, clock=clock) as memory:
        memory.remember(["Ann lives in Lisbon", "zebra"])
    with pytest.raises(Misconfigured, match=r"embedder 'hashing:64', not 'hashing:32': .*eidet reembed"):
        Memory(path, embedder="hashing:32")
    steps: list[tuple[int, int]] = []
    with Memory(path, embedder=HASHING, clock=clock) as memory:
        memory.recall("Ann")
        assert memory.admin.reembed("hashing:32", progress=lambda *at: steps.append(at)) == 2
        assert texts(memory.recall("Ann", limit=1)) == ["Ann lives in Lisbon"]
        assert {len(record.vector or b"") for record in memory.find()} == {128}
        memory.remember("Bob")
        assert memory.admin.stats()["embedder"] == "hashing:32"
    with Memory(path, embedder="hashing:32", clock=clock) as memory:
        assert len(memory.recall("Ann")) == 3
        assert memory.admin.check() == []
    assert steps == [(2, 2)]


def test_reembedding_in_ram(clock: Clock) -> None:
    with Memory(embedder=HASHING, clock=clock) as memory:
        memory.remember(["Ann", "Bob"])
        assert memory.admin.reembed("hashing:16") == 2
        assert texts(memory.recall("Bob", limit=1)) == ["Bob"]


class Tiring(Hashing):
    """Fails after a number of texts, once."""

    def __init__(self, width: int, texts: int) -> None:
        super().__init__(width)
        self.left: int | None = texts
        self.seen: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.seen += texts
        if self.left is not None and len(self.seen) > self.left:
            self.left = None
            raise ConnectionError("the model is gone")
        return super().embed(texts)


def test_an_interrupted_change_of_embedder_goes_on_where_it_stopped(memory: Memory) -> None:
    memory.remember([f"fact {n}" for n in range(600)])
    tiring = Tiring(32, 300)
    with pytest.raises(ConnectionError):
        memory.admin.reembed(tiring)
    assert memory.recall("fact 7", limit=1)[0].text == "fact 7"
    tiring.seen.clear()
    assert memory.admin.reembed(tiring) == 600
    assert len(tiring.seen) == 600 - 256
    assert {len(record.vector or b"") for record in memory.find(limit=600)} == {128}


def test_a_writer_learns_that_another_changed_the_embedder(tmp_path: Path, clock: Clock) -> None:
    with (
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as one,
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as other,
    ):
        one.remember("Ann")
        other.admin.reembed("hashing:32")
        with pytest.raises(Misconfigured, match="was written with the embedder 'hashing:32'"):
            one.remember("Bob")
        assert len(other.find()) == 1


def test_two_memories_on_one_file_see_each_other(tmp_path: Path, clock: Clock) -> None:
    with (
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as one,
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as other,
    ):
        record = one.remember("Ann lives in Lisbon")
        assert texts(other.recall("Ann")) == ["Ann lives in Lisbon"]
        other.revise(record.id, text="Ann lives in Porto")
        assert texts(one.recall("Ann")) == ["Ann lives in Porto"]
        one.forget(record.id)
        assert texts(other.recall("Ann")) == []


def test_closing_twice_is_fine(memory: Memory) -> None:
    memory.remember("Ann")
    memory.close()
    assert memory.parts.closed
    memory.close()
    assert memory.parts.closed


def test_a_closed_file_says_so(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "m.db", embedder=HASHING)
    record = memory.remember("Ann")
    memory.recall("Ann")
    memory.close()
    for verb in (
        lambda: memory.remember("Bob"),
        lambda: memory.recall("Ann"),
        lambda: memory.get(record.id),
        memory.find,
        lambda: memory.forget(record.id),
        memory.admin.stats,
    ):
        with pytest.raises(Misconfigured, match=r"m\.db was closed; open it again"):
            verb()


def test_a_memory_that_was_opened_before_another_embedder_wrote_says_so(tmp_path: Path) -> None:
    with (
        Memory(tmp_path / "m.db", embedder="hashing:16") as first,
        Memory(tmp_path / "m.db", embedder="hashing:32") as second,
    ):
        first.remember("Ann lives in Lisbon")
        with pytest.raises(Misconfigured, match="hashing:16"):
            second.recall("Lisbon")
