"""Settings of a memory that was given none: those of the environment, as the command line reads them.

Settings in code are the caller's word, and the environment is not asked then. A variable about security that
is not obeyed is never passed over in silence: `UnusedVariable` warns of it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from .errors import Misconfigured
from .settings import Settings, Upkeep, read_settings

SECURITY: Final = (
    *("guard", "guard_key", "vault", "reveal", "poison", "quarantine_above", "receipt_key", "key"),
    *("audit", "audit_recalls", "audit_content", "audit_sync", "audit_key_file"),
)
CONFIG, KEY_FILE = "EIDET_CONFIG", "EIDET_KEY_FILE"
ALIKE: Final = 0.9  # names that differ by a letter or two
# Variables that are no settings: of the command line, of a door, of a server and its clients, for faults.
_OTHERS: Final = (
    *("MEMORY", "EMBEDDER", "AUDIT_KEY", "PATH", "TRACEBACK", "CONFIG", "KEY_FILE"),
    *("API_KEY", "KEYS"),
)
OTHERS: Final = frozenset(f"EIDET_{name}" for name in _OTHERS)


class UnusedVariable(UserWarning):
    """A variable of the environment that looks as if it protected a memory, and does not."""


def settings_of(given: Settings | None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings given, or those of the environment; `Misconfigured` if they are no settings."""
    known = os.environ if environment is None else environment
    if given is None:
        return read_environment(known)
    if not isinstance(given, Settings):
        raise Misconfigured(f"settings must be Settings(…), not {type(given).__name__}")
    return given


def change_settings(settings: Settings, **changes: str | None) -> Settings:
    """The settings with what was said beside them."""
    given = {name: value for name, value in changes.items() if value is not None}
    return replace(settings, **given) if given else settings  # type: ignore[arg-type]


def read_environment(environment: Mapping[str, str]) -> Settings:
    """EIDET_* variables, and the settings file that EIDET_CONFIG names."""
    _warn_misspelt(environment)
    file = environment.get(CONFIG)
    found = read_settings(environment, Path(file) if file else None)
    if environment.get(KEY_FILE) and found.key is None:
        return replace(found, key=f"file:{environment[KEY_FILE]}")
    return found


def warn_unused(
    used: Settings, given: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> None:
    """Warns of security variables that settings of the caller leave unused; `said` are other arguments."""
    known = os.environ if environment is None else environment
    names = [name for name in SECURITY if f"EIDET_{name.upper()}" in known and given.get(name) is None]
    usual = Settings()
    unused = [f"EIDET_{name.upper()}" for name in names if getattr(used, name) == getattr(usual, name)]
    if known.get(KEY_FILE) and used.key is None and given.get("key") is None:
        unused.append(KEY_FILE)
    if unused:
        warnings.warn(
            f"{', '.join(unused)}: set, but not used, because settings were given in code; "
            "leave settings out, or start from eidet.core.environment.read_environment(os.environ)",
            UnusedVariable,
            stacklevel=3,
        )


def _warn_misspelt(environment: Mapping[str, str]) -> None:
    """A misspelt name would protect nothing; names that are like none of ours are the caller's own."""
    known = {f"EIDET_{field.name.upper()}" for field in fields(Settings)} | OTHERS
    known |= {f"EIDET_UPKEEP_{field.name.upper()}" for field in fields(Upkeep)}
    for name in sorted(environment):
        if not name.startswith("EIDET_") or name in known:
            continue
        from difflib import get_close_matches

        for meant in get_close_matches(name, known, 1, ALIKE):
            warnings.warn(f"{name}: not used; did you mean {meant}?", UnusedVariable, stacklevel=4)
