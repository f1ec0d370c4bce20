"""The quality of retrieval in production, computed from tallies. Pure: rows in, rates out.

A tally holds counts and no content: the recalls of a scope on a day, how many of them were empty,
the distributions of best scores and times, and the judgements of answers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

DAY: Final = 86_400
KEPT_DAYS: Final = 366  # older tallies are deleted, so that a scope's rows stay bounded
SCORE_BINS: Final = 32  # over 0-1
_TIME_BINS: Final = 96  # four to a doubling, from 10 µs to 168 s
FASTEST: Final = 1e-5  # seconds: the lower end of the first bin
RESPONSIVE: Final = 0.1  # seconds within which an answer feels immediate
WINDOW_DAYS: Final = 28  # of rates and growth, up to today
UNUSED_DAYS: Final = 30  # a record of this age should have been recalled
STALE_DAYS: Final = 90  # a record unused for this long is stale

SCORES: Final = tuple(f"s{at:02}" for at in range(SCORE_BINS))
TIMES: Final = tuple(f"t{at:02}" for at in range(_TIME_BINS))


class Tally(NamedTuple):
    """Counts of one scope, one UTC day and one subject; rows with the same three add up, name by name.

    `what` is recall (a query), list (a filter alone), context, forget, or feedback, which may be
    followed by `/` and the name of the judge.
    """

    scope: str
    day: int
    what: str
    counts: Mapping[str, int]


class Survey(NamedTuple):
    """The counts by age and use of the live records of some scopes, as the store computes them."""

    records: int
    used: int  # recalled at least once
    fresh: int  # created within the window
    oldest: float | None  # creation time of the oldest one
    ripe: int  # old enough for a recall to be expected
    never: int  # of the ripe ones, never recalled
    stale: int  # neither created nor used for a long time
    distinct: int  # facts and documents, without duplicates
    duplicates: int  # facts and documents that repeat another one of their scope exactly


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share with its 95 % interval (Wilson) and the number of cases."""

    value: float
    low: float
    high: float
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The quality of retrieval. Values without data are None."""

    recalls: int = 0
    hit_ratio: Rate | None = None  # recalls with at least one hit
    empty_rate: Rate | None = None
    success_rate: Rate | None = None  # judgements that said useful, of answers and of hits
    answer_accuracy: Rate | None = None  # the same for whole answers
    hit_relevance: Rate | None = None  # the same for single hits
    judged_by: Mapping[str, Rate] = field(default_factory=dict)
    hits_per_recall: float | None = None
    top_score_median: float | None = None
    seconds_mean: float | None = None
    seconds_p50: float | None = None
    seconds_p95: float | None = None
    seconds_p99: float | None = None
    responsive: Rate | None = None  # recalls within RESPONSIVE seconds
    listings: int = 0  # recalls by a filter alone, which no rate above includes
    contexts: int = 0
    context_use: float | None = None  # share of the token budgets that was used
    context_tokens: int = 0
    forgotten: int = 0


def survey_times(now: float) -> dict[str, float]:
    """Returns the times by which a survey calls a record fresh, ripe or stale."""
    days = {"fresh": WINDOW_DAYS, "ripe": UNUSED_DAYS, "stale": STALE_DAYS}
    return {name: now - count * DAY for name, count in days.items()}


def day_of(now: float) -> int:
    """Returns the UTC day as a number."""
    return int(now // DAY)


def score_name(score: float) -> str:
    """Returns the name of the bin of a best score."""
    if score >= 1:
        return SCORES[-1]
    if score > 0:
        return SCORES[int(score * SCORE_BINS)]
    return SCORES[0]


def time_name(seconds: float) -> str:
    """Returns the name of the bin of a duration."""
    if seconds <= FASTEST:
        return TIMES[0]
    return TIMES[min(int(4 * math.log2(seconds / FASTEST)), _TIME_BINS - 1)]


def quality_of(rows: Iterable[Tally]) -> Quality:
    """Computes the quality from rows of any scopes and days."""
    counts, judges = _sum_counts(rows)
    asked, context = counts["recall"], counts["context"]
    recalls, judged = asked["recalls"], sum(judges.values(), Counter[str]())
    times = [asked[name] for name in TIMES]
    return Quality(
        recalls=recalls,
        hit_ratio=rate(recalls - asked["empty"], recalls),
        empty_rate=rate(asked["empty"], recalls),
        success_rate=judgements(judged, "answers", "hits"),
        answer_accuracy=judgements(judged, "answers"),
        hit_relevance=judgements(judged, "hits"),
        judged_by={
            name: found
            for name, counted in judges.items()
            if name and (found := judgements(counted, "answers", "hits"))
        },
        hits_per_recall=_divide(asked["hits"], recalls),
        top_score_median=_top_score(asked),
        seconds_mean=_divide(asked["micros"] / 1e6, recalls),
        seconds_p50=_seconds(times, 0.5),
        seconds_p95=_seconds(times, 0.95),
        seconds_p99=_seconds(times, 0.99),
        responsive=rate(asked["quick"], recalls),
        listings=counts["list"]["recalls"],
        contexts=context["contexts"],
        context_use=_divide(context["tokens"], context["budget"]),
        context_tokens=context["tokens"],
        forgotten=counts["forget"]["forgotten"],
    )


def judgements(counts: Mapping[str, int], *things: str) -> Rate | None:
    """Returns the share of useful judgements of these things; None without any."""
    useful = sum(counts.get(f"useful_{thing}", 0) for thing in things)
    return rate(useful, useful + sum(counts.get(f"useless_{thing}", 0) for thing in things))


def rate(part: int, of: int) -> Rate | None:
    """Computes Wilson's score interval at 95 %, which stays within 0 to 1 even for few cases."""
    if of <= 0:
        return None
    z, share = 1.959964, part / of
    scale = 1 + z * z / of
    middle = (share + z * z / (2 * of)) / scale
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / scale
    low, high = min(share, middle - half), max(share, middle + half)
    return Rate(value=share, low=max(0.0, low), high=min(1.0, high), of=of)


