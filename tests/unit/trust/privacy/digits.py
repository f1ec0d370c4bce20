"""Valid numbers made up from a seed. The check digits are computed here, not by the code under test."""

from __future__ import annotations

from random import Random


def digits(random: Random, count: int, first: str = "0123456789") -> str:
    return random.choice(first) + "".join(random.choice("0123456789") for _ in range(count - 1))


def with_luhn(body: str) -> str:
    total = 0
    for at, one in enumerate(reversed(body)):
        total += sum(divmod(int(one) * 2, 10)) if at % 2 == 0 else int(one)
    return body + str(-total % 10)


def card(random: Random) -> str:
    prefix, length = random.choice(
        [("4", 16), ("51", 16), ("55", 16), ("2305", 16), ("37", 15), ("6011", 16)]
    )
    number = with_luhn(prefix + digits(random, length - len(prefix) - 1))
    if length == 15:
        return random.choice([number, f"{number[:4]} {number[4:10]} {number[10:]}"])
    return random.choice(["", " ", "-"]).join(number[at : at + 4] for at in range(0, 16, 4))


BBANS = {
    "en-US": ("GB", "AAAA##############"),
    "en-GB": ("GB", "AAAA##############"),
    "de-DE": ("DE", "##################"),
    "fr-FR": ("FR", "#######################"),
    "es-ES": ("ES", "####################"),
    "it-IT": ("IT", "A######################"),
    "pt-PT": ("PT", "#####################"),
    "nl-NL": ("NL", "AAAA##########"),
    "pl-PL": ("PL", "########################"),
    "sv-SE": ("SE", "####################"),
}


def iban(random: Random, locale: str) -> str:
    country, shape = BBANS[locale]
    body = "".join(
        random.choice("ABCDEFGHKLMNPRST") if one == "A" else random.choice("0123456789") for one in shape
    )
    spelt = "".join(str(ord(one) - 55) if one.isalpha() else one for one in f"{body}{country}00")
    whole = f"{country}{98 - int(spelt) % 97:02}{body}"
    return whole if random.random() < 0.4 else " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))


def born(random: Random) -> tuple[int, int, int]:
    return random.randint(1930, 2009), random.randint(1, 12), random.randint(1, 28)


def national_id(random: Random, locale: str) -> str:
    return IDS[locale](random)


def _ssn(random: Random) -> str:
    return f"{random.randint(1, 665):03}-{random.randint(1, 99):02}-{random.randint(1, 9999):04}"


def _nino(random: Random) -> str:
    pair = random.choice(["AB", "CE", "JK", "LR", "MW", "PX", "SZ", "WM"])
    body = digits(random, 6)
    return random.choice(
        [f"{pair}{body}A", f"{pair} {body[:2]} {body[2:4]} {body[4:]} {random.choice('ABCD')}"]
    )


def _tax_id(random: Random) -> str:
    """Ten digits of which one comes twice and one is missing, and the check digit of ISO 7064 MOD 11,10."""
    drawn = random.sample("0123456789", 9)
    drawn.insert(random.randrange(10), random.choice(drawn))
    if drawn[0] == "0":
        drawn[0], drawn[-1] = drawn[-1], drawn[0]
    if drawn[0] == "0":
        return _tax_id(random)
    carry = 10
    for one in drawn:
        carry = (carry + int(one)) % 10
        carry = (carry or 10) * 2 % 11
    whole = "".join(drawn) + str((11 - carry) % 10)
    return random.choice([whole, f"{whole[:2]} {whole[2:5]} {whole[5:8]} {whole[8:]}"])


def _nir(random: Random) -> str:
    year, month, _ = born(random)
    body = f"{random.choice('12')}{year % 100:02}{month:02}{random.randint(1, 95):02}{digits(random, 6)}"
    key = f"{97 - int(body) % 97:02}"
    parts = (body[:1], body[1:3], body[3:5], body[5:7], body[7:10], body[10:], key)
    return random.choice(["", " "]).join(parts)


def _dni(random: Random) -> str:
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    number = random.randint(1_000_000, 99_999_999)
    if random.random() < 0.3:
        lead = random.randrange(3)
        rest = number % 10_000_000
        return f"{'XYZ'[lead]}{rest:07}{letters[(lead * 10_000_000 + rest) % 23]}"
    return f"{number:08}{random.choice(['', '-'])}{letters[number % 23]}"


_ODD = {
    **dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True)),
    **dict(
        zip(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
            strict=True,
        )
    ),
}


def _codice_fiscale(random: Random) -> str:
    year, month, day = born(random)
    letters = "".join(random.choice("BCDFGLMNPRST") for _ in range(6))
    town = random.choice("ABCDEFGHL") + digits(random, 3)
    body = f"{letters}{year % 100:02}{'ABCDEHLMPRST'[month - 1]}{day + random.choice([0, 40]):02}{town}"
    even = sum(int(one) if one.isdigit() else ord(one) - 65 for one in body[1::2])
    return body + chr(65 + (even + sum(_ODD[one] for one in body[::2])) % 26)


def _nif(random: Random) -> str:
    body = digits(random, 8, "12")
    check = 11 - sum(int(one) * weight for one, weight in zip(body, range(9, 1, -1), strict=True)) % 11
    whole = body + str(0 if check > 9 else check)
    return random.choice([whole, f"{whole[:3]} {whole[3:6]} {whole[6:]}"])


def _bsn(random: Random) -> str:
    body = digits(random, 8, "12")
    check = sum(int(one) * weight for one, weight in zip(body, range(9, 1, -1), strict=True)) % 11
    return _bsn(random) if check == 10 else body + str(check)


def _pesel(random: Random) -> str:
    year, month, day = born(random)
    body = f"{year % 100:02}{month + (20 if year >= 2000 else 0):02}{day:02}{digits(random, 4)}"
    total = sum(int(one) * weight for one, weight in zip(body, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), strict=True))
    return body + str((10 - total % 10) % 10)


def _personnummer(random: Random) -> str:
    year, month, day = born(random)
    ten = with_luhn(f"{year % 100:02}{month:02}{day:02}{digits(random, 3)}")
    return random.choice([f"{ten[:6]}-{ten[6:]}", f"{year // 100}{ten[:6]}-{ten[6:]}", f"{year // 100}{ten}"])


IDS = {
    "en-US": _ssn,
    "en-GB": _nino,
    "de-DE": _tax_id,
    "fr-FR": _nir,
    "es-ES": _dni,
    "it-IT": _codice_fiscale,
    "pt-PT": _nif,
    "nl-NL": _bsn,
    "pl-PL": _pesel,
    "sv-SE": _personnummer,
}
