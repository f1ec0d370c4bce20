"""The config of mem0's class, and checks of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import BadInput
from ...memory import Memory as EidetMemory
from .entities import NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Config:
    """The place of the memories and the models. Everything has a default."""

    place: str | Path | EidetMemory | None = None  # a memory, or what opens one; None: a file in MEM0_DIR
    scope: str = "mem0"  # below it, each user has a scope
    embedder: object = None  # as `eidet.Memory` takes it
    llm: object = None  # as `llm_of` takes it; without one, messages are kept as they are
    custom_instructions: str | None = None  # for the model that words memories


def check_options(options: Mapping[str, Any], method: str) -> None:
    """Refuses entities beside the filters, as mem0 does; other names mean nothing."""
    if wrong := {name for name in NAMES if name in options}:
        raise BadInput(
            f"Top-level entity parameters {wrong} are not supported in {method}(). "
            "Use filters={'user_id': '...'} instead."
        )


def check_top_k(top_k: object) -> int:
    if isinstance(top_k, bool) or not isinstance(top_k, int):
        raise BadInput("top_k must be a valid integer")
    if top_k < 0:
        raise BadInput(f"Invalid top_k: {top_k}. Must be a non-negative integer.")
    return top_k


def check_threshold(threshold: object) -> float:
    """The lowest score; None is mem0's default."""
    if threshold is None:
        return 0.1
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise BadInput("threshold must be a valid number")
    if not 0 <= threshold <= 1:
        raise BadInput(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
    return float(threshold)


def check_query(query: object) -> str:
    if not isinstance(query, str):
        raise BadInput("Invalid query: must be a non-empty string.")
    trimmed = query.strip()
    if not trimmed:
        raise BadInput("Invalid query: cannot be empty or whitespace-only.")
    return trimmed
