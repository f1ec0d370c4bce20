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


def _read_world(fields: Mapping[str, Any], where: str) -> Case:
    records: dict[str, Draft] = {}
    for at, record in enumerate(list_in(fields, "records", where), 1):
        draft = _read_record(table_in(record, f"{where}, record {at}"), f"{where}, record {at}")
        records[str(draft.id)] = draft
    answered: list[Question] = []
    unanswerable: list[Question] = []
    for at, question in enumerate(list_in(fields, "questions", where), 1):
        place = f"{where}, question {at}"
        asked = table_in(question, place)
        read = _read_question(asked, at, records, place)
        if asked.get("none"):
            unanswerable.append(read)
        else:
            answered.append(read)
    return Case(
        scope=text_in(fields, "world", where),
        records=tuple(records.values()),
        questions=tuple(answered),
        unanswerable=tuple(unanswerable),
    )


def _read_record(fields: Mapping[str, Any], where: str) -> Draft:
    text, who, kind = (
        maybe_text(fields, "text", where),
        maybe_text(fields, "who", where),
        maybe_kind(fields, where),
    )
    if "content" in fields:
        text, who = text_in(fields, "content", where), who or maybe_text(fields, "role", where)
        kind = kind or Kind.MESSAGE
    return Draft(
        id=text_in(fields, "id", where),
        text=text,
        data=fields.get("data"),
        who=who,
        kind=kind,
        session=maybe_text(fields, "session", where),
        occurred=maybe_time(fields, "occurred", where),
    )


def _read_question(fields: Mapping[str, Any], at: int, records: Mapping[str, Draft], where: str) -> Question:
    gold: list[str] = []
    for name in ("gold", "also"):
        if name in fields:
            gold += texts_in(fields, name, where)
    return Question(
        id=f"question {at}",
        text=text_in(fields, "q", where),
        gold=tuple(dict.fromkeys(gold)),
        sessions=sessions_of([id for id in gold if id in records], records),
        category=maybe_text(fields, "category", where),
        asked=maybe_time(fields, "now", where),
    )
