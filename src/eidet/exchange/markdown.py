"""Reads and writes Markdown: MEMORY.md, CLAUDE.md, AGENTS.md, auto-memory folders, Open Knowledge Format.

In a file of notes, each bullet and the prose of each section become a record that keeps heading and file.
In a bundle of the Open Knowledge Format 0.2, each concept becomes a record.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record, iso_time
from .front_matter import RESERVED, can_hold, join_front_matter, make_stem, split_front_matter
from .source_files import read_members
from .source_items import ImportOptions, Items, LeftOut, SourceItem, has_text, parse_time, with_origin

_BULLET: Final = re.compile(r"^ {0,3}(?:[-*+]|\d+[.)])\s*")
_COMMENT: Final = re.compile(r"<!--.*-->", re.DOTALL)
_LINE_END: Final = re.compile(r"\r\n?|\n")
_TITLE_CHARS: Final = 80


def read_markdown(source: str, _: ImportOptions) -> Items:
    """Reads notes, a file or a folder: one memory per bullet, and per prose of a section."""
    seen: Counter[str] = Counter()
    for name, text in _read_notes(source):
        matter, body, first = split_front_matter(text, name)
        count = 0
        for heading, line, said in _list_statements(body):
            count += 1
            digest = blake2b(f"{heading}\n{said}".encode(), digest_size=12).hexdigest()
            seen[f"{name} {digest}"] += 1
            meta = with_origin({"heading": heading} if heading else {}, "front_matter", matter)
            key = f"markdown {name} {digest} {seen[f'{name} {digest}']}"
            draft = Draft(key=key, text=said, source=name, meta=meta)
            yield SourceItem(draft=draft, where=f"{name}, line {first + line}")
        if not count:
            yield LeftOut(name, "has no text")


def _read_notes(source: str) -> Iterator[tuple[str, str]]:
    """Yields name and text of the Markdown files of a source, without those that only list others."""
    for name, text in read_members(source, "*.md"):
        if PurePosixPath(name).name not in RESERVED:
            yield name, text


def _list_statements(body: str) -> Iterator[tuple[str, int, str]]:
    """Yields each bullet and the prose of each section, with its heading and its line, from 0."""
    from markdown_it import MarkdownIt

    lines, headings, done = _LINE_END.split(body), dict[int, str](), 0
    tokens = MarkdownIt("commonmark").parse(body)
    for token, after in zip_longest(tokens, tokens[1:]):
        begin, end = token.map or (0, 0)
        if token.type == "html_block" and _COMMENT.fullmatch(token.content.strip()):
            lines[begin:end] = [""] * (end - begin)
        elif (token.type, token.level) in (("heading_open", 0), ("list_item_open", 1)):
            yield from _make_statement(headings, done, lines[done:begin])
            done = end
            if token.type == "heading_open":
                level = int(token.tag[1])
                kept = {above: name for above, name in headings.items() if above < level}
                headings = {**kept, level: after.content}
            else:
                yield from _make_statement(headings, begin, _strip_bullet(lines[begin:end]))
    yield from _make_statement(headings, done, lines[done:])


def _make_statement(
    headings: Mapping[int, str], line: int, said: Sequence[str]
) -> Iterator[tuple[str, int, str]]:
    text = "\n".join(one.rstrip() for one in said)
    if text.strip():
        blank = len(text) - len(text.lstrip("\n"))
        yield _join_headings(headings), line + blank, text.strip("\n")


def _strip_bullet(lines: Sequence[str]) -> list[str]:
    """Removes the list marker from the first line, and the same indentation from the others."""
    first = _BULLET.sub("", lines[0], count=1)
    indent = re.compile(f"^ {{1,{len(lines[0]) - len(first)}}}")
    return [first, *(indent.sub("", line) for line in lines[1:])]


def _join_headings(headings: Mapping[int, str]) -> str:
    """Joins the headings above a statement; uses the file's title only if there is no other."""
    below = [name for level, name in sorted(headings.items()) if level > 1]
    return " / ".join(below) or headings.get(1, "")


