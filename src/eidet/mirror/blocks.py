"""Records as blocks of a Markdown file, and back.

    <!-- eidet
    id: 0063f1a2b3c4d5
    who: ann
    -->
    Ann moved to Oslo.

    ^0063f1a2b3c4d5

The comment holds the fields beside the text, in YAML. The last line is the anchor that links point to; text
after it, or in a file without blocks, is new. A text that Markdown would change (one that begins with a blank
line, say) is the field `text` of the comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record
from ..core.validate import EARLIEST
from ..exchange.front_matter import can_hold, dump_yaml, load_yaml, make_stem, split_front_matter
from ..exchange.table_files import make_json_row
from ..write.shape import shape_record

Row = Mapping[str, Any]  # fields of a record that a caller can set, as JSON; without defaults

_MARKER: Final = "<!-- eidet"
_END: Final = "-->"
_FIELDS: Final = frozenset(one.name for one in fields(Draft)) - {"key", "vector"}
_USUAL: Final = {"kind": "fact", "tier": "short", "importance": 0.5, "trust": "user"}
_OF_ALL: Final = ("session", "kind", "who", "agent")  # fields that new blocks take from the front matter
_ANCHOR: Final = re.compile("[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One record as a file holds it."""

    file: str
    line: int
    fields: Row
    is_new: bool = False

    @property
    def id(self) -> str | None:
        return self.fields.get("id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown file: its front matter, its heading, and its blocks in their order."""

    matter: Row = field(default_factory=dict)
    heading: str = ""
    blocks: Sequence[Block] = ()


def make_row(record: Record) -> dict[str, Any]:
    """Returns the fields of a record that a caller can set; omits an expiry derived from `ttl`."""
    row = make_json_row(record)
    hidden = {"scope", "eidet", *(["expires"] if "ttl" in row else [])}
    hidden |= {name for name, usual in _USUAL.items() if row.get(name) == usual}
    return {name: value for name, value in row.items() if name not in hidden}


def shape_row(block: Block, scope: str, text_chars: int) -> dict[str, Any]:
    """Returns the row of the record in a block; raises `BadInput` with file and line if it is invalid."""
    try:
        draft = Draft(**block.fields)
        row = make_row(shape_record(draft, scope=scope, now=EARLIEST, text_chars=text_chars))
    except BadInput as error:
        raise BadInput(
            f"{block.file}, line {block.line}: {error}; to forget a record, delete its whole block"
        ) from None
    return row if "occurred" in block.fields else {name: row[name] for name in row if name != "occurred"}


def parse_page(text: str, file: str) -> Page:
    """Parses the blocks of a file; text outside of them, except a heading on top, becomes new ones."""
    matter, body, first = split_front_matter(text, file)
    defaults = {name: matter[name] for name in _OF_ALL if name in matter}
    lines = body.split("\n")
    top = next((at for at, line in enumerate(lines) if line.strip()), 0)
    heading = lines[top] if lines[top].startswith("# ") else ""
    if heading:
        lines[top] = ""
    found = list(_list_blocks(lines, file, first))
    blocks = [
        replace(one, fields=defaults | dict(one.fields)) if one.is_new else one
        for one in found
        if not one.is_new or len(one.fields) > 1 or one.fields["text"].strip()
    ]
    return Page(matter=matter, heading=heading, blocks=blocks)


def _list_blocks(lines: Sequence[str], file: str, first: int) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        begin, line, values = at, first + at, dict[str, Any]()
        if lines[at].startswith(_MARKER):
            close = _find(lines, at, len(lines), lambda one: one.rstrip().endswith(_END))
            values = _load_fields(lines[at : close + 1], file, line)
            begin = close + 1
        end = _find(lines, begin, len(lines), lambda one: one.startswith(_MARKER))
        foot = _find(lines, begin, end, _match_foot(values["id"])) if "id" in values else end
        text = "\n".join(lines[begin:foot]).strip("\n")
        yield Block(file=file, line=line, fields={"text": text} | values, is_new="id" not in values)
        at = foot + 1 if foot < end else end


def _find(lines: Sequence[str], begin: int, end: int, fits: Callable[[str], object]) -> int:
    return next((at for at in range(begin, end) if fits(lines[at])), end)


def _load_fields(lines: Sequence[str], file: str, line: int) -> dict[str, Any]:
    inside = "\n".join(lines).rstrip().removeprefix(_MARKER)
    if not inside.endswith(_END):
        raise BadInput(f"{file}, line {line}: this comment has no end; add --> after it")
    values = load_yaml(inside.removesuffix(_END), file, line)
    if unknown := sorted(values.keys() - _FIELDS):
        known = ", ".join(sorted(_FIELDS))
        raise BadInput(f"{file}, line {line}: a record has no field {unknown[0]!r}; it has {known}")
    if not isinstance(values.get("id", ""), str):
        raise BadInput(f"{file}, line {line}: an id is a text; quote it")
    return values


def render_block(row: Row, homes: Mapping[str, str]) -> str:
    """Formats a block; it links to the records it was derived from, if `homes` has their files."""
    values, text, id = dict(row), str(row.get("text", "")), row["id"]
    if _is_plain(text, id):
        values.pop("text", None)
    else:
        text = ""
    known = [one for one in row.get("derived_from", ()) if one in homes]
    links = [f"[[{homes[one].removesuffix('.md')}#^{_make_anchor(one)}]]" for one in known]
    foot = f"from {', '.join(links)} " if links else ""
    body = f"{text}\n\n" if text else ""
    return f"{_MARKER}\n{dump_yaml(values)}\n{_END}\n{body}{foot}^{_make_anchor(id)}"


def _make_anchor(id: str) -> str:
    """Returns the name of a block in links: letters, digits and hyphens."""
    return id if _ANCHOR.fullmatch(id) else f"r-{make_stem(id).replace('_', '-')}"


def _match_foot(id: str) -> Callable[[str], object]:
    return re.compile(rf"(?:from \[\[.*\]\] )?\^{_make_anchor(id)}\s*").fullmatch


def _is_plain(text: str, id: str) -> bool:
    is_foot = _match_foot(id)
    return can_hold(text) and not any(line.startswith(_MARKER) or is_foot(line) for line in text.split("\n"))
