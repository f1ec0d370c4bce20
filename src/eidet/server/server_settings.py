"""Settings of the server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import Misconfigured

if TYPE_CHECKING:
    from .webhooks import Webhook

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The address of the server, who may use it, its limits and its timeouts."""

    host: str = "127.0.0.1"
    port: int = 8765
    keys: Path | None = None  # the keys file; needed unless the host is loopback
    workers: int = 1  # processes; each opens the memory
    tls_cert: Path | None = None  # PEM files, if this server terminates TLS itself
    tls_key: Path | None = None
    allow_hosts: tuple[str, ...] = ()  # further names that clients may call this server by
    cors_origins: tuple[str, ...] = ()  # foreign web pages that may call it, such as https://app.example
    public_url: str | None = None  # how clients reach this server if it is behind a proxy
    log_json: bool = False  # logs as lines of JSON
    log_content: bool = False  # logs and spans may hold queries, texts and scopes
    proxies: tuple[str, ...] = ()  # addresses of proxies whose X-Forwarded-* headers are trusted
    upload_bytes: int = 1000 * MEGABYTE  # the largest export to load
    body_seconds: float = 30.0  # a request body that takes longer is refused
    drain_seconds: float = 30.0  # how long requests in flight may take after SIGTERM
    webhooks: tuple[Webhook, ...] = ()  # receivers of changes: the tables [[webhook]] of eidet.toml

    @property
    def on_loopback(self) -> bool:
        return is_loopback(self.host)

    def check(self) -> None:
        """Raises `Misconfigured` for settings that would let strangers in, or cannot work."""
        if self.keys is None and not self.on_loopback:
            raise Misconfigured(
                f"--host {self.host} lets other machines in: name a keys file with --keys "
                "(`eidet keys api NAME --keys FILE` makes one), or listen on 127.0.0.1"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise Misconfigured("TLS needs both --tls-cert and --tls-key")
        if self.workers < 1:
            raise Misconfigured(f"--workers must be at least 1, not {self.workers}")


def is_loopback(host: str) -> bool:
    """Returns whether only this machine reaches the host."""
    address = parse_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parses the address of a host; None if it is a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
