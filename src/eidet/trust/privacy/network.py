"""E-mail, IP and MAC addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from .findings import Found, Pii, finding_at, leaning, weigh_confidence

_EMAIL = re.compile(
    r"(?<![\w.%+-])[\w%+-][\w.%+-]{0,63}@(?:\w[\w-]{0,62}\.){1,8}([^\W\d_]{2,24}"
    r"|xn--[0-9a-z-]{2,59})(?![^\W_])"
)
_SPELT = re.compile(
    r"(?<![\w.%+-])[\w%+-][\w.%+-]{0,63} ?[\[({] ?(?:at|@|arroba|chez|kropka) ?[\])}] ?\w[\w-]{0,62}"
    r"(?: ?(?:\.|[\[({] ?(?:dot|punkt|point|punto|ponto|\.) ?[\])}]) ?[^\W_]{2,24}){1,4}(?![^\W_])",
    re.IGNORECASE,
)
_FILES = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "pdf", "py", "html", "json"}
)
_IP4 = re.compile(
    r"(?<![\w.-])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?!\w"
    r"|[.-]\w)"
)
_IP6 = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,39}(?:(?:\.[0-9]{1,3}){3})?(?![\w:])")
_MAC = re.compile(
    r"(?<![\w:-])(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})(?![\w:-])"
    r"|(?<![\w.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?!\w|\.\w)"
)
_HOST = r"ips?|ip[- ]?(?:v[46]|address\w*|adres\w*)|host\w*|server\w*|ping|address\w*|adress\w*|adres\w*"


def emails(text: str) -> Iterator[Found]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            if match[1].lower() not in _FILES:
                yield finding_at(text, Pii.EMAIL, match.span(), _certainty(text, match))
    if any(bracket in text for bracket in "([{"):
        for match in _SPELT.finditer(text):
            yield finding_at(text, Pii.EMAIL, match.span(), 0.8)


def _certainty(text: str, match: re.Match[str]) -> float:
    """`git@host.org:path` is where code lives, not whom to write to."""
    remote = match[0].startswith("git@") and text[match.end() : match.end() + 1] in (":", "/")
    if remote:
        return 0.3
    return 0.97


def hosts(text: str) -> Iterator[Found]:
    dots, colons = text.count("."), text.count(":")
    if dots >= 3:
        for match in _IP4.finditer(text):
            lean = leaning(text, match.start(), _HOST)
            yield finding_at(text, Pii.IP, match.span(), weigh_confidence(lean, alone=0.8, said=0.97))
    if colons >= 2:
        yield from (
            finding_at(text, Pii.IP, match.span(), 0.9) for match in _IP6.finditer(text) if _is_ip6(match[0])
        )
    if colons < 5 and dots < 2 and text.count("-") < 5:
        return
    for match in _MAC.finditer(text):
        yield finding_at(text, Pii.MAC, match.span(), 0.9 if re.search("[A-Fa-f:]", match[0]) else 0.55)


def _is_ip6(text: str) -> bool:
    """Valid, and more than the `::` of programs: it has a digit and at least two groups, or is ::1."""
    if text.count(":") < 2 or not re.search("[0-9]", text):
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True
