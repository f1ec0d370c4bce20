"""The history of the hot paths: what counts as slower, and that the file is whole."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def ratios(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return import_module("ratios")


@pytest.mark.parametrize(
    ("now", "slower"),
    [((2.0, 2.2), []), ((2.6, 2.6), []), ((2.4, 2.9), []), ((2.6, 2.9), ["recall"]), ((1.0, 1.1), [])],
)
def test_a_path_is_slower_if_best_and_median_are(
    ratios: ModuleType, now: tuple[float, float], slower: list[str]
) -> None:
    assert ratios.list_slower({"recall": now}, {"recall": (2.0, 2.2)}) == slower


def test_a_new_path_is_never_slower(ratios: ModuleType) -> None:
    assert ratios.list_slower({"new": (9.0, 9.0)}, {"recall": (2.0, 2.2)}) == []


def test_a_path_must_be_slower_twice_in_a_row(
    ratios: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = iter(
        [{"recall": (9.0, 9.0)}, {"recall": (2.0, 2.2)}, {"recall": (9.0, 9.0)}, {"recall": (9.0, 9.0)}]
    )
    monkeypatch.setattr(ratios, "HISTORY", tmp_path / "history.jsonl")
    monkeypatch.setattr(ratios, "measure", lambda: next(runs))
    monkeypatch.setattr(ratios, "measure_landed", dict)
    ratios.append({"recall": (2.0, 2.2)})
    monkeypatch.setattr(sys, "argv", ["ratios.py", "--check"])
    assert ratios.main() == 0
    assert ratios.main() == 1


@pytest.mark.parametrize(("landed", "status"), [((8.0, 8.0), 0), ((2.1, 2.3), 1)])
def test_another_machine_is_told_from_a_slower_path(
    ratios: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    landed: tuple[float, float],
    status: int,
) -> None:
    monkeypatch.setattr(ratios, "HISTORY", tmp_path / "history.jsonl")
    monkeypatch.setattr(ratios, "measure", lambda: {"recall": (9.0, 9.0)})
    monkeypatch.setattr(ratios, "measure_landed", lambda: {"recall": landed})
    ratios.append({"recall": (2.0, 2.2)})
    monkeypatch.setattr(sys, "argv", ["ratios.py", "--check"])
    assert ratios.main() == status


@pytest.mark.skipif(not (BENCH.parent / ".git").exists(), reason="needs the git history: clone Eidet")
def test_the_last_landed_tree_comes_from_git(ratios: ModuleType, tmp_path: Path) -> None:
    assert ratios.unpack_landed(tmp_path)
    assert (tmp_path / "bench" / "ratios.py").is_file()
    assert (tmp_path / "src" / "eidet" / "__init__.py").is_file()


def test_only_what_the_same_processor_measured_is_compared(
    ratios: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ratios, "HISTORY", tmp_path / "history.jsonl")
    ratios.append({"recall": (2.0, 2.2)})
    monkeypatch.setattr(ratios, "read_processor", lambda: "another")
    assert ratios.read_last() == {}
    ratios.append({"recall": (7.0, 8.0)})
    assert ratios.read_last() == {"recall": (7.0, 8.0)}
    monkeypatch.undo()
    monkeypatch.setattr(ratios, "HISTORY", tmp_path / "history.jsonl")
    assert ratios.read_last() == {"recall": (2.0, 2.2)}


def test_floor_and_path_do_the_same_amount_of_work(ratios: ModuleType) -> None:
    done: list[str] = []

    def follow_path(_: int) -> None:
        done.append("path")
        sum(range(3000))

    def follow_floor(_: int) -> None:
        done.append("floor")
        sum(range(1000))

    best, median = ratios.compare(follow_path, follow_floor, 7)
    assert done.count("path") == done.count("floor") == 7 * (ratios.ROUNDS + 1)
    assert 0 < best <= median


def test_the_history_can_be_read(ratios: ModuleType) -> None:
    lines = ratios.HISTORY.read_text().splitlines()
    assert lines
    for line in lines:
        for best, median in json.loads(line)["ratios"].values():
            assert 0 < best <= median
