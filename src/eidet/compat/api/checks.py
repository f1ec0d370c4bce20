"""Questions that can be asked, or a clear word why not."""

from __future__ import annotations

from typing import Any

from .builder import QueryBuilder
from .compound import MemoryQuery
from .errors import MemoryRetrievalException
from .ranking import Content
from .strategies import Strategy


def strategy_of(query: object) -> Any:
    """A query or a strategy; a plain text asks for what is about it."""
    if isinstance(query, QueryBuilder):
        return query.build()
    if isinstance(query, str):
        return Content(text=query)
    if not isinstance(query, MemoryQuery | Strategy):
        raise MemoryRetrievalException(f"a search takes a strategy, a query or a text, not {query!r:.80}")
    return query


def check_id(memory_id: str) -> str:
    if not isinstance(memory_id, str):
        raise MemoryRetrievalException(f"a memory_id is a text, not {memory_id!r}")
    return memory_id


def check_count(count: int, name: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise MemoryRetrievalException(f"{name} is a whole number from 1 up, not {count!r}")
    return count
