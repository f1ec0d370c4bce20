"""Each argument of each verb refuses a value of the wrong type by name, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eidet import EidetError, Memory, Where

HUGE = 10**400
FLAGS: tuple[Any, ...] = ("no", "false", 0, 1, None, [], np.zeros((2, 2)))
LISTS: tuple[Any, ...] = (5, 1.5, True, object(), int, np.zeros((2, 2)))
TEXTS: tuple[Any, ...] = (5, b"x", [], {}, object(), np.zeros((2, 2)))
PATHS: tuple[Any, ...] = (5, b"x", [], {}, object(), "", "a\0b", "a\ud800b")
CALLS: tuple[Any, ...] = (5, "x", [1], {"a": 1}, object())

Verb = Callable[..., object]


def _export(memory: Memory, **said: Any) -> object:
    return memory.export(said.pop("path", "never.jsonl"), **said)


def _load(memory: Memory, **said: Any) -> object:
    return memory.load(said.pop("path", "never.jsonl"), **said)


VERBS: dict[str, Verb] = {
    "remember": lambda m, **said: m.remember("something new", **said),
    "remember, a message": lambda m, **said: m.remember({"role": "user", "content": "x", **said}),
    "recall": lambda m, **said: m.recall("there", **said),
    "context": lambda m, **said: m.context("there", **said),
    "find": lambda m, **said: m.find(**said),
    "count": lambda m, **said: m.count(**said),
    "revise": lambda m, **said: m.revise("there", **said),
    "forget": lambda m, **said: m.forget(**said),
    "forget, a scope": lambda m, **said: m.forget(scope="default", **said),
    "preview_forget": lambda m, **said: m.trust.preview_forget(scope="default", **said),
    "export": _export,
    "load": _load,
    "facts.add": lambda m, **said: m.facts.add("Ann", "lives_in", "Porto", **said),
    "facts.export": lambda m, **said: m.facts.export(**said),
    "facts.match": lambda m, patterns: m.facts.match(patterns),
    "maintain": lambda m, **said: m.upkeep.maintain(**said),
    "unarchive": lambda m, **said: m.upkeep.unarchive("nowhere", **said),
    "verify_receipt": lambda m, **said: m.trust.verify_receipt(**said),
}
OF_FILTERS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("kinds", "tiers", "trust"), LISTS),
    **dict.fromkeys(("session", "agent", "who"), TEXTS),
    **dict.fromkeys(("since", "until", "near", "box"), ([], object(), np.zeros((2, 2)))),
}
ARGUMENTS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("remember", "keep_duplicates", FLAGS),
    ("remember", "again", FLAGS),
    ("remember", "importance", (HUGE, -HUGE)),
    ("remember", "vector", (HUGE, [HUGE])),
    ("remember, a message", "tool_calls", LISTS),
    *(
        (verb, name, bad)
        for verb in ("recall", "context", "find", "count")
        for name, bad in OF_FILTERS.items()
    ),
    *(("forget", name, bad) for name, bad in OF_FILTERS.items()),
    ("recall", "order", TEXTS),
    ("recall", "unit", TEXTS),
    ("recall", "understand", FLAGS),
    ("recall", "explain", FLAGS),
    ("context", "budget", (HUGE, 0, "1000")),
    ("context", "headings", FLAGS),
    ("context", "fence", FLAGS),
    ("find", "order", TEXTS),
    ("revise", "clear", (None, *LISTS, "text", ["text", 5])),
    ("revise", "importance", (HUGE,)),
    ("forget, a scope", "everything", ("no", "false", 1, [1], np.zeros((2, 2)))),
    ("preview_forget", "everything", ("no", "false", 1, [1], np.zeros((2, 2)))),
    ("export", "path", PATHS),
    ("export", "plain", FLAGS),
    ("export", "progress", CALLS),
    ("load", "path", PATHS),
    ("load", "progress", CALLS),
    ("facts.add", "sources", (None, "there", *LISTS)),
    ("facts.export", "ever", FLAGS),
    ("facts.match", "patterns", (None, *LISTS)),
    ("maintain", "dry_run", FLAGS),
    ("maintain", "only", LISTS),
    ("unarchive", "ids", LISTS),
    ("verify_receipt", "receipt", (None, {}, "text", object())),
]
NAMES = {"patterns": "pattern"}  # where a message says it otherwise


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:16") as opened:
        opened.remember("Ann lives in Lisbon.", id="there")
        yield opened


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("verb", "argument", "values"), ARGUMENTS, ids=[f"{a} {b}" for a, b, _ in ARGUMENTS])
def test_a_wrong_type_is_refused(memory: Memory, verb: str, argument: str, values: tuple[Any, ...]) -> None:
    store = memory.parts.store
    before = (store.head(), store.find(Where()))
    for value in values:
        with pytest.raises(EidetError) as caught:
            VERBS[verb](memory, **{argument: value})
        assert NAMES.get(argument, argument) in str(caught.value)
    assert (store.head(), store.find(Where())) == before
    assert not list(Path.cwd().iterdir())


BAD_PLACES: tuple[Any, ...] = ("a\0b", "a\ud800b", "x" * 5000, 5, b"x", [])
BAD_CLOCKS: tuple[Any, ...] = (5, "x", None, [])
OPENS: list[tuple[str, Any]] = [
    *(("place", bad) for bad in BAD_PLACES),
    *(("audit", bad) for bad in BAD_PLACES if bad != "x" * 5000),
    *(("clock", bad) for bad in BAD_CLOCKS),
]


@pytest.mark.parametrize(("argument", "value"), OPENS, ids=range(len(OPENS)))
def test_what_cannot_open_a_memory_is_refused(argument: str, value: Any) -> None:
    said: dict[str, Any] = {"embedder": "hashing:16", argument: value}
    with pytest.raises(EidetError):
        Memory(**said)
    assert not list(Path.cwd().iterdir())
