"""A labelled set in ten locales: made-up people, valid numbers, and near misses that are nobody's.

Everything comes from a seed. Nothing is taken from a real person or an outside list.
"""

from __future__ import annotations

import json
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from stdnum import isbn

from eidet.trust.privacy import Found, find

from .digits import card, draw, fill, iban, national_id

FIRST, MONTHS, PHONES, SAYINGS, STREETS, TOWNS, NEGATIVES = json.loads(
    Path(__file__).with_name("locales.json").read_text(encoding="utf-8")
).values()
LOCALES = tuple(FIRST)
KINDS = ("email", "phone", "card", "iban", "national_id", "ip", "mac", "secret", "birth", "address")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A sentence, and the stretch of it that is personal; None for a near miss."""

    locale: str
    kind: str
    text: str
    value: str | None


def cases(seed: int = 7, each: int = 12) -> Iterator[Case]:
    random = Random(seed)
    for locale in LOCALES:
        for kind in KINDS:
            for _ in range(each):
                yield _case(random, locale, kind)
        for _ in range(5 * each):
            yield Case(locale=locale, kind="none", text=_near_miss(random, locale), value=None)


def _case(random: Random, locale: str, kind: str) -> Case:
    value = _value(random, locale, kind)
    said = random.choice(SAYINGS[locale][kind])
    return Case(
        locale=locale, kind=kind, text=said.format(value, who=random.choice(FIRST[locale])), value=value
    )


def _value(random: Random, locale: str, kind: str) -> str:
    return {
        "email": lambda: _email(random, locale),
        "phone": lambda: _filled(random, random.choice(PHONES[locale])),
        "card": lambda: card(random),
        "iban": lambda: iban(random, locale),
        "national_id": lambda: national_id(random, locale),
        "ip": lambda: _ip(random),
        "mac": lambda: _mac(random),
        "secret": lambda: _secret(random),
        "birth": lambda: _birth(random, locale),
        "address": lambda: _address(random, locale),
    }[kind]()


def _filled(random: Random, shape: str) -> str:
    """`#` is any digit, `N` one from 2 to 9, `A` a capital."""
    return fill(random, shape, {"#": string.digits, "N": "23456789", "A": "ABCDEFGHJKLNPRSTUW"})


def _email(random: Random, locale: str) -> str:
    name = random.choice(FIRST[locale]).lower()
    host = random.choice(["example.com", "mail.example.org", "firma.example", f"post.{locale[-2:].lower()}"])
    return random.choice([f"{name}@{host}", f"{name}.{random.randint(10, 99)}@{host}", f"{name}+list@{host}"])


def _ip(random: Random) -> str:
    four = ".".join(str(random.randint(1, 254)) for _ in range(4))
    six = ":".join(f"{random.randrange(65536):x}" for _ in range(8))
    return random.choice([four, four, six, f"fe80::{random.randrange(65536):x}:{random.randint(1, 9)}"])


def _mac(random: Random) -> str:
    sign = random.choice(":-")
    return sign.join(["0a", *(f"{random.randrange(256):02x}" for _ in range(5))])


def _secret(random: Random) -> str:
    def some(count: int, signs: str = string.ascii_letters + string.digits) -> str:
        return "a1Z" + "".join(random.choice(signs) for _ in range(count - 3))

    big = string.ascii_uppercase + string.digits
    return random.choice(
        [
            f"sk-{some(40)}",
            f"sk-proj-{some(48)}",
            "AKIA" + "".join(random.choice(big) for _ in range(16)),
            f"ghp_{some(36)}",
            f"github_pat_{some(60)}",
            fill(random, "xoxb-###########-") + some(24),
            f"AIza{some(35)}",
            f"eyJ{some(20)}.eyJ{some(30)}.{some(43)}",
            f"-----BEGIN RSA PRIVATE KEY-----\n{some(64)}\n{some(30)}\n-----END RSA PRIVATE KEY-----",
        ]
    )


def _birth(random: Random, locale: str) -> str:
    year, month, day = random.randint(1930, 2009), random.randint(1, 12), random.randint(1, 28)
    name = MONTHS[locale][month - 1]
    plain = f"{month:02}/{day:02}/{year}" if locale == "en-US" else f"{day:02}.{month:02}.{year}"
    spelt = (
        f"{name} {day}, {year}"
        if locale == "en-US"
        else f"{day}. {name} {year}"
        if locale == "de-DE"
        else None
    )
    joint = " de " if locale in ("es-ES", "pt-PT") else " "
    return random.choice([plain, f"{year}-{month:02}-{day:02}", spelt or f"{day}{joint}{name}{joint}{year}"])


def _address(random: Random, locale: str) -> str:
    street, tail = random.choice(STREETS[locale]), random.choice(TOWNS[locale])
    line = street.format(random.randint(1, 199))
    return line if random.random() < 0.3 else f"{line}, {_filled(random, tail[0])}{tail[1]}"


def _near_miss(random: Random, locale: str) -> str:
    shape, sentence = map(str, random.choice(NEGATIVES[locale] + NEGATIVES["all"]))
    return sentence.format(
        _isbn(random)
        if shape == "isbn"
        else card(random, right=False)
        if shape == "card"
        else _filled(random, shape)
    )


def _isbn(random: Random) -> str:
    return draw(random, ["978-#-####-####-#"], isbn.is_valid)


@dataclass(slots=True)
class Score:
    right: int = 0
    missed: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def scores(all_cases: Iterable[Case]) -> dict[tuple[str, str], Score]:
    """By class and locale. Right: the same class over at least nine tenths of the value."""
    table: dict[tuple[str, str], Score] = defaultdict(Score)
    for case in all_cases:
        found = find(case.text)
        right = [one for one in found if _is_right(one, case)]
        if case.value is not None:
            score = table[case.kind, case.locale]
            score.right, score.missed = score.right + bool(right), score.missed + (not right)
        for one in found:
            table[one.kind, case.locale].wrong += one not in right
    return dict(table)


def _is_right(one: Found, case: Case) -> bool:
    if case.value is None or one.kind != case.kind:
        return False
    start = case.text.index(case.value)
    shared = min(one.end, start + len(case.value)) - max(one.start, start)
    return shared >= 0.9 * len(case.value) and one.end - one.start <= 1.2 * len(case.value)


def table(rows: dict[tuple[str, str], Score]) -> str:
    """Precision / recall in hundredths, a row a class, a column a locale."""
    lines = ["| class | " + " | ".join(LOCALES) + " | all |", "|---" * (len(LOCALES) + 2) + "|"]
    for kind in KINDS:
        parts = [rows.get((kind, locale), Score()) for locale in LOCALES]
        whole = Score(*(sum(getattr(one, name) for one in parts) for name in ("right", "missed", "wrong")))
        cells = (f"{one.precision:.2f} / {one.recall:.2f}" for one in (*parts, whole))
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
