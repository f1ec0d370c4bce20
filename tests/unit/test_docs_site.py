"""The documentation as a site: every page is in its navigation, none is too long, pictures are current."""

from __future__ import annotations

import re

from tests.reference import DOCS, ROOT, list_pages, load_script, make_reference

LONGEST = 1500  # words of a page; the reference, which no git holds, may be as long as it must
MOST = 45_000  # words of all pages together, those at the top of the repository included
PAGES = [page.relative_to(DOCS).as_posix() for page in list_pages()]


def count_words(text: str) -> int:
    """Everything that a reader reads, code and tables included."""
    return sum(1 for word in text.split() if any(letter.isalnum() for letter in word))


def test_no_page_is_too_long() -> None:
    words = {page: count_words((DOCS / page).read_text(encoding="utf-8")) for page in PAGES}
    assert {page: count for page, count in words.items() if count > LONGEST} == {}


def test_all_pages_together_are_not_too_long() -> None:
    pages = [*list_pages(), *ROOT.glob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= MOST


def test_the_navigation_has_every_page_once() -> None:
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    named = [match[1] for line in lines if (match := re.fullmatch(r" +- ([\w./-]+\.md)", line))]
    made = [f"reference/{name}" for name in make_reference()]
    assert sorted(named) == sorted([*PAGES, *made])


def test_a_page_begins_with_its_title_and_has_one() -> None:
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    for page in PAGES:
        prose = code.sub("", (DOCS / page).read_text(encoding="utf-8"))
        assert prose.startswith("# "), page
        assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1, page


def test_the_drawings_are_those_that_the_script_makes() -> None:
    for name, drawing in load_script("make_pictures").pictures().items():
        kept = (DOCS / "images" / name).read_text(encoding="utf-8")
        assert kept == drawing, f"{name} is out of date: run `python docs/make_pictures.py`"


def test_every_picture_of_a_page_says_what_it_shows() -> None:
    for page in PAGES:
        shown = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", (DOCS / page).read_text(encoding="utf-8"))
        assert [target for said, target in shown if len(said) < 10] == []
