from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell
from tests.unit.eval.made import lines, locomo, longmemeval, written


@pytest.fixture
def own(tmp_path: Path) -> str:
    return str(written(tmp_path / "lines.jsonl", lines()))


def test_eval_tells_figures_and_leaves_nothing(eidet: Shell, own: str) -> None:
    said = eidet.process("eval", own, COLUMNS="80")
    assert said.code == 0, said.err
    assert "\x1b" not in said.out
    assert re.search(r"overall +3 +0\.833 +1\.000", said.out)
    assert "no leaks between scopes" in said.out
    assert "3 questions about 5 records in 2 scopes; left out: 1 without gold" in said.out
    assert said.err == ""
    assert [path.name for path in eidet.folder.iterdir()] == ["lines.jsonl"]


def test_eval_in_json_on_standard_output_is_only_that(eidet: Shell, own: str) -> None:
    said = eidet("eval", own, "--json", "-", "--against", "embedder=hashing:8,recipe=auto").json
    assert said["format"] == "eidet-eval/1"
    assert [run["name"] for run in said["runs"]] == ["hashing", "hashing:8"]
    assert said["runs"][0]["overall"]["R@10"]["value"] == 1
    assert len(said["comparisons"]) == 1


def test_eval_writes_files(eidet: Shell, own: str) -> None:
    pytest.importorskip("matplotlib")
    picture, numbers = eidet.folder / "report.svg", eidet.folder / "numbers.json"
    said = eidet(
        "eval", own, "--plot", str(picture), "--json", str(numbers), "--against", "embedder=hashing:8"
    )
    assert "hashing:8 against hashing" in said.out
    assert "<svg" in picture.read_text()
    assert json.loads(numbers.read_text())["data"]["questions"] == 3


def test_eval_reads_the_public_formats(eidet: Shell) -> None:
    talk = written(eidet.folder / "talk.json", locomo())
    assert "single-hop" in eidet("eval", str(talk)).out
    chats = written(eidet.folder / "chats.json.gz", longmemeval(9))
    said = eidet("eval", str(chats), "--sessions", "4", "--roles", "user,assistant", "--json", "-").json
    assert said["data"]["scopes"] == 2
    assert said["data"]["left_out"] == {"abstention": 1}
    few = eidet("eval", str(chats), "--limit-questions", "2", "--seed", "3", "--json", "-").json
    assert few["data"]["questions"] == 2


def test_a_figure_below_the_least_ends_with_one(eidet: Shell, own: str) -> None:
    assert eidet("eval", own, "--least", "R@10=0.9", "--least", "craft.R@7=0.9").code == 0
    said = eidet("eval", own, "--least", "R@1=0.9", "--least", "R@10=0.9")
    assert said.code == 1
    assert said.err == "below: R@1 is 0.8333, below 0.9\n"


def test_eval_works_on_a_file_and_refuses_one_in_use(eidet: Shell, own: str) -> None:
    assert eidet("eval", own, "--place", str(eidet.file)).code == 0
    eidet("remember", "Mine.")
    said = eidet("eval", own, "--place", str(eidet.file))
    assert (said.code, "already has records" in said.err) == (2, True)
    assert eidet("stats", "--json").json["records"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--against", "embeder=hashing"], "--against takes part=value"),
        (["--against", "embedder"], "--against takes part=value"),
        (["--against", "recipe=sorcery"], "sorcery"),
        (["--least", "R@10"], "not a figure to reach"),
        (["--least", "joy.R@10=0.5"], "no category 'joy'"),
        (["--plot", "nowhere/report.png"], "cannot be written"),
        (["--json", "nowhere/numbers.json"], "cannot be written"),
        (["--depth", "0"], "depth"),
        (["--limit-questions", "0"], "at least 1"),
    ],
)
def test_bad_usage_is_told_in_one_line(eidet: Shell, own: str, words: list[str], told: str) -> None:
    said = eidet("eval", own, *words)
    assert said.code == 2
    assert told in said.err
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


def test_a_bad_file_is_told_before_anything_runs(eidet: Shell) -> None:
    file = eidet.folder / "lines.jsonl"
    file.write_text('{"type": "record", "id": "a", "text": "x"}\n{"type": "question"}\n')
    said = eidet("eval", str(file), "--place", str(eidet.file))
    assert (said.code, said.err) == (2, "error: lines.jsonl, line 2: the field question is missing\n")
    assert not eidet.file.exists()


def test_the_worst_questions_are_named_with_what_came_and_what_was_expected(eidet: Shell) -> None:
    wrong = {"type": "question", "question": "Ann lives in Lisbon", "gold": ["b"], "scope": "ann"}
    asked = eidet.folder / "wrong.jsonl"
    asked.write_text("\n".join(map(json.dumps, [*lines()[:2], wrong])))
    said = eidet("eval", str(asked), COLUMNS="80").out
    worst = said.partition("worst questions\n")[2]
    assert "came first  a: Ann lives in Lisbon." in worst
    assert re.search(r"expected    b: She restores oak tables\.  (came at|did not come)", worst)
    assert "95 % of R@10" in " ".join(said.split())


def test_what_needs_wrong_answers_is_left_out_where_there_are_few(eidet: Shell) -> None:
    talk = written(eidet.folder / "talk.json", locomo())
    said = eidet("eval", str(talk), COLUMNS="120").out
    assert "right-AUROC" not in said
    assert "calibration" not in said
