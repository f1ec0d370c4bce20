"""Questions that are saved from the dashboard become a file that `eidet eval` reads."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from eidet import BadInput, Memory
from eidet.eval import read_cases
from eidet.eval.cases import Question
from eidet.eval.lines import save_question


def make_question(text: str, *gold: str) -> Question:
    return Question(id=text, text=text, gold=gold, asked=1_790_000_000.0)


def test_a_file_holds_the_questions_of_several_scopes_and_is_private(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    with Memory() as memory:
        ann = memory.remember("Ann lives in Lisbon.", scope="ann", who="Ben", session="s1")
        bob = memory.remember("Bob lives in Oslo.", scope="bob")
        assert save_question(file, "ann", [ann], make_question("Where does Ann live?", ann.id)) == 1
        assert save_question(file, "bob", [bob], make_question("Where does Bob live?", bob.id)) == 1
        assert save_question(file, "ann", [ann], make_question("Where is Ann?", ann.id)) == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    cases = {case.scope: case for case in read_cases(file)}
    assert [question.text for question in cases["ann"].questions] == ["Where does Ann live?", "Where is Ann?"]
    assert cases["ann"].questions[0].sessions == ("s1",)
    assert [draft.text for draft in cases["bob"].records] == ["Bob lives in Oslo."]
    assert list(tmp_path.iterdir()) == [file]


def test_the_same_question_again_replaces_its_gold(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    with Memory() as memory:
        one, other = memory.remember("Ann lives in Lisbon."), memory.remember("Ann moved to Faro.")
        save_question(file, "default", [one, other], make_question("Where does Ann live?", one.id))
        save_question(file, "default", [one, other], make_question("Where does Ann live?", other.id))
    ((question,),) = (case.questions for case in read_cases(file))
    assert question.gold == (other.id,)


def test_questions_whose_answer_was_forgotten_leave_the_set(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    with Memory() as memory:
        one, other = memory.remember("Ann lives in Lisbon."), memory.remember("Ann has two cats.")
        save_question(file, "default", [one, other], make_question("Where does Ann live?", one.id))
        assert save_question(file, "default", [other], make_question("How many cats?", other.id)) == 1
    assert "Lisbon" not in file.read_text()


def test_gold_must_be_a_record_of_the_scope(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="must be a record of scope default"):
        save_question(tmp_path / "set.jsonl", "default", [], make_question("Where?", "nowhere"))
    assert not list(tmp_path.iterdir())
