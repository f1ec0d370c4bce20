"""The checks of `eidet doctor` inside a memory: each yields findings with their cures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..core.errors import EidetError
from ..core.settings import Settings
from ..memory import Memory
from ..memory.feed import tell_webhooks
from ..models.embed import embed_checked, embedder_named, embedder_of
from ..store import Store, verbs
from ..store.traits import is_sealed
from ..text import analyzer_of
from ..trust.privacy import policy_of
from ..upkeep.archive import archive_of
from .memory_options import Which

START: Final = "start it, or check the address and the network; then run `eidet doctor` again"
_REEMBED: Final = "eidet rebuild --reembed"
_SLOW_RECALL: Final = 0.25  # seconds
FEW_RECALLS: Final = 20  # the times of fewer are not judged
_MANY_VECTORS: Final = 50_000  # records on a server whose vectors every process loads
_Concern = Literal["", "slow", "unsafe", "new"]  # what a warning is about


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of the report of `eidet doctor`."""

    check: str
    level: Literal["ok", "warning", "fault"]
    message: str
    todo: str = ""
    concern: _Concern = ""


Findings = Iterator[CheckResult]


def ok(check: str, message: str) -> CheckResult:
    return CheckResult(check=check, level="ok", message=message)


def warning(check: str, message: str, todo: str, concern: _Concern = "") -> CheckResult:
    return CheckResult(check=check, level="warning", message=message, todo=todo, concern=concern)


def fault(check: str, message: str, todo: str) -> CheckResult:
    return CheckResult(check=check, level="fault", message=message, todo=todo)


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """An open memory, to be examined from inside."""

    on: Which
    memory: Memory
    store: Store  # as it was opened
    settings: Settings
    is_file: bool


# Embedder and language.


def _check_embedder(case: OpenMemory) -> Findings:
    name, width = verbs.get_setting(case.store, "embedder"), verbs.get_setting(case.store, "width")
    try:
        own = None if name is None or width is None else embedder_named(name, int(width))
        chosen = own if own is not None and case.on.embedder is None else embedder_of(case.on.embedder)
        made = embed_checked(chosen, ["Is anybody there?"]).shape[1]
    except EidetError as error:
        yield fault("embedder", str(error), "repair it, or name another with --embedder")
        return
    if name is None:
        yield ok("embedder", f"{chosen.name}; nothing was written yet")
    elif chosen.name != name:
        yield fault(
            "embedder",
            f"the memory was written with {name}, but you chose {chosen.name}",
            f"name its own with --embedder or EIDET_EMBEDDER, or change it for good with `{_REEMBED}`",
        )
    elif str(made) != width:
        yield fault("embedder", f"{name} returns {made} numbers, the memory has {width}", f"run `{_REEMBED}`")
    else:
        yield ok("embedder", f"{name}, {width} numbers")


def _check_language(case: OpenMemory) -> Findings:
    language, analyzer = (verbs.get_setting(case.store, name) for name in ("language", "analyzer"))
    wanted = case.on.language or case.on.settings().language
    if language is None:
        yield ok("language", "nothing was written yet")
    elif wanted and analyzer_of(wanted) is not analyzer_of(language):
        yield fault(
            "language",
            f"the texts were analysed as {language}, but you chose {wanted}",
            f"leave the language out, or change it for good with `eidet rebuild --language {wanted}`",
        )
    elif analyzer != (current := analyzer_of(language).name):
        yield fault("language", f"analysed by {analyzer}, this version has {current}", "run `eidet rebuild`")
    else:
        yield ok("language", f"{language}, analysed by {analyzer}")


# Servers and stores.


def _check_servers(case: OpenMemory) -> Findings:
    """Reports one finding per server connection; none if everything is in one file."""
    health = case.memory.admin.health()
    store = health.get("store", {})
    if "state" in store:
        yield describe_line("store", store)
    else:
        yield from (_describe_side(name, store[name]) for name in ("short", "long") if name in store)
        yield from _check_waiting(store.get("waiting", {}))
    yield from (describe_line(name, health[name]) for name in ("index", "embedder") if name in health)
    yield from (describe_line("webhook", told) for told in tell_webhooks(case.store).values())


