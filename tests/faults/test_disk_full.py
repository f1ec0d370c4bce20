"""A full disk: a clear error, nothing acknowledged is lost, and it goes on when there is space."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.faults import disk
from tests.faults.nursery import Nursery

PRIVATE = ("unshare", "--mount")


def within(wall: str, folder: Path) -> tuple[str, ...]:
    """How a program with this wall is started; skips where nothing can be mounted."""
    if wall == "limit":
        return ()
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can mount a small file system")
    attempt = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run([*PRIVATE, *attempt], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    return PRIVATE


@pytest.fixture(scope="module", params=["tmpfs", "limit"])
def facts(
    request: pytest.FixtureRequest,
    start_for_module: Nursery,
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    folder = tmp_path_factory.mktemp("full")
    child = start_for_module(disk.fill, folder, request.param, within=within(request.param, folder))
    return child.result()


def test_a_write_to_a_full_disk_is_unavailable_and_says_why(facts: Any) -> None:
    kind, message = facts["error"]
    assert kind == "Unavailable"
    assert "m.db could not be written" in message
    assert "disk" in message
    assert "free some space" in message


def test_every_kind_of_write_is_refused_whole(facts: Any) -> None:
    assert {facts[verb][0] for verb in ("single", "bulk", "forget", "revise")} == {"Unavailable"}
    assert facts["refused"] == []


@pytest.mark.parametrize("moment", ["full", "thread", "reopened"])
def test_reads_go_on_while_the_disk_is_full(facts: Any, moment: str) -> None:
    wanted = facts["wanted"] - 1
    assert wanted > 20
    assert facts[moment] == {"stored": wanted, "lost": 0, "stats": wanted, "recall": "note7 "}


def test_writing_goes_on_when_there_is_space_again(facts: Any) -> None:
    wanted = facts["wanted"]
    assert facts["freed"] == {"stored": wanted, "lost": 0, "stats": wanted, "recall": "note7 "}
    assert (facts["faults"], facts["rebuilt"], facts["sqlite"]) == ([], True, "ok")


def test_wherever_the_disk_ends_a_failed_call_stored_nothing(start: Nursery, tmp_path: Path) -> None:
    told = start(disk.sweep, tmp_path).result()
    assert len(told) > 2, "the wall was not moved through a write"
    assert told == [["Unavailable", False]] * (len(told) - 1) + [["", True]]


def test_a_new_file_that_does_not_fit_is_refused_at_once_and_made_later(
    start: Nursery, tmp_path: Path
) -> None:
    told, stored = start(disk.create_on_full, tmp_path).result()
    assert [kind for kind, _, _ in told] == ["Unavailable"] * 4
    assert all("could not be written" in message for _, message, _ in told)
    assert max(seconds for _, _, seconds in told) < 10
    assert stored == 1


def test_closing_on_a_full_disk_is_fine(start: Nursery, tmp_path: Path) -> None:
    assert start(disk.close_on_full, tmp_path).result() == [["", "None"], 1]


@pytest.mark.parametrize("wall", ["tmpfs", "limit"])
def test_an_export_to_a_full_disk_leaves_no_half_file(start: Nursery, tmp_path: Path, wall: str) -> None:
    told = start(disk.export_to_full, tmp_path, wall, within=within(wall, tmp_path)).result()
    assert told["whole"]
    assert told["files"] == ["old.jsonl"]
    for kind, message in (told["over"], told["new"]):
        assert kind == "Unavailable"
        assert ".jsonl" in message


def test_a_database_that_cannot_grow_behind_its_log_loses_nothing(start: Nursery, tmp_path: Path) -> None:
    told = start(disk.full_main_file, tmp_path).result()
    wanted = told["wanted"]
    assert told["log"] > 0, "the log was moved into the database although that could not grow"
    assert told["full"] == {"stored": wanted, "lost": 0, "stats": wanted, "recall": "note7 "}
    assert told["freed"] == {"stored": wanted + 1, "lost": 0, "stats": wanted + 1, "recall": "note7 "}
    assert told["sqlite"] == "ok"


def test_an_index_cache_that_cannot_be_written_does_no_harm(start: Nursery, tmp_path: Path) -> None:
    assert start(disk.quiet_sidecar, tmp_path).result() == ["note7 ", [], "note7 ", []]
