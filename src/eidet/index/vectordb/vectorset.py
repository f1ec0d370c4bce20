"""Vector sets of Redis 8: one for each scope, in its slot, on the server of the store or on another."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import numpy as np

from ...core.errors import Misconfigured, Unavailable
from ...core.settings import Settings
from ...models.embed import Embedder
from ...net.url import Options
from ...store import Store
from ...store.redis.address import OPTIONS, address_of
from ...store.redis.address import RedisAddress as Place
from ...store.redis.client import Command, RedisClient, pages
from ...store.redis.key_names import Keys
from ...store.redis.vector_sets import VECTOR_SETS, VectorSetRegistry, take_out
from ...store.traits import traits_of
from ...text import Analyzer
from .. import Floats
from . import UNIT_BITS, Match, Point, VectorLost, VectorShelf
from .address import build_vector_index, settings_in
from .index import VectorIndex
from .pushdown import EVERYTHING, NOTHING, Filter, Leaf, hash_label, write_filter

BESIDE: Final = "the vector set"  # beside the records: the same however the server is called
MARK: Final = b"-"  # an element without a record: the set is there though nothing is in it
KINDS: Final = {8: "Q8", 32: "NOQUANT"}
TOLD: Final = {"Q8": (b"int8", b"q8"), "NOQUANT": (b"f32", b"fp32")}  # by VINFO
ADDED: Final = 8  # elements added at once: others wait meanwhile, half a millisecond for each
_LINKED: Final = 100  # candidates when an element is linked; the server's 200 take twice as long
_WIDELY: Final = 8  # so many times the matches wanted are looked at for those that pass, then all
# Since these releases, and all after the last, a search aside may go on while elements are removed; before,
# it reads memory that is freed, and the server may die.
_SOUND: Final = ((8, 2, 9), (8, 4, 6), (8, 10, 1))
# One letter each: every element carries them. What is asked for most stands first.
NAMES: Final = {
    "expires": "e", "occurred": "c", "session": "s", "who": "w", "kind": "k", "tier": "t", "trust": "r",
    "agent": "a", "source": "o", "created": "d", "importance": "i", "stepped": "m", "step": "n",
    "placed": "p", "x": "x", "y": "y", "z": "z",
}  # fmt: skip
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]*")
_BINARY: Final = 1e-4  # the grammar knows no negative exponents: what is smaller is told by a power of two
_SCANNED: Final = 40_000  # in a set of up to so many, all are looked at for those that pass


def vectorset(
    store: Store,
    width: int,
    *,
    settings: Settings,
    renewed: Callable[[], None] | None = None,
    embedder: Embedder | None = None,
    analyzer: Analyzer | None = None,
) -> VectorIndex:
    """`vectorset://?small=0` is on the server of the store, `vectorset+redis://host` on that one."""
    place, options = _place(store, settings.index)
    how = settings_in({"whole": "2000", **options}, "vectorset", own=("bits", "ef"))
    beside, keys = not settings.index.startswith("vectorset+"), Keys(place.prefix)
    wire = RedisClient(place, None, name=BESIDE if beside else None)
    try:
        _check_has(wire, place)
        bits, ef = _whole(options, "bits", 32), _whole(options, "ef", 200)
        shelves = VectorSetRegistry(wire, keys) if beside else None
        database = VectorSets(wire, keys, bits=bits, ef=ef, shelves=shelves)
    except BaseException:
        wire.close()
        raise
    return build_vector_index(
        database, how, store, width, settings, renewed=renewed, embedder=embedder, analyzer=analyzer
    )


def _place(store: Store, index: str) -> tuple[Place, dict[str, str]]:
    """Where the sets are, and the options that are not about that."""
    name, _, query = index.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if name.startswith("vectorset+"):
        ours: dict[str, str] = {word: options.pop(word) for word in OPTIONS if word in options}
        return address_of(f"{name.removeprefix('vectorset+')}?{urlencode(ours)}"), options
    place = traits_of(store).address
    if not isinstance(place, Place):
        raise Misconfigured(
            "index='vectorset' keeps vectors on the Redis server of the memory, but this memory is on "
            "none: name one, such as index='vectorset+redis://localhost:6379/0'"
        )
    deadline = Options(options).parse_number("deadline", 0.0) or place.deadline_seconds
    options.pop("deadline", None)
    return replace(place, deadline_seconds=deadline), options


def _whole(options: Mapping[str, str], name: str, usual: int) -> int:
    text = options.get(name, str(usual))
    if not text.isdigit() or not 0 < int(text) < 100_000 or (name == "bits" and int(text) not in KINDS):
        raise Misconfigured(f"the option {name} of the index cannot be {text!r}; the usual is {usual}")
    return int(text)


def _check_has(wire: RedisClient, place: Place) -> None:
    """A server that does not answer now may have them."""
    try:
        has = wire.may(VECTOR_SETS, Keys(place.prefix).store + "k")
    except Unavailable:
        return
    if not has:
        raise Misconfigured(
            f"{place.shown} has no vector sets, or its user may not use them: they come with Redis 8, and "
            f"need the rights {' '.join(f'+{name.lower()}' for name in VECTOR_SETS)}; or leave the setting "
            "index as it is"
        )


class VectorSets:
    """A set per shelf. Names of elements are the keys of points as 16 hexadecimal digits.

    Numbers of 8 bits take less memory; their cosines are right to some 0.005.
    """

    most = 4_000
    batch = 256
    settle_seconds: float = 0.0

    def __init__(
        self,
        wire: RedisClient,
        keys: Keys,
        *,
        bits: int = 32,
        ef: int = 200,
        shelves: VectorSetRegistry | None = None,
    ) -> None:
        self.retrier = wire.retrier
        self._shelves = shelves  # where the records are on the same server
        self._wire, self._keys, self._ef = wire, keys, ef
        self._kind = KINDS[bits]
        self._sizes: dict[str, int] = {}  # as last told
        self._aside: bool | None = None  # whether the server may search in threads of its own

    def prepare(self, shelf: VectorShelf) -> None:
        key = self._key(shelf)
        info = self._wire.ask(key, ("VINFO", key))
        if info is not None and not self._fits(info, shelf):
            self.discard(shelf)
        if self._shelves is not None:
            self._shelves.note(key)
        axis = np.eye(1, shelf.width, dtype="<f4").tobytes()
        self._wire.write_all(key, [("VADD", key, "FP32", axis, MARK, self._kind, "SETATTR", "{}")])

    def _fits(self, told: Sequence[Any], shelf: VectorShelf) -> bool:
        facts = dict(zip(told[::2], told[1::2], strict=True))
        return facts[b"quant-type"] in TOLD[self._kind] and facts[b"vector-dim"] == shelf.width

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        key = self._key(shelf)
        there, ends = self._ask(key, ("EXISTS", key), ("PEXPIRETIME", self._base(shelf) + "s"))
        if not there:
            raise self._report_lost(shelf)
        for page in pages(points, ADDED):
            self._add(shelf, page)
        if ends >= -1:  # they go away when the scope does
            names = (key, f"{key}:u")
            last = [("PEXPIREAT", n, ends) if ends > 0 else ("PERSIST", n) for n in names]
            self._wire.write_all(key, last)

    def _add(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        key = self._key(shelf)
        try:
            commands = [self._list_commands(key, point) for point in points]
            self._wire.write_all(key, list(chain.from_iterable(commands)))
        except Misconfigured as error:
            if "mismatch" in str(error):
                raise VectorLost(f"{error}: what {self.retrier.name} holds was made otherwise") from error
            raise

    def _list_commands(self, key: str, point: Point) -> Iterator[Command]:
        name, vector = _name(point.key), np.asarray(point.vector, "<f4").tobytes()
        options = ("EF", _LINKED, "SETATTR", _attributes(point.columns))
        yield ("VADD", key, "FP32", vector, name, self._kind, *options)
        if point.key % (1 << UNIT_BITS):
            yield ("ZADD", f"{key}:u", 0, name)

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        take_out(self._wire, self._key(shelf), seqs)

    def near(self, shelf: VectorShelf, vector: Floats, limit: int, *, only: Filter) -> list[Match]:
        key = self._key(shelf)
        if only == NOTHING:
            return []
        whole = only != EVERYTHING and self._sizes.get(key, _SCANNED + 1) <= _SCANNED
        found, held = self._search(shelf, vector, limit, only, whole=whole)
        if len(found) < min(limit, held) and not whole:  # few pass, or some cannot be reached
            found, _ = self._search(shelf, vector, limit, only, whole=True)
        return found

    def _search(
        self, shelf: VectorShelf, vector: Floats, limit: int, only: Filter, *, whole: bool
    ) -> tuple[list[Match], int]:
        """Matches, and how many there are in all. `whole` looks at every element, and is exact."""
        key, count = self._key(shelf), min(limit, self.most) + 1
        asked: list[Any] = ["VSIM", key, "FP32", np.asarray(vector, "<f4").tobytes(), "WITHSCORES"]
        asked += ["COUNT", count, "EF", max(count, self._ef)]
        if only != EVERYTHING:
            asked += ["FILTER", _expression(only), "FILTER-EF", _WIDELY * max(count, self._ef)]
        asked += ["TRUTH"] if whole else []
        asked += [] if self._may_search_aside() else ["NOTHREAD"]
        size, answer = self._ask(key, ("VCARD", key), asked)
        if not size:
            raise self._report_lost(shelf)
        self._sizes[key] = size
        pairs = zip(answer[::2], answer[1::2], strict=True)
        found = [Match(int(name, 16), 2 * float(score) - 1) for name, score in pairs if name != MARK]
        return found[:limit], size - 1

    def _may_search_aside(self) -> bool:
        if self._aside is None:
            versions = [info.get("redis_version", "") for info in self._wire.info("server")]
            self._aside = bool(versions) and all(map(is_sound, versions))
        return self._aside

    def count(self, shelf: VectorShelf) -> int:
        key = self._key(shelf)
        return max(int(self._wire.ask(key, ("VCARD", key))) - 1, 0)

    def discard(self, shelf: VectorShelf) -> None:
        key = self._key(shelf)
        self._wire.write_all(key, [("UNLINK", key), ("UNLINK", f"{key}:u")])
        if self._shelves is not None:
            self._shelves.forget(key)
        self._sizes.pop(key, None)

    def close(self) -> None:
        self._wire.close()

    def _ask(self, key: str, *commands: Command) -> list[Any]:
        return self._wire.read((key, command) for command in commands)

    def _base(self, shelf: VectorShelf) -> str:
        return self._keys.base(shelf.scope)

    def _key(self, shelf: VectorShelf) -> str:
        return f"{self._base(shelf)}k:{shelf.collection}:{shelf.name}"

    def _report_lost(self, shelf: VectorShelf) -> VectorLost:
        return VectorLost(f"{self.retrier.name} {self._key(shelf)} is not there any more")


def is_sound(version: str) -> bool:
    """Whether elements may be removed from a set while it is searched."""
    parts = tuple(int(part) for part in version.split(".") if part.isdigit())
    return parts >= _SOUND[-1] or any(parts[:2] == fixed[:2] and parts >= fixed for fixed in _SOUND)


def _name(key: int) -> str:
    return f"{key:016x}"


def _attributes(columns: Mapping[str, Any]) -> str:
    """The columns of a point as JSON; the others are not told."""
    values = {letter: _encode(columns[name]) for name, letter in NAMES.items()}
    return json.dumps(values, separators=(",", ":"))


def _expression(only: Filter) -> str:
    """A filter in the words of `VSIM … FILTER`, which knows no order but that of the brackets."""
    return write_filter(only, _compare, lambda how, parts: f"({f' {how} '.join(parts)})")


def _compare(leaf: Leaf) -> str:
    if leaf.column == "seq":  # of everything or nothing
        return "(1 == 1)" if leaf.op == ">=" else "(1 == 0)"
    name = f".{NAMES[leaf.column]}"
    if leaf.op in ("in", "not in"):
        among = f"({name} in [{', '.join(map(_literal, leaf.value))}])"
        return among if leaf.op == "in" else f"(not {among})"
    return f"({name} {'==' if leaf.op == '=' else leaf.op} {_literal(leaf.value)})"


def _encode(value: Any) -> Any:
    """Text that needs no escapes, and numbers that JSON knows."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else hash_label(value, b"")
    number = float(value)
    if number != number:
        return 0
    number = min(max(number, -1.7e308), 1.7e308)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _literal(value: Any) -> str:
    encoded = _encode(value)
    if isinstance(encoded, str):
        return f'"{encoded}"'
    if isinstance(encoded, int) or abs(encoded) >= _BINARY:
        return repr(encoded).replace("e+", "e")
    whole, below = encoded.as_integer_ratio()
    return f"({whole} * 2 ** -{int(math.log2(below))})"
