"""What stands in a text instead of a finding, and how such a token is known again."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from .findings import Found, Pii, fold
from .policy import Action

DOTS: Final = "•"
TOKEN_SIGNS: Final = ("[", ":", DOTS, "…")  # every token has one of them

_SPACES = re.compile(r"[\s\u00a0]+")
_ODD = re.compile(r"[^0-9A-Za-z]")
_LAST_FOUR = frozenset({Pii.CARD, Pii.IBAN, Pii.PHONE})


def token_for(found: Found, action: Action, key: bytes | None) -> str:
    """Returns the token for a finding; hashes are stable per value, class and key."""
    if action is Action.MASK:
        return _mask(found)
    if action is not Action.HASH:
        return f"[{found.kind.upper()}]"
    assert key is not None, "checked before anything is looked for"
    value = f"{found.kind}\0{_canonical(found)}".encode("utf-8", "surrogatepass")
    digest = blake2b(value, key=key, digest_size=8, person=b"eidet.guard").digest()
    return f"{found.kind}:{digest.hex()}"


def _canonical(found: Found) -> str:
    """The spelling under which a value is the same value: `+44 20…` and `+4420…`, `A@B.org` and `a@b.org`."""
    kind, text = found.kind, _as_it_reads(found.text)
    if kind in (Pii.CARD, Pii.IBAN, Pii.NATIONAL_ID, Pii.MAC):
        return _ODD.sub("", text).upper()
    if kind == Pii.PHONE:
        digits = _ODD.sub("", text)
        abroad = text.startswith("+") or digits.startswith("00")
        return "+" + digits.removeprefix("00") if abroad else digits
    if kind in (Pii.EMAIL, Pii.ADDRESS, Pii.IP):
        return _SPACES.sub(" ", text).casefold()
    return text


def _as_it_reads(value: str) -> str:
    """Removes unseen characters and maps full-width signs, foreign digits, odd spaces and dashes."""
    folded = fold(value)
    return value if folded is None else folded.text


def _mask(found: Found) -> str:
    """Enough to recognise one's own: the last four of a number, the initials of an e-mail address."""
    text = _as_it_reads(found.text)
    name, at, host = text.rpartition("@")
    last = host.rpartition(".")[2]
    if found.kind == Pii.EMAIL and at and last.isalpha():
        return f"{name[0]}…@{host[0]}….{last}"
    return f"{DOTS * 4} {_ODD.sub('', text)[-4:]}" if found.kind in _LAST_FOUR else DOTS * 3


@lru_cache(64)
def pattern_of_tokens(names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Matches every token of the classes and of patterns with these names, which is never searched inside."""
    kinds = "|".join(sorted((*Pii, *names), key=len, reverse=True))
    return re.compile(
        rf"\[(?:{kinds.upper()})\]|(?:{kinds}):[0-9a-f]{{16}}"
        rf"|{DOTS}{{4}} [0-9A-Za-z]{{4}}|{DOTS}{{3}}|[\w%+-]…@\w…\.[^\W\d_]{{2,24}}(?![^\W\d_])"
    )
