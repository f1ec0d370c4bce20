"""Addresses of Redis and Valkey: what they say, TLS, and sentinels."""

from __future__ import annotations

import contextlib
import datetime as dt
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.sentinel import Watched
from tests.servers.valkey import Valkey

from eidet.core.errors import Misconfigured
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.contract import NOW, fact
from eidet.store.redis import RedisStore
from eidet.store.redis.address import address_of


def test_an_address_names_hosts_database_and_options() -> None:
    found = address_of("redis://ann:p%40ss@cache.example:7000/3?prefix=app:1&wait=2&wait_ms=50&linger=5")
    assert (found.hosts, found.database, found.prefix) == ((("cache.example", 7000),), 3, "app:1")
    assert (found.wait, found.wait_ms, found.linger_seconds) == (2, 50, 5.0)
    assert found.login == {"username": "ann", "password": "p@ss"}
    assert found.shown == "redis://cache.example:7000/3"
    assert "p@ss" not in repr(found)


def test_a_cluster_and_sentinels_have_several_hosts() -> None:
    found = address_of("redis+cluster://one:7001,[::1]:7002,three")
    assert found.hosts == (("one", 7001), ("::1", 7002), ("three", 6379))
    found = address_of("redis+sentinel://:pw@one,two:26380/mymaster/2?sentinel_password=s")
    assert (found.hosts, found.service, found.database) == ((("one", 26379), ("two", 26380)), "mymaster", 2)
    assert found.sentinel_login == {"password": "s"}


def test_tls_is_said_by_the_scheme_or_an_option() -> None:
    assert address_of(f"rediss://h?ssl_ca_certs={__file__}").login == {"ssl": True, "ssl_ca_certs": __file__}
    assert address_of("redis+cluster://h?tls=1").login == {"ssl": True}
    assert address_of("redis://h").login == {}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://h:port", "host and port"),
        ("redis://h/one", "not a database number"),
        ("redis://h?prefix={x}", "prefix"),
        ("redis://h?prefix=", "prefix"),
        ("redis://h?wait=-1", "wait must be a whole number from 0 up"),
        ("redis://h?wiat=1", "unknown option 'wiat'"),
        ("redis+sentinel://h", "name the service"),
        ("http://h", "cannot start with http://"),
    ],
)
def test_a_bad_address_is_told(url: str, told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        RedisStore(url)


# TLS.


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, signed by itself, and its key."""
    pytest.importorskip("cryptography", reason="needs cryptography: pip install 'eidet[test]'")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "cert.pem", folder / "key.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return public, private


class Curtain:
    """Speaks TLS on a port of its own, and plainly with the server behind it."""

    def __init__(self, port: int, public: Path, private: Path) -> None:
        self._behind = port
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(public, private)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self._lines: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._welcome, daemon=True)]
        self._threads[0].start()

    def _welcome(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._door.accept()
                try:
                    secure = self._tls.wrap_socket(caller, server_side=True)
                except OSError:
                    caller.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self._behind))
                self._lines += [secure, server]
                for one, other in ((secure, server), (server, secure)):
                    self._threads.append(threading.Thread(target=self._carry, args=(one, other), daemon=True))
                    self._threads[-1].start()

    @staticmethod
    def _carry(one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := one.recv(65_536):
                other.sendall(piece)

    def stop(self) -> None:
        for line in (self._door, *self._lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()
        for thread in self._threads:
            thread.join(5)


def test_tls_is_spoken_and_strangers_are_not_trusted(tmp_path: Path, valkey: Valkey, redis_url: str) -> None:
    public, private = certificate(tmp_path)
    curtain = Curtain(valkey.port, public, private)
    store = RedisStore(f"rediss://127.0.0.1:{curtain.port}/0?ssl_ca_certs={public}")
    verbs.put(store, [fact("x")], now=NOW)
    assert verbs.count(store, Where()) == 1
    store.close()
    with pytest.raises(Misconfigured, match="ssl_ca_certs"):
        RedisStore(f"rediss://127.0.0.1:{curtain.port}/0")
    curtain.stop()


# Sentinels.


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    servers = Watched(tmp_path)
    yield servers
    servers.stop()


def test_sentinels_name_the_primary_and_the_one_that_takes_over(watched: Watched) -> None:
    store = RedisStore(f"redis+sentinel://127.0.0.1:1,127.0.0.1:{watched.port}/main?deadline=20")
    verbs.put(store, [fact("x")], now=NOW)
    watched.await_replica("eidet:{eidet}:h")
    watched.primary.kill()
    started = time.monotonic()
    verbs.put(store, [fact("y")], now=NOW)
    assert time.monotonic() - started < 15
    assert [r.id for r in store.find(Where())] == ["x", "y"]
    store.close()


def test_a_service_that_no_sentinel_knows_is_told(watched: Watched) -> None:
    with pytest.raises(Exception, match="No master found for 'other'"):
        RedisStore(f"redis+sentinel://127.0.0.1:{watched.port}/other?deadline=1")
