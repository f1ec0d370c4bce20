"""The page that compares Eidet with others says what was measured, and names a source for every cell."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest
from tests.reference import ROOT

BENCH = ROOT / "bench"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("peers_page")


@pytest.fixture
def results() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((BENCH / "peers.json").read_text())
    return read


def test_the_page_is_made_of_the_results(page: Any, results: dict[str, Any]) -> None:
    written = (BENCH / "notes" / "comparison.md").read_text(encoding="utf-8")
    assert written == page.render(results), "run `python bench/peers_page.py`"


def test_a_peer_that_is_better_is_named_before_anything_else(page: Any, results: dict[str, Any]) -> None:
    results["peers"]["chroma"]["one by one"]["per second"] = (
        10 * results["peers"]["eidet"]["one by one"]["per second"]
    )
    first_part = page.render(results).split("## ")[1]
    assert first_part.startswith("Where others are better")
    (line,) = [line for line in first_part.splitlines() if line.startswith("- **adds one by one**")]
    assert "Chroma" in line


def test_what_was_left_out_is_told(page: Any, results: dict[str, Any]) -> None:
    results["peers"]["chroma"]["sizes"]["100000"] = {"left out": "loading would take 4,000 s or more"}
    assert "- Chroma at 100,000: loading would take 4,000 s or more" in page.render(results)


def test_a_busy_machine_is_told(page: Any, results: dict[str, Any]) -> None:
    results["run"]["cores"] = 2
    for peer in results["peers"].values():
        peer |= {"load before": [0.4, 0, 0], "load after": [1.9, 0, 0]}
    assert "machine was busy" not in page.render(results)
    results["peers"]["chroma"]["load after"] = [7.0, 0, 0]
    assert "machine was busy** (load 7.0" in page.render(results)


def test_figures_of_several_runs_are_told(page: Any, results: dict[str, Any]) -> None:
    for peer in results["peers"].values():
        peer["run"] = "2026-01-01T00:00:00+00:00"
    assert "measured in one run on" in page.render(results)
    results["peers"]["chroma"]["run"] = "2026-01-02T00:00:00+00:00"
    assert "measured in 2 runs on" in page.render(results)


def test_every_cell_of_the_features_has_a_source() -> None:
    told = json.loads((BENCH / "peers_features.json").read_text())
    for feature, cells in told["rows"]:
        assert set(cells) == set(told["columns"]), feature
        for value, source in cells.values():
            assert value
            assert source.startswith("https://") or (BENCH / "notes" / source).exists(), source
