"""Worlds: a memory and its questions on each line, some of which nothing answers.

{"world": "home", "records": [{"id", "text" | "role" and "content" | "data", "kind"?, "who"?, "session"?,
"occurred"?}, …], "questions": [{"q", "now"?, "gold": [ids], "also"?: [ids], "none"?: true, "category"?}, …]}

Any record of `gold` or `also` answers a question. A question with `none` has no answer: the score of what is
found for it tells whether scores can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .. import Draft, Kind
from .cases import Case, Question, sessions_of
from .json_fields import json_of, list_in, table_in, text_in, texts_in
from .lines import maybe_kind, maybe_text, maybe_time

FIRST_FIELDS: Final = ("world", "records", "questions")


def is_world(first_line: str) -> bool:
    return all(f'"{name}"' in first_line for name in FIRST_FIELDS)


def read_worlds(text: str, file: str) -> Iterator[Case]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{file}, line {number}"
            yield _read_world(table_in(json_of(line, where), where), where)


def _read_world(said: Mapping[str, Any], where: str) -> Case:
    records: dict[str, Draft] = {}
    for at, record in enumerate(list_in(said, "records", where), 1):
        draft = _read_record(table_in(record, f"{where}, record {at}"), f"{where}, record {at}")
        records[str(draft.id)] = draft
    answered: list[Question] = []
    unanswerable: list[Question] = []
    for at, question in enumerate(list_in(said, "questions", where), 1):
        place = f"{where}, question {at}"
        asked = table_in(question, place)
        read = _read_question(asked, at, records, place)
        if asked.get("none"):
            unanswerable.append(read)
        else:
            answered.append(read)
    return Case(
        scope=text_in(said, "world", where),
        records=tuple(records.values()),
        questions=tuple(answered),
        unanswerable=tuple(unanswerable),
    )


def _read_record(said: Mapping[str, Any], where: str) -> Draft:
    text, who, kind = maybe_text(said, "text", where), maybe_text(said, "who", where), maybe_kind(said, where)
    if "content" in said:
        text, who = text_in(said, "content", where), who or maybe_text(said, "role", where)
        kind = kind or Kind.MESSAGE
    return Draft(
        id=text_in(said, "id", where),
        text=text,
        data=said.get("data"),
        who=who,
        kind=kind,
        session=maybe_text(said, "session", where),
        occurred=maybe_time(said, "occurred", where),
    )


def _read_question(said: Mapping[str, Any], at: int, records: Mapping[str, Draft], where: str) -> Question:
    gold: list[str] = []
    for name in ("gold", "also"):
        if name in said:
            gold += texts_in(said, name, where)
    return Question(
        id=f"question {at}",
        text=text_in(said, "q", where),
        gold=tuple(dict.fromkeys(gold)),
        sessions=sessions_of([id for id in gold if id in records], records),
        category=maybe_text(said, "category", where),
        asked=maybe_time(said, "now", where),
    )
