"""Signs that people do not see or read as others hide no number or address; keys of clouds are found."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from random import Random

import pytest

from eidet.trust.privacy import Policy, find, guard

REDACT = Policy(default="redact")
VALUES = {
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "iban with letters": "GB29 NWBK 6016 1331 9268 19",
    "iban of old": "DE 89 37040044 0532013000",
    "card of 15": "3782 822463 10005",
    "phone": "+49 30 123456 78",
    "national_id": "536-22-8145",
    "email": "ann.smith@example.com",
}


def widen(value: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in value)


def spread(sign: str) -> Callable[[str], str]:
    return sign.join


def space(sign: str) -> Callable[[str], str]:
    return lambda value: value.replace(" ", sign)


def dash(sign: str) -> Callable[[str], str]:
    return lambda value: value.replace("-", sign)


HIDING: dict[str, Callable[[str], str]] = {
    "zero-width space": spread("\u200b"),
    "zero-width joiner": spread("\u200d"),
    "word joiner": spread("\u2060"),
    "byte order mark": spread("\ufeff"),
    "soft hyphen": spread("\u00ad"),
    "direction mark": spread("\u200e"),
    "full-width signs": widen,
    "thin space": space("\u2009"),
    "narrow space": space("\u202f"),
    "ideographic space": space("\u3000"),
    "two spaces": space("  "),
    "three spaces": space("   "),
    "tab": space("\t"),
    "hyphen": space("-"),
    "spaced hyphen": space(" - "),
    "spaced en dash": space(" \u2013 "),
    "two hyphens": space("--"),
    "dot": space("."),
    "slash": space("/"),
    "line break": space("\n"),
    "windows line break": space("\r\n"),
    "en dash": dash("\u2013"),
    "em dash": dash("\u2014"),
    "minus": dash("\u2212"),
    "no-break hyphen": dash("\u2011"),
    "arabic digits": lambda value: value.translate({ord("0") + n: 0x660 + n for n in range(10)}),
    "mixed": lambda value: widen(value.replace("-", "\u2013").replace(" ", "\u2009\u200b")),
}


@pytest.mark.parametrize("way", HIDING)
@pytest.mark.parametrize("kind", VALUES)
def test_what_is_hidden_is_found_where_it_stands(kind: str, way: str) -> None:
    hidden = HIDING[way](VALUES[kind])
    before, after = "Please note é: ", " — thanks\u200b!"
    text = before + hidden + after
    [found] = find(text)
    assert found.kind == kind.partition(" ")[0]
    assert (found.start, found.end) == (len(before), len(before) + len(hidden))
    assert found.text == text[found.start : found.end] == hidden
    guarded = guard(text, REDACT)
    assert guarded.value == f"{before}[{found.kind.upper()}]{after}"
    assert guard(guarded.value, REDACT).value == guarded.value


def test_a_line_break_hides_no_telephone_after_its_word_and_no_mail() -> None:
    assert [one.kind for one in find("call me: 0171\n555 1234")] == ["phone"]
    assert [one.kind for one in find("write to ann@\nexample.com today")] == ["email"]


ORDINARY = [
    "Rows:\n12 345\n678 901\n234 567\n",
    "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
    "from 2019–2021 and 2022–2024, pages 10–20",
    "a  table  of  12  34  56  78  90",
    "```python\n@app.route('/x')\n```",
    "login_required\n@cache.cached(timeout=50)",
    "Full-width prose ＡＢＣ and １２３ things",
    "Basic training starts on Monday; basic authentication is old.",
    "basic Y2F0cyBhbmQgZG9ncw== is only base64",
    "Authorization: Bearer valid_token",
    "Authorization: Bearer <token>",
    'headers = {"Authorization": f"Bearer {token}"}',
    "curl -H 'Authorization: Bearer YOUR_ACCESS_TOKEN'",
    "The signature sig=short and AccountKey=… are left out",
    "the secret is patience",
    "password: required",
    "token: str",
    'api_key = os.environ["X"]',
    "std::vector",
    "see 1.2.3",
    "git@example.org:a/b.git",
    "icon@2x.png",
    "on 12 March 1987",
    "version 1.2.3.4",
    "at 12:30:45",
    "Mentoring 101",
    "there is 12 of them and 4 came in at noon with 20 more",
    "is 12 345 678 901 234 567 890 123 456 a large number",
    "from 10 - 12 and 14 - 16 on 2024 - 05 - 12",
    "version 4.12.0111.1111 of 2021.11.30",
    "family 👨\u200d👩\u200d👧 and می\u200cخواهم",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert find(text) == []


random = Random(4)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def letters(count: int, of: str = LETTERS) -> str:
    return "".join(random.choice(of) for _ in range(count - 1)) + "7"


HEX, CAPITALS = "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
KEYS = {
    "aws": "AKIA" + letters(16, CAPITALS),
    "aws temporary": "ASIA" + letters(16, CAPITALS),
    "gcp": "AIza" + letters(35),
    "gcp client": "GOCSPX-" + letters(28),
    "gcp token": "ya29." + letters(60),
    "azure client": letters(3) + "8Q~" + letters(34),
    "alibaba": "LTAI" + letters(20),
    "tencent": "AKID" + letters(32),
    "github": "ghp_" + letters(36),
    "github fine": "github_pat_" + letters(60),
    "gitlab": "glpat-" + letters(20),
    "slack": "xoxb-" + letters(40),
    "stripe": "sk_live_" + letters(24),
    "stripe hook": "whsec_" + letters(32),
    "openai": "sk-proj-" + letters(60),
    "anthropic": "sk-ant-api03-" + letters(80),
    "groq": "gsk_" + letters(52),
    "xai": "xai-" + letters(80),
    "replicate": "r8_" + letters(37),
    "hugging face": "hf_" + letters(34),
    "sendgrid": f"SG.{letters(22)}.{letters(43)}",
    "shopify": "shpat_" + letters(32, HEX),
    "digitalocean": "dop_v1_" + letters(64, HEX),
    "databricks": "dapi" + letters(32, HEX),
    "docker": "dckr_pat_" + letters(27),
    "vault": "hvs." + letters(90),
    "pypi": "pypi-" + letters(100),
    "telegram": "123456789:AA" + letters(33),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("around", ["{}", "use {} there", 'KEY="{}"', "{}.", "\u200b{}\u200b"])
def test_the_keys_of_clouds_are_found(name: str, around: str) -> None:
    [found] = find(around.format(KEYS[name]))
    assert (found.kind, found.text.strip("\u200b")) == ("secret", KEYS[name])


PAIR = b64encode(b"ann:s3cret pass").decode()
STORAGE = b64encode(bytes(range(64))).decode()
HEADERS = {
    f"Authorization: Basic {PAIR}": PAIR,
    f"authorization: basic {PAIR}": PAIR,
    f"curl -H 'Authorization: Basic {PAIR}' https://x.org": PAIR,
    f"Basic {PAIR}": PAIR,
    '{"Authorization": "Bearer abc123def"}': "abc123def",
    "Proxy-Authorization: Bearer 9a8b7c6d": "9a8b7c6d",
    "Authorization: Token 9944b09199c62bcf": "9944b09199c62bcf",
    "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9": "eyJhbGciOiJIUzI1NiJ9",
    f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={STORAGE};": STORAGE,
    "https://a.blob.core.windows.net/c?sv=2022&sig=abcDEF123%2Babcdefghijklmnopqrstuvwxyz012345%3D": (
        "abcDEF123%2Babcdefghijklmnopqrstuvwxyz012345%3D"
    ),
}


@pytest.mark.parametrize("text", HEADERS)
def test_headers_and_connection_strings_are_found(text: str) -> None:
    [found] = find(text)
    assert (found.kind, found.text) == ("secret", HEADERS[text])


@pytest.mark.parametrize("action", ["hash", "mask"])
@pytest.mark.parametrize("kind", VALUES)
def test_a_hidden_value_has_the_token_of_the_plain_one(kind: str, action: str) -> None:
    def token(value: str) -> str:
        return str(guard(f"it is {value}", Policy(default=action), b"k" * 32).value)

    plain = token(VALUES[kind])
    assert VALUES[kind] not in plain
    for how, hide in HIDING.items():
        assert token(hide(VALUES[kind])) == plain, how
