"""Reads cases from a file, whose format is detected from its content."""

from __future__ import annotations

import gzip
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from .. import BadInput, Draft, Scope
from .cases import Case, Question, check_cases, sessions_of
from .json_fields import json_of, list_in, table_in, text_in, texts_in, time_of
from .lines import read_line_cases

_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")


def read_cases(
    file: str | Path,
    *,
    roles: Sequence[str] = ("user",),
    sessions: int = 50,
    seed: int = 0,
) -> list[Case]:
    """Reads the cases of a LoCoMo, LongMemEval or JSON-lines file, plain or gzipped, and checks them.

    `roles` (whose turns are remembered) and `sessions` (the size of a haystack that is made from evidence
    alone) are for LongMemEval; `seed` decides which sessions share a haystack.
    """
    name, text = Path(file).name, _content(Path(file))
    whole = None if _is_lines(text) else json_of(text, name)
    match _format_of(whole, name):
        case "locomo":
            cases = list(_read_locomo(_as_list(whole, name), name))
        case "longmemeval":
            listed = _as_list(whole, name)
            cases = list(_read_longmemeval(listed, name, roles=roles, sessions=sessions, seed=seed))
        case _:
            cases = list(read_line_cases(text, name))
    check_cases(cases)
    return cases


def _content(file: Path) -> str:
    try:
        content = file.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(f"{file} is a damaged gzip file: {error}") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None


def _is_lines(text: str) -> bool:
    """Returns whether the first line is an object by itself, with a type or with more lines after it."""
    first, _, rest = text.strip().partition("\n")
    alone = first.startswith("{") and first.rstrip().endswith("}")
    return alone and ('"type"' in first or '"world"' in first or bool(rest))


def _format_of(whole: Any, name: str) -> str:
    if whole is None:
        return "jsonl"
    first = whole[0] if isinstance(whole, list) and whole else whole
    if isinstance(first, dict):
        if "conversation" in first:
            return "locomo"
        if "haystack_sessions" in first:
            return "longmemeval"
    raise BadInput(
        f"{name} is neither LoCoMo (objects with conversation and qa), nor LongMemEval (objects with "
        'haystack_sessions), nor lines of {"type": "record" | "question", …} or {"world": …}'
    )


def _as_list(whole: Any, name: str) -> list[Any]:
    """Returns the list in a file; a file of one object is a list of one."""
    return [whole] if isinstance(whole, dict) else list_in({"the file": whole}, "the file", name)


# LoCoMo: conversations of two people over many sessions, one scope each.


def _read_locomo(samples: list[Any], file: str) -> Iterator[Case]:
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
    """Yields the messages, one second apart so that their order is kept."""
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
    """Yields the questions, asked at the time of the last turn. Evidence that names no turn is not gold."""
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
    """Lists the turns named, each once, also in marks such as "D8:6; D9:17", "D:11:26" and "D30:05"."""
    found = _EVIDENCE.findall(" ".join(marks))
    return list(dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in found))


def _category(number: Any, where: str) -> str:
    if isinstance(number, bool) or number not in _CATEGORIES:
        raise BadInput(f"{where}: category must be a number from 1 to 5, not {number!r}")
    return _CATEGORIES[number]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chat:
    """One session as drafts of the chosen roles."""

    id: str
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One question with its own sessions."""

    question: Question
    chats: Mapping[str, _Chat]

    @property
    def full(self) -> bool:
        """Whether there are sessions besides the evidence."""
        return not self.chats.keys() <= set(self.question.sessions)


# LongMemEval: questions of one user about long chat histories. A file with full haystacks becomes one scope
# per question. A file with evidence alone becomes pools: each has the evidence of several questions, filled
# up with that of others to the size of a haystack.


def _read_longmemeval(
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
    """Groups questions as long as their sessions fit, and fills up each pool with sessions of others."""
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
    """Returns the session as messages, one second apart, and the ids of those with the answer."""
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
