"""Reads and writes Markdown: MEMORY.md, CLAUDE.md, AGENTS.md and folders of such notes.

Each bullet and the prose of each section become a record that keeps heading and file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import BinaryIO, Final

from ..core.draft import Draft
from ..core.record import Record
from .front_matter import RESERVED, split_front_matter
from .source_files import read_members
from .source_items import ImportOptions, Items, LeftOut, SourceItem, with_origin

_BULLET: Final = re.compile(r"^ {0,3}(?:[-*+]|\d+[.)])\s*")
_COMMENT: Final = re.compile(r"<!--.*-->", re.DOTALL)
_LINE_END: Final = re.compile(r"\r\n?|\n")


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
