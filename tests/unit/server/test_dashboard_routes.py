"""What the dashboard shows comes from routes that answer with plain numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.served import Running, serve_in_thread


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve_in_thread() as server:
        memory = server.memory.core
        for day in (1, 1, 2, 9):
            memory.remember(
                {"role": "user", "content": f"note of day {day}"}, session="s", occurred=f"2026-03-0{day}"
            )
        memory.remember("Ann lives in Lisbon.", occurred="2026-03-05", id="home")
        yield server


@pytest.mark.point(39)
def test_the_timeline_counts_days_and_sessions(running: Running) -> None:
    with running.http() as http:
        line = http.post("/v1/timeline", json={}).json()
        assert line["total"] == 5
        assert sum(count for _, count in dict(line["days"]).items()) == 5
        assert len(line["sessions"]) == 1
        march = line["start"] + (line["end"] - line["start"]) / 2
        half = http.post("/v1/timeline", json={"first": march, "last": line["end"]}).json()
        assert 0 < half["count"] < 5


@pytest.mark.point(40)
def test_a_question_is_explained_signal_by_signal(running: Running) -> None:
    with running.http() as http:
        told = http.post("/v1/debug/why", json={"query": "where does Ann live?"}).json()
        assert "home" in str(told)
        assert "dense" in str(told)
        assert "Lisbon" in str(told)


@pytest.mark.point(40)
def test_a_question_is_explained_as_of_another_time(running: Running) -> None:
    memory = running.memory.core
    memory.remember("Ben lives in Oslo.", occurred="2026-01-10", scope="ben")
    memory.remember("Ben moved to Rome.", occurred="2026-06-03", scope="ben")
    with running.http(params={"scope": "ben"}) as http:
        first = {}
        for time in ("", "2026-03-01"):
            asked = {"query": "where does Ben live?", "as_of": time or None}
            first[time] = http.post("/v1/debug/why", json=asked).json()["hits"][0]["record"]["text"]
        assert first == {"": "Ben moved to Rome.", "2026-03-01": "Ben lives in Oslo."}
        asked = {"query": "where does Ben live?", "known_at": "2000-01-01"}
        assert http.post("/v1/debug/why", json=asked).json()["hits"] == []
