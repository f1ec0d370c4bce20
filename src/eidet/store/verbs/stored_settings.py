"""Reads settings; apart from the other verbs, because every start does no more than that."""

from __future__ import annotations

from .. import Store
from ..model import SETTINGS


def get_setting(store: Store, name: str) -> str | None:
    return store.values(SETTINGS, (name,)).get(name)


def get_settings(store: Store, prefix: str) -> dict[str, str]:
    """The settings whose names begin so, by name."""
    return store.values(SETTINGS, prefix=prefix)
