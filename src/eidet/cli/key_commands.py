"""`eidet keys new`, `rotate`, `check` and `shred`."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput, Misconfigured, Refused
from .memory_options import Which, command
from .serve_command import api
from .show import emit, emit_or_tell, progress_bar

if TYPE_CHECKING:
    from ..trust.seal.key_rotation import Checked
    from ..trust.seal.service import Key


Scope = Annotated[str, Argument(metavar="SCOPE")]
Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask for confirmation.")]


commands: Final = typer.Typer()
_keys: Final = typer.Typer(
    no_args_is_help=True, help="Keys of a sealed memory, and of callers of `eidet serve`."
)


@_keys.command("new")
def _new(
    file: Annotated[
        Path | None, Argument(metavar="[FILE]", help="Where to write it; default: the screen.")
    ] = None,
) -> None:
    """Create a master key. Keep it apart from the memory, and a copy of it somewhere safe."""
    from ..trust.seal.service import new_key

    if file is None:
        typer.echo(new_key())
        return
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Refused(
            f"{file} exists: overwriting a key would lose it for good; choose another file"
        ) from None
    with os.fdopen(handle, "w") as out:
        out.write(new_key() + "\n")
    typer.echo(f"wrote a master key to {file}", err=True)


@command(_keys)
def _rotate(
    on: Which,
    to: Annotated[
        str | None, Option("--to", metavar="KEY", help="A new master key: file:PATH or env:NAME.")
    ] = None,
) -> None:
    """Give every scope (or the one that --scope names) a new key.

    With --to, change the master key.
    """
    if to is not None and on.scope is not None:
        raise BadInput("--to changes the master key of the whole memory: drop --scope")
    with on.open_memory() as memory, progress_bar("re-encrypting") as tell:
        count = memory.keys.rotate(on.scope, key=_resolve_key(to), progress=tell)
    if to:
        emit_or_tell(on.json, {"rewrapped": count}, f"put {count:,} keys under the new master key")
    else:
        emit_or_tell(on.json, {"resealed": count}, f"re-encrypted {count:,} records")


@command(_keys, scoped=False)
def _check(on: Which) -> None:
    """List every scope's keys and whether they can be opened.

    Exits with code 1 if one cannot be used as it is.
    """
    from ..trust.seal.exports import find_sealed
    from ..trust.seal.key_rotation import check_scopes

    with on.open_memory() as memory:
        sealed = find_sealed(memory.parts.store)
        if sealed is None:
            raise Misconfigured(f"{on.at} is not sealed: it has no keys")
        found = list(check_scopes(sealed))
    if on.json:
        emit([asdict(one) for one in found])
    else:
        for one in found:
            numbers = ", ".join(map(str, one.numbers)) or "none"
            typer.echo(f"{one.state:<9} {one.scope}: {one.records:,} records, keys {numbers}")
        if not found:
            typer.echo("the master key is right; there are no scopes yet")
    raise typer.Exit(int(any(map(_needs_care, found))))


def _needs_care(one: Checked) -> bool:
    """A key that cannot be used as it is, or records that have outlived theirs."""
    return one.records > 0 if one.state == "shredded" else one.state != "ok"


@command(_keys, scoped=False)
def _shred(on: Which, which: Scope, yes: Yes = False) -> None:
    """Destroy a scope's key: nobody can ever read its content again. The rows stay until forgotten."""
    if not yes:
        if not sys.stdin.isatty():
            raise Refused("shredding is for good: without a terminal, confirm it with --yes")
        typer.confirm(f"Destroy the key of scope {which} for good?", abort=True, err=True)
    with on.open_memory() as memory:
        lost = memory.keys.shred(which)
    line = f"destroyed the key of {which}: {lost:,} records can never be read again"
    emit_or_tell(on.json, {"shredded": lost}, line)


_keys.command("api")(api)
commands.add_typer(_keys, name="keys")


def _resolve_key(key: str | None) -> Key | None:
    if key is None or key.startswith(("env:", "file:")):
        return key
    if Path(key).is_file():
        return Path(key)
    raise BadInput("others can read a key on a command line: pass file:PATH or env:NAME")
