"""A primary and a standby that has everything that was acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.postgres import Postgres
from tests.timing import until


@dataclass
class Pair:
    primary: Postgres
    standby: Postgres

    def url(self) -> str:
        places = ",".join(f"127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        return f"postgresql://postgres@{places}/postgres"


@contextmanager
def paired(folder: Path) -> Iterator[Pair]:
    primary = Postgres(folder / "primary").create().start()
    standby = Postgres(folder / "standby").copy_of(primary, "standby").start()
    ask(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    ask(primary, "SELECT pg_reload_conf()")
    until(lambda: ask(primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1)
    yield Pair(primary, standby)
    standby.stop()
    primary.stop()


def ask(server: Postgres, sql: str) -> object:
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection:
        cursor = connection.execute(sql)
        row = cursor.fetchone() if cursor.description else None
        return None if row is None else row[0]
