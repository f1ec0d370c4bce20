from __future__ import annotations

import pytest
from tests.unit.cli.shell import Shell

from eidet.cli.bench import texts


def test_the_demo_answers_from_another_process(eidet: Shell) -> None:
    said = eidet.process_anew("demo", "--json", EIDET_EMBEDDER="").json
    assert said["process"] != said["remembered"]["process"]
    best = {answer["query"]: answer["hits"][0]["record"]["text"] for answer in said["answers"]}
    assert "22:10" in best["When does the night train leave?"]
    assert "bowls" in best["What is owed to the roofer?"]
    assert "walnuts" in said["context"]["text"]
    assert said["context"]["tokens"] <= said["context"]["budget"]


def test_the_demo_can_be_kept_and_asked_again(eidet: Shell) -> None:
    said = eidet.process("demo", "--at", "kept.db")
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "22:10" in said.out
    assert "What to try next" in said.out
    assert eidet.process("stats", "--at", "kept.db", "--json", EIDET_EMBEDDER="").json["records"] == 27
    assert eidet.process("demo", "--at", "kept.db").code == 2


def test_bench_tells_ratios_and_leaves_nothing(eidet: Shell) -> None:
    said = eidet("bench", "--size", "200", "--json").json
    assert said["size"] == 200
    assert [measure["ratio"] > 0 for measure in said["measures"]] == [True] * 5
    out = eidet("bench", "--size", "200").out
    assert "ratio" in out
    assert list(eidet.folder.iterdir()) == []


@pytest.mark.parametrize("size", ["1", "99999999"])
def test_bench_refuses_sizes_that_tell_nothing(eidet: Shell, size: str) -> None:
    assert eidet("bench", "--size", size).code == 2


def test_bench_texts_are_the_same_every_time() -> None:
    assert texts(50, 1) == texts(50, 1)
    assert texts(50, 1) != texts(50, 2)
