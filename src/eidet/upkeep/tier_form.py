"""What a tier shows of a record and how it keeps the rest: lower and raise, exactly there and back.

Level 1 keeps the vector in int8, level 2 in bits and shows the gist of the text and rounded numbers.
Words are searched as they were at every level. What is lowered is kept in `Record.original`, but for
a vector that the embedder makes of the text again, bit for bit: that was tried before it was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..core.lossless import Original, pack_original, read_original
from ..core.record import Record
from ..core.validate import Json
from ..models.embed.quantise import dequantise, quantise

_GIST: Final = 2  # the level from which less of a text is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """Lowers and raises records.

    `embed` gives the bytes of texts as the write path makes them; `repeats` says that it gives the same
    ones each time, so that they need not be kept. `gist` shortens a text.
    """

    embed: Callable[[Sequence[str]], list[bytes]]
    gist: Callable[[str], str]
    embedder: str
    width: int
    repeats: bool
    digits: int = 3

    def at_levels(self, records: Sequence[Record], levels: Sequence[int]) -> list[Record]:
        """Each record at its level, from whatever level it has."""
        whole = self._raise_where(
            records, [new < old.level for old, new in zip(records, levels, strict=True)]
        )
        again = self._again(
            [record for record, level in zip(whole, levels, strict=True) if self._goes(record, level)]
        )
        return [self._lower_form(record, level, again) for record, level in zip(whole, levels, strict=True)]

    def whole(self, records: Sequence[Record]) -> list[Record]:
        """As they were before anything was lowered."""
        return self._raise_where(records, [record.level > 0 for record in records])

    def _raise_where(self, records: Sequence[Record], wanted: Sequence[bool]) -> list[Record]:
        kept = [
            (read_original(record.original) if want else None)
            for record, want in zip(records, wanted, strict=True)
        ]
        missing = [
            record.whole.text
            for record, part in zip(records, kept, strict=True)
            if part is not None and self._is_made_again(record, part)
        ]
        made = iter(self.embed(missing) if missing else [])
        return [
            (record if part is None else self._raise_form(record, part, made))
            for record, part in zip(records, kept, strict=True)
        ]

    def _raise_form(self, record: Record, part: Original, made: object) -> Record:
        vector = record.vector
        if self._is_made_again(record, part):
            vector = next(made)  # type: ignore[call-overload]
        elif part.vector is not None:
            vector = part.vector
        return record.whole.but(vector=vector, level=0, original=None)

    def _is_made_again(self, record: Record, part: Original) -> bool:
        """Not kept, or of an embedder that was replaced since."""
        return False if record.vector is None else part.vector is None or part.embedder != self.embedder

    def _goes(self, record: Record, level: int) -> bool:
        return record.level == 0 < level and record.vector is not None and self.repeats

    def _again(self, records: Sequence[Record]) -> dict[str, bytes]:
        texts = list(dict.fromkeys(record.text for record in records))
        return dict(zip(texts, self.embed(texts), strict=True)) if texts else {}

    def _lower_form(self, record: Record, level: int, again: dict[str, bytes]) -> Record:
        if level <= record.level:
            return record
        part = read_original(record.original)
        text, data = record.text, record.data
        if level >= _GIST:
            text, data = self.gist(text), round_floats(data, self.digits)
        vector, kept = record.vector, part.vector
        if vector is not None:
            if record.level == 0 and again.get(record.text) != vector:
                kept = vector
            vector = quantise(dequantise(vector, record.level, self.width), level, self.width)
        original = Original(
            text=record.text if text != record.text else part.text,
            data=(record.data,) if not _same(data, record.data) else part.data,
            vector=kept,
            embedder="" if kept is None else (part.embedder or self.embedder),
        )
        return record.but(text=text, data=data, vector=vector, level=level, original=pack_original(original))


def round_floats(data: Json, digits: int) -> Json:
    """Data with floats of so many significant digits; whole numbers are often names, and stay."""
    match data:
        case dict():
            return {key: round_floats(value, digits) for key, value in data.items()}
        case list():
            return [round_floats(value, digits) for value in data]
        case float():
            return float(f"{data:.{digits}g}")
    return data


def _same(one: Json, other: Json) -> bool:
    """1 is not 1.0 here, nor 0.0 -0.0: the original comes back exactly."""
    return repr(one) == repr(other)
