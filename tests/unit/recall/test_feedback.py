"""What people say of answers is counted, and so is every recall; content is not."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.making import PLACES, Clock, place_of
from tests.unit.testing.altered import Altered

from eidet import BadInput, Memory, NotFound, Refused, Scope, Settings, Where
from eidet.core.errors import Unavailable
from eidet.core.hit import Hits, Trace
from eidet.quality import DAY, KEPT_DAYS, day_of
from eidet.store import TALLIES, verbs
from eidet.store.ram import RamStore

NOW = 1_700_000_000.0
TODAY = day_of(NOW)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder="hashing:64", clock=clock) as opened:
        opened.remember(["Ann lives in Lisbon", "Bob drinks tea"], scope="team/ann")
        opened.remember("Cleo plays chess", scope="team/bob")
        yield opened


def written(memory: Memory) -> dict[tuple[str, int, str], dict[str, int]]:
    memory.admin.flush()
    rows = verbs.read_counts(memory.parts.store, None, 0)
    return {(row.scope, row.day, row.what): dict(row.counts) for row in rows}


def retrieval(memory: Memory, scope: str | Scope | None = None) -> dict[str, Any]:
    told: dict[str, Any] = memory.admin.stats(scope)["retrieval"]
    return told


def judged(memory: Memory, scope: str = "team/ann", what: str = "feedback") -> dict[str, int]:
    return written(memory).get((scope, TODAY, what), {})


# Recalls are tallied.


def test_recalls_are_counted_by_scope_and_day(memory: Memory, clock: Clock) -> None:
    memory.recall("tea", scope="team/ann")
    memory.recall("tea", scope="nowhere")
    memory.recall("tea", scope=Scope.under("team"))
    clock.now += DAY
    memory.recall("tea", scope="team/ann", limit=1)
    found = written(memory)
    assert set(found) == {
        ("team/ann", TODAY, "recall"),
        ("nowhere", TODAY, "recall"),
        ("team", TODAY, "recall"),
        ("team/ann", TODAY + 1, "recall"),
    }
    assert found["nowhere", TODAY, "recall"]["empty"] == 1
    assert found["team/ann", TODAY + 1, "recall"]["hits"] == 1
    assert sum(row["recalls"] for row in found.values()) == 4


def test_a_filter_alone_is_counted_apart(memory: Memory) -> None:
    memory.recall(scope="team/ann")
    memory.recall("  ", scope="team/ann", where=Where(who="Zoe"))
    memory.recall(scope="team/ann", vector=[1.0] * 64)
    found = written(memory)
    assert (found["team/ann", TODAY, "list"]["recalls"], found["team/ann", TODAY, "list"]["empty"]) == (2, 1)
    assert found["team/ann", TODAY, "recall"]["recalls"] == 1
    assert not any(name.startswith("s") for name in found["team/ann", TODAY, "list"])


def test_a_recall_writes_nothing(memory: Memory) -> None:
    memory.recall("tea", scope="team/ann")
    memory.feedback(memory.recall("tea", scope="team/ann"), useful=True)
    memory.context("tea", scope="team/ann")
    assert verbs.read_counts(memory.parts.store, None, 0) == []


def test_a_recall_that_is_refused_is_not_counted(memory: Memory) -> None:
    with pytest.raises(BadInput):
        memory.recall("tea", scope="team/ann", order="-nonsense", limit=0)
    assert written(memory) == {}


def test_stats_tell_what_is_written_and_what_still_waits(memory: Memory) -> None:
    memory.recall("tea", scope="team/ann")
    memory.admin.flush()
    memory.recall("tea", scope="team/ann")
    memory.recall("tea", scope="nowhere")
    assert retrieval(memory)["recalls"] == 3
    assert retrieval(memory, "team/ann")["recalls"] == 2
    assert retrieval(memory, Scope.under("team"))["recalls"] == 2
    assert retrieval(memory)["hit_ratio"]["value"] == pytest.approx(2 / 3)
    assert retrieval(memory)["seconds_p50"] > 0


def test_the_next_write_takes_many_counts_along(tmp_path: Path) -> None:
    settings = Settings(flush_uses=3)
    with Memory(tmp_path / "memory.db", embedder="hashing:64", settings=settings) as memory:
        for _ in range(2):
            memory.recall("tea")
        memory.remember("one")
        assert verbs.read_counts(memory.parts.store, None, 0) == []
        memory.recall("nothing", scope="empty")
        memory.remember("two")
        assert sum(row.counts["recalls"] for row in verbs.read_counts(memory.parts.store, None, 0)) == 3


def test_closing_writes_counts_down(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    for _ in range(2):
        with Memory(path, embedder="hashing:64", clock=clock) as memory:
            memory.recall("tea")
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        assert retrieval(memory)["recalls"] == 2


def test_days_older_than_a_year_are_given_up(memory: Memory, clock: Clock) -> None:
    for _ in range(4):
        memory.recall("tea", scope="team/ann")
        memory.admin.flush()
        clock.now += DAY * KEPT_DAYS / 2
    days = {day for _, day, _ in written(memory)}
    assert days == {TODAY + KEPT_DAYS // 2, TODAY + KEPT_DAYS, TODAY + KEPT_DAYS // 2 * 3}


def test_tallies_hold_no_content(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        memory.remember("the xylophone is secret", who="Zoe")
        memory.feedback(memory.recall("xylophone", explain=True), useful=True)
        memory.context("xylophone")
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT * FROM tallies").fetchall()
    assert rows
    assert "xylophone" not in json.dumps(rows)
    assert all(isinstance(count, int) for row in rows for count in json.loads(row[3]).values())


def test_counts_that_could_not_be_written_are_written_later(caplog: pytest.LogCaptureFixture) -> None:
    class Uncounting(Altered):
        def set_values(self, table: Any, values: Any, *, clear: bool = False) -> None:
            if table is TALLIES:
                raise Unavailable("the disk is full")
            self.inner.set_values(table, values, clear=clear)

    class Full(RamStore):
        full = True

        def write(self, job: Any) -> Any:
            return super().write(
                lambda transaction: job(Uncounting(transaction)) if self.full else job(transaction)
            )

    store = Full()
    memory = Memory(store, embedder="hashing:64", clock=Clock())
    one = memory.remember("tea")
    memory.recall("tea")
    with pytest.raises(Unavailable):
        memory.admin.flush()
    memory.recall("tea")
    store.full = False
    memory.admin.flush()
    (row,) = verbs.read_counts(store, None, 0)
    assert row.counts["recalls"] == 2
    found = memory.get(one.id)
    assert found is not None
    assert found.uses == 2
    store.full = True
    memory.recall("tea")
    memory.close()
    assert "tallies were not written" in caplog.text


def test_many_threads_lose_no_recall(memory: Memory) -> None:
    def ask() -> None:
        for n in range(25):
            memory.recall("tea", scope="team/ann")
            if n % 10 == 0:
                memory.admin.flush()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written(memory)["team/ann", TODAY, "recall"]["recalls"] == 150


CHILD = """
import sys
from eidet import Memory
with Memory(sys.argv[1], embedder="hashing:64", clock=lambda: 1_700_000_000.0) as memory:
    for _ in range(30):
        memory.feedback(memory.recall("tea"), useful=True)
        memory.admin.flush()
