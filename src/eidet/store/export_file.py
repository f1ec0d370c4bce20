"""Exports records to a file that outlives any store: JSON lines between a manifest and a checksum.

Line 1 is the manifest, then one record a line, then a line with the count and the SHA-256 of all
lines before it. Everything comes back exactly, vectors included.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..core.errors import BadInput, Corrupt, Misconfigured
from ..core.private_files import write_export_file
from ..core.record import Record
from ..core.record_table import EXPORTED, NEEDED, decode_fields, encode_fields, parse_fields
from ..core.validate import dump_json

FORMAT: Final = 1
_NAMES: Final = frozenset(field.name for field in EXPORTED)

Check = Callable[[Record, Mapping[str, Any], str], None]  # a record, the manifest, the file and line


class TextOfExport(NamedTuple):
    """The text of an export in RAM, which is read as a file is."""

    name: str
    text: str

    def open(self, **_: str) -> StringIO:
        return StringIO(self.text, newline="\n")

    def __str__(self) -> str:
        return self.name


Source = Path | TextOfExport


def write_export(path: Path, records: Iterable[Record], manifest: dict[str, Any]) -> int:
    """Writes a temporary file and renames it: the file is always whole. Returns the number of records."""
    count = 0
    with write_export_file(path) as file:
        for line in format_export(records, manifest):
            file.write(line.encode())
            count += 1
    return count - 2


def format_export(records: Iterable[Record], manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of an export."""
    digest, count = sha256(), -1
    for line in _lines(records, manifest):
        digest.update(line.encode())
        count += 1
        yield line
    yield _end(count, digest.hexdigest())


def _lines(records: Iterable[Record], manifest: Mapping[str, Any]) -> Iterator[str]:
    yield dump_json({"eidet": "export", "format": FORMAT, **manifest}) + "\n"
    for record in records:
        yield dump_json(encode_fields(record)) + "\n"


def _end(count: int, digest: str) -> str:
    return dump_json({"count": count, "sha256": digest}) + "\n"


def verify_export(path: Source, check: Check | None = None) -> dict[str, Any]:
    """Checks every line and record of an export. Returns the manifest with the count.

    Calls `check` with each record, which raises if something is wrong with it.
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
    _check_end(last, count, digest.hexdigest(), path)
    return {**manifest, "count": count}


def read_export(path: Source) -> Iterator[Record]:
    """Yields the records of a file that was verified; does not check its lines a second time."""
    lines = _read(path)
    _manifest(next(lines), path)
    held = next(lines)
    for at, line in enumerate(lines, 2):
        yield _restore(held, f"{path}, line {at}")
        held = line


def _restore(line: str, where: str) -> Record:
    try:
        return decode_fields(json.loads(line))
    except (TypeError, ValueError, RecursionError) as error:
        raise Corrupt(f"{where} was changed while it was read ({error})") from error


def _read(path: Source) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from file
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is damaged: {error}; nothing was loaded") from error


def _manifest(line: str, path: Source) -> dict[str, Any]:
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


def _check_end(line: str, count: int, digest: str, path: Source) -> None:
    end = _parse_line(line, f"{path}, last line")
    if line != _end(count, digest):
        raise Corrupt(
            f"{path} was truncated or changed: it should hold {end.get('count')} records with checksum "
            f"{end.get('sha256')}, it holds {count} with {digest}; nothing was loaded"
        )


def _parse_line(line: str, where: str) -> dict[str, Any]:
    try:
        value = _JSON.decode(line)
        if "\\u" in line:
            dump_json(value).encode()  # raises for an escaped half of a character
    except RecursionError:
        raise Corrupt(f"{where} is nested too deeply; nothing was loaded") from None
    except ValueError as error:
        raise Corrupt(f"{where} is not valid JSON ({error}); nothing was loaded") from error
    if not isinstance(value, dict):
        raise Corrupt(f"{where} is not a JSON object; nothing was loaded")
    return value


def record_from(line: str, where: str) -> Record:
    row = _parse_line(line, where)
    if unknown := row.keys() - _NAMES:
        raise Corrupt(f"{where} has unknown fields {sorted(unknown)}; nothing was loaded")
    try:
        return from_json(row)
    except ValueError as error:
        raise Corrupt(f"{where} is not a record ({error}); nothing was loaded") from error


def from_json(said: dict[str, Any]) -> Record:
    """Parses what `encode_fields` encoded; raises BadInput or ValueError for another type or range."""
    for name in NEEDED:
        if name not in said:
            raise BadInput(f"it has no {name}")
    return Record(**parse_fields(said))


# A file may come from anyone: JSON that `remember` would refuse is refused here, too.


def _parse_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text:.40} is too large")
    return value


def _parse_int(text: str) -> int:
    """Parses whole numbers of at most 4,096 bits, as `remember` takes them."""
    if len(text) > 1300:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _check_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses an object that has a key twice, of which a JSON parser would keep the last."""
    values = dict(pairs)
    if len(values) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {twice!r:.80} twice")
    return values


_JSON: Final = json.JSONDecoder(
    object_pairs_hook=_check_object,
    parse_constant=_refuse_constant,
    parse_float=_parse_float,
    parse_int=_parse_int,
)
