"""Files become cases, or an error that names the place."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.unit.eval.made import lines, locomo, longmemeval, written

from eidet import BadInput, Draft
from eidet.eval import Case, Question, limit_questions, read_cases
from eidet.eval.cases import check_cases
from eidet.eval.json_fields import time_of


def local(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> float:
    return datetime(year, month, day, hour, minute).timestamp()  # noqa: DTZ001


def test_locomo_turns_are_messages_in_their_order(tmp_path: Path) -> None:
    (case,) = read_cases(written(tmp_path / "talk.json", locomo()))
    assert case.scope == "conv-1"
    assert [draft.id for draft in case.records] == ["D1:1", "D1:2", "D2:1", "D2:2"]
    assert [draft.who for draft in case.records] == ["Ida", "Olu", "Olu", "Ida"]
    assert {draft.kind for draft in case.records} == {"message"}
    assert case.records[1].text == "Lovely! [shares an image: a lighthouse in fog]"
    assert case.records[3].text == "[shares an image: a red canoe]"
    began = local(2023, 5, 8, 13, 56)
    assert [draft.occurred for draft in case.records[:2]] == [began, began + 1]
    assert [draft.session for draft in case.records] == ["session_1", "session_1", "session_2", "session_2"]


def test_locomo_questions_have_repaired_gold_and_others_are_counted(tmp_path: Path) -> None:
    (case,) = read_cases(written(tmp_path / "talk.json", locomo()))
    assert [(q.category, q.gold) for q in case.questions] == [
        ("single-hop", ("D1:1",)),
        ("multi-hop", ("D2:2", "D2:1", "D1:2")),
        ("temporal", ("D2:1",)),
    ]
    assert case.questions[1].sessions == ("session_2", "session_1")
    assert case.left_out == {"adversarial": 1, "without gold": 2}
    assert {q.asked for q in case.questions} == {case.records[-1].occurred}


def test_one_conversation_alone_is_read_too(tmp_path: Path) -> None:
    assert read_cases(written(tmp_path / "talk.json", locomo()[0])) == read_cases(
        written(tmp_path / "talks.json", locomo())
    )


def test_longmemeval_evidence_is_pooled_with_that_of_others(tmp_path: Path) -> None:
    file = written(tmp_path / "chats.json.gz", longmemeval(7))
    cases = read_cases(file, sessions=3)
    assert len(cases) == 2
    assert sorted(q.id for case in cases for q in case.questions) == [f"q{at}" for at in range(1, 7)]
    for case in cases:
        sessions = {draft.session for draft in case.records}
        assert len(sessions) == 3
        assert {session for q in case.questions for session in q.sessions} <= sessions
        assert {draft.who for draft in case.records} == {"user"}
    assert cases == read_cases(file, sessions=3)
    assert cases != read_cases(file, sessions=3, seed=5)
    assert cases[0].left_out == {"abstention": 1}


def test_a_pool_is_filled_up_with_sessions_of_others(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path / "chats.json", longmemeval(8)), sessions=5)
    assert [len(case.questions) for case in cases] == [5, 2]
    assert [len({draft.session for draft in case.records}) for case in cases] == [5, 5]
    (small,) = read_cases(written(tmp_path / "chats.json", longmemeval(3)), sessions=50)
    assert len({draft.session for draft in small.records}) == 3, "the abstention's too, and no more there are"


def test_full_haystacks_are_used_as_they_are(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path / "chats.json", longmemeval(3, extra=2)))
    assert [case.scope for case in cases] == ["q1", "q2"]
    assert [draft.session for draft in cases[0].records] == ["answer_1", "answer_1", "other_1_0", "other_1_1"]


def test_roles_decide_whose_turns_are_remembered(tmp_path: Path) -> None:
    file = written(tmp_path / "chats.json", longmemeval(2))
    (users,) = read_cases(file)
    assert users.questions[0].gold == ("answer_1:0",)
    (both,) = read_cases(file, roles=("user", "assistant"))
    assert both.questions[0].gold == ("answer_1:0", "answer_1:1")
    assert both.questions[0].asked == local(2023, 5, 30, 23, 40)
    (answers,) = read_cases(file, roles=("assistant",))
    assert answers.questions[0].gold == ("answer_1:1",)


def test_questions_whose_gold_nobody_of_the_roles_said_are_counted(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path / "chats.json", longmemeval(4)), roles=("assistant",))
    assert cases[0].left_out == {"abstention": 1, "without gold": 2}


def test_lines_of_ones_own(tmp_path: Path) -> None:
    ann, default = read_cases(written(tmp_path / "lines.jsonl", lines()))
    assert (ann.scope, default.scope) == ("ann", "default")
    assert ann.questions[0].sessions == ("s1",)
    assert ann.questions[0].category == "place"
    assert ann.left_out == {"without gold": 1}
    assert default.records[0].who == "Bob"
    assert default.records[0].occurred == local(2026, 5, 8)
    assert default.records[1].meta == {"x": 1}
    pears = default.questions[0]
    assert (pears.id, pears.gold, pears.sessions, pears.asked) == ("pears", ("d", "a"), (), 1_800_000_000)


def test_lines_may_have_separators_of_unicode_in_their_texts(tmp_path: Path) -> None:
    record = {"type": "record", "id": "a", "text": "one\u2028two\x85three"}
    file = tmp_path / "lines.jsonl"
    question = {"type": "question", "question": "two?", "gold": ["a"]}
    file.write_text("\ufeff" + json.dumps(record, ensure_ascii=False) + "\r\n\r\n" + json.dumps(question))
    assert read_cases(file)[0].records[0].text == "one\u2028two\x85three"


def _line(**changes: Any) -> list[dict[str, Any]]:
    return [{"type": "record", "id": "a", "text": "x", **changes}]


def _asked(**changes: Any) -> list[dict[str, Any]]:
    return [*_line(), {"type": "question", "question": "x?", "gold": ["a"], **changes}]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (_line(text=""), "line 1: text is empty"),
        (_line(text=7), "line 1: text must be a text, not a number"),
        (_line(id=None), "line 1: id must be a text, not null"),
        (_line(id="a\x07"), "line 1: an id must have 1 to 200 printable characters"),
        (_line(kind="rumour"), "line 1: unknown kind 'rumour'"),
        (_line(scope="a//b"), "line 1: scope 'a//b'"),
        (_line(scope=3), "line 1: a scope must be a string"),
        (_line(occurred="yesterday"), "line 1: occurred 'yesterday' is not an ISO 8601"),
        (_line(occurred=1e30), "line 1: occurred 1e+30 is outside"),
        (_line(meta=[1]), "line 1: meta must be an object with fields, not a list"),
        (_line(txet="x"), "line 1: a record has no field 'txet'"),
        (_line(type="fact"), 'line 1: type must be "record" or "question", not \'fact\''),
        ([{"id": "a", "text": "x"}, *_line()], 'line 1: type must be "record" or "question", not None'),
        (_line(data=float("nan")), "line 1 is not JSON: NaN is not a JSON number"),
        (_line(who="\ud800"), "line 1 has a lone surrogate"),
        (_line() + _asked(), "scope default: two records have the id 'a'"),
        (_asked(gold=["b"]), "scope default: the gold of question 'line 2' names 'b'"),
        (_asked(gold="a"), "line 2: gold must be a list, not a text"),
        (_asked(gold=[1]), "line 2: gold, item 1 must be a text, not a number"),
        (_asked(question=" "), "line 2: question is empty"),
        (_asked(scope="other"), "scope other: the gold of question 'line 2' names 'a'"),
        (_asked(id="q") + _asked(id="q")[1:], "scope default: two questions have the id 'q'"),
        (_asked(asked=True), "line 2: asked needs a number"),
        (_line(), "there are no questions"),
        ([7], "is neither LoCoMo"),
        ([*_line(), [1]], "line 2 must be an object with fields, not a list"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, content: list[Any], told: str) -> None:
    with pytest.raises(BadInput) as error:
        read_cases(written(tmp_path / "lines.jsonl", content))
    assert told in str(error.value)


def _talk(**changes: Any) -> list[dict[str, Any]]:
    sample = locomo()[0]
    sample["conversation"] |= changes
    return [sample]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (_talk(session_1="hello"), "conversation 1: session_1 must be a list, not a text"),
        (_talk(session_1_date_time="soon"), "conversation 1: session_1_date_time: 'soon' is not a time"),
        (_talk(session_1_date_time="1:56 pm on 38 May, 2023"), "is not a time"),
        (_talk(session_4=[{"text": "x"}]), "the field session_4_date_time is missing"),
        (_talk(session_1=[{"text": "x", "speaker": "y"}]), "session_1, turn 1: the field dia_id is missing"),
        (_talk(session_1=[7]), "session_1, turn 1 must be an object with fields, not a number"),
        (
            [locomo()[0] | {"qa": [{"category": 9}]}],
            "question 1: category must be a number from 1 to 5, not 9",
        ),
        ([locomo()[0] | {"qa": [{"category": 1}]}], "question 1: the field evidence is missing"),
        ([locomo()[0] | {"qa": 1}], "conversation 1: qa must be a list"),
        (locomo() * 2, "two cases have the scope 'conv-1'"),
        ([longmemeval()[1] | {"haystack_dates": []}], "differ in length"),
        ([longmemeval()[1] | {"question_date": "now"}], "question 1: question_date: 'now' is not a time"),
        ([longmemeval()[1] | {"haystack_sessions": [3]}], "session answer_1 is a list of turns"),
        ([longmemeval()[1] | {"haystack_sessions": [[{"role": "user"}]]}], "turn 1: the field content is"),
        ([{"what": "else"}], "neither LoCoMo"),
        ([], "neither LoCoMo"),
        (None, "line 1 must be an object with fields, not null"),
    ],
)
def test_bad_documents_are_named(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(BadInput) as error:
        read_cases(written(tmp_path / "talk.json", content))
    assert told in str(error.value)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_cases(tmp_path / "missing.json")
    (tmp_path / "cut.json").write_text('[{"conversation": {')
    with pytest.raises(BadInput, match=r"cut\.json is not JSON"):
        read_cases(tmp_path / "cut.json")
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(BadInput, match="damaged gzip"):
        read_cases(tmp_path / "cut.gz")
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(BadInput, match="not UTF-8"):
        read_cases(tmp_path / "latin.json")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(BadInput, match="not JSON"):
        read_cases(tmp_path / "deep.json")


@pytest.mark.parametrize("given", [{"roles": ("user", "system")}, {"roles": ()}, {"sessions": 0}])
def test_settings_that_make_no_sense_are_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        read_cases(written(tmp_path / "chats.json", longmemeval()), **given)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("1:56 pm on 8 May, 2023", (2023, 5, 8, 13, 56)),
        ("12:09 am on 13 September, 2023", (2023, 9, 13, 0, 9)),
        ("12:30 pm on 1 January,2022", (2022, 1, 1, 12, 30)),
        ("2023/05/20 (Sat) 02:21", (2023, 5, 20, 2, 21)),
    ],
)
def test_times_are_local(text: str, when: tuple[int, int, int, int, int]) -> None:
    assert time_of(text, "here") == local(*when)


def test_some_questions_are_drawn_the_same_for_a_seed(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path / "chats.json", longmemeval(9)), sessions=4)
    drawn = limit_questions(cases, 3, seed=1)
    assert sum(len(case.questions) for case in drawn) == 3
    assert [case.records for case in drawn] == [case.records for case in cases]
    assert drawn == limit_questions(cases, 3, seed=1)
    assert sum(case.left_out.get("not drawn", 0) for case in drawn) == 5
    assert limit_questions(cases, 99) == cases
    with pytest.raises(BadInput):
        limit_questions(cases, 0)


def test_cases_made_by_hand_are_checked() -> None:
    question = Question(id="q", text="x?", gold=("a",))
    with pytest.raises(BadInput, match="needs an id"):
        check_cases([Case(scope="s", records=(Draft(text="x"),), questions=(question,))])
    with pytest.raises(BadInput, match="names 'a', not a record of it"):
        check_cases([Case(scope="s", records=(Draft(id="b", text="x"),), questions=(question,))])
    empty = Question(id="q", text="x?", gold=())
    with pytest.raises(BadInput, match="is empty"):
        check_cases([Case(scope="s", records=(Draft(id="b", text="x"),), questions=(empty,))])
    with pytest.raises(BadInput, match="two records have the id 'a'"):
        check_cases([Case(scope="s", records=(Draft(id="a", text="x"),) * 2, questions=(question,))])
