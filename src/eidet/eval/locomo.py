"""LoCoMo: conversations of two people over many sessions, one scope each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .. import BadInput, Draft, Scope
from .cases import Case, Question, sessions_of
from .json_fields import list_in, table_in, text_in, texts_in, time_of

_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")


def read_locomo(samples: list[Any], file: str) -> Iterator[Case]:
    for at, sample in enumerate(samples, 1):
        yield _case(table_in(sample, f"{file}, conversation {at}"), f"{file}, conversation {at}", at)


def _case(sample: Mapping[str, Any], where: str, at: int) -> Case:
    scope = str(sample.get("sample_id") or f"conversation-{at}")
    Scope.of(scope)
    conversation = table_in(sample.get("conversation"), f"{where}: conversation")
    records = {str(draft.id): draft for draft in _turns(conversation, where)}
    last = max((float(draft.occurred) for draft in records.values()), default=None)  # type: ignore[arg-type]
    left_out: Counter[str] = Counter()
    questions = tuple(_questions(list_in(sample, "qa", where), records, last, where, left_out))
    return Case(scope=scope, records=tuple(records.values()), questions=questions, left_out=left_out)


def _turns(conversation: Mapping[str, Any], where: str) -> Iterator[Draft]:
    """Messages, one second after another so that their order is kept."""
    numbers = sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name)))
    for session in (f"session_{number}" for number in numbers):
        place, turns = f"{where}, {session}", list_in(conversation, session, where)
        if turns:
            began = time_of(
                text_in(conversation, f"{session}_date_time", where), f"{where}: {session}_date_time"
            )
            for at, turn in enumerate(turns):
                yield from _turn(turn, session, began + at, f"{place}, turn {at + 1}")


def _turn(turn: Any, session: str, occurred: float, where: str) -> Iterator[Draft]:
    fields = table_in(turn, where)
    text, seen = text_in(fields, "text", where, blank=True), fields.get("blip_caption")
    whole = f"{text} [shares an image: {seen}]".lstrip() if seen else text
    if whole.strip():
        yield Draft(
            id=text_in(fields, "dia_id", where),
            text=whole,
            kind="message",
            who=text_in(fields, "speaker", where),
            session=session,
            occurred=occurred,
        )


def _questions(
    asked: list[Any], records: Mapping[str, Draft], last: float | None, where: str, left_out: Counter[str]
) -> Iterator[Question]:
    """Asked when the last turn was said. Evidence that names no turn cannot be found and is no gold."""
    for at, given in enumerate(asked, 1):
        place = f"{where}, question {at}"
        fields = table_in(given, place)
        category = _category(fields.get("category"), place)
        gold = [id for id in _evidence(texts_in(fields, "evidence", place)) if id in records]
        if category == "adversarial" or not gold:
            left_out["adversarial" if category == "adversarial" else "without gold"] += 1
            continue
        yield Question(
            id=str(at),
            text=text_in(fields, "question", place),
            gold=tuple(gold),
            sessions=sessions_of(gold, records),
            category=category,
            asked=last,
        )


def _evidence(marks: list[str]) -> list[str]:
    """The turns meant, each once, also from marks such as "D8:6; D9:17", "D:11:26" and "D30:05"."""
    found = _EVIDENCE.findall(" ".join(marks))
    return list(dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in found))


def _category(number: Any, where: str) -> str:
    if isinstance(number, bool) or number not in _CATEGORIES:
        raise BadInput(f"{where}: category must be a number from 1 to 5, not {number!r}")
    return _CATEGORIES[number]
