"""`Memory("http://…")` and `AsyncMemory("http://…")`: clients with the arguments of a memory."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from typing import Any, Final

from ..core.errors import Misconfigured
from ..core.settings import KEY_FILE, SECURITY, UnusedVariable
from ..memory import Memory
from ..net.hop import taking
from . import AsyncClient, Client

_DEFAULTS: Final[dict[str, object]] = {"clock": time.time}


class RemoteMemory(Client):
    """The class that `Memory("http://…")` opens. The server decides all but the address and the key."""

    @taking(Memory.__init__)
    def __init__(self, place: str, *, key: object = None, **theirs: Any) -> None:
        _check_theirs(place, theirs)
        super().__init__(place, key=_check_key(key))


class AsyncRemoteMemory(AsyncClient):
    """The class that `AsyncMemory("http://…")` opens."""

    @taking(Memory.__init__)
    def __init__(self, place: str, *, key: object = None, **theirs: Any) -> None:
        _check_theirs(place, theirs)
        super().__init__(place, key=_check_key(key))


def _check_theirs(url: str, given: Mapping[str, Any]) -> None:
    """Refuses arguments that the server decides, and warns of security variables that have no effect."""
    names = [f"EIDET_{name.upper()}" for name in SECURITY]
    unused = [name for name in (*names, KEY_FILE) if name in os.environ]
    if unused:
        warnings.warn(
            f"{', '.join(unused)}: set, but not used, because the server {url} has settings of its own",
            UnusedVariable,
            stacklevel=3,
        )
    for name, value in given.items():
        if value is not None and value is not _DEFAULTS.get(name):
            raise Misconfigured(
                f"the server {url} decides on {name}: leave it out here, and give it to `eidet serve` there"
            )


def _check_key(key: object) -> str | None:
    if key is None or isinstance(key, str):
        return key
    raise Misconfigured(
        f"a key for a server is a text, env:NAME or file:PATH, not {type(key).__name__}; "
        "`eidet keys api` makes one"
    )
