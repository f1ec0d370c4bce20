"""Eidet: a memory for AI agents.

Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aio import AsyncMemory
    from .client import AsyncClient, Client, connect
    from .core.actor import acting
    from .core.draft import Draft, Message
    from .core.errors import (
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
    from .core.hit import AllHits, FoundList, Hit, Hits, RememberedList, Signal, Trace
    from .core.record import Event, Kind, Record, Tier, Trust
    from .core.scope import Scope
    from .core.settings import Retention, Settings, Upkeep
    from .core.where import Box, Condition, Near, Where
    from .memory import Memory
    from .recall import Query, Recipe
    from .recall.pack import Context
    from .recall.recipes import AUTO, DIALOGUE, DOCUMENTS, EXACT, FACTS
    from .trust.audit import Audit
    from .trust.erase import Forgotten, Receipt
    from .trust.privacy import Policy

__version__ = "0.3.0"

_HOMES = {
    "aio": ("AsyncMemory",),
    "client": ("AsyncClient", "Client", "connect"),
    "core.actor": ("acting",),
    "core.draft": ("Draft", "Message"),
    "core.errors": (
        *("BadInput", "Conflict", "Corrupt", "EidetError", "Misconfigured"),
        *("MissingExtra", "NotFound", "Refused", "Unavailable"),
    ),
    "core.hit": ("AllHits", "FoundList", "Hit", "Hits", "RememberedList", "Signal", "Trace"),
    "core.record": ("Event", "Kind", "Record", "Tier", "Trust"),
    "core.scope": ("Scope",),
    "core.settings": ("Retention", "Settings", "Upkeep"),
    "core.where": ("Box", "Condition", "Near", "Where"),
    "memory": ("Memory",),
    "recall": ("Query", "Recipe"),
    "recall.pack": ("Context",),
    "recall.recipes": ("AUTO", "DIALOGUE", "DOCUMENTS", "EXACT", "FACTS"),
    "trust.audit": ("Audit",),
    "trust.erase": ("Forgotten", "Receipt"),
    "trust.privacy": ("Policy",),
}

__all__ = [
    "AUTO",
    "DIALOGUE",
    "DOCUMENTS",
    "EXACT",
    "FACTS",
    "AllHits",
    "AsyncClient",
    "AsyncMemory",
    "Audit",
    "BadInput",
    "Box",
    "Client",
    "Condition",
    "Conflict",
    "Context",
    "Corrupt",
    "Draft",
    "EidetError",
    "Event",
    "Forgotten",
    "FoundList",
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
    "RememberedList",
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
    "connect",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'eidet' has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value  # later lookups find it without this function
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
