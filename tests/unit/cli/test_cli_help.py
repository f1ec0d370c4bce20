"""Somebody new finds the command: headings in the order of need, one line each, help for all."""

from __future__ import annotations

import pytest
import typer
from tests.unit.cli.shell import Shell, list_commands

from eidet.cli import COMMANDS, MODULES, make_app, modules_for

ALL = [words for words, _ in list_commands()]


def test_help_is_one_screen_and_begins_with_every_day(eidet: Shell) -> None:
    lines = eidet("--help").out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert names == [name for commands in COMMANDS.values() for name in commands]
    assert names[:6] == ["remember", "recall", "context", "find", "show", "forget"]
    assert len(names) <= 30
    assert not [line for line in lines if line.endswith("...")]
    assert "EIDET_MEMORY" in lines[-3]


def test_few_commands_stand_below_others() -> None:
    leaves = [words for words, one in list_commands() if not hasattr(one, "commands")]
    assert len(leaves) <= 30


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_has_help_without_colours(eidet: Shell, words: tuple[str, ...]) -> None:
    said = eidet(*words, "--help")
    assert said.code == 0
    assert "\x1b" not in said.out
    told = " ".join(line.strip() for line in said.out.split("╭")[0].splitlines()[3:]).strip()
    assert told[0].isupper()
    assert told.endswith(".")


def test_the_table_of_commands_names_those_of_each_module() -> None:
    for module in set(MODULES.values()):
        made = typer.main.get_command(make_app([module]))
        commands = {name for name, of in MODULES.items() if of == module}
        assert set(made.commands) == commands, module  # type: ignore[attr-defined]


def test_a_command_loads_its_own_module_only() -> None:
    assert modules_for(["recall", "--limit", "3"]) == ("read_commands",)
    assert modules_for(["facts", "Ann"]) == ("facts",)
    for words in ([], ["--help"], ["rcall"]):
        assert set(modules_for(words)) == set(MODULES.values())
