"""What is on the server and what is not: scopes are apart, what was forgotten or expired is gone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.faults.test_vectorset_lines import opened, set_of
from tests.servers.redis8 import Redis8

from eidet import Memory
from eidet.copy import copy
from eidet.models.embed.hashing import Hashing


def names(url: str, pattern: str = "*:k:*") -> list[str]:
    from redis import Redis

    with Redis.from_url(url) as client:
        return sorted(key.decode() for key in client.scan_iter(pattern, count=10_000))


def held(redis8: Redis8, key: str) -> int:
    return int(redis8.ask("VCARD", key)[1:]) - 1


def test_scopes_do_not_see_each_other(redis8: Redis8, redis8_url: str) -> None:
    with opened(redis8_url) as memory:
        for scope in ("ann", "bob"):
            memory.remember([f"{scope} keeps secret{n}" for n in range(10)], scope=scope)
        for scope in ("ann", "bob"):
            hits = memory.recall("who keeps secret3?", scope=scope, limit=50)
            assert {hit.record.scope for hit in hits} == {scope}
            assert held(redis8, set_of(memory, scope)[1]) == 10
        assert len(names(redis8_url)) == 2
        memory.forget(scope="ann", everything=True)
        memory.recall("secret3", scope="ann")
        assert [held(redis8, set_of(memory, scope)[1]) for scope in ("ann", "bob")] == [0, 10]


def test_what_was_forgotten_is_gone_from_the_server(redis8: Redis8, redis8_url: str) -> None:
    with opened(redis8_url) as memory:
        memory.remember([f"note number{n} about topic{n}" for n in range(10)])
        hit = memory.recall("topic4")[0]
        _, key = set_of(memory)
        name = f"{hit.record.seq << 12:016x}"
        assert redis8.ask("VEMB", key, name)[:1] == b"*"
        memory.forget(hit.id, for_good=True)
        assert redis8.ask("VEMB", key, name) in (b"$-1", b"*-1")
        assert held(redis8, key) == 9


def test_a_process_that_only_forgets_takes_it_from_the_server_too(redis8: Redis8, redis8_url: str) -> None:
    long = " ".join(f"Sentence number {n} tells of the town{n} and of its river." for n in range(400))
    with opened(redis8_url) as memory:
        memory.remember([long, *(f"note number{n} about topic{n}" for n in range(10))])
        hits = [memory.recall(query)[0] for query in ("topic4", "town123")]
        _, key = set_of(memory)
        for index in ("embedded", "auto"):
            hit = hits.pop()
            with opened(redis8_url, index) as other:
                forgotten = other.forget(hit.id, for_good=True)
                assert forgotten.receipt is not None
            assert redis8.ask("VEMB", key, f"{hit.record.seq << 12:016x}") in (b"$-1", b"*-1")
        assert held(redis8, key) == 9
        assert memory.recall("topic5")[0].text.endswith("topic5")
        assert memory.admin.check() == []


def test_sets_whose_losses_nobody_remembers_are_filled_anew(redis8: Redis8, redis8_url: str) -> None:
    with opened(redis8_url) as memory, opened(redis8_url, "embedded") as other:
        memory.remember([f"note number{n} about topic{n}" for n in range(10)])
        first, second = (memory.recall(query)[0].id for query in ("topic4", "topic5"))
        _, key = set_of(memory)
        other.forget(first)
        base = key.partition("k:")[0]
        redis8.ask("HSET", f"{base}m", "pruned", str(2**50))
        other.forget(second, for_good=True)
        assert redis8.ask("EXISTS", key) == b":0"
        redis8.ask("HDEL", f"{base}m", "pruned")
        for _ in range(2):
            assert memory.recall("topic6")[0].text.endswith("topic6")
        assert held(redis8, set_of(memory)[1]) == 8
        assert memory.admin.check() == []


def test_the_set_of_a_scope_that_expires_goes_with_it(redis8: Redis8, redis8_url: str) -> None:
    with opened(redis8_url) as memory:
        memory.remember(
            [f"note number{n} about topic{n}" for n in range(5)], scope="short", expires=timedelta(hours=1)
        )
        memory.remember("Ann lives in Oslo", scope="long")
        for scope, ends in (("short", True), ("long", False)):
            memory.recall("topic3", scope=scope)
            left = int(redis8.ask("PTTL", set_of(memory, scope)[1])[1:])
            assert (left > 0) is ends
        base = set_of(memory, "short")[1].partition("k:")[0]
        there, here = (int(redis8.ask("PTTL", key)[1:]) for key in (f"{base}s", set_of(memory, "short")[1]))
        assert abs(there - here) < 5_000
        memory.remember("this one stays", scope="short")
        memory.recall("topic3", scope="short")
        assert redis8.ask("PTTL", set_of(memory, "short")[1]) == b":-1"


def test_a_scope_goes_to_the_server_in_the_background_when_it_has_grown(redis8_url: str) -> None:
    with opened(redis8_url, "vectorset://?small=50&ship_rows=10") as memory:
        memory.remember([f"note number{n} about topic{n}" for n in range(50)])
        memory.recall("topic7")
        assert names(redis8_url) == []
        memory.remember([f"more of number{n}" for n in range(50, 70)])
        assert memory.recall("topic7")[0].text.endswith("topic7")
        assert memory.parts.index._worker.wait_until_idle(30)  # type: ignore[attr-defined]
        assert memory.recall("topic7")[0].text.endswith("topic7")
        assert memory.admin.stats()["index"]["rows_in_database"] == 70


def test_a_scope_is_sent_once_when_it_is_rebuilt_for_the_first_time(redis8_url: str) -> None:
    with opened(redis8_url, "embedded") as memory:
        memory.remember([f"note number{n} about topic{n}" for n in range(20)])
    with opened(redis8_url, "vectorset://?small=0&tail_rows=5&background=no") as memory:
        assert memory.admin.rebuild("default") == 20
        assert set_of(memory)[1].endswith("-1")
        assert memory.admin.stats()["index"]["rows_in_database"] == 20
        memory.admin.rebuild("default")
        assert set_of(memory)[1].endswith("-2")
        assert memory.admin.check() == []
        assert len(names(redis8_url)) == 1


def test_a_copy_has_sets_of_its_own(redis8_url: str, tmp_path: Path) -> None:
    with opened(redis8_url) as memory:
        memory.remember([f"note number{n} about topic{n}" for n in range(10)])
        memory.recall("topic4")
    copy(redis8_url, f"{redis8_url}?prefix=twin")
    copy(redis8_url, tmp_path / "twin.db")
    with opened(f"{redis8_url}?prefix=twin") as twin, opened(redis8_url) as memory:
        for _ in range(2):
            assert twin.recall("topic4")[0].text.endswith("topic4")
        twin.forget(twin.recall("topic4")[0].id, for_good=True)
        assert memory.recall("topic4")[0].text.endswith("topic4")
        assert memory.admin.check() == twin.admin.check() == []
        assert memory.admin.stats()["index"]["rows_in_database"] == 10
    with Memory(tmp_path / "twin.db", embedder=Hashing(16)) as twin:
        assert twin.recall("topic4")[0].text.endswith("topic4")


def test_another_embedder_begins_a_set_of_its_width(redis8: Redis8, redis8_url: str) -> None:
    with opened(redis8_url) as memory:
        memory.remember([f"note number{n} about topic{n}" for n in range(10)])
        memory.recall("topic4")
        _, before = set_of(memory)
        memory.admin.reembed(Hashing(32))
        assert memory.recall("topic4")[0].text.endswith("topic4")
        _, after = set_of(memory)
        assert (redis8.ask("VDIM", after), redis8.ask("EXISTS", before)) == (b":32", b":0")
        assert memory.admin.check() == []
