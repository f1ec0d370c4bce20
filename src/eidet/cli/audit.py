"""`eidet audit`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..core.validate import moment
from .memory_options import AsJson, read_settings_here
from .show import FOLD, MINUTE, console, emit, local_time, style_text, tell_table

if TYPE_CHECKING:
    from ..trust.audit import AuditEntry, AuditHead
    from ..trust.audit.verify import Verified

_SHOWN_IDS: Final = 3
_listing: Final = partial(Option, rich_help_panel="Entries to list")

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
        str | None,
        Option("--head", metavar="HEAD", help="The head that was printed earlier, or a file that holds it."),
    ] = None,
    at: Annotated[
        str | None, Option("--at", "-m", metavar="PATH", help="The memory: it knows which log it has.")
    ] = None,
    before: Annotated[
        Path | None, Option(metavar="PATH", help="The log that was moved away when this one began.")
    ] = None,
    attached: Annotated[
        int | None,
        Option(metavar="CHANGES", help="How many changes the memory had when the log was added to it."),
    ] = None,
    last: Annotated[int | None, _listing(min=1, help="List this many of the newest.")] = None,
    scope: Annotated[str | None, _listing("--scope", "-s", help="Of one scope, or acme/**.")] = None,
    by: Annotated[str | None, _listing(help="Who did it, or for whom.")] = None,
    verb: Annotated[list[str] | None, _listing(help="Such as put or drop; repeatable.")] = None,
    since: Annotated[str | None, _listing(help="ISO 8601.")] = None,
    until: Annotated[str | None, _listing(help="ISO 8601.")] = None,
    id: Annotated[str | None, _listing(help="What happened to one record.")] = None,
    json: AsJson = False,
) -> None:
    """Check the audit log, and list entries of it.

    Says whether any entry was altered, removed, inserted or moved, and which line; exits with code 1 if so.
    With --at, also whether it is the log that the memory had. With --last or another of the last options,
    also lists entries, oldest first, with their outcome. The head is the number and hash of the newest
    entry: kept elsewhere, it shows later (--head) that none was removed.
    """
    log = _choose_log(path)
    asked: dict[str, Any] = {"scope": scope, "by": by, "verbs": verb, "id": id}
    asked |= {"since": _moment(since, "since"), "until": _moment(until, "until")}
    found = _verify(log, at, key=_key(key, key_file), head=kept, before=before, attached=attached)
    listed = _list_entries(log, asked, last) if last or any(asked.values()) else None
    if json:
        answer = asdict(found) | {"path": str(found.path), "ok": found.ok, "head": str(found.head)}
        emit(answer if listed is None else answer | {"listed": [entry.json for entry in listed]})
    else:
        if listed is not None:
            _tell_entries(listed)
        _tell(found)
    raise typer.Exit(int(not found.ok))


def _verify(log: Path, at: str | None, *, head: str | None, **how: Any) -> Verified:
    from ..open import open_store
    from ..trust.audit.verify import verify

    with ExitStack() as stack:
        store = None if at is None else stack.enter_context(closing(open_store(at, read_settings_here())))
        return verify(log, head=None if head is None else _head(head), store=store, **how)


def _tell(found: Verified) -> None:
    out = console()
    for fault in found.faults:
        out.print(style_text(("fault ", "bold red"), str(fault)), soft_wrap=True)
    for note in found.notes:
        out.print(style_text(("note ", "yellow"), str(note)), soft_wrap=True)
    sound = "all unchanged" if found.ok else "the log cannot be trusted where it says fault"
    out.print(style_text(f"{found.entries:,} entries, {sound}"))
    if found.ok:
        out.print(style_text(f"head {found.head}"), soft_wrap=True)


def _moment(text: str | None, name: str) -> float | None:
    return None if text is None else moment(text, name)


def _list_entries(log: Path, asked: dict[str, Any], last: int | None) -> list[AuditEntry]:
    from ..trust.audit.verify import entries

    found = list(_choose_entries(entries(log), **asked))
    return found[-last:] if last else found


def _tell_entries(listed: list[AuditEntry]) -> None:
    if listed:
        columns = (
            *("n", ("when", {"min_width": MINUTE}), "verb", ("scope", FOLD), ("what", {"ratio": 3})),
            *("by", "from", ("why", {"ratio": 2})),
        )
        tell_table(columns, map(_describe_entry, listed))
        console().print()
    else:
        console(stderr=True).print("nothing found")


def _describe_entry(entry: AuditEntry) -> list[str]:
    when = local_time(_at(entry)) or entry.at
    cells = (entry.n, when, entry.verb, entry.scope, _what(entry), entry.by, entry.source, entry.why)
    return ["" if cell is None else str(cell) for cell in cells]


def _choose_entries(entries: Iterable[AuditEntry], **asked: Any) -> Iterator[AuditEntry]:
    """Yields the entries that pass, and later entries about them."""
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
    at = None if since is None and until is None else _at(entry)
    return (
        (scope is None or _within(scope, entry.scope))
        and (by is None or by in (entry.by, entry.details.get("asked_by")))
        and (not verbs or entry.verb in verbs)
        and (since is None or (at is not None and at >= since))
        and (until is None or (at is not None and at <= until))
        and (id is None or id in entry.ids)
    )


def _at(entry: AuditEntry) -> float | None:
    """Parses the time; None if the timestamp is malformed, and the raw text is shown."""
    try:
        return moment(entry.at)
    except BadInput:
        return None


def _within(pattern: str, scope: str | None) -> bool:
    from ..upkeep.retain import holds_scope

    return isinstance(scope, str) and holds_scope(pattern, scope.removesuffix("/**"))


def _what(entry: AuditEntry) -> str:
    ids = ", ".join(map(str, entry.ids[:_SHOWN_IDS])) + (" …" if len(entry.ids) > _SHOWN_IDS else "")
    parts = [f"{name} {_short(value)}" for name, value in entry.details.items() if name != "log"]
    count = "" if entry.count is None or entry.count == len(entry.ids) == 1 else f"{entry.count} records"
    return "; ".join(part for part in (count, ids, *parts) if part)


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(item)}" for name, item in list(value.items())[:_SHOWN_IDS])
    if isinstance(value, list):
        return ", ".join(map(str, value[:_SHOWN_IDS]))
    return str(value)


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
    return None if chosen is None else key_in(chosen)


def _head(text: str) -> AuditHead:
    """Parses a head as `eidet audit` printed it, or reads it from a file that holds that output."""
    from ..trust.audit import AuditHead

    file = Path(text)
    try:
        if len(text) < 200 and file.is_file():
            text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file} contains no audit log head") from None
    words = text.split()
    return AuditHead.of(words[-1] if words else text)
