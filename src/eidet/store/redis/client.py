"""Asks the servers through redis-py: retries within a deadline, and raises errors that say what to do."""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar

from ...core.errors import EidetError, Misconfigured, MissingExtra, Unavailable
from ...net.retry import Full, OutcomeUnknown, Retrier, RetryPolicy
from .address import RedisAddress
from .codec import SCRIPTS, Script


def _driver() -> Any:
    try:
        import redis
    except ImportError as error:
        raise MissingExtra("the Redis and Valkey store", extra="redis") from error
    return redis


def is_absent(answer: Any) -> bool:
    """Returns whether the server answered that this user has no such command."""
    wrong = _driver().exceptions
    unknown = isinstance(answer, wrong.ResponseError) and "unknown command" in str(answer)
    return unknown or isinstance(answer, wrong.NoPermissionError)


def _unwrap(error: Exception) -> Exception:
    """Returns the error of the last node that a cluster client tried."""
    wrong = _driver().exceptions
    while isinstance(error, wrong.RedisClusterException):
        inner = error.__cause__ or error.__context__
        if not isinstance(inner, wrong.RedisError):
            break
        error = inner
    return error


def _explain_error(error: Exception, name: str) -> EidetError | None:
    """Translates a driver's error; returns None if a connection failed or broke."""
    wrong, message = _driver().exceptions, str(error) or type(error).__name__
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
    if isinstance(error, wrong.AskError):
        return Misconfigured(f"{name} is a node of a cluster: its address begins with redis+cluster://")
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
    return Misconfigured(f"{name}: {message}") if isinstance(error, wrong.ResponseError) else None


T = TypeVar("T")

PAGE: Final = 1000  # commands that go out at once
TRIES: Final = 10  # at least, for operations that look at every record
PAUSE: Final = 0.05  # before late replicas are asked again
_FAILOVER_SECONDS: Final = 2.5  # longest wait for a silent server, if another may take over
CONNECTIONS: Final = 2**31  # redis-py would refuse the 101st thread
Command = Sequence[Any]


