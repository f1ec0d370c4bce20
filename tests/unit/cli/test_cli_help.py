"""Somebody new finds the command: headings in the order of need, one line each, help for all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer
from tests.unit.cli.shell import Shell

from eidet.cli import COMMANDS, app, make_app, modules_for
from eidet.cli.panels import PANELS

GROUP = typer.main.get_command(app)


def named(group: object, *before: str) -> Iterator[tuple[str, ...]]:
    for name, one in getattr(group, "commands", {}).items():
        yield (*before, name)
        yield from named(one, *before, name)


def test_headings_stand_in_the_order_of_need(eidet: Shell) -> None:
    told = eidet("--help").out
    places = [told.index(f" {panel} ") for panel in PANELS]
    assert places == sorted(places)
    begins = [told.index(f"│ {name} ") for name in ("demo", "remember", "recall", "forget", "bench")]
    assert begins == sorted(begins)
    assert "╭─ Commands" not in told  # what has no heading
    assert "EIDET_MEMORY" in told.rpartition("╯")[2]


def test_every_command_stands_below_a_known_heading() -> None:
    commands = GROUP.commands  # type: ignore[attr-defined]
    assert [name for name, one in commands.items() if one.rich_help_panel not in PANELS] == []


@pytest.mark.parametrize("words", list(named(GROUP)), ids=" ".join)
def test_every_command_has_help_without_colours(eidet: Shell, words: tuple[str, ...]) -> None:
    said = eidet(*words, "--help")
    assert said.code == 0
    assert "\x1b" not in said.out
    told = " ".join(line.strip() for line in said.out.split("╭")[0].splitlines()[3:]).strip()
    assert told[0].isupper()
    assert told.endswith(".")


def test_the_table_of_commands_names_those_of_each_module() -> None:
    for module, commands in COMMANDS.items():
        made = typer.main.get_command(make_app([module]))
        assert set(made.commands) == set(commands), module  # type: ignore[attr-defined]


def test_a_command_loads_its_own_module_only() -> None:
    assert modules_for(["recall", "--limit", "3"]) == ("read_commands",)
    assert modules_for(["facts", "about"]) == ("fact_commands",)
    for words in ([], ["--help"], ["rcall"]):
        assert modules_for(words) == tuple(COMMANDS)
