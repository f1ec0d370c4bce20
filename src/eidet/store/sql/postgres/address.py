"""What the address of a PostgreSQL database says, and the connections it leads to."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from ....core.errors import Misconfigured, MissingExtra
from ...watchdog import shut

if TYPE_CHECKING:
    from psycopg import Connection

PREFIX: Final = "eidet_"
CONNECTIONS: Final = 16
LAG_SECONDS: Final = 1.0
_REIGN: Final = """SELECT CASE WHEN NOT pg_is_in_recovery()
    THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END, CASE WHEN 'off' IN
    (current_setting('fsync'), current_setting('synchronous_commit')) THEN pg_postmaster_start_time() END"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A URL without the options that are ours, and those: `eidet_connections=16` and so on."""

    url: str
    connections: int = CONNECTIONS  # at most, to each server
    partitions: int = 0  # of the records by scope, in a database that is new
    replicas: tuple[str, ...] = ()  # host:port of servers that follow, for reading
    lag_seconds: float = LAG_SECONDS  # that a replica may be behind
    deadline_seconds: float | None = None  # see `RetryPolicy`
    prepare: bool | None = None  # statements; None: unless there is a pooler between, which may not know them

    def __post_init__(self) -> None:
        if self.connections < 2:
            raise Misconfigured(f"eidet_connections is a number from 2 up, not {self.connections}")
        if self.partitions != 0 and not 2 <= self.partitions <= 1024:
            raise Misconfigured(f"eidet_partitions is a number from 2 to 1024, not {self.partitions}")
        if not self.lag_seconds > 0:
            raise Misconfigured(f"eidet_lag_seconds is a number above 0, not {self.lag_seconds:g}")


def address_of(url: str) -> Address:
    """`postgresql://user@host/database?eidet_…=…`; `Misconfigured` where an option is not one of ours."""
    base, mark, query = url.partition("?")
    parts = query.split("&") if query else []
    ours = dict(part.partition("=")[::2] for part in parts if part.startswith(PREFIX))
    rest = "&".join(part for part in parts if not part.startswith(PREFIX))
    told = {name.removeprefix(PREFIX): unquote(value) for name, value in ours.items()}
    return Address(url=f"{base}{mark}{rest}" if rest else base, **_options(told))


def _options(told: dict[str, str]) -> dict[str, Any]:
    readers = {
        "connections": int,
        "partitions": int,
        "replicas": lambda text: tuple(one.strip() for one in text.split(",") if one.strip()),
        "lag_seconds": float,
        "deadline_seconds": float,
        "prepare": lambda text: {"on": True, "off": False, "auto": None}[text],
    }
    if unknown := sorted(set(told) - set(readers)):
        known = ", ".join(PREFIX + name for name in readers)
        raise Misconfigured(f"the address names {PREFIX}{unknown[0]}, which is no option; there are {known}")
    return {name: _read(name, readers[name], text) for name, text in told.items()}


def _read(name: str, reader: Any, text: str) -> Any:
    try:
        return reader(text)
    except (ValueError, KeyError):
        raise Misconfigured(f"{PREFIX}{name} in the address cannot be {text!r}") from None


def shown(url: str) -> str:
    """The address without its password."""
    parts = parts_of(url)
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{parts.get('host', 'localhost')}{port}/{parts.get('dbname', '')}"


def parts_of(url: str) -> dict[str, Any]:
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise MissingExtra("PostgreSQL", extra="postgres") from error
    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        raise Misconfigured(
            "that is no address of a PostgreSQL database: postgresql://user@host/name"
        ) from None


def replica_of(url: str, place: str) -> str:
    """The same database on another server."""
    from psycopg.conninfo import make_conninfo

    host, colon, port = place.rpartition(":")
    if not colon or not port.isdigit():
        raise Misconfigured(f"a replica is named as host:port, not {place!r}")
    ours = {name: value for name, value in parts_of(url).items() if name != "hostaddr"}
    return make_conninfo(**{**ours, "host": host.strip("[]"), "port": port, "target_session_attrs": "any"})


def connect(url: str, left: float, *, prepare: bool | None = None) -> Connection[Any]:
    """To the server that takes writes, if several are named and nothing else was asked for."""
    import psycopg

    given = parts_of(url)
    hosts = str(given.get("host", "")).count(",") + 1  # each of them may take that long
    own: dict[str, Any] = {"connect_timeout": max(2, math.ceil(left / hosts)), "application_name": "eidet"}
    own |= {"target_session_attrs": "read-write", "keepalives_idle": 10, "keepalives_interval": 5}
    connection = psycopg.connect(
        url, autocommit=True, **{name: value for name, value in own.items() if name not in given}
    )
    if prepare is False or (prepare is None and _is_pooled(connection, left)):
        connection.prepare_threshold = None
    return connection


def _is_pooled(connection: Connection[Any], left: float) -> bool:
    """Whether somebody stands between: whoever answered the call is not the process that works for it."""
    row = _answer(connection, "SELECT pg_backend_pid()", left)
    return row is None or row[0] != connection.info.backend_pid


def reign_of(connection: Connection[Any], left: float) -> tuple[Any, ...] | None:
    """What changes when acknowledged writes may have been lost: a standby took over, an older state was
    restored, or a server that does not sync was started again. None where the server does not tell."""
    from psycopg import errors

    untold = (errors.UndefinedFunction, errors.FeatureNotSupported, errors.InsufficientPrivilege)
    return _answer(connection, _REIGN, left, untold)


def _answer(
    connection: Connection[Any], sql: str, left: float, untold: tuple[type[Exception], ...] = ()
) -> tuple[Any, ...] | None:
    """Of a connection that is new: it is closed under whoever waits too long, and where it fails."""
    late = threading.Timer(left, shut, [connection])
    late.start()
    try:
        return connection.execute(sql).fetchone()
    except untold:
        return None
    except BaseException:
        connection.close()
        raise
    finally:
        late.cancel()
