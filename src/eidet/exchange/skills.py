"""Writes procedures as Agent Skills: a folder for each, with a `SKILL.md` that agents read.

The front matter has the name and the description, which is when to follow it; the body has the rest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..core.errors import BadInput, Unavailable
from ..core.private_files import write_private
from ..core.procedure import LONGEST, check_procedure
from ..core.record import Kind, Record
from ..core.validate import dump_json
from ..trust.privacy.quarantine import is_untrusted
from .front_matter import join_front_matter, split_front_matter
from .source_files import read_text

_SKILL: Final = "SKILL.md"
_NAME_CHARS: Final = 64
_HEADINGS: Final = {"when_not": "When not", "outcome": "Outcome"}


def write_skills(records: Iterator[Record], folder: Path, leave_out: Callable[[str], None]) -> int:
    """Writes one skill per procedure, next to the existing ones in the folder. Returns how many.

    Raises `BadInput`, before anything is written, if it would replace a skill of other origin.
    """
    skills: dict[str, Record] = {}
    for record in records:
        if record.kind is not Kind.PROCEDURE:
            leave_out("that are no procedures")
        elif is_untrusted(record):
            leave_out("that are not trusted: an agent would follow them")
        else:
            skills[_find_name(record, skills)] = record.whole
    texts = {folder / name / _SKILL: _make_skill(name, record) for name, record in skills.items()}
    for file, record in zip(texts, skills.values(), strict=True):
        _check_free(file, record)
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_private(file, text)
    except OSError as error:
        raise Unavailable(f"{folder} could not be written: {error.strerror or error}") from error
    return len(texts)


def _find_name(record: Record, taken: Mapping[str, Record]) -> str:
    """Returns the name of a procedure, or one made from when to follow it; numbered if taken."""
    check_procedure(record.whole.data)
    said = record.whole.data or {"when": record.text}
    name = said.get("name") or _make_name(said["when"])
    numbered = (f"{name[: _NAME_CHARS - 8].rstrip('-')}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _make_name(text: str) -> str:
    """Turns `Release notes!` into `release-notes`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_NAME_CHARS].strip("-") or "procedure"


def _check_free(file: Path, record: Record) -> None:
    """Checks that the skill does not exist, or was made from the same record."""
    if not file.exists():
        return
    try:
        front, _body, _line = split_front_matter(read_text(file), str(file))
    except BadInput:
        front = {}
    if front.get("metadata") != _name_origin(record):
        raise BadInput(
            f"{file} was not made from procedure {record.id}: move it, or choose another name or folder; "
            "nothing was written"
        )


def _name_origin(record: Record) -> dict[str, str]:
    return {"eidet": dump_json({"scope": record.scope, "id": record.id})}


def _make_skill(name: str, record: Record) -> str:
    data = record.data
    when = " ".join(record.text.split())[:LONGEST] if data is None else data["when"]
    front = {"name": name, "description": when, "metadata": _name_origin(record)}
    return join_front_matter(front, record.text if data is None else _make_body(data))


def _make_body(data: Mapping[str, Any]) -> str:
    parts = [_tell_steps(data["steps"])]
    parts += [f"## {heading}\n\n{data[name]}" for name, heading in _HEADINGS.items() if name in data]
    return "\n\n".join(parts)


def _tell_steps(steps: list[str] | str) -> str:
    if isinstance(steps, str):
        return steps
    indented = (step.strip().replace("\n", "\n    ") for step in steps)
    return "\n".join(["## Steps\n", *(f"{number}. {step}" for number, step in enumerate(indented, 1))])
