"""What a URL says: where the servers are, how to log in, and how this store shall behave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ...core.errors import Misconfigured

PORTS: Final = {"redis": 6379, "rediss": 6379, "redis+cluster": 6379, "redis+sentinel": 26379}
EXAMPLE: Final = "redis://user:password@host:6379/0?prefix=eidet&wait=1"
_TLS_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_TLS: Final = (*_TLS_FILES, "ssl_cert_reqs", "ssl_check_hostname")
_OWN: Final = (
    "prefix",
    "wait",
    "wait_ms",
    "linger",
    "deadline",
    "socket",
    "tls",
    "sentinel_username",
    "sentinel_password",
)
OPTIONS: Final = (*_OWN, *_TLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`linger_seconds`: how long after its end the server keeps a record that expires.

    `wait` is the number of replicas that must have a write before it is acknowledged.
    """

    scheme: str
    hosts: tuple[tuple[str, int], ...]
    database: int = 0
    service: str = ""
    prefix: str = "eidet"
    wait: int = 0
    wait_ms: int = 1000
    linger_seconds: float = 86_400.0
    deadline_seconds: float | None = None
    login: Mapping[str, Any] = field(default_factory=dict, repr=False)
    sentinel_login: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def cluster(self) -> bool:
        return self.scheme == "redis+cluster"

    @property
    def shown(self) -> str:
        """Without the password."""
        if "path" in self.login:
            return f"{self.scheme}://{self.login['path']}/{self.database}"
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        rest = f"/{self.service}" if self.service else "" if self.cluster else f"/{self.database}"
        return f"{self.scheme}://{hosts}{rest}"


def address_of(url: str) -> Address:
    scheme, _, rest = url.partition("://")
    if scheme not in PORTS:
        raise Misconfigured(f"a Redis or Valkey address cannot start with {scheme}://: {EXAMPLE}")
    place, _, tail = rest.partition("?")
    place, _, path = place.partition("/")
    if "@" in path or "@" in tail.partition("&")[0].partition("=")[0]:
        raise Misconfigured(
            "a user or password in an address is percent-encoded: '/' is written %2F, '?' %3F, '@' %40"
        )
    login, _, hosts = place.rpartition("@")
    options = _options(tail)
    service, database = _path(scheme, path)
    return Address(
        scheme=scheme,
        hosts=tuple(_host(one, PORTS[scheme]) for one in hosts.split(",")),
        database=database,
        service=service,
        prefix=_prefix(options.get("prefix", "eidet")),
        wait=_number(options, "wait", 0),
        wait_ms=_number(options, "wait_ms", 1000),
        linger_seconds=float(_number(options, "linger", 86_400)),
        deadline_seconds=float(_number(options, "deadline", 10)) if "deadline" in options else None,
        login=_login(login) | _socket(scheme, options) | _tls(scheme, options),
        sentinel_login={
            name.removeprefix("sentinel_"): options[name]
            for name in ("sentinel_username", "sentinel_password")
            if name in options
        },
    )


def _options(tail: str) -> dict[str, str]:
    options = dict(parse_qsl(tail, keep_blank_values=True))
    for name in options:
        if name not in OPTIONS:
            raise Misconfigured(f"unknown option {name!r} in the address; there are {', '.join(OPTIONS)}")
    return options


def _host(text: str, port: int) -> tuple[str, int]:
    try:
        found = urlsplit(f"//{text}")
        return unquote(found.hostname or "localhost"), found.port or port
    except ValueError:
        raise Misconfigured(f"{text!r} is not a host and port: {EXAMPLE}") from None


def _path(scheme: str, path: str) -> tuple[str, int]:
    """The service that sentinels watch, and the number of the database."""
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


def _number(options: Mapping[str, str], name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Misconfigured(f"{name} must be a whole number from 0 up, not {text!r}")
    return int(text)


def _login(text: str) -> dict[str, Any]:
    if not text:
        return {}
    user, _, password = text.partition(":")
    return {"username": unquote(user) or None, "password": unquote(password) or None}


def _socket(scheme: str, options: Mapping[str, str]) -> dict[str, Any]:
    """A path on this machine in place of host and port."""
    if "socket" not in options:
        return {}
    if scheme != "redis":
        raise Misconfigured("socket=/path works only with redis://, for one server and without TLS")
    return {"path": options["socket"]}


def _tls(scheme: str, options: Mapping[str, str]) -> dict[str, Any]:
    if scheme != "rediss" and options.get("tls", "0") not in ("1", "true", "yes"):
        return {}
    told: dict[str, Any] = {name: options[name] for name in _TLS if name in options}
    for name in _TLS_FILES:
        if name in told and not Path(told[name]).is_file():
            raise Misconfigured(f"{name} must name a file, and there is none at {told[name]}")
    if told.get("ssl_cert_reqs", "none") not in ("none", "optional", "required"):
        raise Misconfigured(
            f"ssl_cert_reqs must be none, optional or required, not {told['ssl_cert_reqs']!r}"
        )
    if "ssl_check_hostname" in told:
        told["ssl_check_hostname"] = told["ssl_check_hostname"] in ("1", "true", "yes")
    return {"ssl": True, **told}
