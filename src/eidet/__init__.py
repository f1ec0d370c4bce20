"""Eidet: a memory for AI agents.

Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aio import AsyncMemory
    from .config import Settings, Upkeep
    from .errors import (
        BadInput,
        Conflict,
        Corrupt,
        EidetError,
        Misconfigured,
        MissingExtra,
        NotFound,
        Refused,
        Unavailable,
    )
    from .memory import Memory
    from .model import Draft, Event, Hit, Hits, Kind, Message, Record, Scope, Signal, Tier, Trace
    from .recall import Query, Recipe
    from .recall.pack import Context
    from .recall.recipes import AUTO, DIALOGUE, DOCUMENTS, EXACT, FACTS
    from .where import Box, Condition, Near, Where

__version__ = "0.1.0"

_HOMES = {
    "aio": ("AsyncMemory",),
    "config": ("Settings", "Upkeep"),
    "errors": (
        "BadInput",
        "Conflict",
        "Corrupt",
        "EidetError",
        "Misconfigured",
        "MissingExtra",
        "NotFound",
        "Refused",
        "Unavailable",
    ),
    "memory": ("Memory",),
    "model": (
        "Draft",
        "Event",
        "Hit",
        "Hits",
        "Kind",
        "Message",
        "Record",
        "Scope",
        "Signal",
        "Tier",
        "Trace",
    ),
    "recall": ("Query", "Recipe"),
    "recall.pack": ("Context",),
    "recall.recipes": ("AUTO", "DIALOGUE", "DOCUMENTS", "EXACT", "FACTS"),
    "where": ("Box", "Condition", "Near", "Where"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AUTO",
    "DIALOGUE",
    "DOCUMENTS",
    "EXACT",
    "FACTS",
    "AsyncMemory",
    "BadInput",
    "Box",
    "Condition",
    "Conflict",
    "Context",
    "Corrupt",
    "Draft",
    "EidetError",
    "Event",
    "Hit",
    "Hits",
    "Kind",
    "Memory",
    "Message",
    "Misconfigured",
    "MissingExtra",
    "Near",
    "NotFound",
    "Query",
    "Recipe",
    "Record",
    "Refused",
    "Scope",
    "Settings",
    "Signal",
    "Tier",
    "Trace",
    "Unavailable",
    "Upkeep",
    "Where",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'eidet' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
