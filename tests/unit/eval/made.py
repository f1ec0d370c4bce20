"""Small files of the shapes that `eidet eval` reads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def locomo() -> list[dict[str, Any]]:
    return [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ida",
                "speaker_b": "Olu",
                "session_2_date_time": "9:05 am on 12 June, 2023",
                "session_2": [
                    {"speaker": "Olu", "dia_id": "D2:1", "text": "The violin is repaired at last."},
                    {"speaker": "Ida", "dia_id": "D2:2", "text": "", "blip_caption": "a red canoe"},
                ],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "Ida", "dia_id": "D1:1", "text": "I adopted a greyhound called Comet."},
                    {
                        "speaker": "Olu",
                        "dia_id": "D1:2",
                        "text": "Lovely!",
                        "blip_caption": "a lighthouse in fog",
                    },
                ],
                "session_3_date_time": "12:00 am on 1 July, 2023",
            },
            "qa": [
                {"question": "What is the greyhound called?", "evidence": ["D1:1"], "category": 4},
                {"question": "Canoe and violin?", "evidence": ["D2:2; D2:01", "D:1:2"], "category": 1},
                {"question": "Who never came?", "evidence": ["D1:1"], "category": 5},
                {"question": "Nothing to go by?", "evidence": [], "category": 2},
                {"question": "Gold that is not there?", "evidence": ["D9:9"], "category": 3},
                {"question": "When was the violin repaired?", "evidence": ["D2:1"], "category": 2},
            ],
        }
    ]


def longmemeval(count: int = 6, extra: int = 0) -> list[dict[str, Any]]:
    """Questions with one evidence session each, and `extra` sessions that are none."""
    return [_question(at, extra) for at in range(count)]


def _question(at: int, extra: int) -> dict[str, Any]:
    answer = f"answer_{at}"
    ids = [answer, *(f"other_{at}_{n}" for n in range(extra))]
    turns = [
        [
            {"role": "user", "content": f"My locker number is {at}{at}{at}.", "has_answer": True},
            {"role": "assistant", "content": f"Noted, {at}.", "has_answer": at == 1},
            {"role": "user", "content": "Thank you!"},
        ],
        *([{"role": "user", "content": f"The weather is fine on day {n}."}] for n in range(extra)),
    ]
    return {
        "question_id": f"q{at}" + ("_abs" if at == 0 else ""),
        "question_type": "single-session-user" if at % 2 else "multi-session",
        "question": f"What is my locker number {at}{at}{at}?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * len(ids),
        "haystack_session_ids": ids,
        "haystack_sessions": turns,
        "answer_session_ids": [answer],
    }


def lines() -> list[dict[str, Any]]:
    """Two scopes whose records have the same ids, one of them without categories and sessions."""
    return [
        {"type": "record", "id": "a", "text": "Ann lives in Lisbon.", "scope": "ann", "session": "s1"},
        {"type": "record", "id": "b", "text": "She restores oak tables.", "scope": "ann", "session": "s2"},
        {"type": "record", "id": "c", "text": "Her brother sails to Madeira.", "scope": "ann"},
        {
            "type": "question",
            "question": "Where in Lisbon?",
            "gold": ["a"],
            "scope": "ann",
            "category": "place",
        },
        {"type": "question", "question": "oak tables", "gold": ["b"], "scope": "ann", "category": "craft"},
        {"type": "question", "question": "Unknown?", "gold": [], "scope": "ann"},
        {
            "type": "record",
            "id": "a",
            "text": "Bob grows pears in Lisbon.",
            "who": "Bob",
            "occurred": "2026-05-08",
        },
        {"type": "record", "id": "d", "text": "Pears sell well.", "kind": "message", "meta": {"x": 1}},
        {
            "type": "question",
            "question": "pears and Lisbon sell",
            "gold": ["d", "a"],
            "asked": 1_800_000_000,
            "id": "pears",
        },
    ]


def written(path: Path, content: Any) -> Path:
    """A list of lines for `.jsonl`, else one JSON document; gzipped for `.gz`."""
    if path.name.startswith("lines"):
        text = "\n".join(json.dumps(line) for line in content) + "\n"
    else:
        text = json.dumps(content)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path
