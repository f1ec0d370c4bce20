"""Records as a file that outlives any store: JSON lines between a manifest and a checksum.

Line 1 is the manifest, then one record a line, then a line with the count and the SHA-256 of all
lines before it. Everything comes back exactly, vectors included.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ..core.errors import BadInput, Corrupt, Misconfigured, Unavailable
from ..core.former_meta import Origin, split_meta
from ..core.private_files import write_anew
from ..core.record import Record, kind_of, tier_of, trust_of
from ..core.scope import check_scope
from ..core.state import NO_STATE, State
from ..core.validate import dump_json

FORMAT: Final = 2
FORMER: Final = 1  # had no state of its own: what there was of it lies in `meta`
_BYTES: Final = ("vector", "terms", "original", "sealed")
_MAKE: Final[dict[str, Callable[[Any], Any]]] = {
    "place": tuple,
    "derived_from": tuple,
    "kind": kind_of,
    "tier": tier_of,
    "trust": trust_of,
    "state": State.from_json,
}
_FIELDS: Final = frozenset(field.name for field in fields(Record)) - {"seq"}


def write_export(path: Path, records: Iterable[Record], manifest: dict[str, Any]) -> int:
    """Writes beside and renames: a file of that name is always whole. How many records it has."""
    partial = path.with_name(path.name + ".partial")
    digest, count = sha256(), 0
    try:
        with write_anew(partial) as file:
            for line in _lines(records, manifest):
                digest.update(line.encode())
                file.write(line)
                count += 1
            file.write(_end(count - 1, digest.hexdigest()))
        partial.replace(path)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}; no partial file was left behind"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return count - 1


def _lines(records: Iterable[Record], manifest: dict[str, Any]) -> Iterator[str]:
    yield dump_json({"eidet": "export", "format": FORMAT, **manifest}) + "\n"
    for record in records:
        yield dump_json(as_json(record)) + "\n"


def _end(count: int, digest: str) -> str:
    return dump_json({"count": count, "sha256": digest}) + "\n"


def verify_export(path: Path) -> dict[str, Any]:
    """The manifest with the count, after every line was read and every record could be one."""
    digest, count, manifest, last = sha256(), 0, None, None
    for line in _read(path):
        if last is not None:
            digest.update(last.encode())
            if manifest is None:
                manifest = _manifest(last, path)
            else:
                record_from(last, f"{path}, line {count + 2}", manifest["format"])
                count += 1
        last = line
    _check_end(last, count, digest.hexdigest(), path)
    if manifest is None:
        raise Corrupt(f"{path} is not an export of Eidet: it has no manifest; nothing was loaded")
    return {**manifest, "count": count}


def read_export(path: Path) -> Iterator[Record]:
    """The records of a file that was verified."""
    lines = _read(path)
    form = _manifest(next(lines), path)["format"]
    held = next(lines)
    for line in lines:
        yield record_from(held, str(path), form)
        held = line


def _read(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from file
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is damaged: {error}; nothing was loaded") from error


def _manifest(line: str, path: Path) -> dict[str, Any]:
    manifest = _parsed(line, f"{path}, line 1")
    if manifest.get("eidet") != "export":
        raise Corrupt(
            f"{path} is not an export of Eidet: its first line is not a manifest; nothing was loaded"
        )
    if manifest.get("format") not in (FORMER, FORMAT):
        raise Misconfigured(
            f"{path} has format {manifest.get('format')}, this version reads {FORMER} and {FORMAT}: "
            "pip install --upgrade eidet"
        )
    return manifest


def _check_end(line: str | None, count: int, digest: str, path: Path) -> None:
    if line != _end(count, digest):
        end = _parsed(line or "", f"{path}, last line")
        raise Corrupt(
            f"{path} was truncated or changed: it should hold {end.get('count')} records with checksum "
            f"{end.get('sha256')}, it holds {count} with {digest}; nothing was loaded"
        )


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise Corrupt(f"{where} is not valid JSON ({error}); nothing was loaded") from error
    if not isinstance(value, dict):
        raise Corrupt(f"{where} is not a JSON object; nothing was loaded")
    return value


def as_json(record: Record) -> dict[str, Any]:
    """A record as JSON values; what has its default is left out."""
    blank = Record(id="", scope="", text="")
    said: dict[str, Any] = {"id": record.id, "scope": record.scope, "text": record.text}
    for name in sorted(_FIELDS - said.keys() - {"state"}):
        value = getattr(record, name)
        if value != getattr(blank, name):
            said[name] = base64.b64encode(value).decode() if name in _BYTES else value
    if record.state is not NO_STATE:
        said["state"] = record.state.to_json()
    return said


def record_from(line: str, where: str, form: int = FORMAT) -> Record:
    said = _parsed(line, where)
    fields = _FIELDS if form == FORMAT else _FIELDS - {"state"}
    if unknown := said.keys() - fields:
        raise Corrupt(f"{where} has unknown fields {sorted(unknown)}; nothing was loaded")
    try:
        record = from_json(said)
    except (TypeError, ValueError, BadInput) as error:
        raise Corrupt(f"{where} is not a record ({error}); nothing was loaded") from error
    return record if form == FORMAT else _moved(record)


def _moved(record: Record) -> Record:
    """A record of the former format, with its state taken out of its meta."""
    if not record.meta:
        return record
    meta, state = split_meta(record.meta, Origin(record.created, record.source, record.derived_from))
    return record.but(meta=meta, state=state)


def from_json(given: dict[str, Any]) -> Record:
    """The record of `as_json`."""
    said = dict(given)
    check_scope(said.get("scope", ""))
    for name in _BYTES:
        if said.get(name) is not None:
            said[name] = base64.b64decode(said[name], validate=True)
    for name, make in _MAKE.items():
        if name in said:
            said[name] = make(said[name])
    return Record(**said)
