"""Document files (Markdown, HTML, plain text, PDF) as passages with their heading and page.

A reader yields the sections of a file. A section is cut into passages between paragraphs, or sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Final

from ..core.errors import BadInput, MissingExtra
from ..text.sentences import units_of

PASSAGE_CHARS: Final = 560  # so that a passage with its place is searched as one unit
_ARROW: Final = " › "
_HEADING_CHARS: Final = 120  # of one heading in a place
_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n(---|\.\.\.)(\n|\Z)", re.DOTALL)
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
_LINE_END: Final = re.compile(r"(?<!\n)\n(?!\s*\n)")
_UNSEEN: Final = frozenset(("script", "style", "template", "noscript", "head", "svg"))
_INLINE: Final = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins",
    "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var",
}  # fmt: skip
_BREAKS: Final = dict.fromkeys(("br", "tr", "li", "dd"), "\n") | dict.fromkeys(("td", "th"), " ")
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a file, long enough to answer a question and short enough to quote."""

    text: str
    heading: tuple[str, ...] = ()  # the headings above it, outermost first
    page: int | None = None
    part: int = 1  # its number among the passages of one heading and page

    def describe_place(self, file: str) -> str:
        """Returns `handbook.md › Leave › Parental leave`, for a PDF with the page."""
        page = () if self.page is None else (f"page {self.page}",)
        return _ARROW.join((file, *self.heading, *page))


def read_passages(path: Path) -> list[Passage]:
    """Reads a file; raises `BadInput` or `OSError`, or `MissingExtra` for a PDF without pypdf."""
    parts: Counter[tuple[object, ...]] = Counter()
    passages = []
    for section in READERS[path.suffix.lower()](path):
        for text in _cut(section.text):
            parts[section.heading, section.page] += 1
            passages.append(replace(section, text=text, part=parts[section.heading, section.page]))
    return passages


def _cut(text: str) -> Iterator[str]:
    """Joins short paragraphs, and cuts long ones between sentences."""
    gathered = ""
    paragraphs = (paragraph.strip() for paragraph in _BLANK_LINES.split(text))
    for piece in (unit for paragraph in paragraphs if paragraph for unit in units_of(paragraph)):
        if gathered and len(gathered) + len(piece) > PASSAGE_CHARS:
            yield gathered
            gathered = ""
        gathered = f"{gathered}\n\n{piece}" if gathered else piece
    if gathered:
        yield gathered


def _read_text(path: Path) -> str:
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("it is not UTF-8 text") from None
    if "\0" in text:
        raise BadInput("it is a binary file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Outline:
    """The headings above a place, by level."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        self._open = [one for one in self._open if one[0] < level]
        if title := " ".join(title.split()):
            self._open.append((level, title[:_HEADING_CHARS]))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._open)


def _read_plain(path: Path) -> Iterator[Passage]:
    yield Passage(text=_read_text(path))


def _read_markdown(path: Path) -> Iterator[Passage]:
    """Yields the Markdown between two headings, unchanged."""
    from markdown_it import MarkdownIt

    text = _FRONT_MATTER.sub("", _read_text(path))
    lines, outline, start = text.split("\n"), _Outline(), 0
    tokens = MarkdownIt("commonmark").parse(text)
    for token, inline in pairwise(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        yield Passage(text="\n".join(lines[start : token.map[0]]), heading=outline.path)
        title = "".join(child.content for child in inline.children or ())
        outline.enter(_HEADINGS[token.tag], title)
        start = token.map[1]
    yield Passage(text="\n".join(lines[start:]), heading=outline.path)


def _read_html(path: Path) -> Iterator[Passage]:
    parser = _HtmlSections()
    parser.feed(_read_text(path))
    parser.close()
    parser.end_section()
    yield from parser.sections


class _HtmlSections(HTMLParser):
    """The text that a browser shows, in sections by heading."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[Passage] = []
        self._outline = _Outline()
        self._texts: list[str] = []
        self._unseen: list[str] = []  # open elements that are not shown

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag in _HEADINGS:
            self.end_section()
        elif tag == "body":
            self._unseen.clear()  # a head need not be closed
        if tag not in _INLINE:
            self._texts.append(_BREAKS.get(tag, "\n\n"))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag in _HEADINGS:
            self._outline.enter(_HEADINGS[tag], "".join(self._texts))
            self._texts.clear()
        elif tag not in _INLINE and tag not in _BREAKS:
            self._texts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._texts.append(re.sub(r"\s+", " ", data))

    def end_section(self) -> None:
        """Ends the section of the last heading."""
        lines = [" ".join(line.split()) for line in "".join(self._texts).split("\n")]
        self.sections.append(Passage(text="\n".join(lines), heading=self._outline.path))
        self._texts.clear()


def _read_pdf(path: Path) -> Iterator[Passage]:
    """Yields one section per page."""
    try:
        from pypdf import PdfReader
    except ImportError:
        raise MissingExtra("reading PDF files", extra="pdf") from None
    is_blank = True
    try:
        for number, page in enumerate(PdfReader(path).pages, 1):
            text = _LINE_END.sub(" ", page.extract_text())  # lines of a page are layout
            is_blank = is_blank and not text.strip()
            yield Passage(text=text, page=number)
    except OSError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise BadInput(f"it is no PDF that can be read: {error}") from error
    if is_blank:
        raise BadInput("no page has text: a scan needs text recognition first")


READERS: Final[dict[str, Callable[[Path], Iterator[Passage]]]] = {
    **dict.fromkeys((".md", ".markdown"), _read_markdown),
    **dict.fromkeys((".html", ".htm"), _read_html),
    **dict.fromkeys((".txt", ".text", ".rst"), _read_plain),
    ".pdf": _read_pdf,
}
