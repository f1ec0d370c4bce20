"""What `eidet doctor` tells of servers: stores, what waits for one, the archive, the index, the embedder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import EidetError
from ..memory import Memory
from ..upkeep.archive import archive_of
from .diagnosis import CheckResult, fault, ok, warning

START = "start it, or check the address and the network; then run `eidet doctor` again"


def servers(memory: Memory) -> Iterator[CheckResult]:
    """One finding per line to a server; nothing where all is in one file."""
    health = memory.admin.health()
    store = health.get("store", {})
    if "state" in store:
        yield _line("store", store)
    else:
        for name in ("short", "long"):
            if name in store:
                yield _side(name, store[name])
        yield from _outbox(store.get("outbox", {}))
    for name in ("index", "embedder"):
        if name in health:
            yield _line(name, health[name])
    yield from _archive(memory)


def check_served(memory: Memory, url: str) -> Iterator[CheckResult]:
    """What a server of Eidet tells of itself; its files are examined where it runs."""
    state = memory.admin.health()["state"]
    message = f"{url} is {state}, and keeps {sum(memory.scopes().values()):,} records for this caller"
    if state == "up":
        yield ok("server", message)
    else:
        yield warning("server", message, "run `eidet doctor` where the server runs: it names the cause")


def _line(check: str, told: Mapping[str, Any]) -> CheckResult:
    message = f"{told['name']} is {told['state']}"
    if told["state"] != "up":
        return warning(check, f"{message}: {told['last_error']}", START)
    if told["failures"]:
        failed = f"; {told['failures']:,} attempts failed, the last: {told['last_error']}"
    else:
        failed = ""
    return ok(check, message + failed)


def _side(name: str, told: Mapping[str, Any]) -> CheckResult:
    if told["state"] != "up":
        return warning(f"{name} store", f"down: {told['error']}", START)
    if told["last_error"]:
        last = f"; its last error: {told['last_error']}"
    else:
        last = ""
    return ok(f"{name} store", f"{told['store']}, up{last}")


def _outbox(told: Mapping[str, Any]) -> Iterator[CheckResult]:
    for file, why in told.get("unreadable", {}).items():
        yield fault(
            "outbox",
            f"{file} cannot be read: {why}",
            "keep the file: its waiting records are stored nowhere else",
        )
    if told.get("stuck"):
        yield warning(
            "outbox",
            f"{told['stuck']:,} records are rejected by their store: {told['error']}",
            "revise or forget them; they are offered again each minute",
        )
    if waiting := told.get("waiting", 0) - told.get("stuck", 0):
        yield warning(
            "outbox",
            f"{waiting:,} records wait in {told['folder']}",
            "nothing: they are delivered when their store is back",
        )
    elif told and not told["stuck"] and not told["unreadable"]:
        yield ok("outbox", "empty" if told["folder"] else "none: writes to a store that is down are refused")


def _archive(memory: Memory) -> Iterator[CheckResult]:
    place = memory.parts.settings.upkeep.archive
    if place is None:
        return
    try:
        pieces = len(archive_of(place).names())  # type: ignore[union-attr]
    except EidetError as error:
        yield warning("archive", str(error), "upkeep deletes nothing that cannot be archived first")
        return
    yield ok("archive", f"{str(place).partition('?')[0]}, {pieces:,} pieces")
