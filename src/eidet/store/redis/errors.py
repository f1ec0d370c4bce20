"""What it means that redis-py could not connect, or that a server answered with an error."""

from __future__ import annotations

import ssl
from typing import Any

from ...core.errors import EidetError, Misconfigured, MissingExtra, Unavailable
from ...net.retry import Full


def driver() -> Any:
    try:
        import redis
    except ImportError as error:
        raise MissingExtra("the Redis and Valkey store", extra="redis") from error
    return redis


def is_absent(answer: Any) -> bool:
    """Whether a server answered that a command is not there for this user."""
    wrong = driver().exceptions
    unknown = isinstance(answer, wrong.ResponseError) and "unknown command" in str(answer)
    return unknown or isinstance(answer, wrong.NoPermissionError)


def unwrap(error: Exception) -> Exception:
    """What the client of a cluster met on the last node, when none let it in."""
    wrong = driver().exceptions
    while isinstance(error, wrong.RedisClusterException):
        inner = error.__cause__ or error.__context__
        if not isinstance(inner, wrong.RedisError):
            break
        error = inner
    return error


def explain(error: Exception, name: str) -> EidetError | None:
    """None where a connection was not made, or broke."""
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
