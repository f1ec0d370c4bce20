"""What `eidet doctor` finds unsafe: files that others read, disks and lines that cannot be trusted."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from ..core.private_files import OTHERS
from ..core.settings import Settings, read_choices, read_settings
from ..memory import Memory
from ..store.traits import is_sealed
from ..trust.privacy import policy_of
from .diagnosis import CheckResult, ok, warning

MOUNTS: Final = Path("/proc/mounts")
REMOTE_DISKS: Final = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs")
LOOPBACK: Final = ("", "localhost", "127.0.0.1", "::1")
CHECKED: Final = ("verify-full", "verify-ca")


def check_files(file: Path, config: Path | None) -> Iterator[CheckResult]:
    """Who may read the memory's file and the settings, and whether its disk can lock."""
    yield from check_private("file", file, "your memories")
    if config is not None and holds_secret(config):
        yield from check_private("settings", config, "the passwords and keys of your settings")
    kind = find_disk(file.absolute())
    if kind in REMOTE_DISKS:
        yield warning(
            "disk",
            f"{file} is on a network disk ({kind}), where SQLite cannot lock reliably",
            f"eidet copy {shlex.quote(str(file))} ~/eidet.db; for several machines use PostgreSQL",
            "unsafe",
        )


def check_private(check: str, file: Path, what: str) -> Iterator[CheckResult]:
    found = file.stat()
    if os.name == "posix" and found.st_size and found.st_mode & OTHERS:
        command = f"chmod 600 {shlex.quote(str(file))}"
        yield warning(check, f"other users of this machine can read {what}: {file}", command, "unsafe")


def holds_secret(config: Path) -> bool:
    """Whether a settings file has a password or a key in it."""
    settings = read_settings({}, config)
    for key in (settings.key, settings.guard_key):
        if isinstance(key, str) and not key.startswith(("env:", "file:")):
            return True
    return urlsplit(read_choices(config).get("memory", "")).password is not None


def find_disk(path: Path) -> str:
    """The kind of file system that a file is on, such as ext4; empty where nobody says."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        _, folder, name, *_ = line.split()
        if len(folder) > len(best) and path.is_relative_to(folder):
            best, kind = folder, name
    return kind


def check_line(place: str) -> Iterator[CheckResult]:
    """Whether texts travel to another machine in the clear."""
    url, options = urlsplit(place), parse_qs(urlsplit(place).query)
    host = url.hostname or options.get("host", [""])[0]
    if host in LOOPBACK or host.startswith("/"):  # a path is a socket of this machine
        return
    if url.scheme == "redis":
        yield warning("store", f"texts go to {host} unencrypted", "use rediss:// in the address", "unsafe")
    mode = options.get("sslmode", [""])[0]
    if url.scheme in ("postgres", "postgresql") and mode not in CHECKED:
        yield warning(
            "store",
            f"nobody checks that {host} is your server",
            "add sslmode=verify-full to the address",
            "unsafe",
        )


def check_protection(memory: Memory, settings: Settings) -> Iterator[CheckResult]:
    """What protects the texts, and what waits for somebody's judgement."""
    states = (
        ("encryption", is_sealed(memory.parts.store), "eidet copy --help"),
        ("personal data guard", policy_of(settings.guard) is not None, "EIDET_GUARD=redact"),
        ("audit log", memory.parts.audit is not None, "EIDET_AUDIT=audit.jsonl"),
    )
    parts = []
    for name, active, switch in states:
        if active:
            parts.append(f"{name} on")
        else:
            parts.append(f"{name} off ({switch})")
    yield ok("protection", ", ".join(parts))
    waiting = memory.admin.stats().get("quarantined")
    if waiting:
        yield warning("quarantine", f"{waiting:,} records wait for a review", "eidet review", "unsafe")
