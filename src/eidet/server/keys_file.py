"""Adds keys to a keys file and takes them out, whatever else stands in it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import NotFound, Refused, Unavailable
from ..core.private_files import write_private
from .access import ApiKey, hash_key, make_key, read_keys, read_rights, read_scopes

HEAD = "[[key]]"


def add_key(path: Path, name: str, scopes: Iterable[str], rights: Iterable[str]) -> str:
    """Adds a key under a name and answers its secret, which is kept nowhere."""
    there = list_keys(path)
    if any(key.caller.name == name for key in there):
        raise Refused(f"{path} has a key named {name!r}: revoke it first, or choose another name")
    key = make_key()
    entry = _write_entry(
        name, read_scopes(scopes, "--scopes"), read_rights(rights, "--rights"), hash_key(key)
    )
    text = ""
    if path.exists():
        text = path.read_text(encoding="utf-8").rstrip() + "\n\n"
    _write(path, text + entry)
    return key


def list_keys(path: Path) -> tuple[ApiKey, ...]:
    """The keys of a file; none if there is no file yet."""
    if not path.exists():
        return ()
    return read_keys(path)


def remove_key(path: Path, name: str) -> None:
    """Takes the key with a name out; a running server refuses it from then on."""
    if not any(key.caller.name == name for key in list_keys(path)):
        raise NotFound(f"{path} has no key named {name!r}")
    kept = []
    for block in _split(path.read_text(encoding="utf-8")):
        if not _is_named(block, name):
            kept.append(block)
    _write(path, "".join(kept))


def _write_entry(name: str, scopes: Iterable[str], rights: Iterable[str], hash: str) -> str:
    """JSON strings and lists of them are TOML, too."""
    return (
        f"{HEAD}\n"
        f"name = {json.dumps(name, ensure_ascii=False)}\n"
        f"scopes = {json.dumps(list(scopes), ensure_ascii=False)}\n"
        f"rights = {json.dumps(sorted(rights))}\n"
        f"hash = {json.dumps(hash)}\n"
    )


def _split(text: str) -> list[str]:
    """What stands before the first entry, then each entry with all up to the next one."""
    blocks = [""]
    for line in text.splitlines(keepends=True):
        if line.strip().replace(" ", "") == HEAD:
            blocks.append("")
        blocks[-1] += line
    return blocks


def _is_named(block: str, name: str) -> bool:
    entries = tomllib.loads(block).get("key", [])
    return any(entry.get("name") == name for entry in entries)


def _write(path: Path, text: str) -> None:
    try:
        write_private(path, text)
    except OSError as error:
        raise Unavailable(f"the keys file {path} cannot be written: {error.strerror}") from error
