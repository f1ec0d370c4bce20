"""Guards a text or JSON data by a policy: finds personal data, acts on it, and reports what was done.

A text is guarded until nothing is left to act on, so that guarding it again changes nothing. The pieces of
text between tokens are searched separately, whatever the tokens replaced. The pieces of a guarded text were
therefore found clean before, and guarding it again finds nothing in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

from ...core.errors import BadInput, Misconfigured
from ...core.validate import Json, clean_json
from .findings import Found, Pii, fold
from .policy import STAYING, Action, Forbidden, Policy
from .scan import find

DEEPEST: Final = 8  # searches within a piece, after which a finding covers all of it
NAME_CHARS: Final = 60  # the last characters of the keys around a value that count as its name
PATH_CHARS: Final = 80  # of each key in the path of a value


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """The value to store; `labels` are the labelled classes found in it.

    Of the findings, each has its action and path, but no text. Positions refer to the original text.
    """

    value: Any
    findings: tuple[Found, ...] = ()
    labels: tuple[str, ...] = ()


def guard(value: Json, policy: Policy, key: bytes | None = None, *, what: str = "data") -> Guarded:
    """Guards a text, or every string and key of JSON data. Idempotent.

    A key of data counts as a word about its value. Hashes need `key`; another one gives other tokens.
    """
    guarding = _TextGuard(policy, key)
    given = value if isinstance(value, str) else clean_json(value, what)
    kept, found = _walk(given, guarding, "", "" if isinstance(value, str) else what), guarding.findings
    labels = {one.kind for one in found if one.action == Action.LABEL}
    return Guarded(value=kept, findings=tuple(found), labels=tuple(sorted(labels)))


@dataclass(slots=True)
class _TextGuard:
    """Guards the texts of one value and collects the findings."""

    policy: Policy
    key: bytes | None
    findings: list[Found] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.key is not None and not 16 <= len(self.key) <= 64:
            raise BadInput("the key needs 16 to 64 bytes, such as secrets.token_bytes(32)")

    def apply(self, text: str, name: str = "", path: str = "") -> str:
        """Returns the text to store. `name` counts as text before it: `birth_date` as `birth date: `."""
        before = f"{name.replace('_', ' ')}: " if name else ""
        parts, at = [], 0
        for found in self._find_all(text, before):
            action = self.policy.action(found.kind)
            if action is Action.REFUSE:
                raise Forbidden(found.kind, start=found.start, end=found.end, path=path)
            self.findings.append(replace(found, text="", action=action, path=path))
            if action not in STAYING:
                parts += [text[at : found.start], token_for(found, action, self.key)]
                at = found.end
        return "".join((*parts, text[at:]))

    def _find_all(self, text: str, before: str) -> list[Found]:
        """Lists all findings of a text, also between tokens, in text order."""
        pieces = self._between_tokens(text)
        found = chain.from_iterable(self._search(piece, at, before) for piece, at in pieces)
        return sorted(found, key=lambda one: one.start)

    def _search(self, piece: str, at: int, before: str, depth: int = 0) -> Iterator[Found]:
        """Yields the findings of a piece that begins at `at`, also between those that will be replaced."""
        found = self._find(piece, before if at == 0 else "")
        changing = [one for one in found if self.policy.action(one.kind) not in STAYING]
        if changing and depth == DEEPEST:
            changing = [replace(changing[0], start=0, end=len(piece), text=piece)]
        yield from (_move(one, at) for one in changing or found)
        if changing:
            for rest, start in _outside(piece, [(one.start, one.end) for one in changing]):
                yield from self._search(rest, at + start, before, depth + 1)

    def _between_tokens(self, text: str) -> Iterator[tuple[str, int]]:
        if not any(sign in text for sign in TOKEN_SIGNS):
            return _outside(text, [])
        tokens = pattern_of_tokens(tuple(pattern.name for pattern in self.policy.patterns))
        return _outside(text, [match.span() for match in tokens.finditer(text)])

    def _find(self, piece: str, before: str) -> list[Found]:
        shift = len(before)
        found = find(before + piece, self.policy.patterns)
        return [_move(one, -shift) for one in found if one.start >= shift]


def _outside(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    at = 0
    for start, end in (*spans, (len(text), len(text))):
        if start > at:
            yield text[at:start], at
        at = end


def _move(one: Found, by: int) -> Found:
    return replace(one, start=one.start + by, end=one.end + by) if by else one


# JSON data: every string and key, and whole numbers long enough to identify a person.


def _walk(value: Json, guard: _TextGuard, name: str, path: str) -> Json:
    if isinstance(value, str):
        return guard.apply(value, name, path)
    if isinstance(value, int) and 10_000_000 <= value < 10**40:
        kept = guard.apply(str(value), name, path)
        return value if kept == str(value) else kept
    if isinstance(value, Mapping):
        return _walk_entries(value, guard, name, path)
    if isinstance(value, list):
        return [_walk(item, guard, name, f"{path}[{at}]") for at, item in enumerate(value)]
    return value


def _walk_entries(value: Mapping[str, Json], guard: _TextGuard, name: str, path: str) -> dict[str, Json]:
    """Guards nested entries; outer keys count as words about inner values: `born: {date: …}`."""
    entries: dict[str, Json] = {}
    numbers: dict[str, int] = {}  # of keys that became the same, the last one given
    for key, item in value.items():
        kept = _tell_apart(guard.apply(key, path=f"{path}.(key)"), entries, numbers)
        said = f"{name} {kept[-NAME_CHARS:]}".strip()[-NAME_CHARS:]
        entries[kept] = _walk(item, guard, said, f"{path}.{kept[:PATH_CHARS]}")
    return entries


def _tell_apart(key: str, entries: Iterable[str], numbers: dict[str, int]) -> str:
    """Returns the key, numbered if it is taken, so that two people do not become one entry."""
    free = key
    while free in entries:
        numbers[key] = numbers.get(key, 1) + 1
        free = f"{key} {numbers[key]}"
    return free


# Tokens, which replace findings in a text, and the pattern that recognises them.

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
    if key is None:
        raise Misconfigured("hashes need a key: guard(value, policy, key)")
    value = f"{found.kind}\0{_canonical(found)}".encode("utf-8", "surrogatepass")
    digest = blake2b(value, key=key, digest_size=8, person=b"eidet.guard").digest()
    return f"{found.kind}:{digest.hex()}"


def _canonical(found: Found) -> str:
    """Returns one spelling for equal values: `+44 20…` and `+4420…`, `A@B.org` and `a@b.org`."""
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
    """Masks all but the last four characters of a number or the initials of an e-mail address."""
    text = _as_it_reads(found.text)
    name, at, host = text.rpartition("@")
    last = host.rpartition(".")[2]
    if found.kind == Pii.EMAIL and at and last.isalpha():
        return f"{name[0]}…@{host[0]}….{last}"
    return f"{DOTS * 4} {_ODD.sub('', text)[-4:]}" if found.kind in _LAST_FOUR else DOTS * 3


@lru_cache(64)
def pattern_of_tokens(names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Returns a pattern for every token of the built-in classes and of the named patterns."""
    kinds = "|".join(sorted((*Pii, *names), key=len, reverse=True))
    return re.compile(
        rf"\[(?:{kinds.upper()})\]|(?:{kinds}):[0-9a-f]{{16}}"
        rf"|{DOTS}{{4}} [0-9A-Za-z]{{4}}|{DOTS}{{3}}|[\w%+-]…@\w…\.[^\W\d_]{{2,24}}(?![^\W\d_])"
    )
