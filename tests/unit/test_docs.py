"""Every Python snippet of the README and the docs runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import fields
from pathlib import Path
from types import CodeType

import pytest
from tests.reference import ROOT, load_generator

from eidet import Draft, Hit, MissingExtra, Record, Retention, Settings, Upkeep, Where
from eidet.core.draft import Details

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = ROOT / "docs" / "reference" / "eidet.md"
GUIDE = ROOT / "docs" / "guides" / "verbs.md"
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in _anchors(file), f"{page.name} links to {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """The headings of a page as links spell them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_reference_tells_every_public_name_as_the_code_has_it() -> None:
    pytest.importorskip(
        "fastapi", reason="the reference of REST needs the server extra: pip install 'eidet[server]'"
    )
    for name, text in load_generator().pages().items():
        kept = (REFERENCE.parent / name).read_text(encoding="utf-8")
        assert kept == text, f"{name} is out of date: run `python docs/make_reference.py`"


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
    assert f"reference/eidet.md#{value.__name__.lower()}" in GUIDE.read_text()


def test_the_reference_says_whole_sentences_and_each_verb_once() -> None:
    prose = re.sub(r"^```.*?^```", "", REFERENCE.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if line.endswith(":")] == []
    assert not any("`recall(" in line for line in _section("## `AsyncMemory`"))
    assert any(line.startswith("- `recall(") for line in _section("## `Memory`"))


def test_the_reference_shows_an_example_of_every_public_name() -> None:
    generator = load_generator()
    for module in generator.MODULES:
        sections = re.split(
            r"^## ", (REFERENCE.parent / f"{module}.md").read_text("utf-8"), flags=re.MULTILINE
        )
        bare = [section.splitlines()[0] for section in sections[1:] if "\nExample" not in section]
        assert bare == [], f"{module}: add a section to docs/reference/_examples.md"


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
    lines = REFERENCE.read_text(encoding="utf-8").splitlines()
    rest = lines[lines.index(heading) + 1 :]
    ends = [at for at, line in enumerate(rest) if line.startswith("#")]
    return rest[: ends[0]]
