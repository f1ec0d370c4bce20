"""Settings with good defaults, and the one place that reads them from the environment or a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .errors import Misconfigured


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a memory works. Names carry units."""

    durability: str = "process"  # "process" survives kill -9, "power" also the loss of power
    language: str | None = None  # of the texts, for stemming; None: what the file has, or English
    keep_duplicates: bool = False  # store a fact again that its scope already has word for word
    text_chars: int = 1_000_000  # the longest text
    index: str = "embedded"  # a name of the entry point group eidet.indexes
    index_memory_mb: int = 1024  # scopes beyond this are dropped from RAM, longest unused first
    sidecar_from: int = 20_000  # scopes of this many records get a cache file beside the database
    flush_uses: int = 100  # use counts are written with the next write once this many wait

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and not isinstance(value, bool) and value < 1:
                raise Misconfigured(f"setting {field.name} must be at least 1, not {value}")


def read_settings(environment: Mapping[str, str], file: Path | None = None) -> Settings:
    """Settings from a TOML file's [eidet] table, overridden by EIDET_* variables."""
    given: dict[str, Any] = {}
    if file is not None:
        given.update(_table(file))
    names = {field.name for field in fields(Settings)}
    given.update({n: environment[f"EIDET_{n.upper()}"] for n in names if f"EIDET_{n.upper()}" in environment})
    if unknown := given.keys() - names:
        raise Misconfigured(f"unknown settings {sorted(unknown)}; there are {', '.join(sorted(names))}")
    return replace(Settings(), **{name: _typed(name, value) for name, value in given.items()})


def _table(file: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("eidet", {})
    except (OSError, ValueError) as error:
        raise Misconfigured(f"settings file {file} cannot be used: {error}") from error
    if not isinstance(table, dict):
        raise Misconfigured(f"settings file {file} needs a table [eidet]")
    return dict(table)


def _typed(name: str, value: Any) -> Any:
    default = getattr(Settings(), name)
    if not isinstance(value, str) or isinstance(default, str) or default is None:
        return value
    if isinstance(default, bool):
        if value.lower() in ("1", "true", "yes", "0", "false", "no"):
            return value.lower() in ("1", "true", "yes")
    elif value.isdigit():
        return int(value)
    raise Misconfigured(f"setting {name} cannot be {value!r}; the default is {default!r}")