def describe_line(check: str, health: Mapping[str, Any]) -> CheckResult:
    message = f"{health['name']} is {health['state']}"
    if health["state"] != "up":
        return warning(check, f"{message}: {health['last_error']}", START)
    if health["failures"]:
        message += f"; {health['failures']:,} attempts failed, the last: {health['last_error']}"
    return ok(check, message)


def _describe_side(name: str, health: Mapping[str, Any]) -> CheckResult:
    if health["state"] != "up":
        return warning(f"{name} store", f"down: {health['error']}", START)
    last = f"; its last error: {health['last_error']}" if health["last_error"] else ""
    return ok(f"{name} store", f"{health['store']}, up{last}")


def _check_waiting(waiting: Mapping[str, Any]) -> Findings:
    if waiting.get("stuck"):
        yield warning(
            "waiting",
            f"{waiting['stuck']:,} records are rejected by their store: {waiting['error']}",
            "revise or forget them; they are offered again now and then",
        )
    elif waiting.get("records"):
        todo = "nothing: they are delivered when their store is back"
        yield warning("waiting", f"{waiting['records']:,} records wait for their store", todo)
    elif waiting:
        yield ok("waiting", "no record waits for its store")


def _check_archive(case: OpenMemory) -> Findings:
    place = case.memory.parts.settings.upkeep.archive
    if place is None:
        return
    try:
        pieces = len(archive_of(place).names())  # type: ignore[union-attr]
    except EidetError as error:
        yield warning("archive", str(error), "upkeep deletes nothing that cannot be archived first")
        return
    yield ok("archive", f"{str(place).partition('?')[0]}, {pieces:,} pieces")


# Index and recalls.


def _check_index(case: OpenMemory) -> Findings:
    faults = case.memory.admin.check()
    yield from (fault("index", message, "run `eidet rebuild`") for message in faults)
    if not faults:
        yield ok("index", f"agrees with the store (scopes: {len(case.memory.scopes()):,})")
    records = case.memory.admin.stats()["records"]
    if not case.is_file and case.memory.parts.has_embedded_index and records > _MANY_VECTORS:
        yield warning(
            "speed",
            f"each process loads {records:,} vectors from the server when it starts",
            "let the server search: `CREATE EXTENSION vector` in PostgreSQL, or set EIDET_INDEX",
            "slow",
        )


def check_recalls(retrieval: Mapping[str, Any]) -> Findings:
    """Reports how long recalls took in the last days."""
    p95 = retrieval["seconds_p95"]
    if retrieval["recalls"] < FEW_RECALLS or p95 is None:
        return
    message = f"recalls take {retrieval['seconds_p50'] * 1000:,.1f} ms p50, {p95 * 1000:,.1f} ms p95"
    if p95 > _SLOW_RECALL:
        yield warning("speed", message, "eidet recall --explain shows which stage takes the time", "slow")
    else:
        yield ok("speed", message)


# Protection.


def _check_protection(case: OpenMemory) -> Findings:
    states = (
        ("encryption", is_sealed(case.memory.parts.store), "eidet copy --help"),
        ("personal data guard", policy_of(case.settings.guard) is not None, "EIDET_GUARD=redact"),
        ("audit log", case.memory.parts.audit is not None, "EIDET_AUDIT=audit.jsonl"),
    )
    parts = [f"{name} on" if active else f"{name} off ({switch})" for name, active, switch in states]
    yield ok("protection", ", ".join(parts))
    waiting = case.memory.admin.stats().get("quarantined")
    if waiting:
        yield warning("quarantine", f"{waiting:,} records wait for a review", "eidet review", "unsafe")


CHECKS: Final[tuple[Callable[[OpenMemory], Findings], ...]] = (
    _check_embedder,
    _check_language,
    _check_servers,
    _check_archive,
    _check_index,
    lambda case: check_recalls(case.memory.admin.stats()["retrieval"]),
    _check_protection,
)
