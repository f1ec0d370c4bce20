"""Parses the URL of a Redis store: where the servers are, how to log in, and how the store behaves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from ...core.errors import Misconfigured
from ...net.url import Options, Url, split_url

Host = tuple[str, int]  # and its port
_PORTS: Final = {"redis": 6379, "rediss": 6379, "redis+cluster": 6379, "redis+sentinel": 26379}
EXAMPLE: Final = "redis://user:password@host:6379/0?prefix=eidet&wait=1"
_TLS_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_TLS: Final = (*_TLS_FILES, "ssl_cert_reqs", "ssl_check_hostname")
OPTIONS: Final = (
    *("prefix", "wait", "wait_ms", "linger", "deadline", "socket", "tls"),
    *("sentinel_username", "sentinel_password"),
    *_TLS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """A parsed address. `linger_seconds`: how long the server keeps a record after it has expired.

    `wait` is the number of replicas that must have a write before it is acknowledged.
    """

    scheme: str
    hosts: tuple[Host, ...]
    database: int = 0
    service: str = ""
    prefix: str = "eidet"
    wait: int = 0
    wait_ms: int = 1000
    linger_seconds: float = 86_400.0
    deadline_seconds: float = 10.0
    login: Mapping[str, Any] = field(default_factory=dict, repr=False)
    sentinel_login: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def cluster(self) -> bool:
        return self.scheme == "redis+cluster"

    @property
    def fails_over(self) -> bool:
        """Returns whether another server may take over."""
        return self.cluster or bool(self.service)

    @property
    def shown(self) -> str:
        """The address without user and password."""
        if "unix_socket_path" in self.login:
            return f"{self.scheme}://{self.login['unix_socket_path']}/{self.database}"
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        rest = "" if self.cluster else f"/{self.service or self.database}"
        return f"{self.scheme}://{hosts}{rest}"


def address_of(url: str) -> RedisAddress:
    parts = split_url(url)
    scheme = parts.scheme
    if scheme not in _PORTS:
        raise Misconfigured(f"a Redis or Valkey address cannot start with {scheme}://: {EXAMPLE}")
    options = Options.parse(parts.query)
    options.check_known(OPTIONS)
    service, database = _path(scheme, parts.path)
    return RedisAddress(
        scheme=scheme,
        hosts=parts.parse_hosts(_PORTS[scheme], EXAMPLE),
        database=database,
        service=service,
        prefix=_prefix(options.get_text("prefix", "eidet")),
        wait=options.parse_whole("wait", 0),
        wait_ms=options.parse_whole("wait_ms", 1000),
        linger_seconds=float(options.parse_whole("linger", 86_400)),
        deadline_seconds=float(options.parse_whole("deadline", 10) or 10),
        login=_login(parts) | _socket(scheme, options.values) | _tls(scheme, options),
        sentinel_login=_sentinel_login(options.values),
    )


def _path(scheme: str, path: str) -> tuple[str, int]:
    """Parses the service that sentinels watch, and the number of the database."""
    service, _, number = path.partition("/") if scheme == "redis+sentinel" else ("", "", path)
    if scheme == "redis+sentinel" and not service:
        raise Misconfigured("name the service that the sentinels watch: redis+sentinel://host:26379/mymaster")
    if not re.fullmatch(r"[0-9]{0,5}", number):
        raise Misconfigured(f"{number!r} is not a database number: {EXAMPLE}")
    return unquote(service), int(number or 0)


def _prefix(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", text):
        raise Misconfigured(f"prefix {text!r}: 1 to 64 letters, digits and any of _ . : - are allowed")
    return text


def _login(parts: Url) -> dict[str, Any]:
    if not parts.login:
        return {}
    username, password = parts.parse_login()
    return {"username": username, "password": password}


def _sentinel_login(options: Mapping[str, str]) -> dict[str, str]:
    names = ("username", "password")
    return {name: options[f"sentinel_{name}"] for name in names if f"sentinel_{name}" in options}


def _socket(scheme: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Parses `socket`: a path on this machine, used in place of host and port."""
    if "socket" not in options:
        return {}
    if scheme != "redis":
        raise Misconfigured("socket=/path works only with redis://, for one server and without TLS")
    return {"unix_socket_path": options["socket"]}


def _tls(scheme: str, options: Options) -> dict[str, Any]:
    if scheme != "rediss" and not options.parse_flag("tls"):
        return {}
    given: dict[str, Any] = {name: options.values[name] for name in _TLS if name in options}
    for name in _TLS_FILES:
        if name in given and not Path(given[name]).is_file():
            raise Misconfigured(f"{name} must name a file, and there is none at {given[name]}")
    options.parse_choice("ssl_cert_reqs", dict.fromkeys(("none", "optional", "required")), None)
    if "ssl_check_hostname" in given:
        given["ssl_check_hostname"] = options.parse_flag("ssl_check_hostname")
    return {"ssl": True, **given}
