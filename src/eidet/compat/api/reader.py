"""Reading one agent's memories: what every search strategy is built of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ...core.describe import describe_data
from ...core.hit import Hit
from ...core.record import Record
from ...core.validate import Json, clean_json
from ...core.where import Where
from ...memory import Memory
from ...models.embed.quantise import first_rows, how_many
from ...recall import Recipe
from ...recall.state_query import read_state
from ..opening import embed_query
from .errors import MemoryRetrievalException
from .models import contents_of

ALL: Final = 1_000_000  # what one call answers at most
EVERYTHING: Final = Where()
NEAREST: Final = Recipe(name="nearest", dense=1.0, words=0.0, importance=0.0, nothing=0.0)
RESEMBLING: Final = Recipe(name="resembling", importance=0.0, nothing=0.0)
WORDS: Final = Recipe(name="content", dense=0.4, words=0.6, importance=0.0)


class Scored(NamedTuple):
    """A memory and how well it fits, 0-1."""

    record: Record
    score: float


def by_score(one: Scored) -> float:
    """Sorts the best first."""
    return -one.score


@dataclass(frozen=True, slots=True)
class Look:
    """One agent's memories as of a moment. `importance` tells what is left of a memory's priority."""

    memory: Memory
    scope: str
    now: float
    importance: Callable[[Record], float]
    decays: bool

    def find(self, where: Where, *, order: str, limit: int | None = None) -> list[Record]:
        if limit is None:
            return everything(self.memory, where, self.scope, order)
        if not limit:
            return []
        return self.memory.find(where, scope=self.scope, order=order, limit=limit)

    def get(self, memory_id: str) -> Record:
        record = self.memory.get(memory_id, scope=self.scope)
        if record is None:
            raise MemoryRetrievalException(f"there is no memory {memory_id!r} of this agent")
        return record

    def nearest(self, vector: Any, where: Where | None, limit: int | None) -> list[Scored]:
        """Finds memories by the cosine of their vectors, nearest first; scores are at least 0."""
        hits = self.memory.recall(
            scope=self.scope,
            vector=vector,
            where=_drop_empty(where),
            limit=limit or ALL,
            recipe=NEAREST,
            understand=False,
        )
        return [
            Scored(hit.record, min(1.0, max(0.0, c)))
            for hit, c in zip(hits, _cosines(hits, vector), strict=True)
        ]

    def resembling(self, state: Mapping[str, Json], where: Where | None, limit: int | None) -> list[Scored]:
        """Finds memories whose values are nearest to those of a state; scores are at least 0."""
        hits = self.memory.recall(
            state,
            scope=self.scope,
            where=_drop_empty(where),
            kinds=None,
            limit=limit or ALL,
            recipe=RESEMBLING,
            least=0.0,
        )
        return [Scored(hit.record, hit.score) for hit in hits]

    def about(self, text: str, where: Where | None, limit: int | None) -> list[Scored]:
        """Finds memories by meaning and by words, best first."""
        hits = self.memory.recall(
            text,
            scope=self.scope,
            where=_drop_empty(where),
            limit=limit or ALL,
            recipe=WORDS,
            least=0.0,
            understand=False,
        )
        return [Scored(hit.record, hit.score) for hit in hits]

    def vector_of(self, text: str) -> Any:
        return embed_query(self.memory, text)


def _drop_empty(where: Where | None) -> Where | None:
    """Turns an empty filter into None, so that the index need not test any row."""
    return None if where == EVERYTHING else where


def both(where: Where, own: Where) -> Where:
    """Joins two filters."""
    return own if where == EVERYTHING else where & own


def everything(memory: Memory, where: Where | None, scope: str, order: str) -> list[Record]:
    """All that match, however many."""
    found = memory.find(where, scope=scope, order=order, limit=ALL)
    while (
        found
        and len(found) % ALL == 0
        and (more := memory.find(where, scope=scope, order=order, limit=ALL, offset=len(found)))
    ):
        found += more
    return found


def _cosines(hits: Sequence[Hit], vector: Any) -> list[float]:
    """The cosine of each record's nearest unit. Only records with several units need the costlier reasons."""
    records, width = [hit.record for hit in hits], len(vector)
    if not records:
        return []
    rows = first_rows([record.vector for record in records], [record.level for record in records], width)
    length = float(sum(part * part for part in vector)) ** 0.5 or 1.0
    first = ((rows @ vector) / length).tolist()
    return [_best_unit(hit, one, width) for hit, one in zip(hits, first, strict=True)]


def _best_unit(hit: Hit, first: float, width: int) -> float:
    if how_many(hit.record.vector, hit.record.level, width) == 1:
        return first
    return max([first, *(signal.value for signal in hit.signals if signal.name == "dense")])


def state_as_text(state: object) -> str:
    """A state (or a text) as the line of text by which it is compared: the same as when it is stored."""
    if isinstance(state, str):
        return state
    contents = contents_of(state)
    if contents is None:
        raise MemoryRetrievalException(
            f"a state to compare with is a dict or a text, not {type(state).__name__}"
        )
    return describe_data(clean_json(contents, "the state to compare with"))


def state_with_values(state: object) -> Mapping[str, Json] | None:
    """The contents of a state that has numbers or flags to compare; None for any other and for a text."""
    if isinstance(state, str):
        return None
    contents = contents_of(state)
    if contents is None:
        return None
    cleaned: dict[str, Json] = clean_json(contents, "the state to compare with")
    return None if read_state(cleaned, str) is None else cleaned


def closeness(wanted: Mapping[str, Json], there: Json) -> float:
    """How closely a memory matches wanted attributes, 0-1: the mean over them, nested ones included."""
    if not wanted or not isinstance(there, dict):
        return 0.0
    return sum([_close(value, there.get(name)) for name, value in wanted.items()]) / len(wanted)


def _close(one: Json, other: Json) -> float:
    kind = type(one)
    if kind is str or kind is bool or one is None:
        return 1.0 if type(other) is kind and one == other else 0.0
    if kind is int or kind is float:
        return _near(one, other) if type(other) in (int, float) else 0.0
    if isinstance(one, Mapping):
        return closeness(one, other)
    if not isinstance(other, list) or len(one) != len(other):
        return 0.0
    if one:
        return sum(map(_close, one, other)) / len(one)
    return 1.0


def _near(one: float, other: float) -> float:
    largest = max(abs(one), abs(other))
    return 1.0 - min(1.0, abs(one - other) / largest) if largest else 1.0
