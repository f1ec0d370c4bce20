from __future__ import annotations

import re
import shlex

from tests.unit.cli.shell import Shell


def test_the_demo_answers_from_another_process(eidet: Shell) -> None:
    said = eidet.process_anew("demo", EIDET_EMBEDDER="").out
    first, second = re.findall(r"Process (\d+)", said)
    assert first != second
    answers = " ".join(said.partition(f"Process {second}")[2].split())
    for question, answer in {
        "When does the night train leave?": "22:10",
        "What is owed to the roofer?": "bowls",
        "A block for a prompt": "walnuts",
    }.items():
        assert answer in answers.partition(question)[2][:600]


def test_the_demo_can_be_kept_and_ends_with_what_to_try_next(eidet: Shell) -> None:
    place = str(eidet.folder / "kept.db")
    said = eidet.process("demo", "--at", place)
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "22:10" in said.out
    assert eidet("stats", "--at", place, "--json", EIDET_EMBEDDER="").json["records"] == 27
    assert eidet("demo", "--at", place).code == 2
    *_, end = said.out.split("What to try next")
    tries = re.findall(r"\$ eidet (.+)", end)
    assert len(tries) >= 4
    assert place in end
    answers = {one: eidet.process(*shlex.split(one), EIDET_EMBEDDER="wordllama") for one in tries}
    assert [one for one, answer in answers.items() if answer.code] == []
    [asked] = [one for one in tries if one.startswith("recall") and "--at" not in one]
    assert "My own first memory" in answers[asked].out
