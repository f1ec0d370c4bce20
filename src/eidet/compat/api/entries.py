"""Records in the form of this door: dicts with the fields that its users know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from ...core.errors import BadInput
from ...core.record import Kind, Record, Tier
from ...core.scope import ALL, ONE, check_scope
from ...core.validate import Json, copy_json
from ...core.where import Where
from ...models.embed import Embedder
from ...models.embed.quantise import list_rows, quantise
from .errors import InvalidAgentId, MemoryRetrievalException

Entry = dict[str, Any]
Vectors = dict[str, list[float]]
TIERS: Final = {"stm": Tier.SHORT, "im": Tier.MIDDLE, "ltm": Tier.LONG}
NAMES: Final = {tier: name for name, tier in TIERS.items()}
_HEX: Final = "%{:02X}"


def label_of(agent_id: str) -> str:
    """Returns an agent's id as a scope label; characters that a label cannot have are percent-encoded."""
    if not isinstance(agent_id, str) or not agent_id:
        raise InvalidAgentId(f"agent_id is a text that is not empty, not {agent_id!r}")
    label = "".join(_encode_id(agent_id))
    if label == "**":  # would mean every scope
        label = "%2A%2A"
    if len(label) > 200:
        raise InvalidAgentId(f"agent_id is too long: {len(label):,} characters of at most 200")
    check_scope(label)
    return label


def _encode_id(agent_id: str) -> Iterator[str]:
    last = len(agent_id) - 1
    for at, char in enumerate(agent_id):
        edge = char.isspace() and at in (0, last)
        if char in "/%" or edge or not char.isprintable() or agent_id in (ONE, ALL):
            yield from map(_HEX.format, char.encode(errors="surrogatepass"))
        else:
            yield char


def tiers_of(memory_tiers: str | Iterable[str] | None) -> tuple[Tier, ...] | None:
    """Returns tiers by this door's names (stm, im, ltm) or the memory's own (short, middle, long)."""
    if memory_tiers is None:
        return None
    try:
        named = (memory_tiers,) if isinstance(memory_tiers, str) else memory_tiers
        known = dict.fromkeys(TIERS.get(str(name).lower(), str(name).lower()) for name in named)
        return Where(tiers=known).tiers
    except (BadInput, TypeError) as error:
        raise MemoryRetrievalException(
            f"there is no tier {memory_tiers!r:.80}; there are stm, im and ltm"
        ) from error


def kinds_of(memory_type: str | Iterable[str] | None) -> tuple[Kind, ...] | None:
    try:
        return Where(kinds=memory_type).kinds
    except BadInput as error:
        raise MemoryRetrievalException(f"memory_type, {error}") from error


def place_of(contents: Mapping[str, Json]) -> tuple[float, ...] | None:
    """Finds coordinates under the names that agents use: position, location, position_x and so on."""
    for name in ("position", "location", "pos", "coordinates"):
        if found := _point(contents.get(name)):
            return found
    return _point([contents.get(f"position_{axis}") for axis in "xyz"])


def _point(value: Json) -> tuple[float, ...] | None:
    if isinstance(value, Mapping):
        value = [value.get(axis) for axis in "xyz"]
    if not isinstance(value, list | tuple):
        return None
    parts = list(value[:-1]) if len(value) == 3 and value[2] is None else list(value)
    fits = len(parts) in (2, 3) and all(_is_coordinate(part) for part in parts)
    return tuple(map(float, parts)) if fits else None


def _is_coordinate(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e150


def entry_of(record: Record, agent_id: str, *, importance: float, vectors: Callable[[], Vectors]) -> Entry:
    """Converts a record to a dict. Its vectors are read on first access, which most callers never need."""
    return {
        "memory_id": record.id,
        "agent_id": agent_id,
        "step_number": record.step,
        "timestamp": record.occurred,
        "contents": contents_as_json(record),
        "metadata": {
            "creation_time": record.created,
            "last_access_time": record.created if record.last_used is None else record.last_used,
            "compression_level": record.level,
            "importance_score": importance,
            "retrieval_count": record.uses,
            "memory_type": str(record.kind),
        },
        "embeddings": _Embeddings(vectors),
    }


def contents_as_json(record: Record) -> Json:
    """Returns the contents of a memory; a text that another door stored appears as `content`."""
    if isinstance(record.data, dict):
        return copy_json(record.data)
    if record.data is None:
        return {"content": record.text}
    return {"content": record.text, "data": record.data}


_VECTORS: Final = ("full_vector", "compressed_vector", "abstract_vector")


class _Embeddings(dict[str, list[float]]):
    """The vectors of a memory as each tier sees them; a dict that is filled on first access."""

    __slots__ = ("_read",)
    __hash__ = None

    def __init__(self, read: Callable[[], Vectors]) -> None:
        super().__init__({name: [] for name in _VECTORS})  # a JSON encoder skips an empty dict
        self._read: Callable[[], Vectors] | None = read

    def fill(self) -> None:
        read, self._read = self._read, None
        if read is not None:
            dict.update(self, read())

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, list[float]]]]:
        """Makes copies and pickles plain dicts."""
        return dict, (self.copy(),)


def _fill_first(name: str) -> Callable[..., Any]:
    """Returns a method of dict that reads the vectors first."""
    plain = getattr(dict, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        for one in args:
            if isinstance(one, _Embeddings):
                one.fill()
        return plain(*args, **kwargs)

    return call


_READING: Final = "__getitem__ __iter__ __eq__ __ne__ __or__ __ror__ __repr__ copy get keys values items"
_CHANGING: Final = "__setitem__ __delitem__ pop popitem update setdefault clear"
for _name in f"{_READING} {_CHANGING}".split():
    setattr(_Embeddings, _name, _fill_first(_name))


def vectors_of(whole: Record, embedder: Embedder) -> Vectors:
    """Returns full_vector as made, compressed_vector from 8 bits per number, abstract_vector from one."""
    if not whole.vector:
        return {name: [] for name in _VECTORS}
    full, width = whole.vector, embedder.width
    lowered = [
        whole.but(vector=quantise(full, level, width), level=level) for level, _ in enumerate(_VECTORS)
    ]
    return dict(zip(_VECTORS, map(_mean, list_rows(lowered, width)), strict=True))


def _mean(rows: Any) -> list[float]:
    """Returns the vector of a text, or the normalised mean of those of its units, as plain numbers."""
    middle = rows.mean(axis=0)
    length = float(middle @ middle) ** 0.5 if len(rows) > 1 else 1.0
    numbers: list[float] = (middle / (length or 1.0)).tolist()
    return numbers


def check_id(memory_id: object) -> str:
    if not isinstance(memory_id, str):
        raise MemoryRetrievalException(f"memory_id must be a text, not {memory_id!r}")
    return memory_id
