"""A question with checked arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.scope import Scope
from ..core.where import Where
from .query_rules import LEAST, drop_courtesies
from .recipes import AUTO, Recipe
from .states import StateQuery

if TYPE_CHECKING:
    from ..models.rerank import Reranker


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to the memory, made from the checked arguments of a verb."""

    text: str
    scope: Scope
    now: float
    asked: float  # the time of asking, to which "last week" and recency relate
    limit: int = 10
    where: Where | None = None
    vector: object = None
    recipe: Recipe = AUTO
    least: float = LEAST
    unit: str = "record"
    reranker: Reranker | None = None
    order: str = "-occurred"
    given: frozenset[str] = frozenset()  # options the caller gave, which the query's words do not override
    understand: bool = True
    explain: bool = False
    state: StateQuery | None = None  # the values to compare, for a query by state

    @property
    def words(self) -> str:
        """The text to search by words and meaning; for a state, its texts."""
        if self.state is None:
            return drop_courtesies(" ".join(self.text.split())) if self.understand else self.text
        return self.state.words
