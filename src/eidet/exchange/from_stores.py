"""Readers of other programs' stores: Chroma, LangGraph, Letta and MCP's reference server.

Vectors are not imported: Eidet embeds texts itself.
"""

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
from .source_files import find_source, load_document, open_database, open_text
from .source_items import (
    ImportOptions,
    Notes,
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

Row = dict[str, Any]

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


def read_chroma(source: str, _: ImportOptions, notes: Notes) -> Iterator[SourceItem]:
    """Reads the documents and metadata of a persistent folder; its collections become scopes."""
    path = find_source(source)
    with open_database(find_source(str(path / "chroma.sqlite3")) if path.is_dir() else path) as database:
        needed = frozenset(("id", "segment_id", "embedding_id"))
        database.require_columns("embeddings", needed, "Chroma")
        for _row in database.read("SELECT key FROM collection_metadata"):
            notes.drop("metadata of a collection", "a scope has none")
        arrays: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        if database.list_columns("embedding_metadata_array"):  # absent before version 1.4
            for row in database.read(_ARRAYS):
                arrays[row["id"]][row["key"]].append(_chroma_value(row))
        for _key, group in groupby(database.read(_CHROMA), key=itemgetter("collection", "number")):
            rows = list(group)
            values = {row["key"]: _chroma_value(row) for row in rows if row["key"] is not None}
            notes.drop_vector()
            meta = {**arrays.get(rows[0]["number"], {}), **values}
            if str(meta.get("chroma:document") or "").strip():
                yield _make_document(rows[0], meta)
            else:
                notes.skip(f"{rows[0]['id']} of collection {rows[0]['collection']}", "has no document")


def _make_document(row: Row, meta: dict[str, Any]) -> SourceItem:
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


def _chroma_value(row: Row) -> Any:
    if row.get("bool_value") is not None:
        return bool(row["bool_value"])
    values = (row[name] for name in ("string_value", "int_value", "float_value"))
    return next((value for value in values if value is not None), None)


_LANGGRAPH: Final = "SELECT * FROM store ORDER BY prefix, key"
_LANGGRAPH_COLUMNS: Final = frozenset(("prefix", "key", "value", "created_at", "updated_at"))
_PAGE: Final = 1000  # rows per fetch from a server


def read_langgraph(source: str, _: ImportOptions, notes: Notes) -> Iterator[SourceItem]:
    """Reads the items of a SqliteStore (a file) or a PostgresStore (a URL).

    They become items of `EidetStore` in `eidet.integrations.langgraph`, so that agents find them there.
    """
    servers = ("postgresql://", "postgres://")
    for row in _read_server(source) if source.startswith(servers) else _read_file(source, notes):
        where = f"item {row['key']!r} of {row['prefix']}"
        namespace = str(row["prefix"]).split(".")
        labels = {"namespace": "/".join(quote_label(label) for label in namespace)}
        yield SourceItem(where=where, labels=labels, draft=_draft_item(row, namespace, where))


def _draft_item(row: Row, namespace: list[str], where: str) -> Draft:
    value = _parse_value(row["value"], where)
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


def _read_file(source: str, notes: Notes) -> Iterator[Row]:
    with open_database(find_source(source)) as database:
        database.require_columns("store", _LANGGRAPH_COLUMNS, "LangGraph's SqliteStore")
        if vectors := database.count("store_vectors"):
            notes.drop_vector(count=vectors)
        yield from database.read(_LANGGRAPH)


def _read_server(url: str) -> Iterator[Row]:
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


def read_letta(source: str, _: ImportOptions, notes: Notes) -> Iterator[SourceItem]:
    """Reads the memory blocks and messages of an agent file (`.af`)."""
    path = find_source(source)
    with open_text(path) as file:
        found = load_document(file, str(path))
    if not isinstance(found, dict) or not all(isinstance(found.get(n), list) for n in ("agents", "blocks")):
        raise BadInput(f"{path} is not an agent file of Letta: it has no agents and blocks")
    notes.drop("agent", "its prompt, tools, files and settings are no memories", len(found["agents"]))
    owners = defaultdict(list)
    for agent in found["agents"]:
        for id in agent.get("block_ids") or []:
            owners[id].append(_name_agent(agent))
    for number, block in enumerate(found["blocks"], 1):
        names = owners[block.get("id")]
        owner = names[0] if len(names) == 1 else None  # a block that several agents share has no owner
        yield from _parse_block(block, f"block {number:,} ({block.get('label')})", owner, notes)
    for agent in found["agents"]:
        for number, message in enumerate(agent.get("messages") or [], 1):
            yield from _parse_message(message, number, _name_agent(agent), notes)


def _name_agent(agent: Mapping[str, Any]) -> str:
    return str(agent.get("name") or agent.get("id"))


def _parse_block(
    block: Mapping[str, Any], where: str, agent: str | None, notes: Notes
) -> Iterator[SourceItem]:
    if not has_text(block.get("value")):
        notes.skip(where, "has no text")
        return
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
    yield SourceItem(where=where, labels=make_labels(agent=agent), draft=draft)


def _parse_message(message: Any, number: int, agent: str, notes: Notes) -> Iterator[SourceItem]:
    where = f"message {number:,} of {agent}"
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise BadInput(f"{where} has no role")
    content = message.get("content")
    parts = [{"text": content}] if isinstance(content, str) else content or []
    text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    if message["role"] == "system":
        notes.skip(where, "is a system prompt")
    elif not text and not message.get("tool_calls"):
        notes.skip(where, "has no text")
    else:
        yield make_message(
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


def read_mcp(source: str, _: ImportOptions, __: Notes) -> Iterator[SourceItem]:
    """Reads the graph of the MCP reference server, JSON lines: its facts become facts of Eidet."""
    with open_text(find_source(source)) as file:
        facts = list(dict.fromkeys(parse_mcp_lines(file.read())))
    for fact, draft in zip(facts, make_drafts(facts), strict=True):
        where = f"{fact.subject} {fact.relation} {fact.object}"
        yield SourceItem(where=where, draft=replace(draft, source="mcp"))
