"""LangGraph: the items of its SqliteStore (a file) and its PostgresStore (a URL).

They become what `EidetStore` of `eidet.integrations.langgraph` keeps, so that agents find them through it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, MissingExtra, Unavailable
from ..integrations.extras import quote_label
from .foreign_sqlite import open_database
from .foreign_values import read_time
from .json_source import find_source
from .source_items import Notes, ReadOptions, SourceItem

Row = dict[str, Any]

COLUMNS: Final = frozenset(("prefix", "key", "value", "created_at", "updated_at"))
SERVERS: Final = ("postgresql://", "postgres://")
PAGE: Final = 1000  # rows that a server sends at once
QUERY: Final = "SELECT * FROM store ORDER BY prefix, key"


def read_langgraph(source: str, _: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    rows = _read_server(source) if source.startswith(SERVERS) else _read_file(source, notes)
    for row in rows:
        yield _make_item(row)


def _make_item(row: Row) -> SourceItem:
    where = f"item {row['key']!r} of {row['prefix']}"
    namespace = str(row["prefix"]).split(".")
    labels = [quote_label(label) for label in namespace]
    return SourceItem(
        where=where, labels={"namespace": "/".join(labels)}, draft=_make_draft(row, namespace, where)
    )


def _make_draft(row: Row, namespace: list[str], where: str) -> Draft:
    value = _read_value(row["value"], where)
    times = {}
    for name in ("created_at", "updated_at", "expires_at"):
        times[name] = read_time(row.get(name), f"{where}: {name}")
    updated = times["updated_at"] or times["created_at"] or 0.0
    meta = {"namespace": namespace, "key": row["key"], "indexed": True, "updated": updated}
    return Draft(
        key=row["key"],
        kind="document",
        text=json.dumps(value, sort_keys=True, ensure_ascii=False),
        data=value,
        occurred=times["created_at"],
        expires=times["expires_at"],
        source="langgraph",
        meta={**meta, "ttl": row.get("ttl_minutes")},
    )


def _read_value(value: Any, where: str) -> dict[str, Any]:
    """The server gives an object, the file its JSON."""
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
        database.require_columns("store", COLUMNS, "LangGraph's SqliteStore")
        if database.list_columns("store_vectors"):
            for row in database.read("SELECT count(*) AS vectors FROM store_vectors"):
                notes.drop("vector", "Eidet embeds the text itself", row["vectors"])
        yield from database.read(QUERY)


def _read_server(url: str) -> Iterator[Row]:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise MissingExtra("reading a PostgresStore", extra="postgres") from error
    try:
        yield from _read_pages(url)
    except psycopg.errors.UndefinedTable:
        raise BadInput("that database holds no store of LangGraph: there is no table store") from None
    except psycopg.OperationalError as error:
        raise Unavailable(f"the database with the store cannot be reached: {error}") from error


def _read_pages(url: str) -> Iterator[Row]:
    """The rows by a cursor of the server, so that a large store needs little memory."""
    import psycopg
    from psycopg.rows import dict_row

    with (
        psycopg.connect(url, row_factory=dict_row) as connection,
        connection.cursor("eidet_import") as cursor,
    ):
        cursor.itersize = PAGE
        cursor.execute(QUERY)
        yield from cursor
