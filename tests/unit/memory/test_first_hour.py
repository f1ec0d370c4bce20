"""Messages of errors that newcomers meet first: each names what was given and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eidet import BadInput, EidetError, Memory, Misconfigured

ODD: Any = {"userid": "ann"}
FIRST: list[tuple[Callable[[Memory], object], type[EidetError], str]] = [
    (
        lambda memory: memory.remember({"role": "user"}),
        BadInput,
        r"a message needs content .* only \['role'\]",
    ),
    (
        lambda _: Memory(embedder="hashing:16", guard="redakt"),
        BadInput,
        "guard has the unknown action 'redakt'; there are off",
    ),
    (
        lambda _: Memory("mysql://host/name"),
        Misconfigured,
        "no store has addresses that begin with 'mysql'.*postgresql://",
    ),
    (lambda memory: memory.recall("x", **ODD), BadInput, r"\blimit\b.*\bscope\b.*\bwhere\b"),
    (lambda memory: memory.find(**ODD), BadInput, r"\blimit\b.*\bscope\b.*\bwhere\b"),
    (lambda memory: memory.context("x", **ODD), BadInput, r"\bbudget\b.*\blimit\b.*\bscope\b"),
]


@pytest.mark.parametrize(("ask", "kind", "why"), FIRST, ids=range(len(FIRST)))
def test_an_early_error_says_what_to_write(
    ask: Callable[[Memory], object], kind: type[EidetError], why: str
) -> None:
    with Memory(embedder="hashing:16") as memory, pytest.raises(kind, match=why):
        ask(memory)


def test_a_state_may_have_a_role() -> None:
    with Memory(embedder="hashing:16") as memory:
        stored = memory.remember({"role": "guard", "health": 3})
        assert (stored.kind, stored.data) == ("state", {"role": "guard", "health": 3})


def test_previews_and_contradictions_are_short() -> None:
    with Memory(embedder="hashing:16") as memory:
        stored = memory.remember("The safe in the cellar opens with 4711")
        preview = memory.trust.preview_forget(stored.id)
        assert str(preview) == "would forget 1, 0 more with them, and rebuild 0"
