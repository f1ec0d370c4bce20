"""`eidet doctor`: examines a memory from the outside in, and reports faults and cures on one screen.

doctor_checks.py has the checks of a memory that could be opened, and of its server.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from .. import __version__
from ..coding.install import find_installed
from ..coding.recalling import find_project
from ..core.errors import Corrupt, EidetError, MissingExtra, Unavailable
from ..core.private_files import OTHERS
from ..memory import Memory
from ..net.url import is_server
from ..open import open_store
from ..store.sql.inspect_file import damages, facts_of, file_of, is_database, leftovers, sqlite_version
from ..store.sql.migrate import REVISION
from .doctor_checks import (
    CHECKS,
    CheckResult,
    Findings,
    OpenMemory,
    check_recalls,
    describe_line,
    fault,
    ok,
    warning,
)
from .memory_options import USUAL, Which
from .show import console, grid, size_text, style_text

if TYPE_CHECKING:
    from rich.text import Text

_RESTORE: Final = "restore a copy, or `eidet load` an export into a new file"
_LITTLE_SPACE: Final = 100_000_000  # bytes
_MOUNTS: Final = Path("/proc/mounts")
_REMOTE_DISKS: Final = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs")
_LOOPBACK: Final = ("", "localhost", "127.0.0.1", "::1")
CHECKED: Final = ("verify-full", "verify-ca")


@dataclass(frozen=True, slots=True)
class Subject:
    """The memory to examine; `file` is None if it is not a file."""

    on: Which
    file: Path | None
    thorough: bool

    @property
    def path(self) -> Path:
        assert self.file is not None
        return self.file


def examine(on: Which, *, thorough: bool) -> Findings:
    """Yields findings, from the outside in; stops after a check that finds a fault or no memory yet."""
    case = Subject(on, file_of(on.at), thorough)
    if is_server(on.at):
        checks: tuple[Callable[[Subject], Findings], ...] = (_check_machine, _check_address, _check_server)
    elif case.file is None:
        checks = (_check_machine, _check_address, _check_memory)
    else:
        checks = (_check_machine, *_FILE_CHECKS, _check_memory)
    for check in checks:
        found = list(_run_check(check, case))
        yield from found
        if any(finding.level == "fault" or finding.concern == "new" for finding in found):
            return


def _run_check(check: Callable[[Subject], Findings], case: Subject) -> Findings:
    try:
        yield from check(case)
    except Corrupt as error:
        yield fault("damage", str(error), _RESTORE)
    except EidetError as error:
        yield fault("opening", str(error), find_cure(error))


def find_cure(error: EidetError) -> str:
    """Suggests what to do about a memory that cannot be opened."""
    again = "then run `eidet doctor` again"
    if isinstance(error, MissingExtra):
        return f"pip install 'eidet[{error.extra}]'; {again}"
    if isinstance(error, Unavailable):
        return f"start the server, or check the address (--at) and the network; {again}"
    return f"mend what the message names, in the address (--at), eidet.toml or EIDET_…; {again}"


# This machine.


def _check_machine(case: Subject) -> Findings:
    python, database = platform.python_version(), sqlite_version()
    yield ok("installed", f"eidet {__version__}, Python {python}, SQLite {database}, {platform.system()}")
    sources = [str(case.on.config)] if case.on.config is not None else []
    sources += sorted(name for name in os.environ if name.startswith("EIDET_"))  # names only
    yield ok("settings", ", ".join(sources) or "the defaults")
    for one in find_installed(find_project(str(Path.cwd()))):  # hooks of coding agents
        found = f"{one.tool.title} ({one.where}): {one.said}"
        again = f"eidet integrate {one.tool.name}{'' if one.where == 'user' else ' --project'}"
        yield ok("agents", found) if one.works else warning("agents", found, again)


# The file, from outside.


def _check_file(case: Subject) -> Findings:
    path = case.path
    begin = 'eidet remember "…" creates it; --at or EIDET_MEMORY names another one'
    if not path.exists() and case.on.at == USUAL:
        yield warning("file", f"{path} is not there yet", begin, "new")
    elif not path.exists():
        yield fault("file", f"{path} does not exist", begin)
    elif not path.is_file():
        what = "is a folder" if path.is_dir() else "is no file"
        yield fault("file", f"{path} {what}", "name the memory's file with --at or EIDET_MEMORY")
    elif not os.access(path, os.R_OK):
        yield fault("file", f"{path} cannot be read", "check its permissions")
    elif not is_database(path):
        yield fault("file", f"{path} is not a database", "name another file; this one is not touched")
    elif not os.access(path, os.W_OK) or not os.access(path.absolute().parent, os.W_OK):
        todo = "to remember, make the file and its folder writable"
        yield warning("file", f"{path} can only be read", todo)
    else:
        yield ok("file", f"{path.absolute()}, {size_text(path.stat().st_size)}")


def _check_surroundings(case: Subject) -> Findings:
    """Checks disk space, permissions, the file system, and leftovers."""
    path = case.path
    free, wanted = shutil.disk_usage(path.absolute().parent).free, max(_LITTLE_SPACE, path.stat().st_size)
    if free < wanted:
        yield warning("disk", f"only {size_text(free)} free", f"free at least {size_text(wanted)}")
    else:
        yield ok("disk", f"{size_text(free)} free")
    found = path.stat()
    if os.name == "posix" and found.st_size and found.st_mode & OTHERS:
        command = f"chmod 600 {shlex.quote(str(path))}"
        yield warning(
            "file", f"other users of this machine can read your memories: {path}", command, "unsafe"
        )
    if (kind := _find_disk(path.absolute())) in _REMOTE_DISKS:
        yield warning(
            "disk",
            f"{path} is on a network disk ({kind}), where SQLite cannot lock reliably",
            f"eidet copy {shlex.quote(str(path))} ~/eidet.db; for several machines use PostgreSQL",
            "unsafe",
        )
    for file in leftovers(path):
        todo = "a copy from before an upgrade; delete it once all is well"
        if file.suffix in (".partial", ".tmp"):
            todo = "delete it, unless it is being written right now"
        yield warning("leftover", f"{file}, {size_text(file.stat().st_size)}", todo)


def _find_disk(path: Path) -> str:
    """Returns the kind of file system, such as ext4; empty if unknown."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    mounts = [line.split()[1:3] for line in lines]
    above = [(len(folder), kind) for folder, kind in mounts if path.is_relative_to(folder)]
    return max(above, default=(0, ""))[1]


