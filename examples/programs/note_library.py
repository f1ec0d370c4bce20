"""Questions to a folder of notes and PDF files; each answer names its file and the heading or page.

    python examples/programs/note_library.py                                      # the notes beside this file
    python examples/programs/note_library.py ~/papers "When does the lease end?"  # yours

`sync_files` reads Markdown, HTML, plain text and PDF (`pip install 'eidet[pdf]'`). Each passage has a stable
id, so reading the folder again stores only what changed, and removes what is gone.

For your own use: name your folder and questions; `--at library.db` keeps the memory between runs, and
`eidet sync FOLDER` does the same in a shell.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eidet import Memory
from eidet.exchange import sync_files

NOTES = Path(__file__).parent / "notes"
QUESTIONS = (
    "How high may the pressure of the boiler be?",
    "Where is the passport?",
)


def store_folder(memory: Memory, folder: Path) -> None:
    done = sync_files(memory, folder, scope="library")
    changed = done.count("added") + done.count("updated")
    print(f"{done.passages} passages, {done.files} file(s), {changed} new or changed")
    for left in done.skipped:
        print(f"left out {Path(left.where).name}: {left.why}")


def ask(memory: Memory, question: str) -> None:
    print(f"\n{question}")
    hits = memory.recall(question, scope="library", limit=1, recipe="documents")
    for hit in hits:
        place, _, text = hit.text.partition(":\n")
        print(f"  {text}")
        print(f"  [{place}; {hit.score:.2f}]")
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
