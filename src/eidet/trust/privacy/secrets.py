"""Keys, tokens and passwords."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from .findings import Found, Pii, finding_at, load_patterns

_KEYS = re.compile(
    r"""(?<![\w-])(?:
      (?:AKIA|ASIA|AIDA|AROA|AGPA|ABIA|ACCA)[A-Z0-9]{16}(?!\w)
    | GOCSPX-[\w-]{28}
    | LTAI[A-Za-z0-9]{16,20}(?!\w)
    | AKID[A-Za-z0-9]{32}(?!\w)
    | whsec_[A-Za-z0-9+/]{24,}={0,2}
    | SG\.[\w-]{16,32}\.[\w-]{32,64}
    | shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}
    | dop_v1_[a-f0-9]{64}
    | dapi[a-f0-9]{32}
    | gsk_[A-Za-z0-9]{40,}
    | xai-[A-Za-z0-9]{40,}
    | pplx-[A-Za-z0-9]{40,}
    | r8_[A-Za-z0-9]{37}
    | pypi-[\w-]{50,}
    | dckr_pat_[\w-]{20,}
    | hvs\.[\w-]{24,}
    | ATATT3[\w=-]{50,}
    | lin_api_[A-Za-z0-9]{32,}
    | AGE-SECRET-KEY-1[A-Z0-9]{58}
    | [0-9]{8,10}:AA[\w-]{33}(?!\w)
    | gh[pousr]_[A-Za-z0-9]{30,}
    | github_pat_\w{22,}
    | glpat-[\w-]{20,}
    | npm_[A-Za-z0-9]{36}
    | hf_[A-Za-z0-9]{30,}
    | [sr]k_(?:live|test)_[0-9A-Za-z]{16,}
    | (?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}
    | AIza[\w-]{35}
    | ya29\.[\w-]{20,}
    | eyJ[\w-]+\.[\w-]+\.[\w-]*
    )""",
    re.VERBOSE | re.ASCII,
)
_SK = re.compile(r"(?<![\w-])sk-[\w-]{20,}", re.ASCII)
_SLACK_HOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/[\w/-]{10,}", re.ASCII)
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\s{0,9}(?:[\w-]{1,30}: [^\n]{0,100}\n\s{0,9}){0,5}"
    r"[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_IN_URL = re.compile(r"(?<=://)[^\s/:@]{0,64}:([^\s/@]{1,200})@")
_AZURE_CLIENT = re.compile(r"(?<![\w~.-])[\w~.-]{3}8Q~[\w~.-]{31,34}(?![\w~-])", re.ASCII)
_AZURE = re.compile(
    r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,100}={0,2})|[?&;]sig=([A-Za-z0-9%+/]{30,120}={0,2})"
)
_HEADER = re.compile(
    r"authorization[\"'`]{0,2}\s{0,3}[:=]\s{0,3}[\"'`]{0,2}(?:bearer|basic|token|apikey|digest|negotiate)\s{1,3}"
    r"([^\s\"'`,;<>{}\[\]$]{6,4000})",
    re.IGNORECASE,
)
_BASIC = re.compile(r"\bbasic\s{1,3}([A-Za-z0-9+/]{8,2000}={0,2})(?![\w+/=])", re.IGNORECASE | re.ASCII)
_BEARER = re.compile(r"\bbearer\s{1,3}([\w.~+/-]{20,}={0,2})", re.IGNORECASE | re.ASCII)
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
    """Looks for plain strings first: that costs less than a pattern."""
    words, small = load_patterns()["secrets"], text.lower()
    if any(sign in text for sign in words["signs"]) or any(sign in small for sign in words["small_signs"]):
        yield from _find_by_shape(text)
    if any(sign in small for sign in words["name_signs"]):
        yield from _find_by_name(text)


def _find_by_shape(text: str) -> Iterator[Found]:
    for shape, confidence, check in _SHAPES:
        for match in shape.finditer(text):
            group = match.lastindex or 0
            if check is None or check(match[group]):
                yield finding_at(text, Pii.SECRET, match.span(group), confidence)
    for match in _AWS_SECRET.finditer(text):
        if _is_mixed(match[0]) and _AWS_WORDS.search(text, max(0, match.start() - 60), match.start()):
            yield finding_at(text, Pii.SECRET, match.span(), 0.95)


def _has_digit(value: str) -> bool:
    return re.search("[0-9]", value) is not None


def _is_credential(value: str) -> bool:
    """Whether it is more than a word for one, such as `valid_token` or `YOUR_API_KEY`."""
    mixed = value.lower() != value != value.upper()
    return _has_digit(value) or (mixed and len(value) >= 12)


def _is_basic(code: str) -> bool:
    """Whether it is the base64 of `name:password`, as the header of HTTP has it."""
    try:
        decoded = b64decode(code + "=" * (-len(code) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _is_mixed(text: str) -> bool:
    return all(re.search(some, text) for some in ("[a-z]", "[A-Z]", "[0-9]"))


# Each with how certain a match is, and a check of its last group or of all of it.
_SHAPES: Final[tuple[tuple[re.Pattern[str], float, Callable[[str], bool] | None], ...]] = (
    (_KEYS, 0.98, None),
    (_PEM, 0.98, None),
    (_SLACK_HOOK, 0.98, None),
    (_SK, 0.95, _has_digit),
    (_IN_URL, 0.9, None),
    (_BEARER, 0.9, None),
    (_HEADER, 0.9, _is_credential),
    (_AZURE_CLIENT, 0.95, None),
    (_AZURE, 0.95, None),
    (_BASIC, 0.95, _is_basic),
)


def _find_by_name(text: str) -> Iterator[Found]:
    """What follows `password:` or `api_key=`, without the punctuation that ends the sentence."""
    for match in _named().finditer(text):
        value = match["value"].rstrip(".,;:!?)]}>*")
        confidence = _likely(value, word=match["word"] is not None, sign=match["sign"])
        if confidence:
            start = match.start("value")
            yield finding_at(text, Pii.SECRET, (start, start + len(value)), confidence)


def _likely(value: str, *, word: bool, sign: str | None) -> float:
    """How sure it is that this is a secret and not a word about one."""
    if len(value) < 3 or value.lower() in load_patterns()["secrets"]["no_values"] or _CODE.search(value):
        return 0.0
    odd = bool(re.search(r"[0-9!@#$%^&*_+=~?]", value)) or (
        value.lower() != value and value[1:] != value[1:].lower()
    )
    if odd and (word or len(value) >= 8):
        return 0.9 if sign else 0.75
    return 0.6 if word and sign and len(value) >= 4 else 0.3