class RedisClient:
    """A `Redis`, `RedisCluster` or the primary of a `Sentinel`, and a `Retrier` in place of their retries.

    Connects on first use. Whatever it sends may be sent again without harm. In a cluster it asks the node
    that has `key`: all keys of a store lie in one slot.
    """

    def __init__(self, address: RedisAddress, retry_policy: RetryPolicy | None, key: str) -> None:
        self._wrong: Any = _driver().exceptions
        self.address, self._key = address, key
        self.retrier: Retrier = Retrier(address.shown, retry_policy or _retry_policy(address))
        self._deadline = self.retrier.policy.deadline_seconds
        self._timeout = min(self._deadline, _FAILOVER_SECONDS) if address.fails_over else self._deadline
        self._redis: Any = None
        self._opened: list[Any] = []
        self._lock = threading.Lock()
        self._closed = self._greeted = False
        self._runs: dict[str, bytes] = {}  # server -> the id of its run

    def read(self, commands: Iterable[Command]) -> list[Any]:
        """Sends commands, many at once. Returns their answers, in order."""
        answers: list[Any] = []
        for page in pages(list(commands), PAGE):
            answers += self._call(partial(self._answer_all, commands=page))
        return answers

    def ask(self, command: Command) -> Any:
        return self.read([command])[0]

    def write(self, command: Command, *, copied: bool = True) -> Any:
        """Runs a command; with `copied`, waits for as many replicas as the address asks for."""
        wait = self.address.wait if copied else 0
        if not wait:
            return self.write_all([command])[0]
        millis = max(min(self.address.wait_ms, int(self._timeout * 500)), 1)
        write = partial(self._write_and_wait, command=command, wait=("WAIT", wait, millis))
        ends = time.monotonic() + self._deadline
        while True:
            answer, copies = self._call(write, writes=True)
            if copies >= wait:
                return answer
            if time.monotonic() + PAUSE + 0.0025 * millis > ends:
                raise OutcomeUnknown(
                    f"stored, but only {copies} of {wait} replicas have it after "
                    f"{self.address.wait_ms} ms and retries: a failover now could lose it"
                )
            time.sleep(PAUSE)

    def write_all(self, commands: Sequence[Command]) -> list[Any]:
        """Runs several commands; does not wait for replicas."""
        return self._call(partial(self._answer_all, commands=commands), writes=True)

    def try_command(self, *command: Any) -> Any:
        """Runs a command that the user may lack the right to; returns the error if the server refuses."""
        return self._call(lambda redis: self._exchange(redis, [command])[0])

    def info(self, section: str) -> dict[str, Any]:
        """Returns the server's INFO section; empty if the user may not ask for it."""
        answer = self.try_command("INFO", section)
        return answer if isinstance(answer, dict) else {}

    @property
    def generation(self) -> tuple[str, bytes | None]:
        """A value that changes when the server restarted or another one took over, which may lose writes."""
        name = ""
        if self.address.cluster and self._redis is not None:
            name = self._redis.get_node_from_key(self._key).name
        return name, self._runs.get(name)

    def tries(self, problem: str) -> Iterator[int]:
        """Counts from 1. After the deadline and some tries, raises `Unavailable` with the problem."""
        ends = time.monotonic() + self._deadline
        for number in count(1):
            if number > TRIES and time.monotonic() > ends:
                raise Unavailable(problem, retry_after=0.1)
            yield number

    def close(self) -> None:
        with self._lock:
            self._closed, opened, self._opened = True, self._opened, []
        for one in opened:
            one.close()

    # One attempt.

    def _call(self, job: Callable[[Any], T], *, writes: bool = False) -> T:
        def attempt(_: float) -> T:
            try:
                return job(self._connect())
            except (self._wrong.RedisError, OSError) as error:
                raise self._explain(error, writes) from error

        return self.retrier.call(attempt)

    def _answer_all(self, redis: Any, commands: Sequence[Command]) -> list[Any]:
        pairs = zip(commands, self._exchange(redis, commands), strict=True)
        return [self._settle(redis, command, answer) for command, answer in pairs]

    def _write_and_wait(self, redis: Any, command: Command, wait: Command) -> tuple[Any, int]:
        """Returns the answer and how many replicas have it: WAIT counts only its own connection's writes."""
        answer, copies = self._exchange(redis, [command, wait])
        if isinstance(answer, Exception):
            return self._settle(redis, command, answer), 0
        return answer, int(self._settle(redis, wait, copies))

    def _exchange(self, redis: Any, commands: Sequence[Command]) -> list[Any]:
        """Sends commands to the server; the answers include errors."""
        line = redis
        if self.address.cluster:
            line = redis.get_redis_connection(redis.get_node_from_key(self._key))
        try:
            if len(commands) == 1:
                return [line.execute_command(*commands[0])]
            pipeline = line.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            return list(pipeline.execute(raise_on_error=False))
        except self._wrong.ResponseError as error:
            return [error]
        except (self._wrong.ConnectionError, self._wrong.TimeoutError):
            if self.address.cluster:
                redis.nodes_manager.initialize()  # another node may have taken over
            raise

    def _settle(self, redis: Any, command: Command, answer: Any) -> Any:
        """Repeats a command that the server did not run; a cluster's client follows slots that move."""
        wrong = self._wrong
        again = (wrong.NoScriptError, wrong.AskError, wrong.TryAgainError, wrong.ClusterDownError)
        if isinstance(answer, again):
            return self._ask_again(redis, command)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _ask_again(self, redis: Any, command: Command) -> Any:
        try:
            return redis.execute_command(*command)
        except self._wrong.NoScriptError:
            return redis.execute_command("EVAL", SCRIPTS[command[1]], *command[2:])
        except AttributeError as error:  # redis-py follows no slot to a node that has none yet
            raise self._wrong.TryAgainError("a slot is moving to a new node") from error

    # Connecting.

    def _connect(self) -> Any:
        with self._lock:
            if self._closed:
                raise Misconfigured(f"the memory on {self.retrier.name} was closed; open it again")
            if self._redis is None:
                self._redis = self._open()
                self._opened.append(self._redis)
            return self._redis

    def _open(self) -> Any:
        address, redis = self.address, _driver()
        once = {"retry": redis.retry.Retry(redis.backoff.NoBackoff(), 0), "protocol": 2}
        once |= {"socket_timeout": self._timeout, "socket_connect_timeout": self._timeout}
        options = {**address.login, **once}
        options |= {"max_connections": CONNECTIONS, "redis_connect_func": self._greet}
        if address.cluster:
            nodes = [redis.cluster.ClusterNode(*host) for host in address.hosts]
            return redis.RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options)
        if address.service:
            login = {**address.sentinel_login, **once}
            sentinel = redis.Sentinel(address.hosts, sentinel_kwargs=login, **options)
            self._opened += sentinel.sentinels
            return sentinel.master_for(address.service, db=address.database)
        host, port = address.hosts[0]
        return redis.Redis(host=host, port=port, db=address.database, **options)

    def _greet(self, connection: Any) -> None:
        """Records the run id of the server behind a connection: after a restart, writes may be missing."""
        if not self.address.cluster:  # a cluster's client has done so
            connection.on_connect()
        connection.send_command("INFO", "server")
        try:
            found = re.search(rb"run_id:(\w+)", connection.read_response())
        except self._wrong.ResponseError:
            found = None
        self._greeted = True
        if found is not None:
            name = f"{connection.host}:{connection.port}" if self.address.cluster else ""
            self._runs[name] = found[1]

    # Errors.

    def _explain(self, error: Exception, writes: bool) -> EidetError:
        error = _unwrap(error)
        return _explain_error(error, self.retrier.name) or self._explain_broken(str(error), writes)

    def _explain_broken(self, message: str, writes: bool) -> Unavailable:
        """Explains a broken connection; a cluster's client may have tried others before this one."""
        sent = self.address.cluster or not re.search("connecting to|No master found", message)
        return OutcomeUnknown(message) if writes and sent else Unavailable(message + self._hint(message))

    def _hint(self, message: str) -> str:
        if self._greeted:
            return ""
        if self.address.login.get("ssl"):
            return " (does that port speak TLS?)"
        hung_up = "reset by peer" in message or "closed by server" in message
        return " (if that port speaks TLS, it is rediss:// there)" if hung_up else ""


def script(name: Script, key: str, *arguments: Any) -> Command:
    """Builds the command that runs a script.

    It names a second key, which never exists: while a slot moves from node to node, that makes both of them
    answer "try again". With one key, the new node would run it on what has arrived so far.
    """
    return ("EVALSHA", name.sha, 2, key, f"{key}-", *arguments)


def pages(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _retry_policy(address: RedisAddress) -> RetryPolicy:
    """Builds the retry policy: one node that is down does not stop the others."""
    policy = RetryPolicy(deadline_seconds=address.deadline_seconds)
    if address.fails_over:
        return replace(policy, break_after=1000, longest_pause_seconds=0.25)
    return policy