"""


def test_processes_lose_no_counts_of_each_other(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    Memory(path, embedder="hashing:64").close()
    children = [subprocess.Popen([sys.executable, "-c", CHILD, str(path)]) for _ in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        told = retrieval(memory)
        assert (told["recalls"], told["answer_accuracy"]["of"]) == (90, 90)


# Feedback.


def test_feedback_on_a_hit_counts_for_its_scope(memory: Memory) -> None:
    hit = memory.recall("tea", scope=Scope.under("team"))[0]
    memory.feedback(hit, useful=True)
    memory.feedback(hit, useful=False, scope="team/ann")
    memory.feedback(hit, useful=False, scope=Scope.under("team"))
    assert judged(memory) == {"useful_hits": 1, "useless_hits": 2}


def test_feedback_on_an_answer_counts_where_it_was_asked(memory: Memory) -> None:
    hits = memory.recall("tea", scope="team/ann", explain=True)
    assert hits.trace is not None
    memory.feedback(hits, useful=True)
    memory.feedback(hits.trace, useful=True, scope="team/ann")
    memory.feedback(memory.context("tea", scope="team/ann"), useful=False)
    assert judged(memory) == {"useful_answers": 2, "useless_answers": 1}
    listed = memory.recall(scope=Scope.under("team"), explain=True)
    assert listed.trace is not None
    memory.feedback(listed.trace, useful=False)
    assert judged(memory, "team") == {"useless_answers": 1}


def test_an_answer_without_hits_can_be_judged(memory: Memory) -> None:
    nothing = memory.recall("tea", scope="nowhere")
    assert len(nothing) == 0
    memory.feedback(nothing, useful=False)
    assert judged(memory, "nowhere") == {"useless_answers": 1}
    assert retrieval(memory, "nowhere")["success_rate"]["value"] == 0.0


def test_feedback_by_id_needs_the_record_in_its_scope(memory: Memory) -> None:
    (cleo,) = memory.find(scope="team/bob")
    memory.feedback(cleo.id, useful=True, scope="team/bob")
    for scope in (None, "team/ann", "team"):
        with pytest.raises(NotFound, match=f"there is no record '{cleo.id}' in scope"):
            memory.feedback(cleo.id, useful=True, scope=scope)
    with pytest.raises(BadInput, match="needs one scope"):
        memory.feedback(cleo.id, useful=True, scope=Scope.under("team"))
    assert judged(memory, "team/bob") == {"useful_hits": 1}
    assert len(written(memory)) == 1


def test_a_hit_cannot_be_marked_through_another_scope(memory: Memory) -> None:
    hit = memory.recall("chess", scope="team/bob")[0]
    answer = memory.recall("chess", scope="team/bob")
    for scope in ("team/ann", "team", Scope.under("team/bob/x")):
        with pytest.raises(NotFound, match="this one is in team/bob"):
            memory.feedback(hit, useful=True, scope=scope)
        with pytest.raises(BadInput, match="was asked in scope team/bob"):
            memory.feedback(answer, useful=True, scope=scope)
    assert {what for _, _, what in written(memory)} == {"recall"}


def test_what_was_useful_counts_as_used_and_what_was_not_stays(memory: Memory, clock: Clock) -> None:
    hit = memory.recall("tea", scope="team/ann", limit=1)[0]
    clock.now += 60
    memory.feedback(hit, useful=True)
    memory.feedback(hit.id, useful=True, scope="team/ann")
    for _ in range(5):
        memory.feedback(hit, useful=False)
    memory.admin.flush()
    record = memory.get(hit.id, scope="team/ann")
    assert record is not None
    assert (record.uses, record.last_used, record.version) == (3, NOW + 60, 1)


def test_who_judges_is_counted_apart_too(memory: Memory) -> None:
    hits = memory.recall("tea", scope="team/ann")
    memory.feedback(hits, useful=True, by="ann")
    memory.feedback(hits, useful=False, by="a/b")
    memory.feedback(hits, useful=False)
    told = retrieval(memory)
    assert (told["success_rate"]["value"], told["success_rate"]["of"]) == (pytest.approx(1 / 3), 3)
    assert {name: rate["value"] for name, rate in told["judged_by"].items()} == {"ann": 1.0, "a/b": 0.0}


def test_feedback_on_a_record_that_is_gone_is_still_counted(memory: Memory) -> None:
    hit = memory.recall("tea", scope="team/ann")[0]
    memory.forget(hit.id, scope="team/ann")
    memory.feedback(hit, useful=True)
    assert judged(memory) == {"useful_hits": 1}
    with pytest.raises(NotFound):
        memory.feedback(hit.id, useful=True, scope="team/ann")


@pytest.mark.parametrize(
    "about",
    [None, 5, [], (), object(), Where(), b"id", {"id": "x"}],
    ids=lambda v: repr(v).partition(" at 0x")[0],
)
def test_feedback_about_anything_else_is_refused(memory: Memory, about: Any) -> None:
    with pytest.raises(
        BadInput, match="feedback is about a Hit, the Hits of a recall, a Trace, a Context or"
    ):
        memory.feedback(about, useful=True)


@pytest.mark.parametrize(
    "how",
    [
        {"useful": "no"},
        {"useful": None},
        {"useful": 1},
        {"useful": True, "by": ""},
        {"useful": True, "by": "x" * 201},
        {"useful": True, "by": 5},
        {"useful": True, "scope": ""},
        {"useful": True, "scope": 5},
    ],
    ids=str,
)
def test_bad_words_around_feedback_are_refused_and_nothing_is_counted(
    memory: Memory, how: dict[str, Any]
) -> None:
    hits = memory.recall("tea", scope="team/ann")
    for about in (hits, hits[0]):
        with pytest.raises(BadInput):
            memory.feedback(about, **how)
    assert {what for _, _, what in written(memory)} == {"recall"}


@pytest.mark.parametrize("answer", [Hits([]), Trace(query="x")], ids=["hits", "trace"])
def test_an_answer_from_elsewhere_needs_its_scope(memory: Memory, answer: Hits | Trace) -> None:
    with pytest.raises(BadInput, match="does not name its scope"):
        memory.feedback(answer, useful=True)
    memory.feedback(answer, useful=True, scope="team/ann")
    assert judged(memory) == {"useful_answers": 1}


class ReadOnly(RamStore):
    writable = False


def test_feedback_that_cannot_be_kept_is_refused() -> None:
    with Memory(ReadOnly(), embedder="hashing:64") as memory:
        hits = memory.recall("tea")
        assert memory.admin.stats()["retrieval"]["recalls"] == 0
        with pytest.raises(Refused, match="reading only"):
            memory.feedback(hits, useful=True)
        assert memory.admin.metrics()["eidet_recalls"] == 0.0


# Forgetting.


def test_forgetting_a_whole_scope_forgets_its_tallies(memory: Memory) -> None:
    for scope in ("team", "team/ann", "team/bob"):
        memory.recall("tea", scope=scope)
    memory.forget(everything=True, scope="team/ann")
    assert {scope for scope, _, _ in written(memory)} == {"team", "team/bob"}
    memory.forget(everything=True, scope=Scope.under("team"))
    assert written(memory) == {}


def test_forgetting_some_is_counted_and_keeps_the_tallies(memory: Memory) -> None:
    memory.recall("tea", scope="team/ann")
    assert memory.admin.metrics("team/ann")["eidet_memory_retention_ratio"] == 1.0
    memory.forget(memory.find(scope="team/ann")[0].id, scope="team/ann")
    memory.forget("nobody", scope="team/ann")
    found = written(memory)
    assert found["team/ann", TODAY, "forget"] == {"forgotten": 1}
    assert found["team/ann", TODAY, "recall"]["recalls"] == 1
    assert memory.admin.metrics("team/ann")["eidet_memory_retention_ratio"] == 0.5


# Metrics and drift over days.


def test_metrics_count_uses_that_still_wait(memory: Memory) -> None:
    assert memory.admin.metrics("team/ann")["eidet_memory_used_ratio"] == 0.0
    memory.recall("tea", scope="team/ann", limit=1)
    found = memory.admin.metrics("team/ann")
    assert (found["eidet_memory_used_ratio"], found["eidet_recall_hit_ratio"]) == (0.5, 1.0)
    assert found["eidet_records"] == 2.0
    assert memory.admin.metrics()["eidet_records"] == 3.0


def test_unused_and_stale_memories_are_told_by_age(memory: Memory, clock: Clock) -> None:
    clock.now += 31 * DAY
    assert memory.admin.metrics()["eidet_memory_never_recalled_ratio"] == 1.0
    assert memory.admin.metrics()["eidet_memory_stale_ratio"] == 0.0
    clock.now += 60 * DAY
    memory.recall("chess", scope="team/bob")
    found = memory.admin.metrics()
    assert found["eidet_memory_never_recalled_ratio"] == pytest.approx(2 / 3)
    assert found["eidet_memory_stale_ratio"] == pytest.approx(2 / 3)
    assert found["eidet_memory_growth_records_per_day"] == 0.0


def test_context_tells_how_much_of_the_budget_it_used(memory: Memory) -> None:
    made = memory.context("tea", scope="team/ann", budget=200)
    told = retrieval(memory)
    assert (told["contexts"], told["recalls"]) == (1, 1)
    assert told["context_use"] == made.tokens / 200


def test_a_memory_that_no_longer_finds_what_is_asked_has_drifted(memory: Memory, clock: Clock) -> None:
    for _ in range(20):
        for _ in range(5):
            memory.recall("tea", scope="team/ann")
        clock.now += DAY
    assert retrieval(memory)["drift"]["verdict"] == "unknown"
    for _ in range(7):
        for _ in range(10):
            memory.recall("tea", scope="team/ann", session="none")
        clock.now += DAY
    clock.now -= DAY
    told = retrieval(memory)["drift"]
    assert told["verdict"] == "drifted"
    assert [shift["name"] for shift in told["changed"]] == ["empty rate"]
    assert memory.admin.metrics()["eidet_drift_detected"] == 1.0
    assert retrieval(memory, "team/bob")["drift"]["verdict"] == "unknown"
    clock.now += 7 * DAY
    assert retrieval(memory)["drift"]["verdict"] == "unknown"


def test_a_clock_ahead_of_others_does_not_make_the_present_drift(memory: Memory, clock: Clock) -> None:
    clock.now += 1000 * DAY
    for _ in range(100):
        memory.recall("tea", scope="nowhere")
    clock.now = NOW
    assert retrieval(memory)["recalls"] == 0
