from __future__ import annotations

from tests.unit.cli.shell import Shell


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
