"""Marks: keyed hashes by which a store knows what was forgotten, without keeping a word of it.

A mark is the first 16 bytes of an HMAC-SHA256 with a secret of the store, over the scope and what is
meant. Without the secret it cannot be tested whether a text was forgotten; with another store's
marks nothing can be compared.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from ..core.errors import Corrupt
from ..core.record import MARK_BYTES, Event, Kind, Record
from ..core.validate import Json, dump_json
from . import Claims, Store, verbs

SECRET_BYTES: Final = 32
_SHORT_WORDS: Final = 3  # a message of fewer words …
_SHORT_CHARS: Final = 12  # … or characters is said every day, and may be said again
# fields of a message's data that name the speaker, or its place in a log
_SPEAKER: Final = frozenset(("role", "name", "tool_call_id", "eidet"))
_CHARS_A_WORD: Final = 4  # in scripts without spaces between words


def secret_of(store: Store, name: str, *, make: bool = True) -> bytes:
    """Returns the secret of a store for one use (`marks`, `receipts`), made when first needed.

    It is random and kept in the settings. Use `make=False` inside a write, where nothing can be made.
    """
    setting = f"secret:{name}"
    if verbs.get_setting(store, setting) is None and make:
        import secrets

        verbs.set_settings(store, {setting: secrets.token_hex(SECRET_BYTES)}, fresh=True)
    try:
        return bytes.fromhex(verbs.get_setting(store, setting) or "none")
    except ValueError:
        raise Corrupt(f"the store has lost its secret for {name}: restore a copy or an export") from None


class Marker:
    """The marks of one store, keyed by its secret."""

    __slots__ = ("_keyed",)

    def __init__(self, secret: bytes) -> None:
        self._keyed = hmac.new(secret, digestmod="sha256")

    def of_content(self, scope: str, text: str, data: Json) -> bytes:
        """Returns the mark of content; with data, the order of the words in the text does not matter."""
        if data is None:
            return self._mark(f"{scope}\0says\0{fold_text(text)}")
        words = " ".join(sorted(fold_text(text.replace(";", " ")).split()))
        return self._mark(f"{scope}\0says\0{words}\0{fold_text(dump_json(data, sort_keys=True))}")

    def of_id(self, scope: str, id: str) -> bytes:
        return self._mark(f"{scope}\0id\0{id}")

    def of_record(self, record: Record) -> bytes | None:
        """Returns the mark of a record's content; None for content too short to be forgotten for good."""
        return None if is_everyday(record) else self.always_of(record)

    def always_of(self, record: Record) -> bytes:
        """Returns the mark of a record's content, however short it is."""
        whole = record.whole
        return self.of_content(whole.scope, whole.text, _data_said(whole))

    def claim_said(self, record: Record) -> Claims:
        """Returns what to check for a new statement: its content only.

        Short messages are checked too. They leave no tombstone, but a fact of the same words does.
        """
        return Claims((self.always_of(record),))

    def claim_return(self, record: Record) -> Claims:
        """Returns what to check for a record that comes back by itself: also its id, parts and sources."""
        own = self.always_of(record)
        parts = (self.of_record(part) for part in list_absorbed(record))
        return Claims(
            says=tuple(mark for mark in (own, *parts) if mark is not None),
            id=self.of_id(record.scope, record.id),
            made_of=tuple((id, self.of_id(record.scope, id)) for id in record.derived_from),
        )

    def _mark(self, what: str) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(what.encode())
        return keyed.digest()[:MARK_BYTES]


def fold_text(text: str) -> str:
    """Folds differences of case, spacing and a full stop at the end, so that such texts are equal."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return " ".join(text.casefold().split()).rstrip(".!\N{HORIZONTAL ELLIPSIS} ")


def is_everyday(record: Record) -> bool:
    """Returns whether it is a message such as "ok" or "thanks": forgetting one does not forbid the next."""
    whole = record.whole
    if whole.kind is not Kind.MESSAGE or _data_said(whole) is not None:
        return False
    text = whole.text.strip()
    count = len(text.split()) if text.isascii() else max(len(text.split()), len(text) // _CHARS_A_WORD)
    return len(text) < _SHORT_CHARS or count < _SHORT_WORDS


def _data_said(record: Record) -> Json:
    """Returns the data of a record; of a message, without its speaker and its place in a log."""
    if record.kind is not Kind.MESSAGE or not isinstance(record.data, Mapping):
        return record.data
    return {name: value for name, value in record.data.items() if name not in _SPEAKER} or None


def list_absorbed(record: Record) -> Iterator[Record]:
    """Yields the records that upkeep merged into this one."""
    for part in record.state.merged:
        yield record.but(
            id=part.id,
            text=part.text,
            occurred=part.occurred,
            source=part.source,
            session=part.session,
            meta=dict(part.meta),
            state=part.state,
            original=None,
            level=0,
            derived_from=(),
        )


def list_earlier(record: Record, story: list[Event]) -> Iterator[Record]:
    """Yields a record's earlier contents as far as history has them, newest first."""
    now = record.whole.but(original=None, level=0)  # the original is of this version alone
    for event in reversed(story):
        if event.before and event.before.keys() & {"text", "data"}:
            now = now.but(text=event.before.get("text", now.text), data=event.before.get("data", now.data))
            yield now
