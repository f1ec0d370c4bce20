"""`eidet keys master`; `eidet doctor` checks keys, `eidet forget --shred` destroys one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput, Refused
from .memory_options import Which, command
from .serve_command import api
from .show import emit_or_tell

if TYPE_CHECKING:
    from ..trust.seal.service import Key


commands: Final = typer.Typer()
_keys: Final = typer.Typer(
    no_args_is_help=True, help="Keys of a sealed memory, and of callers of `eidet serve`."
)


@command(_keys)
def _master(
    on: Which,
    file: Annotated[
        Path | None, Argument(metavar="[FILE]", help="Where to write a new key; default: the screen.")
    ] = None,
    to: Annotated[
        str | None, Option("--to", metavar="KEY", help="Change the master key: file:PATH or env:NAME.")
    ] = None,
) -> None:
    """Create a master key, or put a sealed memory under another one.

    Keep a master key apart from the memory, and a copy of it somewhere safe.
    """
    key = _resolve_key(to)
    if key is None:
        _make_key(file)
        return
    if file is not None:
        raise BadInput(f"{file} would hold a new master key: make it first, then say --to file:{file}")
    if on.scope is not None:
        raise BadInput("--to changes the master key of the whole memory: drop --scope")
    with on.open_memory() as memory:
        count = memory.keys.rotate(key)
    emit_or_tell(on.json, {"rewrapped": count}, f"put {count:,} keys under the new master key")


def _make_key(file: Path | None) -> None:
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


_keys.command("api")(api)
commands.add_typer(_keys, name="keys")


def _resolve_key(key: str | None) -> Key | None:
    if key is None or key.startswith(("env:", "file:")):
        return key
    if Path(key).is_file():
        return Path(key)
    raise BadInput("others can read a key on a command line: pass file:PATH or env:NAME")
