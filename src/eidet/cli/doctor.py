"""`eidet doctor`: examines a memory from the outside in, and reports faults and cures on one screen."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

import typer
from typer import Option

from .. import __version__
from ..coding.install import find_installed
from ..coding.recalling import find_project
from ..core.errors import Corrupt, EidetError, MissingExtra, Unavailable
from ..core.private_files import OTHERS
from ..memory import Memory
from ..memory.feed import tell_webhooks
from ..models.embed import embed_checked
from ..net.url import is_server
from ..store.sql.inspect_file import damages, facts_of, file_of, is_database, leftovers, sqlite_version
from ..store.sql.migrate import REVISION
from ..store.traits import is_sealed
from ..trust.privacy import policy_of
from .memory_options import USUAL, Which, command
from .show import console, emit, grid, size_text, style_text

if TYPE_CHECKING:
    from rich.text import Text

_RESTORE: Final = "restore a copy, or `eidet load` an export into a new file"
_START: Final = "start it, or check the address and the network; then run `eidet doctor` again"
_LITTLE_SPACE: Final = 100_000_000  # bytes
_LOOPBACK: Final = ("", "localhost", "127.0.0.1", "::1")
_CHECKED: Final = ("verify-full", "verify-ca")
_SLOW_RECALL: Final = 0.25  # seconds
_FEW_RECALLS: Final = 20  # the times of fewer are not judged
_Concern = Literal["", "slow", "unsafe", "new"]  # what a warning is about


commands: Final = typer.Typer()


@command(commands)
def _doctor(
    on: Which,
    thorough: Annotated[
        bool, Option("--thorough", help="Also compare the file's own indexes with its tables.")
    ] = False,
) -> None:
    """Say what is slow, unsafe or broken, and how to mend it.

    Also what is installed, and which memory and embedder are used. Exits with code 1 if it finds faults.
    """
    findings = list(examine(on, thorough=thorough))
    if on.json:
        emit([asdict(finding) for finding in findings])
    else:
        _show_report(findings)
    raise typer.Exit(int(any(finding.level == "fault" for finding in findings)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of the report."""

    check: str
    level: Literal["ok", "warning", "fault"]
    message: str
    todo: str = ""
    concern: _Concern = ""


Findings = Iterator[CheckResult]


def _ok(check: str, message: str) -> CheckResult:
    return CheckResult(check=check, level="ok", message=message)


def _warning(check: str, message: str, todo: str, concern: _Concern = "") -> CheckResult:
    return CheckResult(check=check, level="warning", message=message, todo=todo, concern=concern)


def _fault(check: str, message: str, todo: str) -> CheckResult:
    return CheckResult(check=check, level="fault", message=message, todo=todo)


def examine(on: Which, *, thorough: bool = False) -> Findings:
    """Yields findings, from the outside in; stops after a check that finds a fault or no memory yet."""
    file = file_of(on.at)
    checks: list[Callable[[], Findings]] = [lambda: _check_machine(on)]
    if is_server(on.at):
        checks.append(lambda: _check_server(on))
    else:
        if file is None:
            checks.append(lambda: check_line(on.at))
        else:
            checks += [lambda: _check_file(file, on.at), lambda: _check_content(file, thorough)]
        checks.append(lambda: _check_memory(on))
    for check in checks:
        found = list(_run_check(check))
        yield from found
        if any(finding.level == "fault" or finding.concern == "new" for finding in found):
            return
        if any(finding.check == "schema" and finding.level == "warning" for finding in found):
            return


def _run_check(check: Callable[[], Findings]) -> Findings:
    try:
        yield from check()
    except Corrupt as error:
        yield _fault("damage", str(error), _RESTORE)
    except EidetError as error:
        yield _fault("opening", str(error), find_cure(error))


def find_cure(error: EidetError) -> str:
    """Suggests what to do about a memory that cannot be opened."""
    again = "then run `eidet doctor` again"
    if isinstance(error, MissingExtra):
        return f"pip install 'eidet[{error.extra}]'; {again}"
    if isinstance(error, Unavailable):
        return f"start the server, or check the address (--at) and the network; {again}"
    return f"mend what the message names, in the address (--at), eidet.toml or EIDET_…; {again}"


