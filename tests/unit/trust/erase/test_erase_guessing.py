"""After forgetting, whoever has all files, or a dump of the server, cannot guess what was forgotten.

Everything that makes ids, marks or names of a content is used once. Then each place is searched for the
words, the labels, and every plain hash of what somebody could try.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from eidet.graph.graph_formats import OBSERVATION, TYPE, McpFact, make_drafts
from tests.making import Clock
from tests.servers import free_port
from tests.servers.served import Running
from tests.unit.trust.erase.given import NOW, OTHER, bytes_beside

from eidet import Memory, Settings
from eidet.aio import AsyncMemory
from eidet.compat.opening import next_number
from eidet.core.settings import Upkeep
from eidet.exchange import import_memories
from eidet.server.server_settings import ServerSettings
from eidet.views import Conversation, Working

KEY = "00112233445566778899aabbccddeeff" * 2
PIN = "the account number of the safe is 4711-0815"
WHO, SESSION, SOURCE = "moneypenny", "the bond session", "vesper lynd"
WORDS = (PIN, "4711-0815", WHO, SESSION, SOURCE)
BODY = json.dumps({"memories": [{"text": f"{PIN} indeed", "session": SESSION}]}).encode()
GUESSES = (
    *(PIN, PIN.casefold(), f"{PIN} indeed", SESSION, WHO, SOURCE, f"fact\0{PIN}", f"key of {PIN}"),
    *(f"episode\0{SESSION}", f"conversation summary\0{SESSION}", f"conversation\0{SESSION}\0one"),
    "working\0" + json.dumps([None, SESSION], separators=(",", ":")),
    *("working\0" + json.dumps([None, SESSION]), f"series of {SESSION}"),
    *("\x1f".join(("graph", "entity", WHO)), "\x1f".join(("graph", "observation", WHO, PIN))),
    *(BODY.decode(), f"a\0{BODY.decode()}", f"\0{BODY.decode()}", "\0one request", "one request"),
)
PLACES: dict[str, str] = {
    "sqlite": "{0}/memory.db",
    "tiered": "tiered://?short={0}/short.db&long={0}/memory.db",
    "postgres": "",
    "redis": "",
}
HOWS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "plain": lambda _: {},
    "sealed": lambda _: {"key": KEY},
    "audited": lambda folder: {"audit": folder / "log.jsonl"},
}
WAYS: dict[str, Callable[[Memory], object]] = {
    "ids": lambda memory: memory.forget(
        [record.id for record in memory.find(scope="a", limit=500)], scope="a"
    ),
    "a scope": lambda memory: memory.forget(everything=True, scope="a"),
    "a scope for good": lambda memory: memory.forget(everything=True, scope="a", for_good=True),
}


def hash_plainly(content: bytes) -> Iterator[bytes]:
    """The first bytes of every plain hash of a content."""
    for name in ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2s"):
        yield hashlib.new(name, content, usedforsecurity=False).digest()[:6]
    for size in range(6, 65):
        yield hashlib.blake2b(content, digest_size=size).digest()[:6]
    for space in (uuid.NAMESPACE_DNS, uuid.NAMESPACE_URL, uuid.NAMESPACE_OID):
        yield uuid.uuid5(space, content.decode()).bytes[:6]


def find_guessable(dump: bytes) -> list[str]:
    """The words that are in a dump, and the contents of which a plain hash is in it."""
    found = [word for word in WORDS if word.encode() in dump or word.encode("utf-16-le") in dump]
    for guess in GUESSES:
        hashes = set(hash_plainly(guess.encode()))
        if any(start in dump or start.hex().encode() in dump for start in hashes):
            found.append(f"a hash of {guess!r}")
    return found


@pytest.fixture
def place(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> str:
    if name == "postgres":
        return str(request.getfixturevalue("postgres_emptied"))
    if name == "redis":
        return str(request.getfixturevalue("redis_url"))
    return PLACES[name].format(tmp_path / "store")


# Each place with each how, each place with each way, each how with each way.
CASES = [
    (name, how, list(WAYS)[(at + of) % len(WAYS)])
    for at, name in enumerate(PLACES)
    for of, how in enumerate(HOWS)
]


def dump_all(place: str, folder: Path) -> bytes:
    """All that an attacker could have: each file, and each table or key of a server."""
    files = bytes_beside(folder)
    if place.startswith("postgres"):
        return files + dump_postgres(place)
    if place.startswith("redis"):
        return files + dump_redis(place)
    return files


def dump_postgres(url: str) -> bytes:
    import psycopg

    rows: list[object] = []
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (name,) in names:
            rows += connection.execute(f"SELECT t.*::text FROM {name} t").fetchall()
    return str(rows).encode()


def dump_redis(url: str) -> bytes:
    import redis

    found = bytearray()
    with redis.Redis.from_url(url) as client:
        for key in client.keys("*"):
            ask: dict[bytes, tuple[Any, ...]] = {
                b"hash": ("HGETALL", key),
                b"set": ("SMEMBERS", key),
                b"list": ("LRANGE", key, 0, -1),
                b"zset": ("ZRANGE", key, 0, -1),
                b"string": ("GET", key),
                b"stream": ("XRANGE", key, "-", "+"),
            }
            told = client.execute_command(*ask[client.type(key)])
            found += b"\n".join((key, *flatten(told)))
    return bytes(found)


def flatten(told: Any) -> Iterator[bytes]:
    if isinstance(told, dict):
        told = [*told.keys(), *told.values()]
    if isinstance(told, list | tuple | set):
        for part in told:
            yield from flatten(part)
    else:
        yield told if isinstance(told, bytes) else str(told).encode()


def tell_everything(memory: AsyncMemory, folder: Path) -> None:
    """Writes the content by every way that makes an id, a mark or a name of it."""
    core = memory.core
    core.remember(OTHER, scope="b")
    core.remember(PIN, key=f"key of {PIN}", scope="a", who=WHO, session=SESSION, source=SOURCE)
    for session in (SESSION, f"{SESSION} again"):
        said = [
            {"role": "user", "content": text} for text in (f"{PIN}.", "We met at noon.", "Ann came, too.")
        ]
        core.remember(said, scope="a", session=session)
        core.upkeep.end_session(session, scope="a")
    core.upkeep.maintain("a", settings=Upkeep(fact_episodes=2))
    Conversation(core, SESSION, scope="a").add({"role": "user", "content": PIN}, id="one")
    Working(core, session=SESSION, scope="a", persist=True).update(goal=PIN)
    next_number(core, f"series of {SESSION}")
    (folder / "table.csv").write_text(f"text\n{PIN} in a table\n", encoding="utf-8")
    import_memories(core, "csv", folder / "table.csv", scope="a")
    (folder / "table.csv").unlink()
    core.remember(make_drafts([McpFact(WHO, TYPE, "person"), McpFact(WHO, OBSERVATION, PIN)]), scope="a")
    core.recall(PIN, scope="a")
    post(memory)


def post(memory: AsyncMemory) -> None:
    """A request that is done once, by a server that closes the memory when it ends."""
    running = Running(memory, ServerSettings(port=free_port()))
    running.start()
    try:
        headers = {"Idempotency-Key": "one request", "Content-Type": "application/json"}
        running.shared.post("/v1/memories?scope=a", content=BODY, headers=headers).raise_for_status()
    finally:
        running.stop()


@pytest.mark.parametrize(("name", "how", "way"), CASES)
def test_nothing_that_is_left_lets_anybody_guess(place: str, how: str, way: str, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    given: dict[str, Any] = {
        "embedder": "hashing:32",
        "clock": Clock(NOW, tick=0.01),
        "settings": Settings(sidecar_from=1),
    }
    given |= HOWS[how](folder)
    tell_everything(AsyncMemory(place, **given), tmp_path)
    there = find_guessable(dump_all(place, folder))
    assert there == [] if how == "sealed" else PIN in there, "nor, if it is sealed, while it is there"
    with Memory(place, **given) as memory:
        assert memory.count(scope="a") > 12
        WAYS[way](memory)
        assert (memory.count(scope="a"), memory.count(scope="b")) == (0, 1)
    assert find_guessable(dump_all(place, folder)) == []
