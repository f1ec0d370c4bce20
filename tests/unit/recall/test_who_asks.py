""" "I" in a question is who speaks in the scope, whatever the messages call them; doubt changes no fact."""

from __future__ import annotations

import pytest

from eidet import Memory

LIFE = ("I work at Tesco.", "I live in Leeds.", "I quit Tesco and started at Greggs.", "I moved to York.")


def tell(memory: Memory, *names: str, scope: str = "default") -> None:
    """Every sentence of a life, said by each in turn and answered with nothing."""
    for name in names:
        who = {"name": name} if name else {}
        for text in LIFE:
            turns = [{"role": "user", "content": text, **who}, {"role": "assistant", "content": "ok"}]
            memory.remember(turns, scope=scope)


@pytest.mark.parametrize("name", ["", "Dana", "Dana Reed"])
@pytest.mark.parametrize(
    ("question", "now", "before"),
    [
        ("Where do I work?", "I quit Tesco and started at Greggs.", "I work at Tesco."),
        ("Where do I live?", "I moved to York.", "I live in Leeds."),
    ],
)
def test_i_is_the_one_who_speaks(name: str, question: str, now: str, before: str) -> None:
    with Memory() as memory:
        tell(memory, name)
        first, second = memory.recall(question)[:2]
    assert first.text == now
    assert second.text == before
    assert second.superseded_by == first.id
    assert first.score > 0.75  # above what an unsure order may have
    assert second.score < first.score / 2


def test_in_a_group_the_scope_may_tell_who_asks() -> None:
    with Memory() as memory:
        for scope in ("team", "users/dana"):
            memory.remember([{"role": "user", "name": "Dana", "content": "I live in York."}], scope=scope)
            memory.remember([{"role": "user", "name": "Ben", "content": "I live in Bath."}], scope=scope)
        own = memory.recall("Where do I live?", scope="users/dana")
        assert own[0].text == "I live in York."
        shared = memory.recall("Where do I live?", scope="team")
        assert not any("states what holds" in hit.why() for hit in shared)


def test_what_the_assistant_says_of_itself_does_not_make_it_the_asker() -> None:
    with Memory() as memory:
        tell(memory, "Dana")
        memory.remember([{"role": "assistant", "content": "I live in the cloud."}])
        assert memory.recall("Where do I live?")[0].text == "I moved to York."


def test_who_said_my_sister_is_asked_for_theirs() -> None:
    with Memory() as memory:
        memory.remember("My sister Maria lives in Porto.", who="Dana")
        memory.remember("My brother lives in Faro.", who="Dana")
        assert memory.recall("Where does my sister live?")[0].text == "My sister Maria lives in Porto."
        assert [fact.subject for fact in memory.facts.about("Dana's brother")] == ["Dana's brother"]


@pytest.mark.parametrize(
    "doubt",
    ["Maybe Nadia lives in Liege.", "I heard Nadia lives in Liege now.", "I guess Nadia lives in Liege."],
)
def test_doubt_and_hearsay_close_nothing(doubt: str) -> None:
    with Memory() as memory:
        memory.remember("Nadia lives in Ghent.", occurred="2024-09-15")
        memory.remember(doubt, occurred="2025-04-01", who="Petra")
        surest = max(memory.facts.about("Nadia"), key=lambda fact: fact.confidence)
        assert (surest.object, surest.valid_to) == ("Ghent", None)
        hits = memory.recall("Where does Nadia live?")
        assert [hit.text for hit in hits] == ["Nadia lives in Ghent.", doubt]
        assert hits[0].score <= 0.6, "the doubt is told, too"


def test_a_child_with_a_name_is_the_subject_of_all_that_follows() -> None:
    with Memory() as memory:
        memory.remember("My daughter Ivy is 6 and loves dinosaurs.", who="Dana")
        told = {(fact.subject, fact.relation, fact.object) for fact in memory.facts.about("Ivy")}
        assert told == {("Ivy", "age", "6"), ("Ivy", "likes", "dinosaurs"), ("Dana", "child", "Ivy")}


def test_a_profile_is_one_block_without_what_goes_without_saying() -> None:
    with Memory() as memory:
        memory.remember(["My name is Dana.", "I'm lactose intolerant.", "I have asthma."], who="Dana")
        lines = memory.facts.profile("Dana").splitlines()
    assert lines[0] == "Dana"
    said = sorted(line.partition(" (since")[0] for line in lines[1:])
    assert said == ["- Dana has asthma", "- Dana is lactose intolerant"]
