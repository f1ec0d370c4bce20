"""A user's own data: JSON lines, each a record or a question.

{"type": "record", "id": "a", "text": "…", "scope"?, "who"?, "session"?, "occurred"?, "kind"?, …}
{"type": "question", "question": "…", "gold": ["a"], "scope"?, "category"?, "asked"?, "id"?}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .. import BadInput, Draft, Kind, Scope
from ..core.validate import moment
from .cases import Case, Question, sessions_of
from .json_fields import json_of, table_in, text_in, texts_in

_RECORD: Final = {"type", "scope", "id", "text", "who", "session", "occurred", "kind", "data", "meta"}
_QUESTION: Final = {"type", "scope", "question", "gold", "category", "asked", "id"}
_LONGEST: Final = {"text": 1_000_000, "id": 200, "who": 1000, "session": 1000}


@dataclass(slots=True)
class _Gathered:
    """What the lines say of one scope, with the line of each."""

    records: dict[str, Draft] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    questions: dict[str, tuple[Question, str]] = field(default_factory=dict)


def read_line_cases(text: str, file: str) -> Iterator[Case]:
    scopes: dict[str, _Gathered] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{file}, line {number}"
            _add(scopes, table_in(json_of(line, where), where), number, where)
    for scope, gathered in scopes.items():
        yield _case(scope, gathered)


def _add(scopes: dict[str, _Gathered], fields: Mapping[str, Any], number: int, where: str) -> None:
    kind = fields.get("type")
    if kind not in ("record", "question"):
        raise BadInput(f'{where}: type must be "record" or "question", not {kind!r}')
    known = _RECORD if kind == "record" else _QUESTION
    if unknown := sorted(fields.keys() - known):
        raise BadInput(f"{where}: a {kind} has no field {unknown[0]!r}; there are {', '.join(sorted(known))}")
    gathered = scopes.setdefault(_scope(fields, where), _Gathered())
    if kind == "record":
        _add_record(gathered, fields, number, where)
    else:
        question = _question(fields, number, where)
        if question.id in gathered.questions:
            raise BadInput(f"{where}: the question id {question.id!r} appears twice")
        gathered.questions[question.id] = (question, where)


def _add_record(gathered: _Gathered, fields: Mapping[str, Any], number: int, where: str) -> None:
    id = _short(fields, "id", where)
    if not id.isprintable():
        raise BadInput(f"{where}: id {id!r} has characters that cannot be printed")
    if id in gathered.records:
        raise BadInput(f"{where}: the id {id!r} is already used in line {gathered.lines[id]}")
    gathered.records[id] = Draft(
        id=id,
        text=_short(fields, "text", where),
        who=maybe_text(fields, "who", where),
        session=maybe_text(fields, "session", where),
        occurred=maybe_time(fields, "occurred", where),
        kind=maybe_kind(fields, where),
        data=fields.get("data"),
        meta=table_in(fields.get("meta") or {}, f"{where}: meta") or None,
    )
    gathered.lines[id] = number


def _question(fields: Mapping[str, Any], number: int, where: str) -> Question:
    return Question(
        id=maybe_text(fields, "id", where) or f"line {number}",
        text=text_in(fields, "question", where),
        gold=tuple(dict.fromkeys(texts_in(fields, "gold", where))),
        category=maybe_text(fields, "category", where),
        asked=maybe_time(fields, "asked", where),
    )


def _case(scope: str, gathered: _Gathered) -> Case:
    left_out: Counter[str] = Counter()
    questions = []
    for question, where in gathered.questions.values():
        if not question.gold:
            left_out["without gold"] += 1
            continue
        if missing := [id for id in question.gold if id not in gathered.records]:
            raise BadInput(f"{where}: gold names {missing[0]!r}, which is not a record of scope {scope}")
        questions.append(replace(question, sessions=sessions_of(question.gold, gathered.records)))
    return Case(
        scope=scope, records=tuple(gathered.records.values()), questions=tuple(questions), left_out=left_out
    )


def _scope(fields: Mapping[str, Any], where: str) -> str:
    try:
        return Scope.of(fields.get("scope", "default")).path
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def _short(fields: Mapping[str, Any], name: str, where: str) -> str:
    text, most = text_in(fields, name, where), _LONGEST.get(name, 200)
    if len(text) > most:
        raise BadInput(f"{where}: {name} has {len(text):,} characters, the limit is {most:,}")
    return text


def maybe_text(fields: Mapping[str, Any], name: str, where: str) -> str | None:
    return None if fields.get(name) is None else _short(fields, name, where)


def maybe_time(fields: Mapping[str, Any], name: str, where: str) -> float | None:
    try:
        return None if fields.get(name) is None else moment(fields[name], name)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def maybe_kind(fields: Mapping[str, Any], where: str) -> str | None:
    kind = maybe_text(fields, "kind", where)
    if kind is not None and kind not in set(Kind):
        raise BadInput(f"{where}: unknown kind {kind!r}; there are {', '.join(Kind)}")
    return kind
