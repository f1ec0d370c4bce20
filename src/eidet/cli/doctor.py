"""What `eidet doctor` looks at: each check yields findings, and says what to do about them."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..core.errors import Corrupt, EidetError
from ..index.embedded.sidecar import Sidecars
from ..memory import Memory
from ..models.embed import embed_checked, embedder_named, embedder_of
from ..net.url import is_server
from ..open import open_store
from ..store import Store, verbs
from ..store.sql.column_names import REVISION
from ..store.sql.inspect_file import damages, facts_of, file_of, is_database, leftovers
from ..store.traits import path_of
from ..text import analyzer_of
from .advice import advice
from .diagnosis import CheckResult, fault, new, ok, warning
from .installed_checks import describe_machine
from .memory_options import USUAL, Which
from .opening_cures import find_cure
from .postgres_checks import check_postgres
from .safety_checks import check_files, check_line, check_protection
from .server_checks import check_served, servers
from .show import size_text
from .speed_checks import check_embedder, check_index, check_log, check_recalls, time_embedder

LITTLE_SPACE: Final = 100_000_000  # bytes
RESTORE: Final = "restore a copy, or `eidet load` an export into a new file"


def examine(on: Which, *, thorough: bool) -> Iterator[CheckResult]:
    """The findings, from the outside in; what lies behind a fault is not looked at."""
    file = file_of(on.at)
    if is_server(on.at):
        checks: tuple[Check, ...] = (_machine, _line, _server)
    elif file is None:
        checks = (_machine, _line, _memory)
    else:
        checks = (_machine, _file, _surroundings, _integrity, _schema, _memory)
    for check in checks:
        found = list(_run_check(check, Subject(on, file, thorough)))
        yield from found
        if any(finding.level == "fault" or finding.concern == "new" for finding in found):
            return


@dataclass(frozen=True, slots=True)
class Subject:
    """What is examined: `file` is None for a memory that is not a file."""

    on: Which
    file: Path | None
    thorough: bool

    @property
    def path(self) -> Path:
        assert self.file is not None
        return self.file


Check = Callable[[Subject], Iterator[CheckResult]]


def _run_check(check: Check, case: Subject) -> Iterator[CheckResult]:
    try:
        yield from check(case)
    except Corrupt as error:
        yield fault("damage", str(error), RESTORE)
    except EidetError as error:
        yield fault("opening", str(error), find_cure(error))


def _machine(case: Subject) -> Iterator[CheckResult]:
    return describe_machine(case.on)


def _line(case: Subject) -> Iterator[CheckResult]:
    return check_line(case.on.at)


# The file, from outside.


def _file(case: Subject) -> Iterator[CheckResult]:
    path = case.path
    if not path.exists() and case.on.at == USUAL:
        yield new("file", f"{path} is not there yet", _how_to_begin(path))
    elif not path.is_file():
        what = "does not exist"
        if path.is_dir():
            what = "is a folder"
        yield fault("file", f"{path} {what}", _how_to_begin(path))
    elif not os.access(path, os.R_OK):
        yield fault("file", f"{path} cannot be read", "check its permissions")
    elif not is_database(path):
        yield fault("file", f"{path} is not a database", "name another file; this one is not touched")
    elif not os.access(path, os.W_OK) or not os.access(path.absolute().parent, os.W_OK):
        yield warning(
            "file", f"{path} can only be read", "to remember, make the file and its folder writable"
        )
    else:
        yield ok("file", f"{path.absolute()}, {size_text(path.stat().st_size)}")


def _how_to_begin(path: Path) -> str:
    if path.exists():
        return "name the memory's file with --at or EIDET_MEMORY"
    return 'eidet remember "…" creates it; --at or EIDET_MEMORY names another one'


def _surroundings(case: Subject) -> Iterator[CheckResult]:
    free = shutil.disk_usage(case.path.absolute().parent).free
    wanted = max(LITTLE_SPACE, case.path.stat().st_size)
    if free < wanted:
        yield warning("disk", f"only {size_text(free)} free", f"free at least {size_text(wanted)}")
    else:
        yield ok("disk", f"{size_text(free)} free")
    yield from check_files(case.path, case.on.config)
    yield from check_log(case.path)
    for file in leftovers(case.path):
        yield warning("leftover", f"{file}, {size_text(file.stat().st_size)}", _advice(file))


def _advice(file: Path) -> str:
    if file.suffix in (".partial", ".tmp"):
        return "delete it, unless it is being written right now"
    return "a copy from before an upgrade; delete it once all is well"


def _integrity(case: Subject) -> Iterator[CheckResult]:
    found = damages(case.path, thorough=case.thorough)
    for damage in found:
        yield fault("damage", damage, RESTORE)
    if not found:
        yield ok("damage", "none" if case.thorough else "none (--thorough checks more)")


def _schema(case: Subject) -> Iterator[CheckResult]:
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
        yield warning(
            "embedder",
            f"a change of the embedder stopped after {facts.staged:,} records",
            "run the same `eidet rebuild --reembed` again to resume",
        )


# The memory, through a server or from inside.


def _server(case: Subject) -> Iterator[CheckResult]:
    with case.on.open_memory() as memory:
        yield from check_served(memory, case.on.at)
        yield from check_recalls(memory.admin.stats()["retrieval"])


def _memory(case: Subject) -> Iterator[CheckResult]:
    if case.file is not None and facts_of(case.file).revision != REVISION:
        return
    settings = replace(case.on.settings(), language=None)
    store = open_store(case.on.at, settings)
    with Memory(store, settings=settings) as memory:
        yield from _embedder(case.on, store)
        yield from _language(case.on, store)
        yield from _caches(store)
        yield from servers(memory)
        yield from check_postgres(case.on.at, store)
        yield from _index(memory)
        yield from check_index(memory, on_server=case.file is None)
        yield from check_recalls(memory.admin.stats()["retrieval"])
        yield from check_protection(memory, settings)
        yield from advice(memory, case.on.reach_or_all(False), settings)


def _embedder(on: Which, store: Store) -> Iterator[CheckResult]:
    name, width = verbs.get_setting(store, "embedder"), verbs.get_setting(store, "width")
    try:
        if name is None or width is None:
            own = None
        else:
            own = embedder_named(name, int(width))
        if own is not None and on.embedder is None:
            chosen = own
        else:
            chosen = embedder_of(on.embedder)
        made = embed_checked(chosen, ["Is anybody there?"]).shape[1]
        seconds = time_embedder(chosen)
    except EidetError as error:
        yield fault("embedder", str(error), "repair it, or name another with --embedder")
        return
    if name is None:
        yield ok("embedder", f"{chosen.name}, {seconds * 1000:.2f} ms a text; nothing was written yet")
    elif chosen.name != name:
        yield fault(
            "embedder",
            f"the memory was written with {name}, but you chose {chosen.name}",
            "name its own with --embedder or EIDET_EMBEDDER, or run `eidet rebuild --reembed` for good",
        )
    elif str(made) != width:
        yield fault(
            "embedder",
            f"{name} returns {made} numbers, the memory has {width}",
            "run `eidet rebuild --reembed`",
        )
    else:
        yield ok("embedder", f"{name}, {width} numbers, {seconds * 1000:.2f} ms a text")
        yield from check_embedder(seconds)


def _language(on: Which, store: Store) -> Iterator[CheckResult]:
    language, analyzer = verbs.get_setting(store, "language"), verbs.get_setting(store, "analyzer")
    wanted = on.language or on.settings().language
    if language is None:
        yield ok("language", "nothing was written yet")
    elif wanted and analyzer_of(wanted) is not analyzer_of(language):
        yield fault(
            "language",
            f"the texts were analysed as {language}, but you chose {wanted}",
            f"leave the language out, or change it for good with `eidet rebuild --language {wanted}`",
        )
    elif analyzer != (current := analyzer_of(language).name):
        yield fault("language", f"analysed by {analyzer}, this version has {current}", "run `eidet rebuild`")
    else:
        yield ok("language", f"{language}, analysed by {analyzer}")


def _caches(store: Store) -> Iterator[CheckResult]:
    path = path_of(store)
    if path is None:
        return
    folder = Path(f"{path}-index")
    sidecars = Sidecars(folder, store)
    wanted = {sidecars.path(scope) for scope in verbs.count_scopes(store)}
    for file in sorted(set(folder.glob("*.eix")) - wanted):
        yield warning("cache", f"{file} belongs to no scope", "delete it")


def _index(memory: Memory) -> Iterator[CheckResult]:
    with _overheard("eidet.index") as warnings:
        faults = memory.admin.check()
    for message in warnings:
        yield warning("cache", message, "nothing: it is only a cache")
    for message in faults:
        yield fault("index", message, "run `eidet rebuild`")
    if not faults:
        yield ok("index", f"agrees with the store (scopes: {len(memory.scopes()):,})")


class _Listener(logging.Handler):
    """Keeps what is logged, instead of lines on the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


@contextmanager
def _overheard(name: str) -> Iterator[list[str]]:
    log, listener = logging.getLogger(name), _Listener()
    log.addHandler(listener)
    try:
        yield listener.heard
    finally:
        log.removeHandler(listener)
