"""`get` and `revise`: what changes, what stays, and who was first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from tests.making import Clock
from tests.unit.memory.given import head

from eidet import BadInput, Conflict, Memory, NotFound, Recipe
from eidet.models.embed.hashing import Hashing

# get


def test_get_answers_one_with_one_and_many_with_many(memory: Memory) -> None:
    one, two = memory.remember(["one", "two"])
    assert memory.get(one.id) == one
    assert memory.get([two.id, "no", one.id]) == [two, None, one]
    assert memory.get((one.id,)) == [one]
    assert memory.get([]) == []
    assert memory.get("no") is None
    assert memory.get(one.id, scope="other") is None


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
