"""Every command that takes --scope keeps to it; those for which it means nothing do not take it."""

from __future__ import annotations

import pytest
from tests.unit.cli.shell import Shell, list_commands

from eidet.memory import Memory

WHOLE_MEMORY = (  # commands that concern the whole memory: no scope could narrow them
    ("rebuild", "--reembed", "--embedder", "hashing:64"),
    ("serve",),
)
SCOPED = {
    *("remember", "recall", "context", "find", "show", "scopes", "stats", "facts", "mark", "review"),
    *("forget", "receipt", "import", "sync", "export", "load", "rebuild", "doctor", "mcp", "maintain"),
    *("keys master", "mirror", "copy"),
}


def test_these_commands_take_a_scope_and_no_others() -> None:
    takes = {
        " ".join(words)
        for words, one in list_commands()
        if any("--scope" in option.opts for option in one.params)
    }
    assert takes == SCOPED


@pytest.mark.parametrize("words", WHOLE_MEMORY, ids=" ".join)
def test_a_command_that_could_not_keep_to_a_scope_refuses_one(eidet: Shell, words: tuple[str, ...]) -> None:
    eidet("remember", "Cleo plays chess", "--scope", "club")
    said = eidet(*words, "--scope", "club")
    assert said.code == 2
    assert "--scope" in said.err


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        ((), {"club", "club/water", "default"}),
        (("--scope", "club"), {"club"}),
        (("--scope", "club/**"), {"club", "club/water"}),
        (("--scope", "nobody"), set()),
    ],
)
def test_load_writes_into_the_scope_that_was_named_only(
    eidet: Shell, words: tuple[str, ...], loaded: set[str]
) -> None:
    file = str(eidet.folder / "out.jsonl")
    scopes = ("default", "club", "club/water")
    for scope in scopes:
        eidet("remember", "as it was", "--scope", scope, "--id", "one")
    eidet("export", file)
    with Memory(eidet.file) as memory:
        for scope in scopes:
            memory.revise("one", scope=scope, text="as it is now")
    said = eidet("load", file, *words, "--json")
    assert said.json == {"loaded": len(loaded)}
    with Memory(eidet.file) as memory:
        texts = {scope: memory.get("one", scope=scope) for scope in scopes}
    assert {scope for scope, record in texts.items() if record and record.text == "as it was"} == loaded
