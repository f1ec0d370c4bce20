"""Connections to one server: commands go out together, answers come back within the time that is left."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from ...core.errors import EidetError, Misconfigured, MissingExtra, Unavailable
from ...net.retry import Full, OutcomeUnknown
from .scripts import SCRIPTS, Script

Command = Sequence[Any]
IDLE: Final = 64  # connections that are kept for the next callers


def driver() -> Any:
    try:
        import redis
    except ImportError as error:
        raise MissingExtra("the Redis and Valkey store", extra="redis") from error
    return redis


class Node:
    """One server and the connections to it that nobody uses now. Safe from many threads."""

    def __init__(self, host: str, port: int, database: int, login: Mapping[str, Any]) -> None:
        self.name: Any | str = login.get("path") or f"{host}:{port}"
        place = {} if "path" in login else {"host": host, "port": port}
        self._how = {**place, "db": database, **login}
        self._secure = bool(self._how.pop("ssl", False))
        self._idle: list[Any] = []
        self._pid = os.getpid()
        self._closed = False
        self._run: bytes | None = None  # which start of the server it was
        self.restarts: int = 0
        self._lock = threading.Lock()

    def run(self, commands: Sequence[Command], left: float, *, writes: bool) -> list[Any]:
        """One answer per command; an error that the server answers with is such an answer."""
        ends = time.monotonic() + left
        line = self._take(left)
        try:
            answers = self._talk(line, commands, ends, writes)
            while missing := [n for n, answer in enumerate(answers) if _is_forgotten(answer)]:
                wanted = {commands[n][1]: SCRIPTS[commands[n][1]] for n in missing}
                self._talk(line, [("SCRIPT", "LOAD", text) for text in wanted.values()], ends, False)
                again = self._talk(line, [commands[n] for n in missing], ends, writes)
                for n, answer in zip(missing, again, strict=True):
                    answers[n] = answer
        except BaseException:
            line.disconnect()
            raise
        self._give(line)
        return answers

    def close(self, *, for_good: bool = True) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
            self._closed = self._closed or for_good
        for line in idle:
            line.disconnect()

    def _talk(self, line: Any, commands: Sequence[Command], ends: float, writes: bool) -> list[Any]:
        wrong, sent = driver().exceptions, False
        try:
            line.wait_until(ends)
            sent = True
            line.send_packed_command([pack_commands(commands)], check_health=False)
            return [self._answer(line, ends) for _ in commands]
        except (wrong.ConnectionError, wrong.TimeoutError, OSError) as error:
            self.close(for_good=False)  # those that wait here are as old as this one
            away = isinstance(error, wrong.BusyLoadingError)
            kind = OutcomeUnknown if sent and writes and not away else Unavailable
            raise kind(f"{self.name}: {error}") from error

    def _answer(self, line: Any, ends: float) -> Any:
        line.wait_until(ends)
        try:
            return line.read_response(disable_decoding=True)
        except driver().exceptions.ResponseError as error:
            return error

    def _take(self, left: float) -> Any:
        if self._closed:
            raise Misconfigured(f"the memory on {self.name} was closed; open it again")
        with self._lock:
            if self._pid != os.getpid():  # connections of a parent process are not ours
                self._idle, self._pid = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        return self._connect(left)

    def _give(self, line: Any) -> None:
        with self._lock:
            if len(self._idle) < IDLE and not self._closed:
                self._idle.append(line)
                return
        line.disconnect()

    def _connect(self, left: float) -> Any:
        from redis.backoff import NoBackoff
        from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
        from redis.retry import Retry

        plain: Any = UnixDomainSocketConnection if "path" in self._how else Connection
        make: Any = SSLConnection if self._secure else plain
        line: Any = _with_timeouts(make)(
            **self._how,
            socket_timeout=left,
            socket_connect_timeout=left,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )
        try:
            line.connect()
        except (driver().RedisError, OSError) as error:
            line.disconnect()
            raise explain(error, self.name + self._hint(error)) from error
        try:
            self._recognise(line, left)
        except BaseException:
            line.disconnect()
            raise
        return line

    def _hint(self, error: Exception) -> str:
        if self._secure:
            return " (does that port speak TLS?)"
        hung_up = "reset by peer" in str(error) or "closed by server" in str(error)
        return " (if that port speaks TLS, it is rediss:// there)" if hung_up else ""

    def _recognise(self, line: Any, left: float) -> None:
        """A server that was started anew may have lost what it was told last."""
        (answer,) = self._talk(line, [("INFO", "server")], time.monotonic() + left, False)
        found = re.search(rb"run_id:(\w+)", answer) if isinstance(answer, bytes) else None
        if found is not None:
            with self._lock:
                self.restarts += self._run not in (None, found[1])
                self._run = found[1]


def pack_commands(commands: Sequence[Command]) -> bytes:
    """As the protocol wants it; a few times as fast as the driver, which matters for long scripts."""
    parts = []
    for command in commands:
        parts.append(b"*%d\r\n" % len(command))
        for word in command:
            data = word if type(word) is bytes else str(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)


def script(name: Script, key: str, *arguments: Any) -> Command:
    """A call of a script. It names a second key, which never is: while a slot moves from node to node, that
    makes both of them say "try again". With one key, the new node would run it on what has arrived so far.
    """
    return ("EVALSHA", name.sha, 2, key, f"{key}-", *arguments)


def _is_forgotten(answer: Any) -> bool:
    """Whether the server does not know the script any more."""
    return isinstance(answer, driver().exceptions.NoScriptError)


def absent(answer: Any) -> bool:
    """Whether a command is not there for this user."""
    wrong = driver().exceptions
    unknown = isinstance(answer, wrong.ResponseError) and "unknown command" in str(answer)
    return unknown or isinstance(answer, wrong.NoPermissionError)


def explain(error: Exception, name: str) -> EidetError:
    """What it means that a connection could not be made, or that a server answered with an error."""
    import ssl

    wrong, message = driver().exceptions, str(error) or type(error).__name__
    if isinstance(error, wrong.BusyLoadingError):
        return Unavailable(f"{name} is still loading its data", retry_after=0.2)
    if isinstance(error, wrong.OutOfMemoryError) or "OOM command not allowed" in message:
        return Full(
            f"{name} is full (maxmemory): nothing of this call was stored; forget something, "
            "or give the server more memory"
        )
    if isinstance(error, wrong.ReadOnlyError):
        return Unavailable(
            f"{name} accepts no writes now, it is a replica: name its primary, or the sentinels that know "
            "it (redis+sentinel://host:26379/service)"
        )
    passing = (wrong.ClusterDownError, wrong.TryAgainError, wrong.MasterDownError)
    if isinstance(error, passing) or message.startswith(("BUSY", "NOREPLICAS", "MISCONF", "CLUSTERDOWN")):
        return Unavailable(f"{name} accepts no writes now: {message}")
    if isinstance(error, wrong.NoPermissionError):
        return Misconfigured(f"{name}: {message}; the user of the address lacks rights")
    login = (wrong.AuthenticationError, wrong.AuthorizationError)
    if isinstance(error, login) or "WRONGPASS" in message or "NOAUTH" in message:
        return Misconfigured(f"{name}: {message}; check the user and the password in the address")
    if isinstance(error.__cause__ or error.__context__, ssl.SSLError) or "SSL" in message:
        return Misconfigured(
            f"{name}: {message}; should it be rediss://, and does ssl_ca_certs name the authority?"
        )
    if isinstance(error, wrong.ResponseError):
        return Misconfigured(f"{name}: {message}")
    return Unavailable(f"{name}: {message}")


@cache
def _with_timeouts(kind: type[Any]) -> type[Any]:
    """The driver's connection with a timeout that can be changed for each answer."""

    class TimedConnection(kind):  # type: ignore[misc]
        def wait_until(self, ends: float) -> None:
            self._sock.settimeout(max(ends - time.monotonic(), 0.001))

    return TimedConnection
