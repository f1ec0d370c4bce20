"""Loads the generator of docs/reference, which lies beside the pages and not in the package."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def load_generator() -> ModuleType:
    return load_script("make_reference")


@cache
def load_script(name: str) -> ModuleType:
    """A script of the documentation; it may have parts in files beside it."""
    if str(ROOT / "docs") not in sys.path:
        sys.path.append(str(ROOT / "docs"))
    return importlib.import_module(name)
