"""`eidet mcp`: a memory for agents that start MCP servers themselves."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import typer
from typer import Option

from ..coding.tools import find_command
from ..core.errors import MissingExtra
from ..core.scope import ALL, Scope
from ..net.url import API_KEY, is_server
from .memory_options import Which, command

if TYPE_CHECKING:
    from ..server.access import Caller

Rights = Annotated[str, Option(metavar="LIST", help="What the agent may do: of read, write, forget, admin.")]
_PrintConfig = Annotated[
    bool, Option("--print-config", help="Print what to paste into an agent's configuration, and exit.")
]
SECRET: Final = "EIDET_MEMORY"  # noqa: S105  # the variable that holds a URL with a password
SECRETS: Final = {SECRET: "the URL of the memory with its password", API_KEY: "the key of the server"}


commands: Final = typer.Typer()


@command(commands)
def _mcp(
    on: Which,
    rights: Rights = "read,write,forget",
    print_config: _PrintConfig = False,
) -> None:
    """Serve it to an agent over MCP (stdin and stdout).

    --print-config says how to add it. With --scope, the agent works in that scope and those below it,
    and sees no other.
    """
    if print_config:
        _show_config(on, rights)
        return
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("eidet mcp", extra="mcp")
    from ..server.mcp import serve_stdio

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    memory = on.open_async()
    caller = _make_caller(on.scope, rights)
    if sys.stdin.isatty():
        typer.echo(
            "Waiting for an agent on stdin. `eidet mcp --print-config` says how to add it; Ctrl-D ends.",
            err=True,
        )
    asyncio.run(serve_stdio(memory, caller, on.one_scope))


def _make_caller(scope: str | None, rights: str) -> Caller:
    """Makes the caller for the agent at the other end of the pipe."""
    from ..server.access import LOCAL, Caller, parse_rights

    scopes = (ALL,)
    if scope is not None:
        scopes = (Scope.exactly(scope).path,)
    given = [one.strip() for one in rights.split(",")]
    return Caller(name=None, scopes=scopes, rights=parse_rights(given), limits=LOCAL.limits)


def _show_config(on: Which, rights: str) -> None:
    """Prints the same server in the two forms that agents accept: JSON, and a command line."""
    server = _describe_server(on, rights)
    typer.echo(json.dumps({"mcpServers": {"eidet": server}}, indent=2))
    line = shlex.join([server["command"], *server["args"]])
    typer.echo(
        f"\nIn a shell, for agents with a command of their own:\n  claude mcp add eidet -- {line}", err=True
    )
    if importlib.util.find_spec("mcp") is None:
        typer.echo("First install what it needs: pip install 'eidet[mcp]'", err=True)
    for name in server.get("env", ()):
        typer.echo(f"Set {name} to {SECRETS[name]}, which is not shown.", err=True)


def _describe_server(on: Which, rights: str) -> dict[str, Any]:
    """Returns the entry of a configuration file; a URL with a password goes into the environment."""
    command, *args = find_command()
    args.append("mcp")
    server: dict[str, Any] = {"command": command, "args": args}
    if "://" not in on.at:
        args += ["--at", str(Path(on.at).absolute())]
    elif urlsplit(on.at).password is None:
        args += ["--at", on.at]
    else:
        server["env"] = {SECRET: "…"}
    if is_server(on.at) and API_KEY in os.environ:
        server.setdefault("env", {})[API_KEY] = "…"
    if on.scope is not None:
        args += ["--scope", on.scope]
    if rights != "read,write,forget":
        args += ["--rights", rights]
    return server
