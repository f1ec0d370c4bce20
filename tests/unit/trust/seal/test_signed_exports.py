"""Of an export of a sealed memory, nothing can be changed, left out, added or put elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eidet import Memory
from eidet.cli import app
from eidet.core.errors import Corrupt, EidetError, Misconfigured, Refused
from eidet.core.validate import dump_json

KEY = bytes(range(32))
NOW = 1_700_000_000.0
Line = dict[str, Any]


def opened(path: Path | None, key: bytes | None = KEY) -> Memory:
    return Memory(path, key=key, embedder="hashing:64", clock=lambda: NOW)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """An export with something in every field: manifest, three records, end."""
    folder = tmp_path_factory.mktemp("export")
    with opened(folder / "m.db") as memory:
        memory.remember(
            "Ann lives in Lisbon",
            id="ann",
            who="Ann",
            agent="a",
            session="s",
            source="mail",
            step=3,
            place=(1.0, 2.0),
            importance=0.7,
            data={"n": 1},
            meta={"m": 2},
            occurred=NOW - 50,
            expires=NOW + 9e9,
            trust="web",
            tier="middle",
        )
        memory.remember(["Bob has a giraffe", "the train leaves at nine"])
        memory.recall("Lisbon")
        memory.revise("ann", text="Ann lives in Porto")
        memory.export(folder / "export.jsonl")
    return [json.loads(line) for line in (folder / "export.jsonl").read_text().splitlines()]


def write(lines: list[Line], folder: Path) -> Path:
    """As somebody would who has no key: count and checksum are right, whatever was changed."""
    body = [dump_json(line) + "\n" for line in lines[:-1]]
    end = {**lines[-1], "count": len(body) - 1, "sha256": sha256("".join(body).encode()).hexdigest()}
    path = folder / "forged.jsonl"
    path.write_text("".join(body) + dump_json(end) + "\n")
    return path


def refuse(path: Path, folder: Path, **how: Any) -> str:
    with opened(folder / "new.db") as memory:
        with pytest.raises(EidetError) as refused:
            memory.load(path, **how)
        assert memory.scopes() == {}
    return str(refused.value)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values of nested JSON are."""
    if not isinstance(value, dict):
        yield path
        return
    for name, inner in value.items():
        yield from paths_in(inner, (*path, name))


def change_at(line: Line, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Line:
    changed = deepcopy(line)
    at: Any = changed
    for name in path[:-1]:
        at = at[name]
    change(at, path[-1])
    return changed


def flip(at: Any, name: Any) -> None:
    value = at[name]
    if isinstance(value, str):
        at[name] = value[:-5] + ("A" if value[-5:-4] != "A" else "B") + value[-4:]
    elif isinstance(value, list):
        at[name] = [*value, 1.0]
    else:
        at[name] = value + 1


def remove(at: Any, name: Any) -> None:
    del at[name]


def test_an_untouched_export_is_loaded(lines: list[Line], tmp_path: Path) -> None:
    with opened(tmp_path / "new.db") as memory:
        assert memory.load(write(lines, tmp_path)) == 3
        record = memory.get("ann")
        assert record is not None
        assert (record.text, record.version) == ("Ann lives in Porto", 2)


@pytest.mark.parametrize("change", [flip, remove])
def test_no_field_of_any_line_can_be_changed(
    lines: list[Line], tmp_path: Path, change: Callable[[Any, Any], None]
) -> None:
    tried = 0
    for number, line in enumerate(lines[:-1]):
        for path in paths_in(line):
            forged = [*lines[:number], change_at(line, path, change), *lines[number + 1 :]]
            refuse(write(forged, tmp_path), tmp_path)
            tried += 1
    assert tried > 30


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[1], *lines[1:]],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [lines[0], lines[-1]],
        lambda lines: [*lines[:-1], {"id": "new", "scope": "default", "text": "forged"}, lines[-1]],
    ],
    ids=["removed", "twice", "swapped", "emptied", "forged"],
)
def test_no_line_can_be_removed_repeated_moved_or_added(
    lines: list[Line], tmp_path: Path, change: Callable[[list[Line]], list[Line]]
) -> None:
    for how in ({}, {"unverified": True}):
        assert "signature" in refuse(write(change(lines), tmp_path), tmp_path, **how)


def test_the_signature_cannot_be_left_out_or_taken_from_elsewhere(lines: list[Line], tmp_path: Path) -> None:
    bare = {name: value for name, value in lines[-1].items() if name != "mac"}
    assert "signature" in refuse(write([*lines[:-1], bare], tmp_path), tmp_path)
    genuine = (lines[-1]["sha256"], lines[-1]["mac"])
    forged = [{**lines[0], "signed": genuine}, lines[1], bare]
    assert "signature" in refuse(write(forged, tmp_path), tmp_path), "a manifest cannot vouch for itself"


def test_sealed_records_without_their_manifest_are_loaded_nowhere(lines: list[Line], tmp_path: Path) -> None:
    plain = {name: value for name, value in lines[0].items() if name != "sealed"}
    path = write([plain, *lines[1:]], tmp_path)
    assert "does not say by which key" in refuse(path, tmp_path)
    assert "does not say by which key" in refuse(path, tmp_path, unverified=True)
    with opened(tmp_path / "plain.db", None) as memory:
        with pytest.raises(Corrupt, match="does not say by which key"):
            memory.load(path)
        assert memory.scopes() == {}


def test_plain_records_come_into_a_sealed_memory_only_when_asked_for(tmp_path: Path) -> None:
    with opened(None, None) as memory:
        memory.remember("Ann lives in Lisbon", id="ann")
        memory.export(tmp_path / "plain.jsonl")
    with opened(tmp_path / "new.db") as memory:
        with pytest.raises(Refused, match=r"unverified=True.*--unverified"):
            memory.load(tmp_path / "plain.jsonl")
        assert memory.scopes() == {}
        assert memory.load(tmp_path / "plain.jsonl", unverified=True) == 1
        assert memory.admin.check() == []
    words = [
        "load",
        str(tmp_path / "plain.jsonl"),
        "--at",
        str(tmp_path / "cli.db"),
        "--embedder",
        "hashing:64",
    ]
    run = CliRunner().invoke
    assert run(app, words, env={"EIDET_KEY": KEY.hex()}).exit_code == 2
    assert run(app, [*words, "--unverified"], env={"EIDET_KEY": KEY.hex()}).exit_code == 0


def test_an_export_does_not_show_that_two_scopes_say_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        for scope in ("ann", "bob"):
            memory.remember("the very same words", scope=scope, who="Ann", id="x")
        memory.export(tmp_path / "export.jsonl", scope=None)
    lines = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text().splitlines()]
    one, other = lines[1:-1]
    for name in ("sealed", "terms", "vector", "who"):
        assert one[name][:20] != other[name][:20]


def test_an_export_of_another_master_key_is_refused(lines: list[Line], tmp_path: Path) -> None:
    with opened(tmp_path / "other.db", bytes(32)) as memory, pytest.raises(Misconfigured, match="master key"):
        memory.load(write(lines, tmp_path))
