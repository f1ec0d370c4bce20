"""The documentation as a site: every page is in its navigation, none is too long, pictures are current."""

from __future__ import annotations

import re

import pytest
from tests.reference import ROOT, load_script

DOCS = ROOT / "docs"
LONGEST = 1500  # words; the reference may be as long as it must
APART = {"reference/_examples.md"}  # shown piece by piece in the reference
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def count_words(text: str) -> int:
    """Everything that a reader reads, code and tables included."""
    return sum(1 for word in text.split() if any(letter.isalnum() for letter in word))


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("reference/")])
def test_no_page_is_too_long(page: str) -> None:
    assert count_words((DOCS / page).read_text(encoding="utf-8")) <= LONGEST


def test_the_navigation_has_every_page_once() -> None:
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    named = [match[1] for line in lines if (match := re.fullmatch(r" +- ([\w./-]+\.md)", line))]
    assert sorted(named) == [page for page in PAGES if page not in APART]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_with_its_title_and_has_one(page: str) -> None:
    prose = re.sub(
        r"^```.*?^```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert prose.startswith("# ")
    assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1


def test_the_drawings_are_those_that_the_script_makes() -> None:
    for name, drawing in load_script("make_pictures").pictures().items():
        kept = (DOCS / "images" / name).read_text(encoding="utf-8")
        assert kept == drawing, f"{name} is out of date: run `python docs/make_pictures.py`"


def test_every_picture_of_a_page_says_what_it_shows() -> None:
    for page in PAGES:
        shown = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", (DOCS / page).read_text(encoding="utf-8"))
        assert [target for said, target in shown if len(said) < 10] == []
