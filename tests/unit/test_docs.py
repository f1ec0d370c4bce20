"""Every Python snippet of the README and the docs runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from pathlib import Path
from types import CodeType

import pytest

from eidet.core.errors import MissingExtra

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPET = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


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
    for target in LINK.findall(page.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_tells_every_public_name_as_the_code_has_it() -> None:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == made.page(), (
        "run `python docs/make_reference.py`"
    )