def _check_machine(on: Which) -> Findings:
    python, database = platform.python_version(), sqlite_version()
    yield _ok("installed", f"eidet {__version__}, Python {python}, SQLite {database}, {platform.system()}")
    sources = [str(on.config)] if on.config is not None else []
    sources += sorted(name for name in os.environ if name.startswith("EIDET_"))  # names only
    yield _ok("settings", ", ".join(sources) or "the defaults")
    for one in find_installed(find_project(str(Path.cwd()))):  # hooks of coding agents
        found = f"{one.tool.title} ({one.where}): {one.said}"
        again = f"eidet integrate {one.tool.name}{'' if one.where == 'user' else ' --project'}"
        yield _ok("agents", found) if one.works else _warning("agents", found, again)


def _check_file(path: Path, at: str) -> Findings:
    """Checks the file from outside: whether it is one, its permissions, disk space, and leftovers."""
    begin = 'eidet remember "…" creates it; --at or EIDET_MEMORY names another one'
    if not path.exists() and at == USUAL:
        yield _warning("file", f"{path} is not there yet", begin, "new")
    elif not path.exists():
        yield _fault("file", f"{path} does not exist", begin)
    elif not path.is_file():
        yield _fault("file", f"{path} is no file", "name the memory's file with --at or EIDET_MEMORY")
    elif not os.access(path, os.R_OK):
        yield _fault("file", f"{path} cannot be read", "check its permissions")
    elif not is_database(path):
        yield _fault("file", f"{path} is not a database", "name another file; this one is not touched")
    else:
        yield from _check_surroundings(path)


def _check_surroundings(path: Path) -> Findings:
    found = path.stat()
    if os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK):
        yield _ok("file", f"{path.absolute()}, {size_text(found.st_size)}")
    else:
        todo = "to remember, make the file and its folder writable"
        yield _warning("file", f"{path} can only be read", todo)
    if os.name == "posix" and found.st_size and found.st_mode & OTHERS:
        todo = f"chmod 600 {shlex.quote(str(path))}"
        yield _warning("file", f"other users of this machine can read your memories: {path}", todo, "unsafe")
    free, wanted = shutil.disk_usage(path.absolute().parent).free, max(_LITTLE_SPACE, found.st_size)
    if free < wanted:
        yield _warning("disk", f"only {size_text(free)} free", f"free at least {size_text(wanted)}")
    else:
        yield _ok("disk", f"{size_text(free)} free")
    for file in leftovers(path):
        todo = "left by an upgrade, an export or a cache: delete it, unless it is being written right now"
        yield _warning("leftover", f"{file}, {size_text(file.stat().st_size)}", todo)


def _check_content(path: Path, thorough: bool) -> Findings:
    """Checks the file for damage, and for another schema than that of this version."""
    found = damages(path, thorough=thorough)
    yield from (_fault("damage", damage, _RESTORE) for damage in found)
    if found:
        return
    yield _ok("damage", "none" if thorough else "none (--thorough checks more)")
    facts = facts_of(path)
    if facts.foreign:
        yield _fault("schema", "the tables of another program", "name another file; this one is not touched")
    elif facts.revision is None or facts.revision == REVISION:
        yield _ok("schema", f"{facts.revision or 'none yet: the file is empty'}")
    elif facts.revision > REVISION:
        yield _fault("schema", f"{facts.revision} is newer than {REVISION}", "pip install --upgrade eidet")
    else:
        older = f"{facts.revision} is older than {REVISION}; checks that need the new one were skipped"
        todo = "any other command, such as `eidet stats`, upgrades it and keeps a copy"
        yield _warning("schema", older, todo)
    if facts.staged:
        stopped = f"a change of the embedder stopped after {facts.staged:,} records"
        yield _warning("embedder", stopped, "run the same `eidet rebuild --reembed` again to resume")


def check_line(place: str) -> Findings:
    """Yields warnings if texts go to another machine unencrypted."""
    url, options = urlsplit(place), parse_qs(urlsplit(place).query)
    host = url.hostname or options.get("host", [""])[0]
    if host in _LOOPBACK or host.startswith("/"):  # a path is that of a local socket
        return
    if url.scheme == "redis":
        yield _warning("store", f"texts go to {host} unencrypted", "use rediss:// in the address", "unsafe")
    mode = options.get("sslmode", [""])[0]
    if url.scheme in ("postgres", "postgresql") and mode not in _CHECKED:
        todo = "add sslmode=verify-full to the address"
        yield _warning("store", f"nobody checks that {host} is your server", todo, "unsafe")


def _check_server(on: Which) -> Findings:
    """Reports the state of a server of Eidet; the doctor examines its files where it runs."""
    with on.open_memory() as memory:
        health, count = memory.admin.health(), sum(memory.scopes().values())
        message = f"{on.at} is {health['state']}, and keeps {count:,} records for this caller"
        todo = "run `eidet doctor` where the server runs: it names the cause"
        yield _ok("server", message) if health["state"] == "up" else _warning("server", message, todo)
        yield from (_describe_line("webhook", told) for told in health.get("webhooks", {}).values())
        yield from check_recalls(memory.admin.stats()["retrieval"])


