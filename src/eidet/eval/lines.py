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
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from .. import BadInput, Draft, Kind, Scope, Settings
from ..core.private_files import write_private
from ..core.record import Record, iso_time
from ..core.validate import moment
from ..write.shape import shape_record
from .cases import Case, Question, sessions_of
from .json_fields import json_of, list_in, table_in, text_in, texts_in

_RECORD: Final = ("type", "scope", "id", "text", "who", "session", "occurred", "kind", "data", "meta")
_QUESTION: Final = ("type", "scope", "question", "gold", "also", "none", "category", "asked", "id")
_KNOWN: Final[dict[object, tuple[str, ...]]] = {"record": _RECORD, "question": _QUESTION}
_CHARS: Final = Settings().text_chars


@dataclass(slots=True)
class _Gathered:
    """The records and questions of one scope."""

    records: list[Draft] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    unanswerable: list[Question] = field(default_factory=list)

    def add(self, kind: str, fields: Mapping[str, Any], id: str, where: str) -> None:
        """Adds a record or a question; `id` is that of a question without one."""
        if kind == "record":
            self.records.append(_draft(fields, where))
        else:
            question = _question(fields, id, where)
            (self.unanswerable if fields.get("none") else self.questions).append(question)


def read_line_cases(text: str, file: str) -> Iterator[Case]:
    scopes: dict[str, _Gathered] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{file}, line {number}"
            fields = table_in(json_of(line, where), where)
            gathered = scopes.setdefault(_scope(fields, where), _Gathered())
            for kind, one, id, place in _parts(fields, number, where):
                gathered.add(kind, table_in(one, place), id, place)
    return (_case(scope, gathered) for scope, gathered in scopes.items())


def _parts(fields: Mapping[str, Any], number: int, where: str) -> Iterator[tuple[str, Any, str, str]]:
    """Yields the records and questions of a line: its kind, its fields, an id for it, and its place."""
    if "world" in fields:
        for kind in _KNOWN:
            for at, one in enumerate(list_in(fields, f"{kind}s", where), 1):
                yield str(kind), one, f"{kind} {at}", f"{where}, {kind} {at}"
        return
    kind = fields.get("type")
    if kind not in _KNOWN:
        raise BadInput(f'{where}: type must be "record" or "question", not {kind!r}')
    if unknown := sorted(fields.keys() - set(_KNOWN[kind])):
        raise BadInput(f"{where}: a {kind} has no field {unknown[0]!r}; there are {', '.join(_KNOWN[kind])}")
    yield str(kind), fields, f"line {number}", where


def _draft(fields: Mapping[str, Any], where: str) -> Draft:
    said = "content" if "content" in fields else "text"
    id = text_in(fields, "id", where)
    if fields.get("data") is None:
        text_in(fields, said, where)
    draft = Draft(
        id=id,
        text=fields.get(said),
        who=fields.get("who") or fields.get("role"),
        session=fields.get("session"),
        occurred=fields.get("occurred"),
        kind=fields.get("kind") or (Kind.MESSAGE if said == "content" else None),
        data=fields.get("data"),
        meta=table_in(fields.get("meta") or {}, f"{where}: meta") or None,
    )
    with _naming(where):
        shaped = shape_record(draft, scope="default", now=0.0, text_chars=_CHARS)
    return draft if draft.occurred is None else replace(draft, occurred=shaped.occurred)


def _question(fields: Mapping[str, Any], id: str, where: str) -> Question:
    gold = [texts_in(fields, name, where) for name in ("gold", "also") if name in fields]
    asked = fields.get("now", fields.get("asked"))
    with _naming(where):
        when = None if asked is None else moment(asked, "asked")
    return Question(
        id=id if fields.get("id") is None else text_in(fields, "id", where),
        text=text_in(fields, "q" if "q" in fields else "question", where),
        gold=tuple(dict.fromkeys(id for ids in gold for id in ids)),
        category=None if fields.get("category") is None else text_in(fields, "category", where),
        asked=when,
        needed=len(set(fields.get("gold", ()))),
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
    with _naming(where):
        return Scope.of(fields.get("world", fields.get("scope", "default"))).path


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Adds a place to errors."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


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
