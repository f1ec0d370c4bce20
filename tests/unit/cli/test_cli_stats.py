"""How recalls went, for people and for monitoring systems."""

from __future__ import annotations

import re

import pytest
from tests.unit.cli.shell import Shell

from eidet.memory import Memory
from eidet.quality.metrics import MEANINGS

LINE = re.compile(r"(eidet_[a-z0-9_]+)(\{scope=\"(?:[^\"\\\n]|\\[\\\"n])*\"\})? ([-+0-9.e]+)")


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon", "Bob drinks tea")
    eidet("recall", "tea")
    eidet("context", "tea", "--budget", "100")
    with Memory(eidet.file, embedder="hashing") as memory:
        memory.feedback(memory.recall("tea")[0], useful=True)
    return eidet


def test_stats_tell_how_recalls_went(filled: Shell) -> None:
    told = filled("stats", "--json").json["retrieval"]
    assert (told["recalls"], told["hit_ratio"]["value"], told["window_days"]) == (3, 1.0, 28)
    assert told["drift"]["verdict"] == "unknown"
    assert filled("stats", "--scope", "other", "--json").json["retrieval"]["recalls"] == 0
    out = filled("stats").out
    for part in ("the last 28 days", "hit ratio", "100.0%", "time p95", "nobody has judged yet", "unknown"):
        assert part in out


def test_stats_without_recalls_are_as_short_as_before(eidet: Shell) -> None:
    eidet("remember", "Ann lives in Lisbon")
    assert "days" not in eidet("stats").out


def parsed(text: str) -> dict[str, tuple[str, float]]:
    """Reads the text format strictly: a help line, a type line and one sample for each metric."""
    lines = text.splitlines()
    assert text.endswith("\n")
    assert len(lines) % 3 == 0
    found = {}
    for help_line, type_line, sample in zip(*[iter(lines)] * 3, strict=True):
        match = LINE.fullmatch(sample)
        assert match is not None, sample
        name, label, value = match.groups()
        assert help_line == f"# HELP {name} {MEANINGS[name]}."
        assert type_line == f"# TYPE {name} gauge"
        found[name] = (label or "", float(value))
    return found


def test_metrics_are_text_that_prometheus_reads(filled: Shell) -> None:
    found = parsed(filled("stats", "--metrics").out)
    assert found["eidet_records"] == ("", 2.0)
    assert found["eidet_recalls"] == ("", 3.0)
    assert found["eidet_hit_relevance_ratio"] == ("", 1.0)
    assert 0 < found["eidet_recall_latency_seconds_p50"][1] < 10
    assert "eidet_answer_accuracy_ratio" not in found
    assert filled("stats", "--metrics", "--json").json["eidet_recalls"] == 3.0


def test_the_scope_of_metrics_is_a_label_that_cannot_break_out(filled: Shell) -> None:
    scope = 'a "b" \\c'
    filled("remember", "Cleo plays chess", "--scope", scope)
    found = parsed(filled("stats", "--metrics", "--scope", scope).out)
    assert found["eidet_records"] == ('{scope="a \\"b\\" \\\\c"}', 1.0)
    assert parsed(filled("stats", "--metrics", "--scope", "a/**").out)["eidet_records"][0] == '{scope="a/**"}'


def test_metrics_of_an_empty_memory_are_only_what_is_known(eidet: Shell) -> None:
    eidet.file.touch()
    assert parsed(eidet("stats", "--metrics").out).keys() == {
        "eidet_records",
        "eidet_store_bytes",
        "eidet_recalls",
        "eidet_judgements",
        "eidet_contexts",
    }