def _quantile(counts: list[int], share: float) -> float | None:
    """Returns the position of a quantile in a histogram: 3.5 is the middle of the fourth bin."""
    wanted, below = share * sum(counts), 0
    for at, count in enumerate(counts):
        if count and below + count >= wanted:
            return at + (wanted - below) / count
        below += count
    return None


def _sum_counts(
    rows: Iterable[Tally],
) -> tuple[defaultdict[str, Counter[str]], defaultdict[str, Counter[str]]]:
    """Sums counts by subject, and those of feedback by judge ("" if unnamed)."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    judges: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        what, _, judge = row.what.partition("/")
        (judges[judge] if what == "feedback" else counts[what]).update(row.counts)
    return counts, judges


def _divide(part: float, of: float) -> float | None:
    return part / of if of else None


def _top_score(counts: Mapping[str, int]) -> float | None:
    at = _quantile([counts.get(name, 0) for name in SCORES], 0.5)
    return None if at is None else at / SCORE_BINS


def _seconds(times: list[int], share: float) -> float | None:
    at = _quantile(times, share)
    return None if at is None else FASTEST * 2 ** (at / 4)


# Health.


@runtime_checkable
class _HasHealth(Protocol):
    """A store, index, embedder or model that talks to a server."""

    def health(self) -> Mapping[str, Any]:
        """Returns the state of the server and the outcome of the last calls; empty if there is no server."""


def health_of(thing: object) -> Mapping[str, Any] | None:
    """Returns the health that a part reports of its server; None if it has no server."""
    return None if not isinstance(thing, _HasHealth) else thing.health() or None


def format_health(parts: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """Collects the health of all parts that report one, and the overall state: up, degraded or down.

    A memory is down only if no store responds. Without any other part it is degraded, but works.
    """
    present = {name: part for name, part in parts.items() if part is not None}
    stores = list(_states(present.get("store", {})))
    all_up = all(state == "up" for part in present.values() for state in _states(part))
    state = "degraded"
    if stores and all(one == "down" for one in stores):
        state = "down"
    elif all_up and not present.get("store", {}).get("waiting", {}).get("records"):
        state = "up"
    return {"state": state, **present}


def _states(part: Mapping[str, Any]) -> Iterator[str]:
    """Yields the state of one server, or of each store of a tiered memory."""
    if "state" in part:
        yield part["state"]
    else:
        yield from (one["state"] for one in part.values() if "state" in one)
