"""How large scopes are searched by the server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qsl

from ...core.errors import Misconfigured
from ...core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PgvectorSettings:
    """From which size a scope is searched by the server, and how.

    `tail` units may wait in RAM before they are copied. `background`: copies are made by a thread of their
    own, and whoever searches does not wait for them.
    """

    from_records: int = 20_000
    tail: int = 2_000
    ef_search: int = 400
    m: int = 16
    ef_construction: int = 64
    memory_mb: int = 1024
    background: bool = True


_OPTIONS: Final = ("from_records", "tail", "ef_search", "m", "ef_construction")


def read_settings(settings: Settings | PgvectorSettings | None) -> PgvectorSettings:
    if not isinstance(settings, Settings):
        return settings or PgvectorSettings()
    usual = PgvectorSettings(from_records=settings.sidecar_from, memory_mb=settings.index_memory_mb)
    told = dict(parse_qsl(settings.index.partition("?")[2], keep_blank_values=True))
    if unknown := told.keys() - _OPTIONS:
        raise Misconfigured(f"unknown options {sorted(unknown)} of the index pgvector; there are {_OPTIONS}")
    try:
        options: dict[str, Any] = {name: int(value) for name, value in told.items()}
        return replace(usual, **options)
    except ValueError:
        raise Misconfigured(f"the options of the index pgvector are whole numbers, not {told}") from None
