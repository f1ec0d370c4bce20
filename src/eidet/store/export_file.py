"""Records as a file that outlives any store: JSON lines between a manifest and a checksum.

Line 1 is the manifest, then one record a line, then a line with the count and the SHA-256 of all
lines before it; of a sealed memory, also with a keyed MAC of that. Everything comes back exactly,
vectors included.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ..core.errors import BadInput, Corrupt, Misconfigured, Unavailable
from ..core.private_files import name_partial, remove_partial, write_anew
from ..core.record import Record
from ..core.state import NO_STATE
from ..core.validate import dump_json
from .record_fields import read_fields, read_float, read_int, read_object, refuse_constant, restore_fields

FORMAT: Final = 1
SIGNED: Final = "signed"  # added to a manifest that was verified
SEALED: Final = "sealed"  # the part of a manifest that tells how to open the records
Sign = Callable[[str], str]  # the SHA-256 of all lines -> a MAC of it
_BYTES: Final = ("vector", "terms", "original", "sealed")
_FIELDS: Final = frozenset(field.name for field in fields(Record)) - {"seq"}
_NEEDED: Final = ("id", "scope", "text")
_JSON: Final = json.JSONDecoder(
    object_pairs_hook=read_object, parse_constant=refuse_constant, parse_float=read_float, parse_int=read_int
)

Check = Callable[[Record, Mapping[str, Any], str], None]  # a record, the manifest, the file and line


def write_export(
    path: Path, records: Iterable[Record], manifest: dict[str, Any], sign: Sign | None = None
) -> int:
    """Writes beside and renames: a file of that name is always whole. How many records it has."""
    partial = name_partial(path)
    digest, count = sha256(), 0
    try:
        with write_anew(partial) as file:
            for line in _lines(records, manifest):
                digest.update(line.encode())
                file.write(line)
                count += 1
            found = digest.hexdigest()
            file.write(_end(count - 1, found, None if sign is None else sign(found)))
        partial.replace(path)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}; no partial file was left behind"
        ) from error
    finally:
        remove_partial(partial)
    return count - 1


def _lines(records: Iterable[Record], manifest: dict[str, Any]) -> Iterator[str]:
    yield dump_json({"eidet": "export", "format": FORMAT, **manifest}) + "\n"
    for record in records:
        yield dump_json(as_json(record)) + "\n"


def _end(count: int, digest: str, mac: str | None) -> str:
    signed = {} if mac is None else {"mac": mac}
    return dump_json({"count": count, "sha256": digest, **signed}) + "\n"


def verify_export(path: Path, check: Check | None = None) -> dict[str, Any]:
    """The manifest with the count, after every line was read and every record could be one.

    `check` is called with each record, and raises what is wrong with it. `signed` is added to what the last
    line is signed with: the SHA-256 of all lines before it, and the MAC.
    """
    digest, count, manifest, last = sha256(), 0, None, None
    for line in _read(path):
        if last is not None:
            digest.update(last.encode())
            if manifest is None:
                manifest = _manifest(last, path)
            else:
                where = f"{path}, line {count + 2}"
                record = record_from(last, where)
                if check is not None:
                    check(record, manifest, where)
                count += 1
        last = line
    if last is None:
        raise Corrupt(f"{path} is empty: it is not an export of Eidet; nothing was loaded")
    if manifest is None:
        _manifest(last, path)
        raise Corrupt(f"{path} was truncated: it has a manifest only; nothing was loaded")
    mac = _check_end(last, count, digest.hexdigest(), path)
    manifest.pop(SIGNED, None)
    signed = {} if mac is None else {SIGNED: (digest.hexdigest(), mac)}
    return {**manifest, "count": count, **signed}


def read_export(path: Path) -> Iterator[Record]:
    """The records of a file that was verified; its lines are not checked a second time."""
    lines = _read(path)
    _manifest(next(lines), path)
    held = next(lines)
    for at, line in enumerate(lines, 2):
        yield _restore(held, f"{path}, line {at}")
        held = line


def _restore(line: str, where: str) -> Record:
    try:
        return Record(**restore_fields(json.loads(line)))
    except (TypeError, ValueError, RecursionError) as error:
        raise Corrupt(f"{where} was changed while it was read ({error})") from error


def _read(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from file
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is damaged: {error}; nothing was loaded") from error


def _manifest(line: str, path: Path) -> dict[str, Any]:
    manifest = _parse_line(line, f"{path}, line 1")
    if manifest.get("eidet") != "export":
        raise Corrupt(
            f"{path} is not an export of Eidet: its first line is not a manifest; nothing was loaded"
        )
    if manifest.get("format") != FORMAT:
        raise Misconfigured(
            f"{path} has format {manifest.get('format')}, this version reads {FORMAT}: "
            "pip install --upgrade eidet"
        )
    return manifest


def _check_end(line: str, count: int, digest: str, path: Path) -> str | None:
    """The MAC, if there is one."""
    end = _parse_line(line, f"{path}, last line")
    mac = end.get("mac")
    if line != _end(count, digest, mac):
        raise Corrupt(
            f"{path} was truncated or changed: it should hold {end.get('count')} records with checksum "
            f"{end.get('sha256')}, it holds {count} with {digest}; nothing was loaded"
        )
    return None if mac is None else str(mac)


def _parse_line(line: str, where: str) -> dict[str, Any]:
    try:
        value = _JSON.decode(line)
        if "\\u" in line:
            dump_json(value).encode()  # an escape may stand for half of a character
    except RecursionError:
        raise Corrupt(f"{where} is nested too deeply; nothing was loaded") from None
    except ValueError as error:
        raise Corrupt(f"{where} is not valid JSON ({error}); nothing was loaded") from error
    if not isinstance(value, dict):
        raise Corrupt(f"{where} is not a JSON object; nothing was loaded")
    return value


def as_json(record: Record) -> dict[str, Any]:
    """A record as JSON values; what has its default is left out."""
    blank = Record(id="", scope="", text="")
    row: dict[str, Any] = {"id": record.id, "scope": record.scope, "text": record.text}
    for name in sorted(_FIELDS - row.keys() - {"state"}):
        value = getattr(record, name)
        if value != getattr(blank, name):
            row[name] = base64.b64encode(value).decode() if name in _BYTES else value
    if record.state is not NO_STATE:
        row["state"] = record.state.to_json()
    return row


def record_from(line: str, where: str) -> Record:
    row = _parse_line(line, where)
    if unknown := row.keys() - _FIELDS:
        raise Corrupt(f"{where} has unknown fields {sorted(unknown)}; nothing was loaded")
    try:
        return from_json(row)
    except ValueError as error:
        raise Corrupt(f"{where} is not a record ({error}); nothing was loaded") from error


def from_json(said: dict[str, Any]) -> Record:
    """The record of `as_json`; BadInput or ValueError if a field has another type or range."""
    for name in _NEEDED:
        if name not in said:
            raise BadInput(f"it has no {name}")
    return Record(**read_fields(said))
