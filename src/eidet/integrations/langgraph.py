"""`EidetStore`: the long-term memory of LangGraph agents, as a `BaseStore`.

Each namespace is a scope of its own below `scope`, so that a search in ("users", "ann") cannot see
("users", "bob"). Searches rank as `Memory.recall` does. If you pass embeddings of your own
(`index={"embed": …}`), they rank by cosine alone, as LangGraph's own stores do.

A `batch` reads first, then writes; the writes of one namespace are made together, all or none.
"""

from __future__ import annotations

import asyncio
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from ..core.draft import Draft
from ..core.hit import Hit
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from ..models.embed.quantise import find_cosines
from .extras import make_missing, quote_label, walk

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        ensure_embeddings,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
except ModuleNotFoundError as error:
    raise make_missing("LangGraph", "langgraph") from error

Namespace = tuple[str, ...]

_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
PAGE: Final = 200  # records read at once where a filter is checked in Python
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_ITEM: Final = Where(conditions=(Condition("meta.indexed", "exists"),))  # the scope may have other records
_INDEXED: Final = Where(conditions=(Condition("meta.indexed", "=", True),))


class EidetStore(BaseStore):
    """A LangGraph store that keeps its items in a memory.

    `index` is LangGraph's: `fields` are the paths of a value that are searched (by default all of it), and
    `embed`, if given, must make vectors of the memory's width. `ttl` is LangGraph's, in minutes.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        scope: str = "langgraph",
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self.index_config = index
        self.ttl_config = ttl
        self.embeddings = None
        fields: Sequence[str] | None = None
        if index is not None:
            fields = index.get("fields") or index.get("text_fields")
            if index.get("embed") is not None:
                self.embeddings = ensure_embeddings(index["embed"])
        self._fields = tuple(fields or ("$",))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Returns results in the order of the operations. Reads see the state before the batch's writes."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in asked:
            if isinstance(op, PutOp):
                puts.pop((op.namespace, op.key), None)  # of several with one key, the last counts
                puts[op.namespace, op.key] = op
                results.append(None)
            else:
                results.append(self._read(op))
        self._write(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Works like `batch`, in a thread. A write that a cancelled task has begun is still completed."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise ValueError(f"unknown operation {type(op).__name__}")

    def _path(self, namespace: Namespace) -> str:
        return "/".join((self.scope, *(quote_label(label) for label in namespace)))

    def _get(self, op: GetOp) -> Item | None:
        record = self.memory.get(key_id(op.key), scope=self._path(op.namespace))
        if record is None or "indexed" not in record.meta:
            return None
        self._refresh([record], op.refresh_ttl)
        return Item(**self._fields_of(record))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        scope = Scope.under(self._path(op.namespace_prefix))
        pushed = _pushdown(op.filter)
        wanted = op.offset + op.limit
        found: list[tuple[float | None, Record]] = []
        if op.query:
            asked = self._vector(op.query)
            for hit in self._rank(op.query, asked, scope, pushed, wanted, op.filter):
                found.append((_score(hit, asked), hit.record))
            pushed &= ~_INDEXED
        if len(found) < wanted:
            found += [(None, one) for one in self._list(scope, pushed, wanted - len(found), op.filter)]
        page = found[op.offset : wanted]
        self._refresh([record for _, record in page], op.refresh_ttl)
        return [SearchItem(**self._fields_of(record), score=score) for score, record in page]

    def _vector(self, query: str) -> list[float] | None:
        """Embeds the query with the caller's embeddings; None without them, when the memory ranks itself."""
        if self.embeddings is None:
            return None
        vector: list[float] = self.embeddings.embed_query(query)
        return vector

    def _rank(
        self,
        query: str,
        vector: list[float] | None,
        scope: Scope,
        where: Where,
        wanted: int,
        filter: Mapping[str, Any] | None,
    ) -> list[Hit]:
        """Returns hits that pass the filter, best first; recalls more until there are enough."""
        chosen = _INDEXED & where
        words = query if vector is None else ""
        ask = wanted
        while True:
            hits = self.memory.recall(words, vector=vector, scope=scope, where=chosen, limit=ask, least=0)
            passed = [hit for hit in hits if self._is_found(hit.record, filter)]
            if len(passed) >= wanted or len(hits) < ask:
                return passed[:wanted]
            ask *= 4

    def _list(
        self, scope: Scope, where: Where, wanted: int, filter: Mapping[str, Any] | None
    ) -> list[Record]:
        """Lists items without a score, in the order in which they were first stored."""
        records = walk(self.memory, where, scope, order="created", page=PAGE)
        return list(islice((one for one in records if self._is_found(one, filter)), wanted))

    def _is_found(self, record: Record, filter: Mapping[str, Any] | None) -> bool:
        """Returns whether an item passes the filter. An item at the root belongs to another store."""
        return record.scope != self.scope and _passes(record.data, filter)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        namespaces: set[Namespace] = set()
        for path in self.memory.scopes(under=self.scope):
            namespace = self._namespace(path)
            if namespace and all(_matches(one, namespace) for one in op.match_conditions or ()):
                namespaces.add(namespace[: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _namespace(self, path: str) -> Namespace:
        labels = path.removeprefix(self.scope).removeprefix("/")
        return () if not labels else tuple(map(unquote, labels.split("/")))

    def _fields_of(self, record: Record) -> dict[str, Any]:
        """Returns the fields of a LangGraph item. The namespace is relative to this store."""
        return {
            "value": record.data,
            "key": record.meta["key"],
            "namespace": self._namespace(record.scope),
            "created_at": datetime.fromtimestamp(record.created, UTC),
            "updated_at": datetime.fromtimestamp(record.meta["updated"], UTC),  # type: ignore[arg-type]
        }

    def _write(self, puts: Sequence[PutOp]) -> None:
        by_namespace: dict[Namespace, list[PutOp]] = defaultdict(list)
        for op in puts:
            by_namespace[op.namespace].append(op)
        for namespace, ops in by_namespace.items():
            self._write_namespace(self._path(namespace), ops)

    def _write_namespace(self, path: str, ops: Sequence[PutOp]) -> None:
        drafts = [self._draft(op) for op in ops if op.value is not None]
        self.memory.remember(drafts, scope=path, keep_duplicates=True, again=True)
        self.memory.forget([key_id(op.key) for op in ops if op.value is None], scope=path, for_good=False)

    def _draft(self, op: PutOp) -> Draft:
        value = dict(op.value or {})
        texts = self._texts(value, op.index)
        vector: Any = None
        if self.embeddings is not None:
            vector = self.embeddings.embed_documents(texts or [dump_json(value)])
        minutes = op.ttl  # `put` has applied the store's default already; None is forever
        return Draft(
            key=op.key,
            kind="document",
            text="\n".join(texts) or dump_json(value),
            data=value,
            meta={
                "key": op.key,
                "indexed": bool(texts),
                "updated": self.memory.parts.clock(),
                "ttl": minutes,
            },
            vector=vector,
            expires=None if minutes is None else self.memory.parts.clock() + minutes * 60,
        )

    def _texts(self, value: dict[str, Any], index: Any) -> list[str]:
        """Returns the texts of a value that are searched; none if `index` is False."""
        if index is False:
            return []
        texts: list[str] = []
        for path in self._fields if index is None else index:
            texts += get_text_at_path(value, path if path == "$" else tokenize_path(path))
        return texts

    def _refresh(self, records: Sequence[Record], asked: bool | None) -> None:
        """Restarts the TTL of records that were read, if they have one and the caller wants it."""
        if asked is None:
            asked = self.ttl_config is None or self.ttl_config.get("refresh_on_read", True)
        for record in records if asked else ():
            minutes = record.meta.get("ttl")
            if isinstance(minutes, int | float):
                expires = self.memory.parts.clock() + minutes * 60
                self.memory.revise(record.id, scope=record.scope, expires=expires)


def _score(hit: Hit, asked: Sequence[float] | None) -> float:
    """Returns the cosine of the best text if the caller's embeddings rank, else the answer probability."""
    if asked is None or hit.record.vector is None:
        return hit.score
    return find_cosines([hit.record], asked)[0]


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    """Returns whether a namespace begins or ends with a path, in which `*` is any label."""
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    elif condition.match_type != "prefix":
        raise ValueError(f"unsupported match type {condition.match_type!r}")
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _pushdown(filter: Mapping[str, Any] | None) -> Where:
    """Returns the part of a filter that the index can test, equal texts. `_passes` tests all of it."""
    conditions = [
        Condition(f"data.{key}", "=", value)
        for key, value in (filter or {}).items()
        if isinstance(value, str) and _PLAIN_KEY.match(key)
    ]
    return _ITEM & Where(conditions=tuple(conditions)) if conditions else _ITEM


def _passes(value: Any, filter: Mapping[str, Any] | None) -> bool:
    return all(_equals(_at(value, key), wanted) for key, wanted in (filter or {}).items())


def _at(value: Mapping[str, Any], key: str) -> Any:
    """Returns the value of a key, or else of a dotted path, as in `user.level`."""
    if key in value or "." not in key:
        return value.get(key)
    inner: Any = value
    for part in key.split("."):
        inner = inner.get(part) if isinstance(inner, Mapping) else None
    return inner


def _equals(value: Any, wanted: Any) -> bool:
    """Compares as LangGraph's stores do: dicts by the wanted keys, lists item by item."""
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_holds(value, name, bound) for name, bound in wanted.items())
        return isinstance(value, Mapping) and _passes(value, wanted)
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same and all(_equals(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _holds(value: Any, name: str, bound: Any) -> bool:
    if name == "$eq":
        return bool(value == bound)
    if name == "$ne":
        return bool(value != bound)
    compare = _COMPARISONS.get(name)
    if compare is None:
        raise ValueError(f"unsupported operator {name!r}; there are $eq, $ne, $gt, $gte, $lt, $lte")
    try:
        return compare(float(value), float(bound))
    except (TypeError, ValueError):
        return False
