"""Reads single figures out of `peers.json`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

FIRST = {"everyday": "hit@1", "locomo": "R@10"}  # the figure that a form is chosen by
SETS = {"everyday": "everyday", "locomo": "LoCoMo"}
FORMS = {"full": "fields", "text": "text alone", "labelled": "date and speaker in the text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that all peers have, as it is read from the results; None where one has not."""

    name: str
    read: Callable[[dict[str, Any]], float | None]
    most_is_best: bool
    unit: str


def figures_of(sizes: Sequence[int]) -> list[Figure]:
    found = [
        Figure(name="adds one by one", read=read_adds, most_is_best=True, unit="/s"),
        Figure(name="search right after a write", read=read_lag, most_is_best=False, unit="ms"),
    ]
    for size in sizes:
        found += [
            Figure(name=f"bulk load of {size:,}", read=read_bulk(size), most_is_best=True, unit="/s"),
            Figure(
                name=f"search p50 at {size:,}",
                read=read_search(size, "p50 ms"),
                most_is_best=False,
                unit="ms",
            ),
            Figure(
                name=f"search p95 at {size:,}",
                read=read_search(size, "p95 ms"),
                most_is_best=False,
                unit="ms",
            ),
            Figure(
                name=f"first answer of a process at {size:,}",
                read=read_search(size, "first answer, s"),
                most_is_best=False,
                unit="s",
            ),
            Figure(
                name=f"memory at {size:,}", read=read_search(size, "memory MB"), most_is_best=False, unit="MB"
            ),
            Figure(name=f"disk at {size:,}", read=read_disk(size), most_is_best=False, unit="MB"),
            Figure(name=f"rare words found at {size:,}", read=read_rare(size), most_is_best=True, unit="%"),
        ]
    for name, title in SETS.items():
        figure = FIRST[name]
        for one in (figure, "precision"):
            read = read_quality(name, one)
            found.append(Figure(name=f"{title} {one}", read=read, most_is_best=True, unit=""))
    return found


def beats(figure: Figure, value: float, own: float) -> bool:
    if figure.most_is_best:
        return value > own
    return value < own


def choose_form(measured: dict[str, Any], name: str, forms: Sequence[str]) -> str | None:
    best, chosen = -1.0, None
    for form in forms:
        value = measured.get(form, {}).get(FIRST[name])
        if value is not None and value > best:
            best, chosen = value, form
    return chosen


def list_sizes(results: dict[str, Any]) -> list[int]:
    found = set()
    for peer in results["peers"].values():
        for size, figures in peer["sizes"].items():
            if figures.get("search"):
                found.add(int(size))
    return sorted(found)


def read_adds(peer: dict[str, Any]) -> float | None:
    return peer["one by one"].get("per second")  # type: ignore[no-any-return]


def read_lag(peer: dict[str, Any]) -> float | None:
    return peer.get("lag", {}).get("p50 ms")  # type: ignore[no-any-return]


def read_bulk(size: int) -> Callable[[dict[str, Any]], float | None]:
    return lambda peer: peer["sizes"].get(str(size), {}).get("bulk", {}).get("per second")


def read_disk(size: int) -> Callable[[dict[str, Any]], float | None]:
    return lambda peer: peer["sizes"].get(str(size), {}).get("disk MB")


def read_search(size: int, key: str) -> Callable[[dict[str, Any]], float | None]:
    def read(peer: dict[str, Any]) -> float | None:
        rounds = peer["sizes"].get(str(size), {}).get("search")
        if not rounds:
            return None
        return statistics.median(one[key] for one in rounds)

    return read


def read_rare(size: int) -> Callable[[dict[str, Any]], float | None]:
    def read(peer: dict[str, Any]) -> float | None:
        rounds = peer["sizes"].get(str(size), {}).get("search")
        if not rounds:
            return None
        return 100 * float(rounds[0]["rare found"]) / float(rounds[0]["rare asked"])

    return read


def read_quality(name: str, figure: str) -> Callable[[dict[str, Any]], float | None]:
    def read(peer: dict[str, Any]) -> float | None:
        measured = peer["quality"].get(name, {})
        form = choose_form(measured, name, tuple(FORMS))
        if form is None:
            return None
        value = measured[form].get(figure)
        return None if value is None else float(value)

    return read


def show(value: float | None) -> str:
    """Three digits that count."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def space(unit: str) -> str:
    if unit in ("", "/s"):
        return unit
    return f" {unit}"
