"""The example memory is lively, and the same every time for the same last day."""

from __future__ import annotations

from pathlib import Path

import pytest

from eidet import Memory
from eidet.cli.demo import build_example

END = 1_794_873_600.0


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("example") / "example.db"
    build_example(file, END)
    return file


def test_it_spans_months_and_has_people_kinds_versions_and_recalls(example: Path) -> None:
    with Memory(example, clock=lambda: END) as memory:
        stats = memory.admin.stats("tidewater/mara")
        assert {"message", "fact", "episode", "document"} <= set(stats["kinds"])
        assert stats["retrieval"]["recalls"] > 100
        drift = stats["retrieval"]["drift"]
        assert drift["verdict"] != "unknown"
        assert not [shift for shift in drift["changed"] if shift["worse"]]
        records = memory.find(scope="tidewater/mara", limit=400)
        days = max(one.occurred for one in records) - min(one.occurred for one in records)
        assert days > 150 * 86_400
        assert {"Mara", "Jonas", "Priya", "Tom", "assistant"} <= {one.who for one in records if one.who}
        assert any(one.version > 1 for one in records)
        assert memory.count(scope="tidewater/fleet", kinds="state") > 100
        assert memory.facts.contradictions(scope="tidewater/mara")


def test_it_is_the_same_every_time(example: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.db"
    build_example(again, END)
    with Memory(example, clock=lambda: END) as one, Memory(again, clock=lambda: END) as other:
        texts = [
            [(r.text, r.occurred, r.who) for r in m.find(scope="tidewater/**", limit=9999)]
            for m in (one, other)
        ]
    assert sorted(texts[0], key=repr) == sorted(texts[1], key=repr)
