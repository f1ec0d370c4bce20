"""Questions to a folder of notes and PDF files; each answer names its source and the page or section.

    python examples/programs/note_library.py                                      # the notes beside this file
    python examples/programs/note_library.py ~/papers "When does the lease end?"  # yours; PDF needs pypdf

Markdown is cut at its headings, a PDF at its pages (`pip install pypdf`). Each piece has a key made of file
and section, so reading the folder again stores only what changed, as the next version of what was there.

For your own use: name your folder and questions; `--at library.db` keeps the memory between runs. For other
kinds of files, add a reader to `READERS`: a function from a path to pieces.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eidet import Draft, Memory

NOTES = Path(__file__).parent / "notes"
QUESTIONS = (
    "How high may the pressure of the boiler be?",
    "Where is the passport?",
)


@dataclass(frozen=True)
class Piece:
    """A part of a file that is long enough to answer something, and short enough to quote."""

    place: str  # within the file: a heading or a page
    text: str


def read_markdown(path: Path) -> Iterator[Piece]:
    """One piece for each section, with its heading."""
    for part in re.split(r"^(?=##? )", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading, _, body = part.strip().partition("\n")
        if body.strip():
            yield Piece(heading.lstrip("# "), " ".join(body.split()))


def read_pdf(path: Path) -> Iterator[Piece]:
    """One piece for each page with text."""
    from pypdf import PdfReader

    for number, page in enumerate(PdfReader(path).pages, start=1):
        text = " ".join(page.extract_text().split())
        if text:
            yield Piece(f"page {number}", text)


READERS: dict[str, Callable[[Path], Iterator[Piece]]] = {".md": read_markdown, ".pdf": read_pdf}


def read_folder(folder: Path) -> Iterator[Draft]:
    for path in sorted(folder.rglob("*")):
        reader = READERS.get(path.suffix)
        if reader is None:
            continue
        if reader is read_pdf and importlib.util.find_spec("pypdf") is None:
            print(f"left out {path.name}: reading PDF needs `pip install pypdf`")
            continue
        name = path.relative_to(folder).as_posix()
        for piece in reader(path):
            yield Draft(
                text=piece.text,
                kind="document",
                key=f"{name}#{piece.place}",
                source=name,
                meta={"place": piece.place},
            )


def store_folder(memory: Memory, folder: Path) -> None:
    """Stores what is new or changed."""
    before = memory.parts.store.head().seq
    records = memory.remember(list(read_folder(folder)), scope="library")
    changed = [record for record in records if record.seq > before]
    files = {record.source for record in records}
    print(f"{len(records)} pieces, {len(files)} file(s), {len(changed)} new or changed")


def ask(memory: Memory, question: str) -> None:
    print(f"\n{question}")
    hits = memory.recall(question, scope="library", limit=1, recipe="documents")
    for hit in hits:
        print(f"  {hit.text}")
        print(f"  [{hit.record.source}, {hit.record.meta['place']}; {hit.score:.2f}; {hit.why()}]")
    if not hits:
        print("  nothing in the library fits")


def main() -> None:
    reader = argparse.ArgumentParser(description="Questions to a folder of notes and PDF files.")
    reader.add_argument("folder", nargs="?", type=Path, default=NOTES)
    reader.add_argument("questions", nargs="*")
    reader.add_argument("--at", help="file of the memory; without it, all is read anew each time")
    options = reader.parse_args()
    with Memory(options.at) as memory:
        store_folder(memory, options.folder)
        store_folder(memory, options.folder)  # again: nothing has changed
        for question in options.questions or QUESTIONS:
            ask(memory, question)


if __name__ == "__main__":
    main()
