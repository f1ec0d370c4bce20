"""Reads and writes Agent Skills: a folder for each procedure, with a `SKILL.md` that agents read.

The front matter has the name and the description, which is when to follow it; the body has the rest.
Fields that a skill lacks are kept below `metadata.eidet`, as JSON, so that a record is restored exactly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Unavailable
from ..core.private_files import write_private
from ..core.procedure import LONGEST, check_procedure, tell_data
from ..core.record import Kind, Record
from ..core.validate import Json, dump_json
from ..trust.privacy.quarantine import is_untrusted
from .front_matter import join_front_matter, split_front_matter
from .source_files import open_members, open_text
from .source_items import ImportOptions, Notes, SourceItem, has_text, parse_own
from .table_files import row_of

_SKILL: Final = "SKILL.md"
_NAME_CHARS: Final = 64
_LIST: Final = re.compile(r"(?:# [^\n]*\n+)?## Steps\n\n")  # what may precede the steps
_STEP: Final = re.compile(r"\d+[.)] ")
_HEADINGS: Final = {"outcome": "Outcome", "when_not": "When not"}  # from the end of the file
_NOT_KEPT: Final = ("text", "data", "kind", "trust")  # the skill has the first three; trust is not exported


# Reading.


def read_skills(source: str, _: ImportOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_members(source) as members:
        names = members.list_names() if members.is_single else members.find(_SKILL)
        if not names:
            raise BadInput(f"{source} holds no skill: no folder in it has a {_SKILL}")
        if others := len(members.list_names()) - len(names):
            notes.drop("file", f"of a skill, {_SKILL} is read", others)
        for name in names:
            with members.open(name) as file:
                yield _make_item(*_parse_skill(file.read(), name), name)


def _parse_skill(text: str, where: str) -> tuple[dict[str, Any], str]:
    """Returns the front matter and the body of a skill."""
    front, body, _line = split_front_matter(text, where)
    if not all(has_text(front.get(name)) for name in ("name", "description")):
        raise BadInput(f"{where} is not a skill: its front matter needs a name and a description")
    return front, body.removeprefix("\n").removesuffix("\n")


def _make_item(front: Mapping[str, Any], body: str, where: str) -> SourceItem:
    own = _find_own(front)
    data = _parse_body(body) | {"when": " ".join(front["description"].split())}
    if not own:
        name = _make_name(front["name"])
        draft = Draft(key=f"skill {name}", kind=Kind.PROCEDURE, data={"name": name, **data}, source=where)
        return SourceItem(where=where, draft=draft)
    scope, in_words = own.pop("scope"), own.pop("in_words", False)
    if not own.pop("unnamed", False):
        data["name"] = own.pop("name", front["name"])
    said = {"text": body} if in_words else {"data": data}
    try:
        draft = Draft(**own | said, kind=Kind.PROCEDURE)
    except TypeError:
        raise BadInput(f"{where}: metadata.eidet names a field that no memory has") from None
    return SourceItem(where=where, labels={"scope": scope, "user": scope}, draft=draft)


def _find_own(front: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that an Eidet export added, without trust; empty for another program's file."""
    metadata = front.get("metadata")
    own = parse_own(metadata.get("eidet")) if isinstance(metadata, dict) else None
    return {name: value for name, value in (own or {}).items() if name not in ("kind", "trust", "data")}


def _parse_body(body: str) -> dict[str, Json]:
    """Parses the steps, when not to follow them, and the outcome."""
    rest, found = f"\n\n{body}", dict[str, Json]()
    for field, heading in _HEADINGS.items():
        before, mark, line = rest.rpartition(f"\n\n## {heading}\n\n")
        if mark and (line := line.strip()) and "\n" not in line:
            rest, found[field] = before, " ".join(line.split())
    return {"steps": _parse_steps(rest[2:]), **found}


def _parse_steps(text: str) -> list[str] | str:
    """Returns the items of a numbered list under its heading; any other Markdown stays one text."""
    head = _LIST.match(text)
    if head is None:
        return text
    steps: list[str] = []
    for line in text[head.end() :].split("\n"):
        if found := _STEP.match(line):
            steps.append(line[found.end() :])
        elif steps and line[:1] in ("", " "):
            steps[-1] += "\n" + re.sub("^ {1,4}", "", line)
        else:
            return text
    return [step.strip() for step in steps]


def _make_name(text: str) -> str:
    """Turns `Release notes!` into `release-notes`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_NAME_CHARS].strip("-") or "procedure"


# Writing.


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


def _check_free(file: Path, record: Record) -> None:
    """Checks that the skill does not exist, or was made from the same record."""
    if not file.exists():
        return
    try:
        with open_text(file) as opened:
            own = _find_own(_parse_skill(opened.read(), str(file))[0])
    except BadInput:
        own = {}
    if (own.get("scope"), own.get("id")) != (record.scope, record.id):
        raise BadInput(
            f"{file} was not made from procedure {record.id}: move it, or choose another name or folder; "
            "nothing was written"
        )


def _make_skill(name: str, record: Record) -> str:
    data = record.data
    own = {field: value for field, value in row_of(record).items() if field not in _NOT_KEPT}
    if data is None:
        own["in_words"] = True
    elif record.text != tell_data(data, record.kind):
        own["text"] = record.text
    if data is None or "name" not in data:
        own["unnamed"] = True
    elif data["name"] != name:
        own["name"] = data["name"]
    when = " ".join(record.text.split())[:LONGEST] if data is None else data["when"]
    front = {"name": name, "description": when, "metadata": {"eidet": dump_json(own)}}
    return join_front_matter(front, record.text if data is None else _make_body(data))


def _make_body(data: Mapping[str, Any]) -> str:
    parts = [_tell_steps(data["steps"])]
    parts += [f"## {_HEADINGS[name]}\n\n{data[name]}" for name in ("when_not", "outcome") if name in data]
    return "\n\n".join(parts)


def _tell_steps(steps: list[str] | str) -> str:
    if isinstance(steps, str):
        return steps
    indented = (step.strip().replace("\n", "\n    ") for step in steps)
    return "\n".join(["## Steps\n", *(f"{number}. {step}" for number, step in enumerate(indented, 1))])
