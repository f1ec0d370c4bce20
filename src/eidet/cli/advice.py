"""What `eidet doctor` has to say of a memory that works: drift, repetition, and what nobody asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.scope import Scope
from ..core.settings import Settings
from ..memory import Memory
from ..quality import Windows
from .diagnosis import CheckResult, ok, warning

MANY: Final = 0.5  # of the records: a larger share is worth a word
FEW: Final = 20  # records: under it shares mean nothing
REPEATED: Final = 0.01

_CURES: Final = {
    "top score": "look at some answers with `eidet recall --explain`: have topics or the language changed? "
    "Another embedder (`eidet rebuild --reembed`) or recipe may fit better",
    "empty rate": "look at queries that find nothing: a filter that lets nothing pass, a scope without "
    "records, or something that was forgotten",
    "success rate": "compare answers judged badly with `eidet recall --explain`; what they should have "
    "found may be missing, out of date, or worded differently",
}


def advice(memory: Memory, scope: Scope | None, settings: Settings) -> Iterator[CheckResult]:
    yield from of_retrieval(memory.admin.stats(scope)["retrieval"], settings)
    yield from of_records(memory.admin.metrics(scope), settings)


def of_retrieval(told: Mapping[str, Any], settings: Settings) -> Iterator[CheckResult]:
    drift = told["drift"]
    windows = f"the last {settings.recent_days} days against the {settings.reference_days} before"
    if drift["verdict"] == "unknown":
        counts = f"{drift['recent']:,} and {drift['reference']:,} recalls"
        needed = Windows().fewest_recalls
        yield ok("drift", f"not enough data: {windows} had {counts}, {needed} each are needed")
    elif drift["verdict"] == "steady":
        yield ok("drift", f"none: {windows}")
    for shift in drift["changed"]:
        message = f"{windows}: {_describe_shift(shift)}"
        yield warning("drift", message, _CURES[shift["name"]]) if shift["worse"] else ok("drift", message)


def _describe_shift(shift: Mapping[str, Any]) -> str:
    better = "worse" if shift["worse"] else "better"
    name, before, after = shift["name"], shift["before"], shift["after"]
    sentence = f"{name} went from {before:.1%} to {after:.1%}"
    if name == "top score":
        sentence = f"mean {name} went from {before:.2f} to {after:.2f}"
    return f"the {sentence}, which is {better} (p {shift['p_value']:.2g})"


def of_records(metrics: Mapping[str, float], settings: Settings) -> Iterator[CheckResult]:
    records = metrics["eidet_records"]
    repeated = metrics.get("eidet_memory_duplicate_ratio", 0.0)
    yield _share(
        "duplicates",
        repeated,
        repeated > REPEATED,
        f"{repeated:.1%} of the facts and documents repeat another one word for word and in every detail",
        "they were stored with keep_duplicates or under different ids; forget those you do not need",
    )
    never = metrics.get("eidet_memory_never_recalled_ratio", 0.0)
    yield _share(
        "unused",
        never,
        never > MANY and records >= FEW,
        f"{never:.1%} of the records older than {Windows().unused_days} days were never recalled",
        "remember less of what is never recalled, or let it expire (`expires=`)",
    )
    stale = metrics.get("eidet_memory_stale_ratio", 0.0)
    yield _share(
        "stale",
        stale,
        stale > MANY and records >= FEW,
        f"{stale:.1%} of the records were not used for {settings.stale_days} days",
        "`eidet find --order created` shows the oldest; forget or export what is outdated",
    )


def _share(check: str, share: float, much: bool, message: str, todo: str) -> CheckResult:
    if much:
        return warning(check, message, todo)
    return ok(check, message if share else "none")