def _check_damage(case: Subject) -> Findings:
    found = damages(case.path, thorough=case.thorough)
    yield from (fault("damage", damage, _RESTORE) for damage in found)
    if not found:
        yield ok("damage", "none" if case.thorough else "none (--thorough checks more)")


def _check_schema(case: Subject) -> Findings:
    facts = facts_of(case.path)
    if facts.foreign:
        yield fault("schema", "the tables of another program", "name another file; this one is not touched")
    elif facts.revision == REVISION:
        yield ok("schema", f"{REVISION}, the one of this version")
    elif facts.revision is None:
        yield ok("schema", "none yet: the file is empty")
    elif facts.revision > REVISION:
        yield fault("schema", f"{facts.revision} is newer than {REVISION}", "pip install --upgrade eidet")
    else:
        yield warning(
            "schema",
            f"{facts.revision} is older than {REVISION}; checks that need the new one were skipped",
            "any other command, such as `eidet stats`, upgrades it and keeps a copy",
        )
    if facts.staged:
        stopped = f"a change of the embedder stopped after {facts.staged:,} records"
        yield warning("embedder", stopped, "run the same `eidet rebuild --reembed` again to resume")


# The memory, by its address and from inside.


def _check_address(case: Subject) -> Findings:
    return check_line(case.on.at)


def check_line(place: str) -> Findings:
    """Yields warnings if texts go to another machine unencrypted."""
    url, options = urlsplit(place), parse_qs(urlsplit(place).query)
    host = url.hostname or options.get("host", [""])[0]
    if host in _LOOPBACK or host.startswith("/"):  # a path is that of a local socket
        return
    if url.scheme == "redis":
        yield warning("store", f"texts go to {host} unencrypted", "use rediss:// in the address", "unsafe")
    mode = options.get("sslmode", [""])[0]
    if url.scheme in ("postgres", "postgresql") and mode not in CHECKED:
        todo = "add sslmode=verify-full to the address"
        yield warning("store", f"nobody checks that {host} is your server", todo, "unsafe")


def _check_server(case: Subject) -> Findings:
    """Reports the state of a server of Eidet; the doctor examines its files where it runs."""
    with case.on.open_memory() as memory:
        health, count = memory.admin.health(), sum(memory.scopes().values())
        state = health["state"]
        message = f"{case.on.at} is {state}, and keeps {count:,} records for this caller"
        todo = "run `eidet doctor` where the server runs: it names the cause"
        yield ok("server", message) if state == "up" else warning("server", message, todo)
        yield from (describe_line("webhook", told) for told in health.get("webhooks", {}).values())
        yield from check_recalls(memory.admin.stats()["retrieval"])


def _check_memory(case: Subject) -> Findings:
    if case.file is not None and facts_of(case.file).revision != REVISION:
        return
    settings = replace(case.on.settings(), language=None)
    store = open_store(case.on.at, settings)
    with Memory(store, settings=settings) as memory:
        inside = OpenMemory(case.on, memory, store, settings, case.file is not None)
        yield from (finding for check in CHECKS for finding in check(inside))


_FILE_CHECKS: Final = (_check_file, _check_surroundings, _check_damage, _check_schema)


# The report.

_STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def show_report(findings: Sequence[CheckResult]) -> None:
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
    if len(problems) == 1:
        return "One thing to look at; the arrow says what to do."
    return f"{len(problems)} things to look at; the arrows say what to do."
