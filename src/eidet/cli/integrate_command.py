"""`eidet integrate`: a memory for a coding agent, by one command."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path, PureWindowsPath
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer
from typer import Argument, Option

from ..coding.hook import BUDGET, home
from ..coding.install import Change, apply, find_installed, plan
from ..coding.recalling import find_project
from ..coding.tools import TOOLS, Commands
from ..core.errors import BadInput
from .show import console, plain, style_text, tell_table

commands: Final = typer.Typer()


@commands.command("integrate")
def _integrate(
    name: Annotated[str | None, Argument(metavar="NAME", help=f"One of {', '.join(TOOLS)}.")] = None,
    project: Annotated[
        bool, Option("--project", help="Only in this project; default: everywhere for you.")
    ] = False,
    at: Annotated[
        str | None, Option("--at", "-m", metavar="PATH", help="The memory; default: ~/.eidet/memory.db.")
    ] = None,
    budget: Annotated[int, Option(min=100, max=100_000, help="Tokens that a recall may take.")] = BUDGET,
    remove: Annotated[bool, Option("--remove", help="Take out what this command wrote.")] = False,
    list_: Annotated[bool, Option("--list", help="Show what is installed, and whether it works.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Show the changes, and make them unasked.")] = False,
) -> None:
    """Give Claude Code, Codex, Cursor, Gemini or OpenCode a memory.

    Writes hooks and an MCP server into the agent's configuration, after showing the changes. What was
    decided and done is remembered after each turn; what matters is recalled before each prompt.
    """
    if list_:
        _show_installed()
        return
    tool = TOOLS.get(name or "")
    if tool is None:
        raise BadInput(f"name a coding agent, one of {', '.join(TOOLS)}; --list shows what is installed")
    place = find_project(str(Path.cwd())) if project else None
    changes = plan(tool, Commands(at=_place_of(at), budget=budget), place, remove=remove)
    if not changes:
        typer.echo(f"{tool.title}: nothing to change", err=True)
        return
    _show_changes(changes)
    if not yes and not _confirm():
        typer.echo("nothing was changed", err=True)
        raise typer.Exit(1)
    apply(changes)
    if not remove:
        home().mkdir(mode=0o700, exist_ok=True)  # the server may be started before any hook
    done = "is out of" if remove else "is part of"
    typer.echo(f"Eidet {done} {tool.title}. {'' if remove else tool.after}".rstrip(), err=True)
    if not remove and find_spec("mcp") is None:
        typer.echo("Its MCP server needs: pip install 'eidet[mcp]'; hooks work without it.", err=True)


def _place_of(at: str | None) -> str:
    """Returns the memory's absolute path or its address; refuses an address with a password."""
    if at is None:
        return str(home() / "memory.db")
    if "://" not in at:
        if os.name != "nt" and PureWindowsPath(at).drive:
            raise BadInput(f"{at} is a path of Windows, and this is another system")
        file = Path(at).expanduser().absolute()
        if not file.parent.is_dir():
            raise BadInput(f"the folder {file.parent} does not exist; create it first")
        return str(file)
    if urlsplit(at).password is not None:
        raise BadInput("the address has a password, which would stand in the agent's files: leave it out")
    return at


def _confirm() -> bool:
    if not sys.stdin.isatty():
        raise BadInput("nobody can be asked here: --yes makes the changes unasked")
    return typer.confirm("Make these changes?", default=True, err=True)


def _show_changes(changes: list[Change]) -> None:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    out = console()
    for change in changes:
        for line in change.diff().splitlines():
            out.print(style_text((plain(line), styles.get(line[:1], ""))), soft_wrap=True)


def _show_installed() -> None:
    rows = [
        (one.tool.title, one.where, "works" if one.works else "does not work", one.said)
        for one in find_installed(find_project(str(Path.cwd())))
    ]
    if not rows:
        typer.echo("none; `eidet integrate NAME` installs one of " + ", ".join(TOOLS), err=True)
        return
    tell_table(("agent", "where", "state", "said"), rows)