def _check_memory(on: Which) -> Findings:
    """Opens the memory, whose own checks are of embedder and language, and examines it from inside."""
    with on.open_memory() as memory:
        memory.parts.binding.renew()
        embedder = memory.parts.embedder
        embed_checked(embedder, ["Is anybody there?"])
        yield _ok("embedder", f"{embedder.name}, {embedder.width} numbers")
        yield _ok("language", memory.parts.analyzer.name)
        yield from _check_connections(memory)
        faults = memory.admin.check()
        yield from (_fault("index", message, "run `eidet rebuild`") for message in faults)
        if not faults:
            yield _ok("index", f"agrees with the store (scopes: {len(memory.scopes()):,})")
        stats = memory.admin.stats()
        yield from check_recalls(stats["retrieval"])
        yield _ok("protection", _describe_protection(memory))
        if stats["quarantined"]:
            waiting = f"{stats['quarantined']:,} records wait for a review"
            yield _warning("quarantine", waiting, "eidet review", "unsafe")


def _check_connections(memory: Memory) -> Findings:
    """Reports one finding per server; none if everything is in one file."""
    health = memory.admin.health()
    store = health.get("store", {})
    lines = [("store", store), *((f"{name} store", store.get(name, {})) for name in ("short", "long"))]
    lines += [(name, health.get(name, {})) for name in ("index", "embedder")]
    lines += [("webhook", told) for told in tell_webhooks(memory.parts.store).values()]
    yield from (_describe_line(check, line) for check, line in lines if "state" in line)
    waiting = store.get("waiting", {})
    if waiting.get("records"):
        told = f"{waiting['records']:,} records wait for their store"
        if waiting["stuck"]:
            told += f"; it rejects {waiting['stuck']:,}: {waiting['error']}"
        yield _warning("waiting", told, "nothing, unless some are rejected: revise or forget those")


def _describe_line(check: str, health: Mapping[str, Any]) -> CheckResult:
    message = f"{health.get('name') or health.get('store')} is {health['state']}"
    why = health.get("error") or health.get("last_error")
    if health["state"] != "up":
        return _warning(check, f"{message}: {why}", _START)
    return _ok(check, f"{message}; its last error: {why}" if why else message)


def check_recalls(retrieval: Mapping[str, Any]) -> Findings:
    """Reports how long recalls took in the last days."""
    p95 = retrieval["seconds_p95"]
    if retrieval["recalls"] < _FEW_RECALLS or p95 is None:
        return
    message = f"recalls take {retrieval['seconds_p50'] * 1000:,.1f} ms p50, {p95 * 1000:,.1f} ms p95"
    if p95 > _SLOW_RECALL:
        yield _warning("speed", message, "eidet recall --explain shows which stage takes the time", "slow")
    else:
        yield _ok("speed", message)


def _describe_protection(memory: Memory) -> str:
    states = (
        ("encryption", is_sealed(memory.parts.store), "eidet copy --help"),
        ("personal data guard", policy_of(memory.parts.settings.guard) is not None, "EIDET_GUARD=redact"),
        ("audit log", memory.audit is not None, "EIDET_AUDIT=audit.jsonl"),
    )
    return ", ".join(f"{name} on" if active else f"{name} off ({switch})" for name, active, switch in states)


_STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def _show_report(findings: Sequence[CheckResult]) -> None:
    """Prints a row per check, those that found a problem last."""
    problems = [finding for finding in findings if finding.level != "ok"]
    rows = [_describe(finding) for finding in findings if finding.level == "ok"]
    if problems:
        rows += [("", "", ""), *map(_describe, problems)]
    console().print(grid(("", "bold", ""), rows))
    console().print(style_text(f"\n{_sum_up(problems)}"))


def _describe(finding: CheckResult) -> tuple[str | Text, ...]:
    label = style_text((finding.concern or finding.level, _STYLES[finding.level]))
    todo = [(f"\n→ {finding.todo}", "bold")] if finding.todo else []
    return label, finding.check, style_text(finding.message, *todo)


def _sum_up(problems: Sequence[CheckResult]) -> str:
    if not problems:
        return "All is well."
    if [problem.concern for problem in problems] == ["new"]:
        return "Nothing is wrong: there is no memory here yet; the arrow says how to begin."
    return f"To look at: {len(problems)}; each arrow says what to do."
