"""Keys, tokens and passwords."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from .findings import Found, Pii, finding_at

# Without any of these there is nothing to look for: a look for plain strings costs less than a pattern.
_SIGNS = (
    "sk-",
    "k_live_",
    "k_test_",
    "AKIA",
    "ASIA",
    "AIDA",
    "AROA",
    "AGPA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "npm_",
    "hf_",
    "xox",
    "xapp-",
    "hooks.slack",
    "AIza",
    "ya29.",
    "GOCSPX-",
    "ABIA",
    "ACCA",
    "LTAI",
    "AKID",
    "8Q~",
    "AccountKey=",
    "SharedAccessKey=",
    "sig=",
    "whsec_",
    "SG.",
    "shpat_",
    "shpss_",
    "dop_v1_",
    "dapi",
    "gsk_",
    "xai-",
    "pplx-",
    "r8_",
    "pypi-",
    "dckr_pat_",
    "hvs.",
    "ATATT3",
    "lin_api_",
    "AGE-SECRET-KEY-1",
    ":AA",
    "eyJ",
    "-----BEGIN",
    "://",
)
_SMALL_SIGNS = ("bearer", "aws", "secret", "authorization", "basic ")
_NAME_SIGNS = (
    "pass",
    "pwd",
    "kennwort",
    "mdp",
    "contrase",
    "clave",
    "senha",
    "palavra",
    "wachtwoord",
    "hasło",
    "haslo",
    "lösen",
    "losen",
    "parola",
    "pin",
    "key",
    "secret",
    "token",
)
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

_HIDDEN_WORDS = (
    r"pass ?word|passwd|pwd|pass ?phrase|passcode|passwort|kennwort|passwörter|mot de passe|mdp|contraseña"
    r"|contrasena|clave"
    r"|senha|palavra-passe|wachtwoord|hasło|haslo|lösenord|losenord|parola d'ordine|pin(?:[ -]?code)?"
)
_TOKENS = (
    r"api[ _-]?key|apikey|secret(?:[ _-]?key)?|access[ _-]?(?:key|token)|auth[ _-]?token"
    r"|client[ _-]?secret|private[ _-]?key|token"
)
_NAMED = re.compile(
    rf"(?<![^\W_])(?:(?P<word>{_HIDDEN_WORDS})|(?P<token>{_TOKENS}))(?:[\"'`*]{{0,3}}\s{{0,3}}(?P<sign>:|=>?)"
    rf"|\s{{1,3}}(?:is|ist|lautet|est|es|è|é|to|är|jest)(?=\s))"
    r"\s{0,3}[\"'`*]{0,3}(?P<value>[^\s\"'`]{3,200})",
    re.IGNORECASE,
)
_NO_VALUE = frozenset(
    [
        "none",
        "null",
        "nil",
        "true",
        "false",
        "str",
        "string",
        "bytes",
        "int",
        "required",
        "optional",
        "missing",
        "wrong",
        "incorrect",
        "invalid",
        "expired",
        "unknown",
        "undefined",
        "empty",
        "changed",
        "reset",
        "valid",
        "correct",
        "correcto",
        "not",
        "the",
        "and",
        "his",
        "her",
        "your",
        "my",
        "our",
        "their",
        "too",
        "very",
        "here",
        "there",
        "something",
        "anything",
        "nothing",
        "secure",
        "weak",
        "strong",
        "enabled",
        "disabled",
        "default",
        "text",
        "hidden",
        "password",
        "token",
        "secret",
    ]
)
_CODE = re.compile(r"[(\[{<$%]|^os\.|^self\.|^process\.|^settings\.|^config\.|^env\b|^\*+$|^x{3,}$|^\.{3}")


def secrets(text: str) -> Iterator[Found]:
    small = text.lower()
    if any(sign in text for sign in _SIGNS) or any(sign in small for sign in _SMALL_SIGNS):
        yield from _find_by_shape(text)
    if any(sign in small for sign in _NAME_SIGNS):
        yield from _find_by_name(text)


def _find_by_shape(text: str) -> Iterator[Found]:
    for shape in (_KEYS, _PEM, _SLACK_HOOK):
        yield from (finding_at(text, Pii.SECRET, match.span(), 0.98) for match in shape.finditer(text))
    for match in _SK.finditer(text):
        if re.search("[0-9]", match[0]):
            yield finding_at(text, Pii.SECRET, match.span(), 0.95)
    yield from _find_in_headers(text)
    for match in _AWS_SECRET.finditer(text):
        if _is_mixed(match[0]) and _AWS_WORDS.search(text, max(0, match.start() - 60), match.start()):
            yield finding_at(text, Pii.SECRET, match.span(), 0.95)


def _find_in_headers(text: str) -> Iterator[Found]:
    """What follows a scheme, the name of a header or the name of a parameter."""
    for shape in (_IN_URL, _BEARER):
        yield from (finding_at(text, Pii.SECRET, match.span(1), 0.9) for match in shape.finditer(text))
    for match in _HEADER.finditer(text):
        if _is_credential(match[1]):
            yield finding_at(text, Pii.SECRET, match.span(1), 0.9)
    for match in _AZURE_CLIENT.finditer(text):
        yield finding_at(text, Pii.SECRET, match.span(), 0.95)
    for match in _AZURE.finditer(text):
        yield finding_at(text, Pii.SECRET, match.span(match.lastindex or 0), 0.95)
    for match in _BASIC.finditer(text):
        if _is_basic(match[1]):
            yield finding_at(text, Pii.SECRET, match.span(1), 0.95)


def _is_credential(value: str) -> bool:
    """Whether it is more than a word for one, such as `valid_token` or `YOUR_API_KEY`."""
    mixed = value.lower() != value != value.upper()
    return bool(re.search("[0-9]", value)) or (mixed and len(value) >= 12)


def _is_basic(code: str) -> bool:
    """Whether it is the base64 of `name:password`, as the header of HTTP has it."""
    try:
        decoded = b64decode(code + "=" * (-len(code) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _is_mixed(text: str) -> bool:
    return all(re.search(some, text) for some in ("[a-z]", "[A-Z]", "[0-9]"))


def _find_by_name(text: str) -> Iterator[Found]:
    """What follows `password:` or `api_key=`, without the punctuation that ends the sentence."""
    for match in _NAMED.finditer(text):
        value = match["value"].rstrip(".,;:!?)]}>*")
        confidence = _likely(value, word=match["word"] is not None, sign=match["sign"])
        if confidence:
            start = match.start("value")
            yield finding_at(text, Pii.SECRET, (start, start + len(value)), confidence)


def _likely(value: str, *, word: bool, sign: str | None) -> float:
    """How sure it is that this is a secret and not a word about one."""
    if len(value) < 3 or value.lower() in _NO_VALUE or _CODE.search(value):
        return 0.0
    odd = bool(re.search(r"[0-9!@#$%^&*_+=~?]", value)) or (
        value.lower() != value and value[1:] != value[1:].lower()
    )
    if odd and (word or len(value) >= 8):
        if sign:
            return 0.9
        return 0.75
    if word and sign and len(value) >= 4:
        return 0.6
    return 0.3
