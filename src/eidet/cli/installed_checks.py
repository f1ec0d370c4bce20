"""What `eidet doctor` says of this machine: versions, extras, and where the settings come from."""

from __future__ import annotations

import os
import platform
import re
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

from .. import __version__
from ..core.environment import UnusedVariable, read_environment
from ..core.errors import EidetError
from ..store.sql.inspect_file import sqlite_version
from .diagnosis import CheckResult, ok, warning
from .memory_options import Which

KNOWN: Final = ("server", "mcp", "postgres", "redis", "seal")  # worth naming where they are missing
INNER: Final = ("test", "test-s3", "test-heavy", "dev")  # for people who work on Eidet itself
_NEED: Final = re.compile(r"([A-Za-z0-9._-]+).*extra == ['\"]([a-z0-9-]+)['\"]")


def describe_machine(on: Which) -> Iterator[CheckResult]:
    """Findings that need no memory."""
    python, database = platform.python_version(), sqlite_version()
    yield ok("installed", f"eidet {__version__}, Python {python}, SQLite {database}, {platform.system()}")
    yield describe_extras(find_extras())
    yield from describe_settings(on, os.environ)


def find_extras() -> dict[str, bool]:
    """The extras of Eidet, and whether all their packages are installed."""
    try:
        needs = distribution("eidet").requires or []
    except PackageNotFoundError:  # a copy that nobody installed
        return {}
    found: dict[str, bool] = {}
    for need in needs:
        match = _NEED.match(need)
        if match is None or match[2] in INNER:
            continue
        package, extra = match.groups()
        found[extra] = found.get(extra, True) and is_installed(package)
    return found


def is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def describe_extras(extras: Mapping[str, bool]) -> CheckResult:
    if not extras:
        return ok("extras", "unknown: eidet runs from a folder, not from an installed package")
    here, missing = [], []
    for name, installed in extras.items():
        if installed:
            here.append(name)
        elif name in KNOWN:
            missing.append(name)
    described = ", ".join(here) or "none"
    if missing:
        described += f"; more: pip install 'eidet[{','.join(missing)}]'"
    return ok("extras", described)


def describe_settings(on: Which, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """Where settings come from, by name; values may be secret."""
    sources = []
    if on.config is not None:
        sources.append(str(on.config))
    for name in sorted(environment):
        if name.startswith("EIDET_"):
            sources.append(name)
    yield ok("settings", ", ".join(sources) or "the defaults; `eidet init` writes a file to change them")
    for misspelt in find_misspelt(environment):
        yield warning(
            "settings", misspelt, f"unset {misspelt.partition(':')[0]}, and set the one you mean", "unsafe"
        )


def find_misspelt(environment: Mapping[str, str]) -> list[str]:
    """Variables whose names look like those of Eidet, and are not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            read_environment(environment)
        except EidetError:  # bad values are told by whoever opens the memory
            return []
    found = []
    for one in caught:
        if issubclass(one.category, UnusedVariable):
            found.append(str(one.message))
    return found
