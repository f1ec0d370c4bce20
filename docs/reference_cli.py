"""Writes cli.md of the reference: every command with its arguments and options, as the program has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from eidet.cli import COMMANDS, app

HEAD = """# Commands

Every command of `eidet`, with its arguments and options. `python docs/make_reference.py` writes this page.
[The command line](../start/command-line.md) introduces it.

Exit codes: 0 fine; 1 a fault or nothing to show; 2 bad usage; 3 not found; 4 a conflict; 5 the store is
away; 6 a damaged memory; 7 wrong settings. Answers go to stdout, all else to stderr.
"""
SHARED = "Which memory, and how to print"


def page() -> str:
    root: Any = typer.main.get_command(app)
    parts = [HEAD.rstrip(), _shared_options(root)]
    for heading, names in COMMANDS.items():
        parts.append(f"## {heading}")
        for name in names:
            parts += _entries(f"eidet {name}", root.commands[name])
    return "\n\n".join(parts) + "\n"


def _shared_options(root: Any) -> str:
    """The options that nearly every command takes, listed once."""
    shared = [one for one in root.commands["recall"].params if one.rich_help_panel == SHARED]
    text = "These options belong to nearly every command and are not repeated below."
    return "\n\n".join([f"## {SHARED}", text, "\n".join(map(_line, shared))])


def _entries(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for inner, one in command.commands.items():
            yield from _entries(f"{name} {inner}", one)
        return
    yield f"### `{name}`"
    yield _plain(command.help or "")
    own = [one for one in command.params if one.rich_help_panel != SHARED and one.name != "help"]
    if own:
        yield "\n".join(_line(one) for one in own if not one.hidden)


def _line(one: Any) -> str:
    names = ", ".join([f"`{name}`" for name in _names(one)])
    notes = _notes(one)
    more = f" ({'; '.join(notes)})" if notes else ""
    return f"- {names}: {_plain(one.help or '')}{more}"


def _names(one: Any) -> list[str]:
    if one.opts[0].startswith("-"):
        return [*one.opts, *one.secondary_opts]
    return [(one.metavar or one.name).upper()]


def _notes(one: Any) -> list[str]:
    notes = []
    if one.required:
        notes.append("required")
    if one.multiple or one.nargs != 1:
        notes.append("several")
    if _has_default(one):
        notes.append(f"default: `{one.default}`")
    if one.envvar:
        notes.append(f"variable `{one.envvar}`")
    return notes


def _has_default(one: Any) -> bool:
    return (
        isinstance(one.default, str | int | float) and not isinstance(one.default, bool) and one.default != ""
    )


def _plain(text: str) -> str:
    """The text of a help as one line for each paragraph; globs are no emphasis."""
    paragraphs = [" ".join(part.split()) for part in text.replace("\b", "").split("\n\n")]
    return "\n\n".join(paragraphs).replace("*", r"\*").replace("<", r"\<")
