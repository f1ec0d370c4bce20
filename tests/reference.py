"""Lists the pages of the documentation, and makes those of the reference, which are not in git."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def list_pages() -> list[Path]:
    """The pages that git holds; of the reference only its first."""
    return sorted(
        page for page in DOCS.rglob("*.md") if page.parent.name != "reference" or page.name == "index.md"
    )


def make_reference() -> dict[str, str]:
    """The text of each generated page by its file name."""
    pytest.importorskip(
        "fastapi", reason="the reference of REST needs the server extra: pip install 'eidet[server]'"
    )
    return _pages()


@cache
def _pages() -> dict[str, str]:
    pages: dict[str, str] = load_generator().pages()
    return pages


def load_generator() -> ModuleType:
    return load_script("make_reference")


@cache
def load_script(name: str) -> ModuleType:
    """A script of the documentation; it may have parts in files beside it."""
    if str(DOCS) not in sys.path:
        sys.path.append(str(DOCS))
    return importlib.import_module(name)
