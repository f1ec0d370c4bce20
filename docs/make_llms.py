"""Writes what language models read of the site: llms.txt, the pages as Markdown, and a skill about Eidet.

The navigation of mkdocs.yml says which pages there are; their titles and first sentences describe them. The
files are not in git: `.ci/site` makes them for the site.

python docs/make_llms.py SITE
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parent
CONFIG = DOCS.parent / "mkdocs.yml"
SKILL = Path("skills/eidet")
TAUGHT = ("start/ten-lines.md", "guides/verbs.md")  # what the skill tells itself; the rest are references
EXTRA = ("Reference", "How it works", "Coming from")  # sections that a reader in a hurry may skip
DESCRIPTION = (
    "How to give a Python program or an AI agent a long-term memory with Eidet: remember, recall, context, "
    "revise, forget; scopes, facts, privacy, servers. Use when code imports eidet or an agent needs memory."
)


def list_sections() -> dict[str, list[str]]:
    """The pages of each section of the navigation that are there."""
    sections: dict[str, list[str]] = {}
    for line in CONFIG.read_text(encoding="utf-8").partition("\nnav:\n")[2].splitlines():
        if section := re.fullmatch(r"  - (.+):", line):
            pages = sections.setdefault(section[1], [])
        elif (page := re.fullmatch(r" +- ([\w./-]+\.md)", line)) and (DOCS / page[1]).exists():
            pages.append(page[1])
    return sections


def describe_page(page: str) -> tuple[str, str]:
    """Its title and its first sentence, if it begins with one: there are tables, lists and questions too."""
    title, *parts = (DOCS / page).read_text(encoding="utf-8").strip().split("\n\n")
    prose = re.sub(r"^```.*?^```", "", "\n\n".join(parts), flags=re.MULTILINE | re.DOTALL)
    text = next((part for part in prose.split("\n\n") if re.match(r"[\w`*\[]", part)), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
    sentence = re.split(r"(?<=[.!?])\s", plain)[0]
    return title.removeprefix("# "), f": {sentence}" if sentence.endswith(".") else ""


def list_links(names: Iterable[str], below: str = "") -> str:
    """A list of links to the pages of some sections."""
    pages = [page for name in names for page in list_sections()[name]]
    described = ((page, *describe_page(page)) for page in pages)
    return "\n".join(f"- [{title}]({below}{page}){said}" for page, title, said in described)


def make_llms() -> str:
    about = describe_page("index.md")[1].removeprefix(": ")
    needed = [name for name in list_sections() if name not in EXTRA]
    parts = ["# Eidet", f"> {about}", *(f"## {name}\n\n{list_links([name])}" for name in needed)]
    return "\n\n".join([*parts, f"## Optional\n\n{list_links(EXTRA)}"]) + "\n"


def make_skill() -> str:
    """A skill of the Agent Skills format: the first pages themselves, and where to read on."""
    parts = [f"---\nname: {SKILL.name}\ndescription: >-\n  {DESCRIPTION}\nlicense: MIT\n---"]
    for page in TAUGHT:
        text = (DOCS / page).read_text(encoding="utf-8").strip()
        folder = f"references/{Path(page).parent.as_posix()}/"
        parts.append(re.sub(r"(!?\[[^\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{folder}", text))
    needed = [name for name in list_sections() if name not in EXTRA]
    return "\n\n".join([*parts, f"# Read on\n\n{list_links(needed, 'references/')}"]) + "\n"


def write(site: Path) -> None:
    skill = site / SKILL
    for page in (page for pages in list_sections().values() for page in pages):
        for target in (site / page, skill / "references" / page):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(DOCS / page, target)
    (skill / "SKILL.md").write_text(make_skill(), encoding="utf-8")
    (site / "llms.txt").write_text(make_llms(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
