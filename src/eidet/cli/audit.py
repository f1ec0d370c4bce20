"""`eidet audit verify`, `show` and `head`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..core.errors import BadInput
from ..core.validate import moment
from .configuration import read_settings_here
from .json_output import emit, emit_each
from .panels import ACCOUNT
from .show import MINUTE, console, local_time, style_text, table

if TYPE_CHECKING:
    from ..trust.audit import AuditEntry, AuditHead
    from ..trust.audit.verify import Verified

SHOWN_IDS: Final = 3
ANY: Final = 2**63  # changes before a log was added: whoever takes a head now accepts what it says

Log = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PATH]", help="The audit log; default: as eidet.toml says.", envvar="EIDET_AUDIT"
    ),
]
Key = Annotated[
    str | None,
    typer.Option(envvar="EIDET_AUDIT_KEY", help="The key it was written with.", show_envvar=True),
]
KeyFile = Annotated[
    Path | None, typer.Option(envvar="EIDET_AUDIT_KEY_FILE", metavar="FILE", help="A file with that key.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def add_to(app: typer.Typer) -> None:
    audit = typer.Typer(help="Verify and read the audit log.", no_args_is_help=True)
    for run in (verify, show, head):
        audit.command()(run)
    app.add_typer(audit, name="audit", rich_help_panel=ACCOUNT)


def verify(
    path: Log = None,
    key: Key = None,
    key_file: KeyFile = None,
    kept: Annotated[
        str | None,
        typer.Option(
            "--head", metavar="HEAD", help="What `audit head` printed earlier, or a file that holds it."
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", "-m", metavar="PATH", help="The memory: it knows which log it has.")
    ] = None,
    before: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The log that was moved away when this one began.")
    ] = None,
    attached: Annotated[
        int | None,
        typer.Option(metavar="CHANGES", help="How many changes the memory had when the log was added to it."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Check whether any entry was altered, removed, inserted or moved, and which line.

    Exits with code 1 if so. With --at, also whether it is the log that the memory had.
    """
    from ..open import open_store
    from ..trust.audit.verify import verify as verified

    with ExitStack() as stack:
        store = None
        if at is not None:
            store = stack.enter_context(closing(open_store(at, read_settings_here())))
        known = None if kept is None else _head(kept)
        log = _choose_log(path)
        found = verified(
            log, key=_key(key, key_file), head=known, store=store, before=before, attached=attached
        )
    if json:
        emit(asdict(found) | {"path": str(found.path), "ok": found.ok, "head": str(found.head)})
    else:
        _tell(found)
    if not found.ok:
        raise typer.Exit(1)


def _tell(found: Verified) -> None:
    out = console()
    for fault in found.faults:
        out.print(style_text(("fault ", "bold red"), str(fault)), soft_wrap=True)
    for note in found.notes:
        out.print(style_text(("note ", "yellow"), str(note)), soft_wrap=True)
    if found.ok:
        sound = "all unchanged"
    else:
        sound = "the log cannot be trusted where it says fault"
    out.print(style_text(f"{found.entries:,} entries, {sound}"))


