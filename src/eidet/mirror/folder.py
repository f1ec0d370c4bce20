"""The folder of a mirror: records as blocks of Markdown files, and the state after the last run.

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

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Refused
from ..core.private_files import write_private
from ..core.record import Record
from ..core.validate import EARLIEST
from ..exchange.front_matter import RESERVED, can_hold, dump_yaml, load_yaml, make_stem, split_front_matter
from ..exchange.record_exports import make_json_row
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


_STATE: Final = ".eidet-mirror.json"
_CONFLICT: Final = ".conflict.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The state of a record after the last run: a keyed hash of its row, and its file."""

    hash: str
    file: str


class Folder:
    """A folder that mirrors one scope of one store."""

    def __init__(self, path: Path, store: str, scope: str) -> None:
        self.path, self._store, self._scope = path, store, scope

    def read_state(self) -> dict[str, Seen] | None:
        """Returns the records of the last run, None for a new folder; raises `Refused` for a foreign one."""
        file = self.path / _STATE
        if not file.is_file():
            self._check_empty()
            return None
        try:
            state = json.loads(file.read_text(encoding="utf-8"))
            seen = {id: Seen(hash=one["hash"], file=one["file"]) for id, one in state["records"].items()}
            store, scope = state["store"], state["scope"]
        except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise BadInput(
                f"{file} cannot be read ({error}); restore it, or mirror to a new folder"
            ) from None
        if store != self._store:
            raise Refused(f"{self.path} mirrors another memory: name that one, or another folder")
        if scope != self._scope:
            raise Refused(f"{self.path} mirrors the scope {scope}: name that one, or another folder")
        return seen

    def _check_empty(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path} is not a folder")
        if self.path.is_dir() and any(not one.name.startswith(".") for one in self.path.iterdir()):
            raise Refused(
                f"{self.path} has files and is no mirror: name a new or empty folder; "
                "`eidet import markdown` reads notes that are there"
            )

    def write_state(self, seen: Mapping[str, Seen]) -> None:
        records = {id: asdict(one) for id, one in sorted(seen.items())}
        state = {"store": self._store, "scope": self._scope, "records": records}
        self._write(_STATE, json.dumps(state, indent=1, ensure_ascii=False) + "\n")

    def _list_files(self) -> list[str]:
        files = (file for file in self.path.rglob("*.md") if file.is_file() and not file.is_symlink())
        names = (file.relative_to(self.path) for file in files)
        return sorted(name.as_posix() for name in names if not any(part[0] == "." for part in name.parts))

    def list_notes(self) -> list[str]:
        """Lists the Markdown files that may hold records, with slashes, sorted."""
        skipped = (*(f"/{name}" for name in RESERVED), _CONFLICT)
        return [name for name in self._list_files() if not f"/{name}".endswith(skipped)]

    def list_conflicts(self) -> list[str]:
        return [name for name in self._list_files() if name.endswith(_CONFLICT)]

    def stat_notes(self) -> tuple[tuple[str, int, int], ...]:
        """Returns times and sizes of the files, by which a change is noticed."""
        stats = [(name, (self.path / name).stat()) for name in self.list_notes()]
        return tuple((name, found.st_mtime_ns, found.st_size) for name, found in stats)

    def read_pages(self) -> dict[str, Page]:
        """Reads every file; raises `BadInput` with file and line for a bad file or a repeated id."""
        pages = {file: parse_page(self._read(file), file) for file in self.list_notes()}
        places: dict[str, str] = {}
        for block in (block for page in pages.values() for block in page.blocks if block.id is not None):
            place = f"{block.file}, line {block.line}"
            if places.setdefault(str(block.id), place) != place:
                raise BadInput(
                    f"{place}: {places[str(block.id)]} has the same id {block.id}; "
                    "delete one of the blocks, or the line `id` of a copy"
                )
        return pages

    def _read(self, file: str) -> str:
        try:
            return (self.path / file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{file} is not UTF-8 text: it goes wrong at byte {error.start:,}") from None
        except OSError as error:
            raise BadInput(f"{file} cannot be read: {error.strerror}") from None

    def write_page(self, file: str, text: str | None) -> bool:
        """Writes a text to a file, or removes the file for None; returns False if it had this text."""
        if text is None:
            (self.path / file).unlink(missing_ok=True)
        elif (self.path / file).is_file() and self._read(file) == text:
            return False
        else:
            self._write(file, text)
        return True

    def keep_conflict(self, file: str, why: str, block: str) -> None:
        """Appends a block to the conflicts beside a file, unless it is there already."""
        name = file.removesuffix(".md") + _CONFLICT
        there = self._read(name) if (self.path / name).is_file() else ""
        if block not in there:
            self._write(name, f"{there}{why}\n\n{block}\n\n")

    def _write(self, file: str, text: str) -> None:
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(self.path.resolve()):
            raise Refused(f"{path.parent} leads out of {self.path}: remove that link")
        write_private(path, text)
