"""`EidetStore`: the long-term memory of LangGraph agents, as a `BaseStore`.

Each namespace is a scope of its own below `scope`, so that a search in ("users", "ann") cannot see
("users", "bob"). Searches rank as `Memory.recall` does. If you pass embeddings of your own
(`index={"embed": …}`), they rank by cosine alone, as LangGraph's own stores do.

A `batch` reads first, then writes; the writes of one namespace are made together, all or none.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from sys import float_info
from typing import Any, Final
from urllib.parse import unquote

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.hit import Hit
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from ..models.embed.quantise import find_cosines
from .extras import make_missing, quote_label

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

_COMPARISONS: Final = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_NOTHING: Final = Where(ids=())
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
        where = _ITEM & _where_of(op.filter or {}, ("data",)) & ~Where(scope=Scope.exactly(self.scope))
        wanted = op.offset + op.limit
        found: list[tuple[float | None, Record]] = []
        if op.query and wanted:
            asked = self._vector(op.query)
            words, chosen = op.query if asked is None else "", _INDEXED & where
            hits = self.memory.recall(words, vector=asked, scope=scope, where=chosen, limit=wanted, least=0)
            found += [(_score(hit, asked), hit.record) for hit in hits]
            where &= ~_INDEXED
        if rest := wanted - len(found):  # items without a score, in the order in which they were first stored
            listed = self.memory.find(where, scope=scope, order="created", limit=rest)
            found += [(None, record) for record in listed]
        page = found[op.offset : wanted]
        self._refresh([record for _, record in page], op.refresh_ttl)
        return [SearchItem(**self._fields_of(record), score=score) for score, record in page]

    def _vector(self, query: str) -> list[float] | None:
        """Embeds the query with the caller's embeddings; None without them, when the memory ranks itself."""
        if self.embeddings is None:
            return None
        vector: list[float] = self.embeddings.embed_query(query)
        return vector

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


def _where_of(filter: Mapping[str, Any], path: tuple[str, ...]) -> Where:
    """Translates a filter as LangGraph's stores mean it: of a dict, the wanted keys."""
    return Where(every=tuple(_test_key(path, key, wanted) for key, wanted in filter.items()))


def _test_key(path: tuple[str, ...], key: str, wanted: Any) -> Where:
    """Tests a key, or if it is missing, the dotted path that it may be, as in `user.level`."""
    plain = _test((*path, key), wanted)
    if "." not in key:
        return plain
    there = _condition((*path, key), "exists", True)
    return (there & plain) | (~there & _test((*path, *key.split(".")), wanted))


def _test(path: tuple[str, ...], wanted: Any) -> Where:
    if wanted is None:
        return _condition(path, "=", None) | _condition(path, "exists", False)
    if not isinstance(wanted, Mapping):
        return _condition(path, "=", wanted)
    if any(str(key).startswith("$") for key in wanted):
        return Where(every=tuple(_compare(path, name, bound) for name, bound in wanted.items()))
    return _condition(path, "exists", True) & _where_of(wanted, path)


def _compare(path: tuple[str, ...], name: str, bound: Any) -> Where:
    if name == "$eq":
        return _test(path, bound)
    if name == "$ne":
        return ~_test(path, bound)
    if name not in _COMPARISONS:
        raise ValueError(f"unsupported operator {name!r}; there are $eq, $ne, $gt, $gte, $lt, $lte")
    try:
        number = max(min(float(bound), float_info.max), -float_info.max)  # JSON has no infinity
    except (TypeError, ValueError):
        return _NOTHING
    return _condition(path, _COMPARISONS[name], number)


def _condition(path: tuple[str, ...], operator: str, value: Any) -> Where:
    try:
        return Where(conditions=(Condition(path, operator, value),))
    except BadInput:  # no stored value equals one that is no JSON
        return _NOTHING
