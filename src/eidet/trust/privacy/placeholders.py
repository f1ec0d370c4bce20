"""What stands in a text instead of a finding, and how such a token is known again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from ...core.errors import Corrupt
from .findings import Found, Pii
from .fold import fold
from .policy import Action, Vault

SIGNS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # no I, L, O, U: they are misread
LENGTH: Final = 10  # fifty bits: two of a million values share a token with a chance under one in 2,000
DOTS: Final = "•"
TOKEN_SIGNS: Final = ("[", "_", ":", DOTS, "…")  # every token has one of them

_SPACES = re.compile(r"[\s\u00a0]+")
_ODD = re.compile(r"[^0-9A-Za-z]")
_LAST_FOUR = frozenset({Pii.CARD, Pii.IBAN, Pii.PHONE})


def canonical(found: Found) -> str:
    """The spelling under which a value is the same value: `+44 20…` and `+4420…`, `A@B.org` and `a@b.org`."""
    kind, text = found.kind, _as_it_reads(found.text)
    if kind in (Pii.CARD, Pii.IBAN, Pii.NATIONAL_ID, Pii.MAC):
        return _ODD.sub("", text).upper()
    if kind == Pii.PHONE:
        digits = _ODD.sub("", text)
        if text.startswith("+"):
            return "+" + digits
        if digits.startswith("00"):
            return "+" + digits[2:]
        return digits
    if kind in (Pii.EMAIL, Pii.ADDRESS, Pii.IP):
        return _SPACES.sub(" ", text).casefold()
    return text


def _as_it_reads(value: str) -> str:
    """Without unseen characters; full-width signs, foreign digits, odd spaces and dashes are plain ones."""
    folded = fold(value)
    if folded is None:
        return value
    return folded.text


def redaction(kind: str) -> str:
    return f"[{kind.upper()}]"


def mask(found: Found) -> str:
    """Enough to recognise one's own: the last four of a number, the initials of an e-mail address."""
    text = _as_it_reads(found.text)
    if found.kind == Pii.EMAIL and "@" in text:
        return _mask_email(text)
    if found.kind in _LAST_FOUR:
        return f"{DOTS * 4} {_ODD.sub('', text)[-4:]}"
    return DOTS * 3


def _mask_email(email: str) -> str:
    name, _, host = email.rpartition("@")
    last = host.rpartition(".")[2]
    if last.isalpha():
        return f"{name[0]}…@{host[0]}….{last}"
    return DOTS * 3


def digest(found: Found, key: bytes) -> str:
    """Sixteen hexadecimal digits, the same for the same value, class and key."""
    return f"{found.kind}:{_hash_with_key(found, key, 8).hex()}"


def pseudonym(found: Found, key: bytes) -> str:
    number = int.from_bytes(_hash_with_key(found, key, 8))
    return f"{found.kind.upper()}_" + "".join(SIGNS[number >> 5 * at & 31] for at in range(LENGTH))


def _hash_with_key(found: Found, key: bytes, size: int) -> bytes:
    value = f"{found.kind}\0{canonical(found)}".encode("utf-8", "surrogatepass")
    return blake2b(value, key=key, digest_size=size, person=b"eidet.guard").digest()


@lru_cache(64)
def pattern_of_tokens(names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Every token of the classes and of patterns with these names; nothing is looked for inside one."""
    kinds = "|".join(sorted((*Pii, *names), key=len, reverse=True))
    upper = kinds.upper()
    return re.compile(
        rf"\[(?:{upper})\]|(?:{upper})_[{SIGNS}]{{{LENGTH}}}|(?:{kinds}):[0-9a-f]{{16}}"
        rf"|{DOTS}{{4}} [0-9A-Za-z]{{4}}|{DOTS}{{3}}|[\w%+-]…@\w…\.[^\W\d_]{{2,24}}(?![^\W\d_])"
    )


@lru_cache(64)
def _pseudonyms(names: tuple[str, ...]) -> re.Pattern[str]:
    upper = "|".join(sorted((*Pii, *names), key=len, reverse=True)).upper()
    return re.compile(rf"(?:{upper})_[{SIGNS}]{{{LENGTH}}}")


def tokens_in(text: str, names: Iterable[str] = ()) -> list[str]:
    """The pseudonyms of a text, in order."""
    return [match[0] for match in _pseudonyms(tuple(names)).finditer(text)]


def restore_text(text: str, vault: Vault, unseal: Callable[[bytes], str], names: Iterable[str] = ()) -> str:
    """The text with pseudonyms turned back. Tokens the vault does not know stay; a bad seal is `Corrupt`."""

    def value(match: re.Match[str]) -> str:
        sealed = vault.get(match[0])
        if sealed is None:
            return match[0]
        return _unseal(match[0], sealed, unseal)

    return _pseudonyms(tuple(names)).sub(value, text)


def _unseal(token: str, sealed: bytes, unseal: Callable[[bytes], str]) -> str:
    try:
        return unseal(sealed)
    except ValueError:
        raise Corrupt(f"the sealed value of {token} cannot be opened; is it another key?") from None


def plain_token(found: Found, action: Action) -> str:
    if action is Action.MASK:
        return mask(found)
    return redaction(found.kind)
