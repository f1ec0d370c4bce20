"""Ways to a Redis server: sockets, IPv6, odd passwords, users with few rights, servers named by mistake."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.servers import free_port
from tests.servers.fixtures import Serve
from tests.timing import raised_within
from tests.unit.store.test_redis_address import certificate

from eidet import Memory
from eidet.core.errors import Misconfigured, Unavailable
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.redis import RedisStore

VARIABLE = "EIDET_TEST_REDIS8"
PAGE = Path(__file__).parents[3] / "docs" / "operate" / "redis.md"
ODD = "p@:/?#%&+ss wörd"


def said(url: str) -> str:
    with Memory(url, embedder="hashing:32") as memory:
        memory.remember("hello there")
        return memory.recall("hello")[0].text


def test_a_socket_of_this_machine_is_an_address(
    serve: Serve, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("s") / "the socket"
    server = serve("--unixsocket", str(path))
    assert said(f"redis://localhost/3?socket={quote(str(path))}") == "hello there"
    store = RedisStore(f"redis://localhost:1/3?socket={quote(str(path))}")
    assert store.retrier.name == f"redis://{path}/3"
    assert verbs.count(store, Where()) == 1
    store.close()
    server.stop()
    with pytest.raises(Unavailable, match="the socket"):
        RedisStore(f"redis://h?socket={quote(str(path))}&deadline=1")
    with pytest.raises(Misconfigured, match="works only with redis://"):
        RedisStore(f"redis+cluster://h?socket={path}")


def test_an_address_of_ipv6_stands_in_brackets(serve: Serve) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    server = serve("--bind", "127.0.0.1", "::1")
    assert said(f"redis://[::1]:{server.port}/0") == "hello there"


def test_a_password_may_have_any_letters(serve: Serve) -> None:
    server = serve()
    server.ask("ACL", "SETUSER", "ann/ä", "on", f">{ODD}", "~*", "+@all")
    name, password = quote("ann/ä", safe=""), quote(ODD, safe="")
    assert said(f"redis://{name}:{password}@127.0.0.1:{server.port}/0") == "hello there"


@pytest.mark.parametrize(
    "url", ["redis://:hush/hush@h:6379/0", "redis://:hush?hush@h:6379", "redis://ann:x/hush?y@h"]
)
def test_a_password_that_is_not_encoded_is_told_without_a_letter_of_it(url: str) -> None:
    with pytest.raises(Misconfigured, match="%2F") as told:
        RedisStore(url)
    assert "hush" not in str(told.value)


def rights() -> list[str]:
    """Those that the page gives."""
    (found,) = re.findall(r"A user needs `([^`]+)`", PAGE.read_text(encoding="utf-8"))
    return str(found).split()


def test_a_user_with_the_rights_of_the_page_can_do_everything(serve: Serve) -> None:
    server = serve("--appendonly", "yes", "--repl-diskless-sync-delay", "0")
    replica = serve("--replicaof", "127.0.0.1", str(server.port))
    assert server.ask("ACL", "SETUSER", "agent", "on", ">p", *rights()) == b"+OK"
    url = f"redis://agent:p@127.0.0.1:{server.port}/0?wait=1"
    with Memory(url, embedder="hashing:32") as memory:
        ann = memory.remember("Ann lives in Lisbon", id="ann", expires=timedelta(days=1))
        memory.revise(ann.id, text="Ann lives in Porto")
        memory.remember([f"note {n}" for n in range(20)], scope="team")
        assert memory.recall("Ann")[0].text == "Ann lives in Porto"
        memory.admin.reembed("hashing:64")
        memory.upkeep.maintain()
        assert memory.admin.stats()["store_bytes"] > 100_000
        receipt = memory.forget("ann", for_good=True)
        assert receipt == 1
        assert memory.admin.check() == []
        pending = verbs.scrub_files(memory.parts.store, None).pending
    assert pending == ("the append-only file of the server, until the server rewrites it",)
    replica.stop()


def test_who_may_not_rewrite_files_says_that_somebody_has_to(serve: Serve) -> None:
    server = serve("--appendonly", "yes")
    few = [right for right in rights() if right not in ("+bgrewriteaof", "+bgsave")]
    server.ask("ACL", "SETUSER", "agent", "on", ">p", *few)
    store = RedisStore(f"redis://agent:p@127.0.0.1:{server.port}/0")
    _, advice = store.scrub(None).pending
    assert advice == "the user of the address may not call BGREWRITEAOF: an operator has to"
    store.close()


def test_a_replica_that_is_named_by_mistake_is_told(serve: Serve) -> None:
    primary = serve()
    replica = serve("--replicaof", "127.0.0.1", str(primary.port))
    named = "it is a replica: name its primary"
    raised_within(3, Unavailable, lambda: RedisStore(f"{replica.url}?deadline=1"), match=named)


def test_files_for_tls_have_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="ssl_ca_certs must name a file, and there is none at /no/ca"):
        RedisStore("rediss://h?ssl_ca_certs=/no/ca.pem")
    with pytest.raises(Misconfigured, match="ssl_cert_reqs is one of none, optional, required, not 'yes'"):
        RedisStore("rediss://h?ssl_cert_reqs=yes")


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[int, Path, Path]]:
    """A server that speaks TLS itself and wants to see a certificate."""
    named = os.environ.get(VARIABLE)
    program = named or shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.skip(f"needs a server that speaks TLS: apt-get install redis-server, or name it in {VARIABLE}")
    public, private = certificate(tmp_path)
    port = free_port()
    files = ("--tls-cert-file", public, "--tls-key-file", private, "--tls-ca-cert-file", public)
    words = (
        "--port",
        "0",
        "--tls-port",
        port,
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        tmp_path,
        *files,
    )
    child = subprocess.Popen([program, *map(str, words)], stdout=subprocess.DEVNULL)
    yield port, public, private
    child.kill()
    child.wait()


def test_a_server_that_speaks_tls_itself(secure: tuple[int, Path, Path]) -> None:
    port, public, private = secure
    trust = f"ssl_ca_certs={public}"
    shown = f"&ssl_certfile={public}&ssl_keyfile={private}"
    assert said(f"rediss://127.0.0.1:{port}/0?{trust}{shown}") == "hello there"
    with pytest.raises(Misconfigured, match="certificate"):
        RedisStore(f"rediss://127.0.0.1:{port}/0?deadline=2{shown}")
    with pytest.raises(Misconfigured, match="rediss://"):
        RedisStore(f"rediss://127.0.0.1:{port}/0?deadline=2&{trust}")
    with pytest.raises(Unavailable, match="if that port speaks TLS, it is rediss:// there"):
        RedisStore(f"redis://127.0.0.1:{port}/0?deadline=1")
