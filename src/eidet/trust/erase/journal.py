"""What is not clean yet, in the settings of the store: written with the deletion, removed after cleaning."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Final

from ...core.validate import dump_json
from ...store import Look

SETTING: Final = "unclean"
MOST_IDS: Final = 10_000  # of more, the tombstones must tell


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingErasure:
    """One forgetting whose words may still be in caches, archives or free bytes."""

    token: str
    scope: str
    ids: list[tuple[str, str]] = field(default_factory=list)


def entries_in(setting: Callable[[str], str | None]) -> list[PendingErasure]:
    return [_read_entry(**entry) for entry in json.loads(setting(SETTING) or "[]")]


def _read_entry(token: str, scope: str, ids: list[list[str]]) -> PendingErasure:
    return PendingErasure(token=token, scope=scope, ids=[(scope, id) for scope, id in ids])


def with_entry(look: Look, entry: PendingErasure) -> dict[str, str]:
    short = PendingErasure(token=entry.token, scope=entry.scope, ids=entry.ids[:MOST_IDS])
    return _as_setting([*entries_in(look.setting), short])


def without_entry(look: Look, token: str) -> dict[str, str]:
    return _as_setting([entry for entry in entries_in(look.setting) if entry.token != token])


def _as_setting(entries: list[PendingErasure]) -> dict[str, str]:
    return {SETTING: dump_json([asdict(entry) for entry in entries]) if entries else ""}