def show(
    path: Log = None,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="One scope, or acme/**.")] = None,
    by: Annotated[str | None, typer.Option(help="Who did it, or for whom.")] = None,
    verb: Annotated[list[str] | None, typer.Option(help="Such as put or drop; repeatable.")] = None,
    since: Annotated[str | None, typer.Option(help="ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option(help="ISO 8601.")] = None,
    id: Annotated[str | None, typer.Option(help="What happened to one record.")] = None,
    last: Annotated[int | None, typer.Option(min=1, help="Only this many of the newest.")] = None,
    json: AsJson = False,
) -> None:
    """List entries, oldest first, with their outcome."""
    from ..trust.audit.verify import entries

    chosen = _choose_entries(
        entries(_choose_log(path)),
        scope=scope,
        by=by,
        verbs=verb,
        since=None if since is None else moment(since, "since"),
        until=None if until is None else moment(until, "until"),
        id=id,
    )
    if last:
        found = list(chosen)[-last:]
    else:
        found = list(chosen)
    if json:
        emit_each(entry.json for entry in found)
    elif found:
        console().print(_table(found))
    else:
        console(stderr=True).print("nothing found")


def _choose_entries(entries: Iterable[AuditEntry], **asked: Any) -> Iterator[AuditEntry]:
    """Those that pass, and what is said of them later on."""
    shown: set[int] = set()
    for entry in entries:
        of = entry.details.get("of")
        about = isinstance(of, list) and any(isinstance(n, int) and n in shown for n in of)
        if about or _passes(entry, **asked):
            shown.add(entry.n)
            yield entry


def _passes(
    entry: AuditEntry,
    *,
    scope: str | None,
    by: str | None,
    verbs: list[str] | None,
    since: float | None,
    until: float | None,
    id: str | None,
) -> bool:
    if since is not None or until is not None:
        at = _at(entry)
    else:
        at = None
    return (
        (scope is None or _within(scope, entry.scope))
        and (by is None or by in (entry.by, entry.details.get("asked_by")))
        and (not verbs or entry.verb in verbs)
        and (since is None or (at is not None and at >= since))
        and (until is None or (at is not None and at <= until))
        and (id is None or id in entry.ids)
    )


def _at(entry: AuditEntry) -> float | None:
    """None where somebody wrote nonsense: a log is shown as it is."""
    try:
        return moment(entry.at)
    except BadInput:
        return None


def _within(pattern: str, scope: str | None) -> bool:
    from ..upkeep.retain import holds_scope

    return isinstance(scope, str) and holds_scope(pattern, scope.removesuffix("/**"))


def _table(found: Iterable[AuditEntry]) -> Any:
    made = table("n")
    made.add_column("when", min_width=MINUTE)
    made.add_column("verb")
    made.add_column("scope", overflow="fold")
    made.add_column("what", ratio=3)
    made.add_column("by")
    made.add_column("from")
    made.add_column("why", ratio=2)
    for entry in found:
        when = local_time(_at(entry)) or entry.at
        cells = (when, entry.verb, entry.scope or "", _what(entry), entry.by, entry.source, entry.why)
        made.add_row(str(entry.n), *(style_text(str(cell or "")) for cell in cells))
    return made


def _what(entry: AuditEntry) -> str:
    ids = ", ".join(map(str, entry.ids[:SHOWN_IDS])) + (" …" if len(entry.ids) > SHOWN_IDS else "")
    parts = []
    for name, value in entry.details.items():
        if name != "log":
            parts.append(f"{name} {_short(value)}")
    if entry.count is None or entry.count == len(entry.ids) == 1:
        count = ""
    else:
        count = f"{entry.count} records"
    return "; ".join(part for part in (count, ids, *parts) if part)


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(item)}" for name, item in list(value.items())[:SHOWN_IDS])
    if isinstance(value, list):
        return ", ".join(map(str, value[:SHOWN_IDS]))
    return str(value)


def head(path: Log = None, key: Key = None, key_file: KeyFile = None) -> None:
    """Print the number and hash of the newest entry, to keep elsewhere for `audit verify --head`."""
    from ..trust.audit.verify import verify as verified

    found = verified(_choose_log(path), key=_key(key, key_file), attached=ANY)
    if not found.ok:
        raise BadInput(f"{found.path} is not as it was written; `eidet audit verify` shows where")
    typer.echo(str(found.head))


def _choose_log(path: Path | None) -> Path:
    """The log that was named, or the one of the configuration."""
    if path is not None:
        return path
    from ..trust.audit import OFF

    chosen = read_settings_here().audit
    if chosen in (None, OFF):
        raise BadInput('which audit log? Name its file, or write audit = "…" into eidet.toml')
    return Path(chosen)


def _key(key: str | None, file: Path | None) -> str | bytes | None:
    from ..trust.audit import key_in

    if key is not None and file is None:
        return key
    chosen = file or read_settings_here().audit_key_file
    if chosen is None:
        return None
    return key_in(chosen)


def _head(text: str) -> AuditHead:
    """As it was printed, or the file it was printed into."""
    from ..trust.audit import AuditHead

    file = Path(text)
    try:
        return AuditHead.of(file.read_text(encoding="utf-8") if len(text) < 200 and file.is_file() else text)
    except UnicodeDecodeError:
        raise BadInput(f"{file} contains no audit log head") from None
