"""Every command that works on a memory, or measures one, reads the eidet.toml of its folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shell import Shell, list_commands

from eidet import Memory

NEW_FILE = ("demo", "integrate")  # --at names what they make
UNSAID = {"EIDET_MEMORY": "", "EIDET_EMBEDDER": ""}
ALSO = {"copy": ("a.db", "b.db"), "eval": ("cases.jsonl",), "audit": ()}


def list_cases() -> Iterator[tuple[str, ...]]:
    for words, found in list_commands():
        options = {option for parameter in found.params for option in parameter.opts}
        if "--at" in options and words[0] not in NEW_FILE and words != ("audit",):
            yield (*words, *fill_arguments(found))
    yield ("audit", "audit.log", "--at", "a.db")
    for name, further in ALSO.items():
        yield (name, *further)


def fill_arguments(found: Any) -> Iterator[str]:
    for parameter in found.params:
        if not parameter.required:
            continue
        if parameter.param_type_name == "option":
            yield parameter.opts[0]
        yield "1"


CASES = list(list_cases())


def test_there_are_as_many_commands_as_were_meant() -> None:
    assert len(CASES) > 25
    assert {"recall", "remember", "serve", "mcp", "copy", "audit", "eval"} <= {case[0] for case in CASES}


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_a_command_reads_the_configuration_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("eidet.toml").write_text("[eidet\n")
    Path("cases.jsonl").write_text("{}\n")
    said = Shell(tmp_path)(*words, **UNSAID)
    assert (said.code, "eidet.toml" in said.err) == (7, True), said.err


def test_copies_measures_and_audits_obey_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory("old.db", embedder="hashing:16", audit="audit.log") as memory:
        memory.remember("Ann lives in Lisbon")
    Path("eidet.toml").write_text(
        '[eidet]\nmemory = "new.db"\nembedder = "hashing:32"\naudit = "audit.log"\n'
    )
    run = partial(Shell(tmp_path), **UNSAID)
    assert run("audit", "--at", "old.db").code == 0
    assert "entries, all unchanged" in run("audit").out
    assert run("copy", "old.db", "new.db").code == 0
    assert "Lisbon" in run("recall", "where does Ann live?").out
    with Memory("new.db", audit=False) as memory:
        assert memory.parts.embedder.name == "hashing:32"
