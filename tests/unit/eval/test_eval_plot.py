"""The report as a picture, and the questions that were answered worst."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from eidet import Draft
from eidet.core.errors import BadInput
from eidet.eval import Case, Question, Variant, draw, evaluate

NASTY = "_$x^{2 </text> \x1b[31m"


def test_runs_categories_and_odd_names_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    records = tuple(Draft(id=f"r{at}", text=f"The {at}th boat is called Plover {at}.") for at in range(12))
    questions = tuple(
        Question(id=f"q{at}", text=f"Plover {at}", gold=(f"r{at}",), category=NASTY if at % 2 else "boats")
        for at in range(11)
    )
    case = Case(scope="harbour", records=records, questions=questions)
    report = evaluate([case], Variant(embedder="hashing"), against=[Variant(embedder="hashing:8")], depth=10)
    picture = tmp_path / "report.svg"
    draw(report, picture)
    ET.parse(picture)
    with pytest.raises(BadInput, match="cannot be drawn"):
        draw(report, tmp_path / "report.nonsense")


def test_one_question_about_one_record_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    question = Question(id="q", text="kiln", gold=("a",))
    case = Case(scope="s", records=(Draft(id="a", text="kiln"),), questions=(question,))
    report = evaluate([case], Variant(embedder="hashing"), depth=1, budgets=())
    draw(report, tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000
    assert report.find_worst(3) == []


def test_the_worst_questions_come_in_turn_from_each_category() -> None:
    records = (Draft(id="a", text="The kiln is hot."), Draft(id="b", text="A barge passed."))
    asked = [("1", "a", "x"), ("2", "b", "x"), ("3", "b", "x"), ("4", "b", "x"), ("5", "b", "y")]
    questions = tuple(Question(id=id, text="kiln", gold=(gold,), category=of) for id, gold, of in asked)
    case = Case(scope="s", records=records, questions=questions)
    report = evaluate([case], Variant(embedder="hashing"), depth=1, budgets=())
    assert [answer.question.id for answer in report.find_worst(3)] == ["2", "5", "3"]
    assert [answer.question.id for answer in report.find_worst(9)] == ["2", "5", "3", "4"], (
        "1 is answered well"
    )
