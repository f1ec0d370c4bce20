"""Which memories keep their vectors in vector sets: those on servers that have them, unless told not to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.servers.redis8 import Redis8
from tests.servers.valkey import Valkey

from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings, read_settings
from eidet.index.embedded import EmbeddedIndex
from eidet.index.vectordb.index import VectorIndex
from eidet.index.vectordb.vectorset import is_sound
from eidet.memory import Memory
from eidet.models.embed.hashing import Hashing

WIDTH = 16
AT_ONCE = "small=0&whole=0&ship_rows=1&background=no"
KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


@contextmanager
def memory(place: object = None, index: str | None = None, **how: object) -> Iterator[Memory]:
    chosen = Settings() if index is None else Settings(index=index)
    with Memory(place, embedder=Hashing(WIDTH), settings=chosen, **how) as opened:  # type: ignore[arg-type]
        yield opened


def index_of(opened: Memory) -> type:
    return type(opened.parts.index)


def in_server(opened: Memory) -> int:
    told = opened.admin.stats()["index"]
    return int(told["rows_in_database"])


def test_a_server_with_vector_sets_is_used_unasked(redis8_url: str) -> None:
    with memory(redis8_url) as opened:
        opened.remember("Ann lives in Oslo")
        assert index_of(opened) is VectorIndex
        assert opened.recall("Oslo")[0].text == "Ann lives in Oslo"
        assert in_server(opened) == 0  # so few stay in RAM
        assert opened.parts.index._how.small == 100_000  # type: ignore[attr-defined]


def test_a_server_without_them_is_none_the_worse(redis_url: str) -> None:
    with memory(redis_url) as opened:
        opened.remember("Ann lives in Oslo")
        assert index_of(opened) is EmbeddedIndex
        assert opened.recall("Oslo")[0].text == "Ann lives in Oslo"


def test_they_can_be_forbidden_and_demanded(redis8_url: str, redis_url: str) -> None:
    with memory(redis8_url, "embedded") as opened:
        assert index_of(opened) is EmbeddedIndex
    with memory(redis8_url, f"vectorset://?{AT_ONCE}") as opened:
        opened.remember([f"note {n} about topic{n}" for n in range(20)])
        assert opened.recall("topic7")[0].text.endswith("topic7")
        assert in_server(opened) == 20
    with memory(redis_url, "vectorset") as opened, pytest.raises(Misconfigured, match="no vector sets"):
        opened.recall("Oslo")


def test_the_environment_chooses_too() -> None:
    assert read_settings({}).index == "auto"
    assert read_settings({"EIDET_INDEX": "embedded"}).index == "embedded"


def test_a_sealed_memory_keeps_its_vectors_to_itself(redis8_url: str) -> None:
    pytest.importorskip("cryptography", reason="needs cryptography: pip install 'eidet[seal]'")
    with memory(redis8_url, key=KEY) as opened:
        opened.remember("Ann lives in Oslo")
        assert opened.recall("Oslo")[0].text == "Ann lives in Oslo"
        assert index_of(opened) is EmbeddedIndex
    with memory(redis8_url, f"vectorset+{redis8_url}", key=KEY) as opened:
        with pytest.raises(Misconfigured, match="sealed") as error:
            opened.recall("Oslo")
        assert "127.0.0.1" not in str(error.value)  # nor a password that stood there


def test_tiers_are_searched_together_in_ram(redis8_url: str, tmp_path: Path) -> None:
    url = f"tiered://?short={quote(redis8_url, safe='')}&long={quote(str(tmp_path / 'long.db'), safe='')}"
    with memory(url) as opened:
        opened.remember("Ann lives in Oslo")
        assert opened.recall("Oslo")[0].text == "Ann lives in Oslo"
        assert index_of(opened) is EmbeddedIndex


def test_an_audited_memory_uses_them_as_well(redis8_url: str, tmp_path: Path) -> None:
    with memory(redis8_url, audit=tmp_path / "audit.log") as opened:
        opened.remember("Ann lives in Oslo")
        assert index_of(opened) is VectorIndex


def test_a_user_who_may_not_use_them_does_without(redis8: Redis8, redis8_url: str) -> None:
    rights = ("~*", "+@read", "+@write", "+@scripting", "+@connection", "+time", "+info")
    redis8.ask("ACL", "SETUSER", "joe", "reset", "on", ">secret", *rights)
    redis8.ask("ACL", "SETUSER", "ann", "reset", "on", ">secret", *rights, "+vadd", "+vsim", "+vrem")
    redis8.ask("ACL", "SETUSER", "eve", "reset", "on", ">secret", *rights, *(f"+{name}" for name in NEEDED))
    for user, found in (("joe", EmbeddedIndex), ("ann", EmbeddedIndex), ("eve", VectorIndex)):
        place = f"redis://{user}:secret@127.0.0.1:{redis8.port}/0"
        with memory(place) as opened:
            opened.remember("Ann lives in Oslo")
            assert opened.recall("Oslo")[0].text == "Ann lives in Oslo"
            assert index_of(opened) is found
    with memory(place, f"vectorset://?{AT_ONCE}") as opened:  # those rights are enough
        opened.remember([f"note {n} about topic{n}" for n in range(5)])
        assert opened.recall("topic3", who=None)[0].text.endswith("topic3")
        opened.forget(opened.recall("topic4")[0].id)
        assert opened.admin.check() == []
        assert in_server(opened) == 5


NEEDED = ("vadd", "vsim", "vrem", "vemb", "vcard", "vinfo", "vgetattr")


def test_another_server_can_hold_the_vectors_of_any_memory(redis8_url: str, tmp_path: Path) -> None:
    index = f"vectorset+{redis8_url}?prefix=vectors&{AT_ONCE}&bits=8&ef=100&deadline=5"
    with memory(tmp_path / "agent.db", index) as opened:
        opened.remember([f"note {n} about topic{n}" for n in range(20)])
        assert opened.recall("topic7")[0].text.endswith("topic7")
        assert in_server(opened) == 20
        assert opened.admin.check() == []


def test_a_memory_without_a_server_cannot_use_its_own() -> None:
    with memory(None, "vectorset") as opened, pytest.raises(Misconfigured, match=r"vectorset\+redis://"):
        opened.recall("Oslo")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("bits=7", "bits"),
        ("bits=many", "bits"),
        ("ef=0", "ef"),
        ("smal=0", "smal"),
        ("small=few", "small"),
        ("deadline=soon", "deadline"),
        ("prefix=x", "prefix"),
    ],
)
def test_options_that_make_no_sense_are_told(redis8_url: str, options: str, told: str) -> None:
    with (
        memory(redis8_url, f"vectorset://?{options}") as opened,
        pytest.raises(Misconfigured, match=told),
    ):
        opened.recall("Oslo")


def test_sets_of_bytes_are_made_anew_where_exact_ones_are_wanted(redis8_url: str) -> None:
    for turn, (bits, kind) in enumerate(((8, b"int8"), (32, b"f32"), (8, b"int8"))):
        with memory(redis8_url, f"vectorset://?{AT_ONCE}&bits={bits}") as opened:
            opened.remember(f"note about turn{turn} of bits")
            for _ in range(2):  # the first may notice, the second finds
                assert opened.recall(f"turn{turn}")[0].text == f"note about turn{turn} of bits"
            database = opened.parts.index._database  # type: ignore[attr-defined]
            key = next(iter(database._sizes))
            told = database._wire.ask(key, ("VINFO", key))
            assert told[1] == kind
            assert opened.admin.check() == []


def test_valkey_is_asked_nothing_it_does_not_know(valkey: Valkey, redis_url: str) -> None:
    with memory(redis_url) as opened:
        opened.remember("Ann lives in Oslo")
        opened.recall("Oslo")
        opened.forget(scope="default", everything=True, for_good=True)
        assert opened.admin.check() == []


@pytest.mark.parametrize(
    ("version", "sound"),
    [
        ("8.0.2", False),
        ("8.2.8", False),
        ("8.2.9", True),
        ("8.4.5", False),
        ("8.4.6", True),
        ("8.6.9", False),
        ("8.10.0", False),
        ("8.10.1", True),
        ("8.12.0", True),
        ("9.0.0", True),
        ("", False),
        ("8.10.1-rc1", False),
    ],
)
def test_only_releases_that_are_known_to_be_sound_search_in_threads(version: str, sound: bool) -> None:
    assert is_sound(version) is sound


def test_a_server_that_may_die_of_it_searches_without_threads(redis8_url: str) -> None:
    redis = pytest.importorskip("redis", reason="needs redis: pip install 'eidet[redis]'")
    with redis.Redis.from_url(redis8_url.partition("?")[0]) as client:
        client.config_set("slowlog-log-slower-than", 0)
        with memory(redis8_url, f"vectorset://?{AT_ONCE}") as opened:
            opened.remember("Ann lives in Oslo")
            opened.recall("Oslo")
        searches = [one["command"] for one in client.slowlog_get(100) if one["command"].startswith(b"VSIM")]
        client.config_set("slowlog-log-slower-than", 10_000)
        assert searches
        sound = is_sound(client.info("server")["redis_version"])
    assert all((b"NOTHREAD" in search) is not sound for search in searches)
