"""Eidet: a memory for AI agents.

Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aio import AsyncMemory
    from .audit import Audit
    from .config import Retention, Settings, Upkeep
    from .erasing import Absence, Forgotten, Receipt
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
    from .guard import Policy
    from .memory import Memory
    from .model import Draft, Event, Hit, Hits, Kind, Message, Record, Scope, Signal, Tier, Trace, Trust
    from .recall import Query, Recipe
    from .recall.pack import Context
    from .recall.recipes import AUTO, DIALOGUE, DOCUMENTS, EXACT, FACTS
    from .where import Box, Condition, Near, Where
    from .who import acting

__version__ = "0.1.0"

_HOMES = {
    "aio": ("AsyncMemory",),
    "audit": ("Audit",),
    "config": ("Retention", "Settings", "Upkeep"),
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
    "erasing": ("Absence", "Forgotten", "Receipt"),
    "guard": ("Policy",),
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
        "Trust",
    ),
    "recall": ("Query", "Recipe"),
    "recall.pack": ("Context",),
    "recall.recipes": ("AUTO", "DIALOGUE", "DOCUMENTS", "EXACT", "FACTS"),
    "where": ("Box", "Condition", "Near", "Where"),
    "who": ("acting",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AUTO",
    "DIALOGUE",
    "DOCUMENTS",
    "EXACT",
    "FACTS",
    "Absence",
    "AsyncMemory",
    "Audit",
    "BadInput",
    "Box",
    "Condition",
    "Conflict",
    "Context",
    "Corrupt",
    "Draft",
    "EidetError",
    "Event",
    "Forgotten",
    "Hit",
    "Hits",
    "Kind",
    "Memory",
    "Message",
    "Misconfigured",
    "MissingExtra",
    "Near",
    "NotFound",
    "Policy",
    "Query",
    "Receipt",
    "Recipe",
    "Record",
    "Refused",
    "Retention",
    "Scope",
    "Settings",
    "Signal",
    "Tier",
    "Trace",
    "Trust",
    "Unavailable",
    "Upkeep",
    "Where",
    "acting",
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
