"""Finds everything in a text that may be personal or secret.

Numbers (see `numbers.py`) and secrets; e-mail, IP and MAC addresses; dates of birth after a word about birth;
postal addresses that have a known street word (Street, rue, -straße, ul. …).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from functools import cache
from ipaddress import AddressValueError, IPv6Address
from typing import TYPE_CHECKING, Final

from .findings import LEAST, Found, Pii, finding_at, fold, load_patterns, resolve_overlaps, weigh_confidence
from .numbers import numbers

if TYPE_CHECKING:
    from .policy import Pattern
from base64 import b64decode
from collections.abc import Callable

CERTAIN: Final = 0.8  # least confidence of a finding across a line break
_DIGIT: Final = re.compile("[0-9]")


def find(text: str, patterns: Iterable[Pattern] = (), *, least: float = LEAST) -> list[Found]:
    """Returns all findings in text order, without overlaps, in linear time."""
    found = [*_candidates(text, patterns), *_find_hidden(text, patterns)]
    return resolve_overlaps(one for one in found if one.confidence >= least)


def _find_hidden(text: str, patterns: Iterable[Pattern]) -> Iterator[Found]:
    """Yields values that only the folded text reveals; across a line break, only certain ones."""
    folded = fold(text)
    if folded is None:
        return
    for one in _candidates(folded.text, patterns):
        found = finding_at(text, one.kind, folded.span(one.start, one.end), one.confidence)
        over_lines = "\n" in found.text and one.confidence < CERTAIN
        if found.text != one.text and not over_lines:
            yield found


def _candidates(text: str, patterns: Iterable[Pattern]) -> Iterator[Found]:
    yield from _emails(text)
    yield from secrets(text)
    if _DIGIT.search(text):
        for detect in (numbers, _hosts, _births, _addresses):
            yield from detect(text)
    for pattern in patterns:
        yield from pattern.findings(text)


# E-mail and network addresses.

_EMAIL: Final = re.compile(
    r"(?<![\w.%+-])[\w%+-][\w.%+-]{0,63}@(?:\w[\w-]{0,62}\.){1,8}([^\W\d_]{2,24}"
    r"|xn--[0-9a-z-]{2,59})(?![^\W_])"
)
_SPELT: Final = re.compile(
    r"(?<![\w.%+-])[\w%+-][\w.%+-]{0,63} ?[\[({] ?(?:at|@|arroba|chez|kropka) ?[\])}] ?\w[\w-]{0,62}"
    r"(?: ?(?:\.|[\[({] ?(?:dot|punkt|point|punto|ponto|\.) ?[\])}]) ?[^\W_]{2,24}){1,4}(?![^\W_])",
    re.IGNORECASE,
)
_FILES: Final = frozenset(
    ("png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "pdf", "py", "html", "json")
)
_BYTE: Final = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_IP4: Final = re.compile(rf"(?<![\w.-])(?:{_BYTE}\.){{3}}{_BYTE}(?!\w|[.-]\w)")
_IP6: Final = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,39}(?:(?:\.[0-9]{1,3}){3})?(?![\w:])"
)
_MAC: Final = re.compile(
    r"(?<![\w:-])(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})(?![\w:-])"
    r"|(?<![\w.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?!\w|\.\w)"
)


def _emails(text: str) -> Iterator[Found]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            if match[1].lower() not in _FILES:
                yield finding_at(text, Pii.EMAIL, match.span(), 0.3 if _is_remote(match) else 0.97)
    if any(bracket in text for bracket in "([{"):
        for match in _SPELT.finditer(text):
            yield finding_at(text, Pii.EMAIL, match.span(), 0.8)


def _is_remote(match: re.Match[str]) -> bool:
    """Returns whether it is the address of a git repository (`git@host.org:path`), not of a person."""
    return match[0].startswith("git@") and match.string[match.end() : match.end() + 1] in (":", "/")


def _hosts(text: str) -> Iterator[Found]:
    dots, colons = text.count("."), text.count(":")
    if dots >= 3:
        words = load_patterns()["hosts"]
        for match in _IP4.finditer(text):
            confidence = weigh_confidence(text, match.start(), words, alone=0.8, said=0.97)
            yield finding_at(text, Pii.IP, match.span(), confidence)
    if colons >= 2:
        for match in _IP6.finditer(text):
            if _is_ip6(match[0]):
                yield finding_at(text, Pii.IP, match.span(), 0.9)
    if colons >= 5 or dots >= 2 or text.count("-") >= 5:
        for match in _MAC.finditer(text):
            yield finding_at(text, Pii.MAC, match.span(), 0.9 if re.search("[A-Fa-f:]", match[0]) else 0.55)


def _is_ip6(text: str) -> bool:
    """Returns whether it is a valid IPv6 address with a digit, unlike the `::` of programs."""
    if text.count(":") < 2 or not _DIGIT.search(text):
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


# Dates of birth.


@cache
def _birth() -> re.Pattern[str]:
    words = load_patterns()["births"]
    months = rf"(?:{words['months']})[^\W\d_]{{0,9}}\.?"
    date = (
        r"[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./ ] ?[0-9]{1,2}[-./ ] ?[0-9]{4}"
        r"|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2}"
        rf"|[0-9]{{1,2}}(?:\.|st|nd|rd|th|er|º|°)?[ -](?:de |of |en )?{months},?[ -](?:de |del )?[0-9]{{4}}"
        rf"|{months} [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}}"
    )
    return re.compile(
        rf"(?<![^\W_])(?:{words['born']})(?![^\W_])[^0-9\n!?;]{{0,30}}?(?<![^\W_])(?P<date>{date})(?![^\W_])",
        re.IGNORECASE,
    )


def _births(text: str) -> Iterator[Found]:
    small = text.lower()
    if any(sign in small for sign in load_patterns()["births"]["signs"]):
        for match in _birth().finditer(text):
            if _is_calendar(match["date"]):
                yield finding_at(text, Pii.BIRTH, match.span("date"), 0.9)


def _is_calendar(date: str) -> bool:
    """Returns whether day, month and year form a date, in any order that the formats allow."""
    parts = [int(part) for part in re.findall("[0-9]+", date)]
    if len(parts) == 2:  # a month by name
        return 1 <= min(parts) <= 31 and 1850 <= max(parts) <= 2100
    first, second, third = parts
    if first > 31:
        return _is_date(first, second, third)
    return _is_date(max(third, 1), second, first) or _is_date(max(third, 1), first, second)


def _is_date(year: int, month: int, day: int) -> bool:
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


# Postal addresses: street and number, with postcode and city where they follow. Best effort.

_U: Final = "A-ZÀ-ÖØ-ÞĄĆĘŁŃŚŹŻČŠŽ"
_WORD: Final = rf"[{_U}][\w'’-]{{0,30}}\.?"  # a name begins with a capital
_SMALL: Final = (
    r"(?:de la|de los|de las|de l'|de|del|della|dei|delle|degli|di|d'|da|das|do|dos|du|des|la|le|les|l'"
    r"|van|van de|van der|den|der|y|e|i|of|the|och)"
)
_NAMES: Final = rf"(?:{_SMALL}[ ']?){{0,2}}{_WORD}(?: (?:{_SMALL}[ ']?){{0,2}}{_WORD}){{0,3}}"
_NUMBER: Final = r"(?:n[.º°o]{1,2} ?)?[0-9]{1,4}(?: ?[a-zA-Z](?![\w]))?(?:[/-][0-9]{1,4}[a-z]?)?"
_POST: Final = (
    r"(?:[A-Z]{1,2}-)?(?:[0-9]{5}|[0-9]{4} ?[A-Z]{2}|[0-9]{2}-[0-9]{3}|[0-9]{4}-[0-9]{3}|[0-9]{3} [0-9]{2})"
)
_UK_POST: Final = r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"
_TOWN: Final = rf"[{_U}][\w'’-]{{0,30}}"
_CITY: Final = rf"{_TOWN}(?:[ -]{_TOWN}){{0,2}}"
_FLAT: Final = r"(?:,? (?:Apt|Apartment|Flat|Unit|Suite|Apto|piso|interno|m\.)\.? ?#?[0-9]{1,4}[A-Za-z]?)?"
_TAIL: Final = (
    rf"{_FLAT}(?:,?[ \n]{{1,2}}{_POST},?[ ]{_CITY}|,[ \n]{_CITY}, [A-Z]{{2}} [0-9]{{5}}(?:-[0-9]{{4}})?"
    rf"|,[ \n]{_CITY},? {_UK_POST})?"
)
# By the name of a list of street words: an address around one of them.
_STREETS: Final = {
    "english": rf"[0-9]{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?(?:{_WORD} |[0-9]{{1,3}}(?:st|nd|rd|th) ){{1,3}}@\.?",
    "french": rf"[0-9]{{1,4}}(?: ?(?:bis|ter))?,? (?i:@) {_NAMES}",
    "apart": rf"(?:{_WORD}[ -]){{1,3}}@ {_NUMBER}",
    "leading": rf"@ {_NAMES},? {_NUMBER}",
    "tailed": rf"[{_U}][\w-]{{1,30}}?@ {_NUMBER}",
}


@cache
def _street(name: str) -> tuple[re.Pattern[str], frozenset[str], tuple[str, ...]]:
    """Returns the pattern, the words of which a text needs one, and the word endings that also suffice."""
    words: str = load_patterns()["streets"][name]
    whole = _STREETS[name].replace("@", f"(?:{words})")
    plain = re.sub(r"\[(\w)(\w)\]", r"\2", words.replace("stra(?:ß|ss)e", "straße|strasse"))
    bare = frozenset(word.strip(".").lower() for word in plain.replace("\\", "").split("|"))
    shape = re.compile(rf"(?<![\w.,-])(?:{whole})(?!\w){_TAIL}(?!\w)")
    return (shape, frozenset(), tuple(bare)) if name == "tailed" else (shape, bare, ())


def _addresses(text: str) -> Iterator[Found]:
    words = {word.strip(".,;:()") for word in text.lower().split()}
    for name in _STREETS:
        shape, needed, endings = _street(name)
        if not needed.isdisjoint(words) or (endings and any(word.endswith(endings) for word in words)):
            for match in shape.finditer(text):
                postcode = re.search(rf"{_POST}|{_UK_POST}", match[0])
                yield finding_at(text, Pii.ADDRESS, match.span(), 0.95 if postcode else 0.65)


# Keys, tokens and passwords.

_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_WORDS = re.compile(r"aws|secret", re.IGNORECASE)
_CODE = re.compile(r"[(\[{<$%]|^os\.|^self\.|^process\.|^settings\.|^config\.|^env\b|^\*+$|^x{3,}$|^\.{3}")


@cache
def _named() -> re.Pattern[str]:
    words = load_patterns()["secrets"]
    return re.compile(
        rf"(?<![^\W_])(?:(?P<word>{words['hidden']})|(?P<token>{words['tokens']}))"
        r"(?:[\"'`*]{0,3}\s{0,3}(?P<sign>:|=>?)|\s{1,3}(?:is|ist|lautet|est|es|è|é|to|är|jest)(?=\s))"
        r"\s{0,3}[\"'`*]{0,3}(?P<value>[^\s\"'`]{3,200})",
        re.IGNORECASE,
    )


def secrets(text: str) -> Iterator[Found]:
    """Yields keys, tokens and passwords. Looks for plain strings first, which is cheaper than a pattern."""
    words, small = load_patterns()["secrets"], text.lower()
    if any(sign in text for sign in words["signs"]) or any(sign in small for sign in words["small_signs"]):
        yield from _find_by_shape(text)
    if any(sign in small for sign in words["name_signs"]):
        yield from _find_by_name(text)


def _find_by_shape(text: str) -> Iterator[Found]:
    for shape, confidence, check in _shapes():
        for match in shape.finditer(text):
            group = match.lastindex or 0
            if check(match[group]):
                yield finding_at(text, Pii.SECRET, match.span(group), confidence)
    for match in _AWS_SECRET.finditer(text):
        if _is_mixed(match[0]) and _AWS_WORDS.search(text, max(0, match.start() - 60), match.start()):
            yield finding_at(text, Pii.SECRET, match.span(), 0.95)


@cache
def _shapes() -> list[tuple[re.Pattern[str], float, Callable[[str], bool]]]:
    """Returns each shape with the confidence of a match, and a check of its last group or of all of it."""
    rows = load_patterns()["keys"]
    return [(re.compile(row["shape"]), row["confidence"], _CHECKS[row.get("check", "any")]) for row in rows]


def _has_digit(value: str) -> bool:
    return re.search("[0-9]", value) is not None


def _is_credential(value: str) -> bool:
    """Returns whether it is more than a placeholder such as `valid_token` or `YOUR_API_KEY`."""
    mixed = value.lower() != value != value.upper()
    return _has_digit(value) or (mixed and len(value) >= 12)


def _is_basic(code: str) -> bool:
    """Returns whether it is the base64 of `name:password`, as in an HTTP header."""
    try:
        decoded = b64decode(code + "=" * (-len(code) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _is_mixed(text: str) -> bool:
    return all(re.search(some, text) for some in ("[a-z]", "[A-Z]", "[0-9]"))


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "any": bool,
    "digit": _has_digit,
    "credential": _is_credential,
    "basic": _is_basic,
}


def _find_by_name(text: str) -> Iterator[Found]:
    """Yields the values after names such as `password:` or `api_key=`, without closing punctuation."""
    for match in _named().finditer(text):
        value = match["value"].rstrip(".,;:!?)]}>*")
        confidence = _likely(value, word=match["word"] is not None, sign=match["sign"])
        if confidence:
            start = match.start("value")
            yield finding_at(text, Pii.SECRET, (start, start + len(value)), confidence)


def _likely(value: str, *, word: bool, sign: str | None) -> float:
    """Estimates the confidence that a value is a secret rather than a word about one."""
    if len(value) < 3 or value.lower() in load_patterns()["secrets"]["no_values"] or _CODE.search(value):
        return 0.0
    odd = bool(re.search(r"[0-9!@#$%^&*_+=~?]", value)) or (
        value.lower() != value and value[1:] != value[1:].lower()
    )
    if odd and (word or len(value) >= 8):
        return 0.9 if sign else 0.75
    return 0.6 if word and sign and len(value) >= 4 else 0.3
