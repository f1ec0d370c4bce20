"""A question, once the arguments of a verb are checked."""

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
    """A question to the memory, as a verb has understood its arguments."""

    text: str
    scope: Scope
    now: float
    asked: float  # when the question is asked, which "last week" and recency go by
    limit: int = 10
    where: Where | None = None
    vector: object = None
    recipe: Recipe = AUTO
    least: float = LEAST
    unit: str = "record"
    reranker: Reranker | None = None
    order: str = "-occurred"
    given: frozenset[str] = frozenset()  # what the caller said, which the query's own words do not change
    understand: bool = True
    explain: bool = False
    state: StateQuery | None = None  # the values to compare, where a state is asked about

    @property
    def words(self) -> str:
        """The text to search by words and meaning; of a state, its texts."""
        if self.state is None:
            return drop_courtesies(" ".join(self.text.split())) if self.understand else self.text
        return self.state.words
