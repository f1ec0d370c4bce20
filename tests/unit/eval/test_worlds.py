"""Worlds: memories with questions, some of which nothing answers, and what scores are worth then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eidet import BadInput
from eidet.eval import Variant, evaluate, read_cases
from eidet.eval.ranking_metrics import score_figures

HOME: dict[str, Any] = {
    "world": "home",
    "records": [
        {"id": "a", "text": "The gate code is 7731.", "occurred": "2026-05-04T10:00:00Z"},
        {"id": "b", "role": "user", "content": "I sold the oak table.", "session": "s"},
        {"id": "c", "data": {"robot": "R4", "battery": 0.9}, "kind": "state"},
    ],
    "questions": [
        {"q": "What is the gate code?", "now": "2026-06-01T10:00:00Z", "gold": ["a"], "category": "codes"},
        {"q": "Which table did I sell?", "gold": [], "also": ["b"]},
        {"q": "Who won the yacht race in Sydney?", "none": True, "gold": []},
    ],
}


def write_worlds(path: Path, *worlds: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(world) for world in worlds))
    return path


def test_a_world_is_read_with_what_answers_and_what_nothing_answers(tmp_path: Path) -> None:
    (case,) = read_cases(write_worlds(tmp_path / "w.jsonl", HOME))
    assert (case.scope, len(case.records)) == ("home", 3)
    assert [question.gold for question in case.questions] == [("a",), ("b",)]
    assert [question.text for question in case.unanswerable] == ["Who won the yacht race in Sydney?"]
    message = case.records[1]
    assert (message.text, message.who, message.kind) == ("I sold the oak table.", "user", "message")
    assert case.records[2].data == {"robot": "R4", "battery": 0.9}


def test_what_the_scores_are_worth_is_among_the_figures(tmp_path: Path) -> None:
    report = evaluate(read_cases(write_worlds(tmp_path / "w.jsonl", HOME)), Variant(embedder="hashing"))
    assert report["hit@1"].value == 1
    assert report["AUROC"].value == 1
    assert report["right-AUROC"].value == 1
    assert 0.5 < report["calibration"].value <= 1
    assert report["AUROC"].questions == 3


def test_a_world_that_is_wrong_is_refused_with_its_place(tmp_path: Path) -> None:
    broken = {**HOME, "records": [{"text": "no id"}]}
    with pytest.raises(BadInput, match=r"w\.jsonl, line 2, record 1: id is missing|line 2, record 1.*id"):
        read_cases(write_worlds(tmp_path / "w.jsonl", HOME, broken))


@pytest.mark.parametrize(
    ("answered", "unanswerable", "auroc"),
    [([0.9, 0.8], [0.1, 0.2], 1), ([0.1], [0.9], 0), ([0.5, 0.9], [0.5, 0.1], 3.5 / 4)],
)
def test_auroc_is_the_share_of_pairs_in_order(
    answered: list[float], unanswerable: list[float], auroc: float
) -> None:
    told = score_figures(answered, [True] * len(answered), unanswerable)
    assert told["right-AUROC"] == pytest.approx(auroc)


def test_a_score_that_says_what_happens_has_no_calibration_error() -> None:
    right = [True, False, True, True]
    assert score_figures([0.75] * 4, right, [])["calibration"] == 1
    assert score_figures([1.0] * 4, right, [])["calibration"] == pytest.approx(0.75)


def test_figures_that_cannot_be_told_are_left_out() -> None:
    assert set(score_figures([0.9], [True], [])) == {"calibration"}
    assert score_figures([], [], []) == {}
