"""Parses the address of a PostgreSQL database, and derives the options of its connections."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import unquote

from ....core.errors import Misconfigured, MissingExtra
from ....net.url import Options

PREFIX: Final = "eidet_"
CONNECTIONS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresAddress:
    """A URL without the options that are ours, and these options: `eidet_connections=16` and so on."""

    url: str
    connections: int = CONNECTIONS  # at most
    deadline_seconds: float | None = None  # see `RetryPolicy`


def address_of(url: str) -> PostgresAddress:
    """Parses `postgresql://user@host/database?eidet_…=…`; raises `Misconfigured` for an unknown option."""
    base, mark, query = url.partition("?")
    ours: dict[str, str] = {}
    others: list[str] = []
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name.startswith(PREFIX):
            ours[name.removeprefix(PREFIX)] = unquote(value)
        else:
            others.append(part)
    rest = "&".join(others)
    return _parse_options(f"{base}{mark}{rest}" if rest else base, Options(ours, prefix=PREFIX))


def _parse_options(url: str, options: Options) -> PostgresAddress:
    options.check_known(f.name for f in fields(PostgresAddress) if f.name != "url")
    return PostgresAddress(
        url=url,
        connections=options.parse_whole("connections", CONNECTIONS, least=2),
        deadline_seconds=options.parse_number("deadline_seconds", None, above=0),
    )


def hide_password(url: str) -> str:
    """Returns the address without user and password."""
    parts = parts_of(url)
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{parts.get('host', 'localhost')}{port}/{parts.get('dbname', '')}"


def parts_of(url: str) -> dict[str, Any]:
    try:
        import psycopg_pool  # noqa: F401
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise MissingExtra("PostgreSQL", extra="postgres") from error
    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        raise Misconfigured(
            "that is not the address of a PostgreSQL database: postgresql://user@host/name"
        ) from None


def connect_options(url: str, seconds: float) -> dict[str, Any]:
    """Returns options that the address leaves open. Of several servers, the one that takes writes is used."""
    given = parts_of(url)
    hosts = str(given.get("host", "")).count(",") + 1  # each of them may take that long
    own = {
        "connect_timeout": max(2, math.ceil(seconds / hosts)),
        "application_name": "eidet",
        "target_session_attrs": "read-write",
        "keepalives_idle": 10,
        "keepalives_interval": 5,
    }
    return {"autocommit": True, **{name: value for name, value in own.items() if name not in given}}
