"""The rebuilt sets of LMEB: each is read from its own files, and counted by category."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.reference import ROOT


@pytest.fixture
def lmeb(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "bench" / "lmeb"))
    return {name: import_module(name) for name in ("originals", "measure", "search_model")}


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def say(field: str, date: str | None = None) -> list[dict[str, str]]:
    texts = [("Ann", "My cat is called Tofu."), ("Ben", "I sold my boat in Porto."), ("Ann", "Good night.")]
    turns = [{"dia_id": f"D1:{at}", "speaker": who, field: text} for at, (who, text) in enumerate(texts, 1)]
    return [turn | ({"date_time": date} if date else {}) for turn in turns]


BEGAN = {"session_1_date_time": "1:56 pm on 8 May, 2023"}
ASKED = [
    {"question": "What is the cat of Ann called?", "evidence": ["D:1:01"], "category": 1},
    {"question": "Who sold a boat?", "evidence": ["D1:2; D9:9"], "category": 3},
    {"question": "Nothing answers this.", "evidence": [], "category": 1},
]
SETS: dict[str, dict[str, Any]] = {
    "LoCoMo": {"locomo10.json": [{"conversation": {"session_1": say("text"), **BEGAN}, "qa": ASKED}]},
    "REALTALK": {
        "data/Chat_1.json": {"session_1": say("clean_text", "29.12.2023, 22:42:04"), **BEGAN, "qa": ASKED}
    },
    "KnowMeBench": {
        "dataset1/input/dataset1.json": [
            {"id": 1, "timestamp": "1896-12-21 00:42:47", "location": "Home", "action": "My cat is Tofu."},
            {"id": 2, "timestamp": "", "location": "Porto", "dialogue": "I sold my boat."},
        ],
        "dataset1/question/Information Extraction_questions.json": [
            {"id": 1, "question": "Whose cat is Tofu?"}
        ],
        "dataset1/answer/Information Extraction_answers.json": [{"id": 1, "evidence": [1]}],
        "dataset1/question/Mind-Body Interaction_questions.json": [{"id": 1, "question": "Who sold a boat?"}],
        "dataset1/answer/Mind-Body Interaction_answers.json": [{"id": 1, "evidence": 2}],
        "dataset1/question/Logical Event Ordering_questions.json": [{"id": 1, "question": "In which order?"}],
        "dataset1/answer/Logical Event Ordering_answers.json": [{"id": 1}],
    },
    "TMD": {
        "ConversationData/26.json": {
            "session_1": say("text", "01:56:04 AM on Monday 08 May, 2023"),
            **BEGAN,
        },
        "TestData/time_qs/test_dates.json": {
            "file_26": [{"questions": ["What did we discuss on May 8th?"], "relevant_docs": [0, 1, 2]}]
        },
        "TestData/content_time_qs/content_time_qs.json": {
            "file_26": [{"questions": ["Who sold a boat?"], "relevant_docs": [1]}]
        },
    },
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_rebuilt_from_its_files_and_counted_by_category(
    name: str, lmeb: dict[str, ModuleType], tmp_path: Path
) -> None:
    found = lmeb["originals"].read_sets(write(tmp_path, SETS[name]))
    assert list(found) == [name]
    for way in lmeb["measure"].WAYS:
        figures = lmeb["measure"].measure_set(found[name], way=way, embedder="hashing:64")
        assert len(figures) == 2
        assert all(count == 1 for _, _, count in figures.values())
        assert all(0 <= ndcg <= 1 and 0 <= recall <= 1 for ndcg, recall, _ in figures.values())
    assert lmeb["measure"].mean_of(figures)[1] == 1.0  # with fields, all of it is found among ten


def test_a_search_model_answers_among_the_candidates_of_each_query(lmeb: dict[str, ModuleType]) -> None:
    model = lmeb["search_model"].EidetSearch("hashing:64")
    corpus = [
        {"id": "a", "title": "Pets", "text": "My cat is called Tofu."},
        {"id": "b", "text": "My cat is called Miso."},
        {"id": "c", "text": "I sold my boat."},
    ]
    queries = [{"id": "one", "text": "What is my cat called?"}, {"id": "two", "text": "boat"}]
    model.index(corpus, task_metadata=None, hf_split="test", hf_subset="x", encode_kwargs={}, num_proc=None)
    found = model.search(queries, top_k=3, top_ranked={"one": ["b", "c"], "two": ["a", "b", "c"]})
    assert max(found["one"], key=found["one"].get) == "b"
    assert "a" not in found["one"]
    assert max(found["two"], key=found["two"].get) == "c"
    assert set(model.search(queries[:1], top_k=1)["one"]) <= {"a", "b"}
