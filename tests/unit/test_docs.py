"""Every Python snippet of the README and the docs runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import fields
from pathlib import Path
from types import CodeType

import pytest
from tests.reference import ROOT, list_pages, load_generator, make_reference

import eidet
from eidet import Draft, Hit, MissingExtra, Record, Retention, Settings, Upkeep, Where
from eidet.core.draft import Details

PAGES = [ROOT / "README.md", ROOT / "examples" / "reference.md", *list_pages()]
NOTES = [*ROOT.glob("*.md"), ROOT / "examples" / "README.md", *(ROOT / "bench" / "notes").glob("*.md")]
SNIPPET = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)]*))?\)")


def _snippets(page: Path) -> list[tuple[str, str]]:
    return SNIPPET.findall(page.read_text())


@pytest.mark.parametrize(
    "page", [page for page in PAGES if _snippets(page)], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_the_snippets_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for code, expected in _snippets(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            _run(compile(code, str(page), "exec"), names)
        if expected:
            assert printed.getvalue() == expected


def _run(code: CodeType, names: dict[str, object]) -> None:
    """What a page shows of an extra is for those who have it."""
    try:
        exec(code, names)
    except MissingExtra as absent:
        pytest.skip(str(absent))


def test_the_links_of_a_page_lead_somewhere() -> None:
    for page in {*PAGES, *NOTES}:
        for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://", "mailto:")):
                file = page.parent / target if target else page
                assert file.exists(), f"{page} links to {target}"
                known = not anchor or anchor in _anchors(file.read_text(encoding="utf-8"))
                assert known, f"{page} links to {target}#{anchor}"


def _anchors(text: str) -> set[str]:
    """The headings of a page as links spell them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_reference_has_every_public_name_command_and_route() -> None:
    made = make_reference()
    assert all(f"## `{name}`" in made["eidet.md"] for name in eidet.__all__ if callable(getattr(eidet, name)))
    assert "### `eidet recall`" in made["cli.md"]
    assert "## `POST /v1/recall`" in made["rest.md"]
    assert "EIDET_TEXT_CHARS" in made["settings.md"]


def test_the_links_within_the_reference_lead_somewhere() -> None:
    made = make_reference()
    for name, text in made.items():
        for target, anchor in LINK.findall(_prose(text)):
            if target.startswith(("http://", "https://")):
                continue
            there = made.get(target or name)
            if there is None:
                there = (ROOT / "docs" / "reference" / target).read_text(encoding="utf-8")
            assert not anchor or anchor in _anchors(there), f"{name} links to {target}#{anchor}"


@pytest.mark.parametrize(
    "value", [Where, Draft, Record, Hit, Settings, Upkeep, Retention], ids=lambda value: value.__name__
)
def test_the_reference_says_what_every_field_means(value: type) -> None:
    lines = _section(f"## `{value.__name__}`")
    for field in fields(value):
        (line,) = [line for line in lines if line.startswith(f"- `{field.name}: ")]
        assert re.search(r"`: \S", line), (
            f"{value.__name__}.{field.name} needs a comment that says what it means"
        )


def test_the_reference_says_whole_sentences_and_each_verb_once() -> None:
    prose = _prose(make_reference()["eidet.md"])
    assert [line for line in prose.splitlines() if line.endswith(":")] == []
    assert not any("`recall(" in line for line in _section("## `AsyncMemory`"))
    assert any(line.startswith("- `recall(") for line in _section("## `Memory`"))


def test_the_reference_shows_an_example_of_every_public_name() -> None:
    generator = load_generator()
    for module in generator.MODULES:
        sections = re.split(r"^## ", make_reference()[f"{module}.md"], flags=re.MULTILINE)
        bare = [section.splitlines()[0] for section in sections[1:] if "\nExample" not in section]
        assert bare == [], f"{module}: add a section to examples/reference.md"


def test_the_reference_lists_what_remember_takes() -> None:
    lines = _section("## `Memory`")
    at = next(at for at, line in enumerate(lines) if line.startswith("- `remember("))
    assert all(f"`{name}: " in lines[at + 1] for name in Details.__annotations__)


def test_the_reference_lists_the_verbs_behind_a_property() -> None:
    lines = _section("## `Memory`")
    assert any(line.startswith("  - `audit.note(") for line in lines)


def test_the_glossary_explains_each_word_once_and_has_at_most_60() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \|$", (ROOT / "docs" / "concepts" / "glossary.md").read_text(), re.MULTILINE
    )
    words = [word for word, meaning in rows if (word, meaning) != ("word", "meaning")]
    assert len(words) == len(set(words)) <= 60


def _section(heading: str) -> list[str]:
    """The lines below a heading, up to the next one."""
    lines = make_reference()["eidet.md"].splitlines()
    rest = lines[lines.index(heading) + 1 :]
    ends = [at for at, line in enumerate(rest) if line.startswith("#")]
    return rest[: ends[0]]


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
