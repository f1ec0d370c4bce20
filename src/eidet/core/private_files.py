"""Private files: creates files that only their owner may read, and reads keys from files or elsewhere."""

from __future__ import annotations

import glob
import os
import platform
import stat
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from .errors import Misconfigured, Unavailable

OWNER: Final = 0o600
NAME_CHARS: Final = 50  # of a file's name that its temporary name keeps: names have a maximum length
OWNER_FOLDER: Final = 0o700
OTHERS: Final = stat.S_IRGRP | stat.S_IWGRP | stat.S_IROTH | stat.S_IWOTH
_NO_LINKS: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_TOKEN: Final = os.urandom(4).hex()  # tells this process from an earlier one that had its number


def create_private(path: Path) -> None:
    """Creates an empty private file, unless it exists, before another library opens it."""
    with suppress(OSError):  # opening the file reports what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER))


@contextmanager
def replace_when_whole(path: Path) -> Iterator[BinaryIO]:
    """Opens a private temporary file; renames it to `path` at the end of the block, or removes it on error.

    A link of that name is replaced, not followed.
    """
    partial = name_partial(path)
    try:
        handle = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINKS, OWNER)
        with os.fdopen(handle, "wb") as file:
            yield file
        partial.replace(path)
    finally:
        remove_partial(partial)


@contextmanager
def write_export_file(path: Path) -> Iterator[BinaryIO]:
    """Works like `replace_when_whole`; raises `Unavailable` if the file cannot be written."""
    try:
        with replace_when_whole(path) as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unavailable(
            f"{path} could not be written: {reason}; no partial file was left behind"
        ) from error


def write_private(path: Path, text: str) -> None:
    with replace_when_whole(path) as file:
        file.write(text.encode())


def name_partial(path: Path) -> Path:
    """Names a temporary file beside `path` that no other writer uses.

    The name contains the machine and the process. Removes what killed processes of this machine left there.
    """
    remove_leftovers(path.parent, path.name[:NAME_CHARS])
    return path.with_name(f"{machine_prefix(path.name[:NAME_CHARS])}{os.urandom(4).hex()}.partial")


def machine_prefix(stem: str) -> str:
    """Returns the prefix of this process's temporary files for a target; it also names the machine."""
    return f"{_machine_stem(stem)}-{os.getpid()}-{_TOKEN}-"


def _machine_stem(stem: str) -> str:
    return f"{stem}.{zlib.crc32(platform.node().encode()):08x}"


def remove_leftovers(folder: Path, stem: str) -> None:
    """Removes temporary files left by processes of this machine that have ended."""
    begin = _machine_stem(stem)
    for left in folder.glob(f"{glob.escape(begin)}-*"):
        process, _, rest = left.name[len(begin) + 1 :].partition("-")
        if process.isdecimal() and not _is_running(int(process), rest.partition("-")[0]):
            remove_partial(left)


def _is_running(process: int, token: str) -> bool:
    """Returns whether a process of this machine may still run; True if that is unknown."""
    if process == os.getpid():
        return token == _TOKEN
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def remove_partial(path: Path) -> None:
    """Removes an unfinished file. Ignores failure, because the error under way matters more."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def read_key_file(path: str | Path, whose: str) -> bytes:
    """Reads a secret from a file; `whose` names it in messages, such as "the master key".

    Raises `Misconfigured` if it cannot be read, or if anybody but the owner may read or change it.
    """
    file = Path(path).expanduser()
    try:
        if os.name == "posix" and file.stat().st_mode & OTHERS:
            raise Misconfigured(f"others may read or change the key file {file}: chmod 600 {file}")
        return file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: no file can have that name
        reason = getattr(error, "strerror", None) or error
        raise Misconfigured(f"{whose} cannot be read: {file}: {reason}") from error


def load_secret(given: str | bytes | Path, whose: str, environment: Mapping[str, str] | None = None) -> bytes:
    """Returns the secret given, or that of `file:PATH` or `env:NAME`; `whose` names it in messages."""
    if isinstance(given, bytes):
        return given
    kind, _, place = str(given).partition(":")
    if isinstance(given, Path) or kind == "file":
        return read_key_file(given if isinstance(given, Path) else place, whose)
    if kind != "env":
        return given.encode("utf-8", "replace")
    known = os.environ if environment is None else environment
    if not known.get(place, "").strip():
        raise Misconfigured(f"the variable {place} is not set: put {whose} there")
    return known[place].encode("utf-8", "replace")


def decode_key(secret: bytes) -> bytes:
    """Decodes hexadecimal or base64 text, with or without padding; returns b"" if it is neither."""
    text = secret.decode("ascii", "replace").strip()
    with suppress(ValueError):
        return bytes.fromhex(text)
    usual = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    with suppress(ValueError):
        return b64decode(usual + "=" * (-len(usual) % 4), validate=True)
    return b""