def write_notes(records: Iterable[Record], file: BinaryIO) -> int:
    """Writes a file such as MEMORY.md: one bullet per record, below its original heading or its kind."""
    sections: dict[str, list[str]] = {}
    for record in records:
        heading = record.meta.get("heading")
        name = heading if isinstance(heading, str) and heading.isprintable() and heading else ""
        lines = record.whole.text.strip().split("\n")
        indented = [f"  {line}".rstrip() for line in lines[1:]]
        text = "\n".join((f"- {lines[0].strip()}", *indented))
        sections.setdefault(name or f"{record.kind.capitalize()}s", []).append(text)
    parts = [f"## {name}\n\n" + "\n".join(texts) for name, texts in sections.items()]
    file.write(("\n\n".join(("# Memory", *parts)) + "\n").encode())
    return sum(map(len, sections.values()))


def read_okf(source: str, _: ImportOptions) -> Items:
    """Reads a bundle of the Open Knowledge Format (folder, zip or one file): one memory per concept."""
    for name, text in _read_notes(source):
        matter, body, _line = split_front_matter(text, name)
        if not has_text(matter.get("type")):
            yield LeftOut(name, "has no `type` in its front matter, as concepts have")
            continue
        own = matter.get("eidet")
        draft = _draft_own(own, body, name) if isinstance(own, dict) else _draft_concept(matter, body, name)
        if draft is None:
            yield LeftOut(name, "has no text")
        else:
            scope = own.get("scope") if isinstance(own, dict) else None
            yield SourceItem(draft=draft, where=name, labels={"scope": scope} if has_text(scope) else {})


def _draft_own(own: Mapping[str, Any], body: str, name: str) -> Draft:
    """Makes the draft of an Eidet export; its text is the body, unless Markdown cannot hold it."""
    values = {name: value for name, value in own.items() if name != "scope"}
    try:
        return Draft(**{"text": body.strip("\n")} | values)
    except TypeError:
        raise BadInput(f"{name}: `eidet` names a field that no memory has") from None


def _draft_concept(matter: Mapping[str, Any], body: str, name: str) -> Draft | None:
    head = [matter[field] for field in ("title", "description") if has_text(matter.get(field))]
    text = "\n\n".join(filter(None, (": ".join(head), body.strip())))
    if not text:
        return None
    generated, sources = matter.get("generated"), matter.get("sources")
    made = generated.get("at") if isinstance(generated, dict) else matter.get("timestamp")
    first = sources[0] if isinstance(sources, list) and sources else {}
    source = matter.get("resource") or (first.get("resource") if isinstance(first, dict) else None) or name
    return Draft(
        key=f"okf {name.removesuffix('.md')}",
        kind="document",
        text=text,
        source=str(source),
        occurred=parse_time(made, f"{name}: generated.at"),
        meta=with_origin({}, "okf", matter),
    )


def write_bundle(
    records: Iterable[Record], file: BinaryIO, make_row: Callable[[Record], dict[str, Any]]
) -> int:
    """Writes a zip with one concept per record; fields that the format lacks are kept below `eidet`."""
    listed: list[str] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for record in records:
            path, matter = _name_concept(record.scope, record.id), _describe_concept(record)
            own = make_row(record)
            del own["eidet"]
            text = own["text"]
            if can_hold(text):
                del own["text"]
            bundle.writestr(path[1:], join_front_matter({**matter, "eidet": own}, text))
            title = re.sub(r"[\[\]\\]", "", matter["title"])
            listed.append(f"* [{title}]({path[1:]}) - {matter['type']}")
        index = "\n".join(("# Memory", "", *listed))
        bundle.writestr("index.md", join_front_matter({"okf_version": "0.2"}, index))
    return len(listed)


def _name_concept(scope: str, id: str) -> str:
    return f"/{make_stem(scope)}/{make_stem(id)}.md"


def _describe_concept(record: Record) -> dict[str, Any]:
    origins = [record.source] if record.source else []
    origins += [_name_concept(record.scope, id) for id in record.derived_from]
    reviewed = record.state.reviewed
    matter: dict[str, Any] = {
        "type": record.kind.capitalize(),
        "title": record.whole.text.strip().partition("\n")[0][:_TITLE_CHARS] or record.id,
        "generated": {"by": "process:eidet", "at": iso_time(record.created)},
    }
    if origins:
        matter["sources"] = [{"resource": origin} for origin in origins]
    if reviewed is not None:
        matter["verified"] = [{"by": f"human:{reviewed.by or 'unnamed'}", "at": iso_time(reviewed.at)}]
    if record.expires is not None:
        matter["stale_after"] = str(iso_time(record.expires))[:10]
    return matter
