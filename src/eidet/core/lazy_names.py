"""Imports the names of a package on first use, so that startup loads only what it needs.

A package lists its names for type checkers under `TYPE_CHECKING` and says here where they live:

    if not TYPE_CHECKING:
        __getattr__ = lazy_names(__name__, {"fact_reader": ("read_facts",)})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Returns a `__getattr__` for a package. `homes` maps each of its modules to the names defined there."""

    def load_name(name: str) -> Any:
        home = next((home for home, names in homes.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)  # later lookups find it without this function
        return value

    return load_name
