"""Cases from a user's own data: JSON lines, each a record, a question, or a memory with its questions.

{"type": "record", "id": "a", "text": "…", "scope"?, "who"?, "session"?, "occurred"?, "kind"?, …}
{"type": "question", "question": "…", "gold": ["a"], "also"?, "none"?, "scope"?, "category"?, "asked"?, "id"?}
{"world": "home", "records": [{"id", "text", …}, …], "questions": [{"q", "gold", "now"?, …}, …]}

Any record of `gold` or `also` answers a question. A question with `none` has no answer: the scores of its
hits show whether scores can be trusted. A record may be a message, with a `role` and a `content`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from .. import BadInput, Draft, Kind, Scope
from ..core.private_files import write_private
from ..core.record import Record, iso_time
from ..core.validate import moment
from .cases import Case, Question, sessions_of
from .json_fields import json_of, list_in, table_in, text_in, texts_in

_RECORD: Final = {"type", "scope", "id", "text", "who", "session", "occurred", "kind", "data", "meta"}
_QUESTION: Final = {"type", "scope", "question", "gold", "also", "none", "category", "asked", "id"}
_LONGEST: Final = {"text": 1_000_000, "content": 1_000_000, "id": 200, "who": 1000, "session": 1000}


@dataclass(slots=True)
class _Gathered:
    """The records and questions of one scope."""

    records: list[Draft] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    unanswerable: list[Question] = field(default_factory=list)

    def ask(self, fields: Mapping[str, Any], id: str, where: str) -> None:
        gold = [texts_in(fields, name, where) for name in ("gold", "also") if name in fields]
        question = Question(
            id=_maybe_text(fields, "id", where) or id,
            text=text_in(fields, "q" if "q" in fields else "question", where),
            gold=tuple(dict.fromkeys(id for ids in gold for id in ids)),
            category=_maybe_text(fields, "category", where),
            asked=_maybe_time(fields, "now" if "now" in fields else "asked", where),
            needed=len(set(fields.get("gold", ()))),
        )
        (self.unanswerable if fields.get("none") else self.questions).append(question)


def read_line_cases(text: str, file: str) -> Iterator[Case]:
    scopes: dict[str, _Gathered] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{file}, line {number}"
            fields = table_in(json_of(line, where), where)
            (_add_world if "world" in fields else _add_line)(scopes, fields, number, where)
    return (_case(scope, gathered) for scope, gathered in scopes.items())


def _add_line(scopes: dict[str, _Gathered], fields: Mapping[str, Any], number: int, where: str) -> None:
    kind = fields.get("type")
    if kind not in ("record", "question"):
        raise BadInput(f'{where}: type must be "record" or "question", not {kind!r}')
    known = _RECORD if kind == "record" else _QUESTION
    if unknown := sorted(fields.keys() - known):
        raise BadInput(f"{where}: a {kind} has no field {unknown[0]!r}; there are {', '.join(sorted(known))}")
    gathered = scopes.setdefault(_scope(fields, where), _Gathered())
    if kind == "record":
        text_in(fields, "text", where)
        gathered.records.append(_draft(fields, where))
    else:
        gathered.ask(fields, f"line {number}", where)


def _add_world(scopes: dict[str, _Gathered], fields: Mapping[str, Any], _: int, where: str) -> None:
    gathered = scopes.setdefault(text_in(fields, "world", where), _Gathered())
    for at, record in enumerate(list_in(fields, "records", where), 1):
        place = f"{where}, record {at}"
        gathered.records.append(_draft(table_in(record, place), place))
    for at, given in enumerate(list_in(fields, "questions", where), 1):
        place = f"{where}, question {at}"
        gathered.ask(table_in(given, place), f"question {at}", place)


def _draft(fields: Mapping[str, Any], where: str) -> Draft:
    said = "content" if "content" in fields else "text"
    id = _short(fields, "id", where)
    if not id.isprintable():
        raise BadInput(f"{where}: id {id!r} has characters that cannot be printed")
    return Draft(
        id=id,
        text=_maybe_text(fields, said, where),
        who=_maybe_text(fields, "who", where) or _maybe_text(fields, "role", where),
        session=_maybe_text(fields, "session", where),
        occurred=_maybe_time(fields, "occurred", where),
        kind=_maybe_kind(fields, where) or (Kind.MESSAGE if said == "content" else None),
        data=fields.get("data"),
        meta=table_in(fields.get("meta") or {}, f"{where}: meta") or None,
    )


def _case(scope: str, gathered: _Gathered) -> Case:
    records = {str(draft.id): draft for draft in gathered.records}
    asked = [one for one in gathered.questions if one.gold]
    without = len(gathered.questions) - len(asked)
    return Case(
        scope=scope,
        records=tuple(gathered.records),
        questions=tuple(replace(one, sessions=sessions_of(one.gold, records)) for one in asked),
        unanswerable=tuple(gathered.unanswerable),
        left_out={"without gold": without} if without else {},
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


def _maybe_text(fields: Mapping[str, Any], name: str, where: str) -> str | None:
    return None if fields.get(name) is None else _short(fields, name, where)


def _maybe_time(fields: Mapping[str, Any], name: str, where: str) -> float | None:
    try:
        return None if fields.get(name) is None else moment(fields[name], name)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def _maybe_kind(fields: Mapping[str, Any], where: str) -> str | None:
    kind = _maybe_text(fields, "kind", where)
    if kind is not None and kind not in set(Kind):
        raise BadInput(f"{where}: unknown kind {kind!r}; there are {', '.join(Kind)}")
    return kind


# Questions that a user judged, saved with the records of their scope.


def save_question(file: Path, scope: str, records: Iterable[Record], question: Question) -> int:
    """Adds a question to the file, with the scope's current records. Returns the scope's question count.

    Saving a question again replaces its gold. The file is replaced atomically, and only its owner may
    read it.
    """
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    lines = [json.loads(line) for line in text.split("\n") if line]
    there = list(map(_tell_record, records))
    known = {record["id"] for record in there}
    if not question.gold or not known.issuperset(question.gold):
        raise BadInput(
            f"the right answer must be a record of scope {scope}, not {question.gold or 'nothing'}"
        )
    before = [one for line in lines if line.get("world") == scope for one in line["questions"]]
    asked = [one for one in before if one["q"] != question.text and known.issuperset(one["gold"])]
    asked.append(_tell_question(question))
    worlds = [line for line in lines if line.get("world") != scope]
    worlds.append({"world": scope, "records": there, "questions": asked})
    write_private(file, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in worlds))
    return len(asked)


def _tell_record(record: Record) -> dict[str, Any]:
    line = {name: getattr(record, name) for name in ("id", "text", "kind", "who", "session", "data")}
    line["occurred"] = iso_time(record.occurred)
    return {name: value for name, value in line.items() if value is not None}


def _tell_question(question: Question) -> dict[str, Any]:
    when = {} if question.asked is None else {"now": iso_time(question.asked)}
    return {"q": question.text, "id": question.id, "gold": list(question.gold), **when}
