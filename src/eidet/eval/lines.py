"""A user's own data: JSON lines, each a record or a question.

{"type": "record", "id": "a", "text": "…", "scope"?, "who"?, "session"?, "occurred"?, "kind"?, …}
{"type": "question", "question": "…", "gold": ["a"], "scope"?, "category"?, "asked"?, "id"?}

Worlds have a memory and its questions on each line, some of which nothing answers:

{"world": "home",
 "records": [{"id", "text" | "role" and "content" | "data", "kind"?, "who"?, "session"?, "occurred"?}, …],
 "questions": [{"q", "now"?, "gold": [ids], "also"?: [ids], "none"?: true, "category"?}, …]}

Any record of `gold` or `also` answers a question. A question with `none` has no answer: the score of what is
found for it tells whether scores can be trusted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_QUESTION: Final = {"type", "scope", "question", "gold", "category", "asked", "id"}
_LONGEST: Final = {"text": 1_000_000, "content": 1_000_000, "id": 200, "who": 1000, "session": 1000}


@dataclass(slots=True)
class _Gathered:
    """What the lines say of one scope, with the line of each record and the place of each question."""

    records: dict[str, Draft] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    questions: dict[str, tuple[Question, str]] = field(default_factory=dict)
    unanswerable: list[Question] = field(default_factory=list)

    def add(self, draft: Draft, number: int, where: str) -> None:
        id = str(draft.id)
        if not id.isprintable():
            raise BadInput(f"{where}: id {id!r} has characters that cannot be printed")
        if id in self.records:
            raise BadInput(f"{where}: the id {id!r} is already used in line {self.lines[id]}")
        self.records[id], self.lines[id] = draft, number

    def ask(self, question: Question, where: str) -> None:
        if question.id in self.questions:
            raise BadInput(f"{where}: the question id {question.id!r} appears twice")
        self.questions[question.id] = (question, where)


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
        gathered.add(_draft(fields, where), number, where)
    else:
        id = _maybe_text(fields, "id", where) or f"line {number}"
        gathered.ask(_question(fields, id, ("question", "asked"), ["gold"], where), where)


def _add_world(scopes: dict[str, _Gathered], fields: Mapping[str, Any], number: int, where: str) -> None:
    gathered = scopes.setdefault(text_in(fields, "world", where), _Gathered())
    for at, record in enumerate(list_in(fields, "records", where), 1):
        place = f"{where}, record {at}"
        gathered.add(_draft(table_in(record, place), place), number, place)
    for at, given in enumerate(list_in(fields, "questions", where), 1):
        place = f"{where}, question {at}"
        asked = table_in(given, place)
        gold = [name for name in ("gold", "also") if name in asked]
        question = _question(asked, f"question {at}", ("q", "now"), gold, place)
        if asked.get("none"):
            gathered.unanswerable.append(question)
        else:
            gathered.ask(replace(question, needed=len(set(asked.get("gold", ())))), place)


def _draft(fields: Mapping[str, Any], where: str) -> Draft:
    said = "content" if "content" in fields else "text"
    return Draft(
        id=_short(fields, "id", where),
        text=_maybe_text(fields, said, where),
        who=_maybe_text(fields, "who", where) or _maybe_text(fields, "role", where),
        session=_maybe_text(fields, "session", where),
        occurred=_maybe_time(fields, "occurred", where),
        kind=_maybe_kind(fields, where) or (Kind.MESSAGE if said == "content" else None),
        data=fields.get("data"),
        meta=table_in(fields.get("meta") or {}, f"{where}: meta") or None,
    )


def _question(
    fields: Mapping[str, Any], id: str, names: tuple[str, str], gold: Sequence[str], where: str
) -> Question:
    """Parses a question; `names` are its fields with the text and the time, `gold` those with its gold."""
    text, asked = names
    return Question(
        id=id,
        text=text_in(fields, text, where),
        gold=tuple(dict.fromkeys(id for name in gold for id in texts_in(fields, name, where))),
        category=_maybe_text(fields, "category", where),
        asked=_maybe_time(fields, asked, where),
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
        scope=scope,
        records=tuple(gathered.records.values()),
        questions=tuple(questions),
        unanswerable=tuple(gathered.unanswerable),
        left_out=left_out,
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


# Questions that somebody judged, saved with the records of their scope.


def save_question(file: Path, scope: str, records: Iterable[Record], question: Question) -> int:
    """Adds a question to the file, with the scope's records as they are now, and returns how many there are.

    The same question saved again replaces its earlier gold. The file is replaced as a whole, so that a
    reader never sees half of it. Only its owner may read it.
    """
    kept, questions = _other_lines(file, scope, question.text)
    lines = [*kept]
    known = set()
    for record in records:
        known.add(record.id)
        lines.append(_record_line(record, scope))
    missing = [id for id in question.gold if id not in known]
    if missing or not question.gold:
        raise BadInput(f"the right answer must be a record of scope {scope}, not {missing or 'nothing'}")
    for line in questions:
        if known.issuperset(line["gold"]):
            lines.append(line)
    lines.append(_question_line(question, scope))
    write_private(file, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
    return sum(line["type"] == "question" and line["scope"] == scope for line in lines)


def _other_lines(file: Path, scope: str, text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns what the file says of other scopes, and this scope's other questions."""
    kept: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    if not file.exists():
        return kept, questions
    for raw in file.read_text(encoding="utf-8").split("\n"):
        if not raw:
            continue
        line = json.loads(raw)
        if line.get("scope") != scope:
            kept.append(line)
        elif line["type"] == "question" and line["question"] != text:
            questions.append(line)
    return kept, questions


def _record_line(record: Record, scope: str) -> dict[str, Any]:
    line = {
        "type": "record",
        "scope": scope,
        "id": record.id,
        "text": record.text,
        "kind": record.kind,
        "occurred": iso_time(record.occurred),
    }
    for name in ("who", "session", "data"):
        value = getattr(record, name)
        if value is not None:
            line[name] = value
    return line


def _question_line(question: Question, scope: str) -> dict[str, Any]:
    line: dict[str, Any] = {
        "type": "question",
        "scope": scope,
        "id": question.id,
        "question": question.text,
        "gold": list(question.gold),
    }
    if question.asked is not None:
        line["asked"] = iso_time(question.asked)
    return line
