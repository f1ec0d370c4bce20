"""PgBouncer, from the system's package: a pooler between a client and PostgreSQL."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

from . import Child, free_port

CONFIG = """[databases]
* = host=127.0.0.1 port={server} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
max_client_conn = 200
default_pool_size = {size}
server_idle_timeout = 1
{more}
"""


WANTED = "needs PgBouncer: apt-get install pgbouncer"


def find() -> str | None:
    return shutil.which("pgbouncer", path="/usr/sbin:/usr/local/bin:/usr/bin:/opt/homebrew/bin")


class PgBouncer:
    """One before one server; `mode` is `session` or `transaction`."""

    def __init__(self, folder: Path, server: int, mode: str, *, size: int = 10, more: str = "") -> None:
        self.port = free_port()
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "pgbouncer.ini"
        file.write_text(CONFIG.format(server=server, port=self.port, mode=mode, size=size, more=more))
        self._child = Child([find() or WANTED, file], folder / "log", as_user=True)

    def start(self) -> PgBouncer:
        self._child.start()
        self._child.await_ready(self._answers)
        return self

    def stop(self) -> None:
        self._child.stop()

    def through(self, url: str) -> str:
        """The same database, with the pooler between."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{url.rpartition('/')[2]}"

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True
