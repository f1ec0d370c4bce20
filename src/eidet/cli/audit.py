"""`eidet audit`."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from .memory_options import AsJson, read_settings_here
from .show import emit, tell_note

if TYPE_CHECKING:
    from ..trust.audit.verify import Verified


Log = Annotated[
    Path | None,
    Argument(metavar="[PATH]", help="The audit log; default: as eidet.toml says.", envvar="EIDET_AUDIT"),
]
Key = Annotated[
    str | None, Option(envvar="EIDET_AUDIT_KEY", help="The key it was written with.", show_envvar=True)
]
_KeyFile = Annotated[
    Path | None, Option(envvar="EIDET_AUDIT_KEY_FILE", metavar="FILE", help="A file with that key.")
]


commands: Final = typer.Typer()


@commands.command("audit")
def _audit(
    path: Log = None,
    key: Key = None,
    key_file: _KeyFile = None,
    kept: Annotated[
        list[str] | None,
        Option("--head", metavar="HEAD", help="A head that was printed earlier; again for each."),
    ] = None,
    at: Annotated[
        str | None, Option("--at", "-m", metavar="PATH", help="The memory: it knows which log it has.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Check the audit log.

    Says whether any entry was altered, removed, inserted or moved, and which line; exits with code 1 if so.
    With --at, also whether it is the log that the memory had. The head is the number and hash of the newest
    entry: kept elsewhere, it shows later (--head) that none was removed. Where the log tells of a gap, the
    head of that entry shows that you know of it. The log itself is lines of JSON.
    """
    log = _choose_log(path)
    found = _verify(log, at, _key(key, key_file), kept or [])
    if json:
        emit(asdict(found) | {"path": str(found.path), "ok": found.ok, "head": str(found.head)})
    else:
        _tell(found)
    raise typer.Exit(int(not found.ok))


def _verify(log: Path, at: str | None, key: str | None, heads: list[str]) -> Verified:
    from ..open import open_store
    from ..trust.audit.verify import verify

    with ExitStack() as stack:
        store = None if at is None else stack.enter_context(closing(open_store(at, read_settings_here())))
        return verify(log, key=key, head=heads, store=store)


def _tell(found: Verified) -> None:
    for fault in found.faults:
        tell_note("fault", str(fault), "bold red", stderr=False)
    for note in found.notes:
        tell_note("note", str(note), stderr=False)
    sound = "all unchanged" if found.ok else "the log cannot be trusted where it says fault"
    typer.echo(f"{found.entries:,} entries, {sound}")
    if found.ok:
        typer.echo(f"head {found.head}")


def _choose_log(path: Path | None) -> Path:
    """Returns the log that was named, or the one of the configuration."""
    if path is not None:
        return path
    from ..trust.audit import OFF

    chosen = read_settings_here().audit
    if chosen in (None, OFF):
        raise BadInput('which audit log? Name its file, or write audit = "…" into eidet.toml')
    return Path(chosen)


def _key(key: str | None, file: Path | None) -> str | None:
    if key is not None and file is None:
        return key
    chosen = file or read_settings_here().audit_key_file
    return None if chosen is None else f"file:{chosen}"
