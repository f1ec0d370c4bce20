"""Names of a package that are imported when they are first used, so that a start pays for what it needs.

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
    """A `__getattr__` for a package. `homes` has the names of each of its modules."""
    home_of: dict[str, str] = {}
    for home, names in homes.items():
        home_of.update(dict.fromkeys(names, home))

    def load_name(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next look finds it without asking here
        return value

    return load_name
