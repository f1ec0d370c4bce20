"""Questions that somebody judged, saved with the records of their scope as a file that `eidet eval` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..core.errors import BadInput
from ..core.private_files import write_private
from ..core.record import Record, iso_time
from .cases import Question


def save_question(file: Path, scope: str, records: Iterable[Record], question: Question) -> int:
    """Adds a question to the file, with the scope's records as they are now; how many the scope has.

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
    """What the file says of other scopes, and the other questions of this one."""
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
