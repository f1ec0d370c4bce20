"""Readers of other programs' stores: Chroma, LangGraph, Letta and MCP's reference server."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, MissingExtra, Unavailable
from ..graph.graph_formats import make_drafts, parse_mcp_lines
from ..integrations.extras import quote_label
from .source_files import find_source, parse_document, read_sqlite, read_text
from .source_items import (
    Dropped,
    ImportOptions,
    Items,
    LeftOut,
    SourceItem,
    has_text,
    identify,
    keep_present,
    make_labels,
    make_message,
    parse_time,
    plain_json,
    with_origin,
)

_Row = dict[str, Any]

_CHROMA: Final = """
    SELECT collections.name AS collection, embeddings.id AS number, embeddings.embedding_id AS id,
        embeddings.created_at AS created_at, m.key AS key, m.string_value AS string_value,
        m.int_value AS int_value, m.float_value AS float_value, m.bool_value AS bool_value
    FROM embeddings
    JOIN segments ON segments.id = embeddings.segment_id
    JOIN collections ON collections.id = segments.collection
    LEFT JOIN embedding_metadata AS m ON m.id = embeddings.id
    ORDER BY collections.name, embeddings.id, m.key
"""
_ARRAYS: Final = "SELECT * FROM embedding_metadata_array ORDER BY id, key, rowid"
_FIND_ARRAYS: Final = "SELECT name FROM sqlite_master WHERE name = 'embedding_metadata_array'"  # since 1.4


def read_chroma(source: str, _: ImportOptions) -> Items:
    """Reads the documents and metadata of a persistent folder; its collections become scopes."""
    path = find_source(source)
    file = find_source(str(path / "chroma.sqlite3")) if path.is_dir() else path
    for _row in read_sqlite(file, "Chroma", "SELECT key FROM collection_metadata"):
        yield Dropped("metadata of a collection", "a scope has none")
    arrays: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    if any(read_sqlite(file, "Chroma", _FIND_ARRAYS)):
        for row in read_sqlite(file, "Chroma", _ARRAYS):
            arrays[row["id"]][row["key"]].append(_chroma_value(row))
    found = read_sqlite(file, "Chroma", _CHROMA)
    for (collection, number), group in groupby(found, key=itemgetter("collection", "number")):
        rows = list(group)
        values = {row["key"]: _chroma_value(row) for row in rows if row["key"] is not None}
        yield Dropped("vector")
        meta = {**arrays.get(number, {}), **values}
        if str(meta.get("chroma:document") or "").strip():
            yield _make_document(rows[0], meta)
        else:
            yield LeftOut(f"{rows[0]['id']} of collection {collection}", "has no document")


def _make_document(row: _Row, meta: dict[str, Any]) -> SourceItem:
    where = f"{row['id']} of collection {row['collection']}"
    text, uri = meta.pop("chroma:document"), meta.pop("chroma:uri", None)
    names = (name for name in (meta.get("source"), uri) if isinstance(name, str) and 0 < len(name) <= 1000)
    draft = Draft(
        **identify(str(row["id"]), "chroma"),
        kind="document",
        text=text,
        occurred=parse_time(row["created_at"], f"{where}: created_at"),
        source=next(names, "chroma"),
        meta=with_origin(meta, "chroma", {"collection": row["collection"], "id": row["id"]}),
    )
    return SourceItem(where=where, labels=make_labels(collection=row["collection"]), draft=draft)


def _chroma_value(row: _Row) -> Any:
    if row.get("bool_value") is not None:
        return bool(row["bool_value"])
    values = (row[name] for name in ("string_value", "int_value", "float_value"))
    return next((value for value in values if value is not None), None)


_LANGGRAPH: Final = "SELECT * FROM store ORDER BY prefix, key"
_FIND_VECTORS: Final = "SELECT name FROM sqlite_master WHERE name = 'store_vectors'"
_PAGE: Final = 1000  # rows per fetch from a server


def read_langgraph(source: str, _: ImportOptions) -> Items:
    """Reads the items of a SqliteStore (a file) or a PostgresStore (a URL).

    They become items of `EidetStore` in `eidet.integrations.langgraph`, so that agents find them there.
    """
    servers = ("postgresql://", "postgres://")
    for row in _read_server(source) if source.startswith(servers) else _read_file(source):
        if isinstance(row, Dropped):
            yield row
            continue
        where = f"item {row['key']!r} of {row['prefix']}"
        namespace = str(row["prefix"]).split(".")
        labels = {"namespace": "/".join(quote_label(label) for label in namespace)}
        yield SourceItem(where=where, labels=labels, draft=_draft_item(row, namespace, where))


def _draft_item(row: _Row, namespace: list[str], where: str) -> Draft:
    value = _parse_value(row.get("value"), where)
    created, updated, expires = (
        parse_time(row.get(name), f"{where}: {name}") for name in ("created_at", "updated_at", "expires_at")
    )
    meta = {"namespace": namespace, "key": row["key"], "indexed": True, "updated": updated or created or 0.0}
    return Draft(
        key=row["key"],
        kind="document",
        text=json.dumps(value, sort_keys=True, ensure_ascii=False),
        data=value,
        occurred=created,
        expires=expires,
        source="langgraph",
        meta={**meta, "ttl": row.get("ttl_minutes")},
    )


def _parse_value(value: Any, where: str) -> dict[str, Any]:
    """Returns the value of an item: the server returns an object, the file has its JSON."""
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except ValueError:
            raise BadInput(f"{where} is not JSON") from None
    if not isinstance(value, dict):
        raise BadInput(f"{where} is not a JSON object")
    return value


def _read_file(source: str) -> Iterator[_Row | Dropped]:
    path, owner = find_source(source), "LangGraph's SqliteStore"
    if any(read_sqlite(path, owner, _FIND_VECTORS)):
        [row] = read_sqlite(path, owner, "SELECT count(*) AS vectors FROM store_vectors")
        if row["vectors"]:
            yield Dropped("vector", count=row["vectors"])
    yield from read_sqlite(path, owner, _LANGGRAPH)


def _read_server(url: str) -> Iterator[_Row]:
    """Yields the rows with a server-side cursor, so that a large store needs little memory."""
    try:
        import psycopg
        from psycopg.rows import dict_row
    except ModuleNotFoundError as error:
        raise MissingExtra("reading a PostgresStore", extra="postgres") from error
    try:
        with (
            psycopg.connect(url, row_factory=dict_row) as connection,
            connection.cursor("eidet_import") as cursor,
        ):
            cursor.itersize = _PAGE
            cursor.execute(_LANGGRAPH)
            yield from cursor
    except psycopg.errors.UndefinedTable:
        raise BadInput("that database holds no store of LangGraph: there is no table store") from None
    except psycopg.OperationalError as error:
        raise Unavailable(f"the database with the store cannot be reached: {error}") from error


def read_letta(source: str, _: ImportOptions) -> Items:
    """Reads the memory blocks and messages of an agent file (`.af`)."""
    path = find_source(source)
    found = parse_document(read_text(path), str(path))
    if not isinstance(found, dict) or not all(isinstance(found.get(n), list) for n in ("agents", "blocks")):
        raise BadInput(f"{path} is not an agent file of Letta: it has no agents and blocks")
    yield Dropped("agent", "its prompt, tools, files and settings are no memories", len(found["agents"]))
    owners = defaultdict(list)
    for agent in found["agents"]:
        for id in agent.get("block_ids") or []:
            owners[id].append(_name_agent(agent))
    for number, block in enumerate(found["blocks"], 1):
        names = owners[block.get("id")]
        owner = names[0] if len(names) == 1 else None  # a block that several agents share has no owner
        yield _parse_block(block, f"block {number:,} ({block.get('label')})", owner)
    for agent in found["agents"]:
        for number, message in enumerate(agent.get("messages") or [], 1):
            yield _parse_message(message, number, _name_agent(agent))


def _name_agent(agent: Mapping[str, Any]) -> str:
    return str(agent.get("name") or agent.get("id"))


def _parse_block(block: Mapping[str, Any], where: str, agent: str | None) -> SourceItem | LeftOut:
    if not has_text(block.get("value")):
        return LeftOut(where, "has no text")
    own = {name: block.get(name) for name in ("label", "description", "limit", "read_only")}
    draft = Draft(
        key=f"letta block {agent or block.get('id')} {block.get('label')}",
        kind="fact",
        text=block["value"],
        agent=agent,
        source="letta",
        occurred=parse_time(block.get("created_at"), f"{where}: created_at"),
        meta=with_origin(plain_json(block.get("metadata") or {}), "letta", keep_present(**own)),
    )
    return SourceItem(where=where, labels=make_labels(agent=agent), draft=draft)


def _parse_message(message: Any, number: int, agent: str) -> SourceItem | LeftOut:
    where = f"message {number:,} of {agent}"
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise BadInput(f"{where} has no role")
    content = message.get("content")
    parts = [{"text": content}] if isinstance(content, str) else content or []
    text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    if message["role"] == "system":
        return LeftOut(where, "is a system prompt")
    if not text and not message.get("tool_calls"):
        return LeftOut(where, "has no text")
    return make_message(
        where,
        f"letta message {agent} {message.get('id') or number}",
        text,
        role=message["role"],
        name=message.get("name"),
        calls=message.get("tool_calls"),
        call_id=message.get("tool_call_id"),
        agent=agent,
        session=agent,
        occurred=parse_time(message.get("created_at"), f"{where}: created_at"),
        source="letta",
        origin=keep_present(model=message.get("model"), id=message.get("id")),
        labels=make_labels(agent=agent),
    )


def read_mcp(source: str, _: ImportOptions) -> Items:
    """Reads the graph of the MCP reference server, JSON lines: its facts become facts of Eidet."""
    facts = list(dict.fromkeys(parse_mcp_lines(read_text(find_source(source)))))
    for fact, draft in zip(facts, make_drafts(facts), strict=True):
        where = f"{fact.subject} {fact.relation} {fact.object}"
        yield SourceItem(where=where, draft=replace(draft, source="mcp"))
