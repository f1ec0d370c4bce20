"""LongMemEval: questions of one user about long chat histories.

A file with full haystacks gives one scope per question. A file with the evidence alone gives pools:
each holds the evidence of several questions, filled up with that of others to the size of a haystack.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from .. import BadInput, Draft, Scope
from .cases import Case, Question
from .json_fields import list_in, table_in, text_in, texts_in, time_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chat:
    """One session as drafts, of the roles that were asked for."""

    id: str
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One question with its own sessions."""

    question: Question
    chats: Mapping[str, _Chat]

    @property
    def full(self) -> bool:
        """Whether there is more than the evidence."""
        return not self.chats.keys() <= set(self.question.sessions)


def read_longmemeval(
    questions: list[Any], file: str, *, roles: Sequence[str], sessions: int, seed: int
) -> Iterator[Case]:
    _check(roles, sessions)
    items = [_item(given, f"{file}, question {at}", roles) for at, given in enumerate(questions, 1)]
    kept = [item for item in items if _why_not(item) is None]
    left_out = Counter(why for item in items if (why := _why_not(item)))
    if any(item.full for item in items):
        pools = [([item], list(item.chats.values()), item.question.id) for item in kept]
    else:
        pools = list(_pools(kept, items, sessions, random.Random(seed)))  # noqa: S311
    for at, (asked, chats, scope) in enumerate(pools):
        yield Case(
            scope=Scope.of(scope).path,
            records=tuple(chain.from_iterable(chat.drafts for chat in chats)),
            questions=tuple(item.question for item in asked),
            left_out={} if at else left_out,
        )


def _check(roles: Sequence[str], sessions: int) -> None:
    if unknown := set(roles) - {"user", "assistant"} or (not roles and {""}):
        raise BadInput(f"roles must be user, assistant or both, not {min(unknown)!r}")
    if sessions < 1:
        raise BadInput(f"a haystack has at least 1 session, not {sessions}")


def _why_not(item: _Item) -> str | None:
    if item.question.id.endswith("_abs"):
        return "abstention"
    if item.question.gold:
        return None
    return "without gold"


def _pools(
    kept: list[_Item], items: list[_Item], sessions: int, chance: random.Random
) -> Iterator[tuple[list[_Item], list[_Chat], str]]:
    """Questions share a pool while their sessions fit; those of others fill it up."""
    every: dict[str, _Chat] = {}
    for item in items:
        every |= item.chats
    waiting = chance.sample(kept, len(kept))
    number = 0
    while waiting:
        asked, held, number = list[_Item](), dict[str, _Chat](), number + 1
        while waiting and (not asked or len(held.keys() | waiting[-1].chats.keys()) <= sessions):
            asked.append(waiting.pop())
            held |= asked[-1].chats
        others = sorted(every.keys() - held.keys())
        for id in chance.sample(others, min(len(others), max(0, sessions - len(held)))):
            held[id] = every[id]
        yield asked, list(held.values()), f"pool-{number}"


def _item(given: Any, where: str, roles: Sequence[str]) -> _Item:
    fields = table_in(given, where)
    ids, dates = texts_in(fields, "haystack_session_ids", where), texts_in(fields, "haystack_dates", where)
    turns = list_in(fields, "haystack_sessions", where)
    if not len(ids) == len(dates) == len(turns):
        raise BadInput(f"{where}: haystack_sessions, _session_ids and _dates differ in length")
    chats: dict[str, _Chat] = {}
    gold: list[str] = []
    for id, date, session in zip(ids, dates, turns, strict=True):
        if id not in chats:
            began = time_of(date, f"{where}: haystack_dates")
            chats[id], answers = _chat(id, began, session, f"{where}, session {id}", roles)
            gold += answers
    return _Item(question=_question(fields, where, gold), chats=chats)


def _question(fields: Mapping[str, Any], where: str, gold: list[str]) -> Question:
    return Question(
        id=text_in(fields, "question_id", where),
        text=text_in(fields, "question", where),
        gold=tuple(gold),
        sessions=tuple(dict.fromkeys(texts_in(fields, "answer_session_ids", where))),
        category=text_in(fields, "question_type", where),
        asked=time_of(text_in(fields, "question_date", where), f"{where}: question_date"),
    )


def _chat(id: str, began: float, turns: Any, where: str, roles: Sequence[str]) -> tuple[_Chat, list[str]]:
    """The session as messages, a second apart, and which of them have the answer."""
    if not isinstance(turns, list):
        raise BadInput(f"{where} is a list of turns")
    drafts, gold = [], []
    for at, turn in enumerate(turns):
        fields = table_in(turn, f"{where}, turn {at + 1}")
        role = text_in(fields, "role", f"{where}, turn {at + 1}")
        text = text_in(fields, "content", f"{where}, turn {at + 1}", blank=True)
        if role in roles and text.strip():
            drafts.append(_draft(id, at, role, text, began + at))
            if fields.get("has_answer") is True:
                gold.append(f"{id}:{at}")
    return _Chat(id=id, drafts=tuple(drafts)), gold


def _draft(session: str, at: int, role: str, text: str, occurred: float) -> Draft:
    return Draft(
        id=f"{session}:{at}", text=text, kind="message", who=role, session=session, occurred=occurred
    )
