"""Check digits. Each takes bare letters and digits, in upper case, and says whether they hold together."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from itertools import cycle
from typing import Final

# Lengths of the IBANs of each country.
IBAN_LENGTHS: Final = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FK", "FO", "FI", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"), 20),
    **dict.fromkeys(("CH", "CR", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}
DNI_LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
FISCAL_MONTHS: Final = "ABCDEHLMPRST"
# fmt: off
FISCAL_ODD: Final = (
    1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
)
# fmt: on
VERHOEFF: Final = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
HETU_SIGNS: Final = "0123456789ABCDEFHJKLMNPRSTUVWXY"
CURP_SIGNS: Final = "0123456789ABCDEFGHIJKLMN\u00d1OPQRSTUVWXYZ"
NIF_PAIRS: Final = frozenset(("45", "70", "71", "72", "74", "75", "77", "78", "79"))
OMOCODES: Final = str.maketrans("LMNPQRSTUV", "0123456789")


def luhn(digits: str) -> bool:
    doubled = (int(one) * (2 if at % 2 else 1) for at, one in enumerate(reversed(digits)))
    return sum(one - 9 if one > 9 else one for one in doubled) % 10 == 0


def card(digits: str) -> bool:
    """Luhn, the first digits of a known brand, and a length that the brand issues."""
    return len(digits) in _brand_lengths(digits) and len(set(digits)) > 1 and luhn(digits)


def _brand_lengths(digits: str) -> tuple[int, ...]:
    two, four = int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        return (13, 16, 19)
    if 51 <= two <= 55 or 2221 <= four <= 2720:
        return (16,)
    if two in (34, 37):
        return (15,)
    if two in (36, 38) or 300 <= int(digits[:3]) <= 305:
        return (14,)
    if two in (35, 60, 62, 64, 65, 81):
        return 16, 19
    if two in (50, 56, 58, 63, 67):
        return 12, 16, 18, 19
    return ()


def iban(compact: str) -> bool:
    if IBAN_LENGTHS.get(compact[:2]) != len(compact):
        return False
    return int("".join(str(int(one, 36)) for one in compact[4:] + compact[:4])) % 97 == 1


def us_ssn(digits: str) -> bool:
    """No check digit exists: only numbers that are never issued are told apart."""
    return (
        digits[:3] not in {"000", "666"} and digits[0] != "9" and digits[3:5] != "00" and digits[5:] != "0000"
    )


def uk_nino(compact: str) -> bool:
    """No check digit exists: only prefixes that are never issued are told apart."""
    return compact[:2] not in {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}


def german_tax_id(digits: str) -> bool:
    """One digit of the first ten comes twice or three times, the last digit is ISO 7064 MOD 11,10."""
    counts = sorted(digits[:10].count(one) for one in set(digits[:10]))
    if digits[0] == "0" or counts[-1] not in (2, 3) or counts[:-1].count(1) != len(counts) - 1:
        return False
    return _mod_11_10(digits)


def _mod_11_10(digits: str) -> bool:
    """ISO 7064 MOD 11,10, whose check digit is the last."""
    product = 10
    for one in digits[:-1]:
        product = ((int(one) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def french_nir(compact: str) -> bool:
    """The key is 97 less the number modulo 97; Corsican departments count as 19 and 18."""
    number = compact[:13].replace("2A", "19", 1).replace("2B", "18", 1)
    month = compact[3:5]
    if not number.isdigit() or not ("01" <= month <= "12" or "20" <= month <= "42" or "50" <= month <= "99"):
        return False
    return 97 - int(number) % 97 == int(compact[13:])


def spanish_dni(compact: str) -> bool:
    number = compact[:-1].translate(str.maketrans("XYZ", "012"))
    return DNI_LETTERS[int(number) % 23] == compact[-1]


def italian_fiscal_code(compact: str) -> bool:
    day = compact[9:11].translate(OMOCODES)
    if compact[8] not in FISCAL_MONTHS or not day.isdigit() or not (0 < int(day) < 32 or 40 < int(day) < 72):
        return False
    places = []
    for one in compact[:15]:
        places.append(int(one, 36) % 10 if one.isdigit() else ord(one) - 65)
    total = sum(place if at % 2 else FISCAL_ODD[place] for at, place in enumerate(places))
    return chr(65 + total % 26) == compact[15]


def portuguese_nif(digits: str) -> bool:
    if digits[0] not in "1235689" and digits[:2] not in NIF_PAIRS:
        return False
    rest = sum(int(one) * (9 - at) for at, one in enumerate(digits[:8])) % 11
    return (0 if rest < 2 else 11 - rest) == int(digits[8])


def dutch_bsn(digits: str) -> bool:
    total = sum(int(one) * (9 - at) for at, one in enumerate(digits[:8])) - int(digits[8])
    return total % 11 == 0 and digits[:2] != "00"


def polish_pesel(digits: str) -> bool:
    """The month carries the century (1800s +80, 1900s +0, 2000s +20 …)."""
    century, month = divmod(int(digits[2:4]), 20)
    year = (1900, 2000, 2100, 2200, 1800)[century] + int(digits[:2])
    weights = cycle((1, 3, 7, 9))
    total = sum(int(one) * weight for one, weight in zip(digits[:10], weights, strict=False))
    return is_date(year, month, int(digits[4:6])) and -total % 10 == int(digits[10])


def swedish_personnummer(digits: str) -> bool:
    """Luhn over the last ten digits; coordination numbers carry 60 on the day."""
    ten = digits[-10:]
    if len(digits) == 12:
        year = int(digits[:4])
    else:
        year = 2000 + int(ten[:2])
    day = int(ten[4:6])
    sane = len(digits) == 10 or 1880 <= year <= 2099
    return sane and is_date(year, int(ten[2:4]), day - 60 if day > 60 else day) and luhn(ten)


def aadhaar(digits: str) -> bool:
    """India: the check digit of Verhoeff; no number reads the same backwards."""
    check = 0
    for at, one in enumerate(reversed(digits)):
        digit = int(one)
        for _ in range(at % 8):
            digit = VERHOEFF[digit]
        check = _turn(check, digit)
    return check == 0 and digits != digits[::-1]


def _turn(one: int, other: int) -> int:
    """The product of two symmetries of a pentagon: below 5 a rotation, from 5 on a reflection."""
    turned = (one + other if one < 5 else one - other) % 5
    return turned if (one < 5) == (other < 5) else turned + 5


def brazilian_cpf(digits: str) -> bool:
    return len(set(digits)) > 1 and all(
        -_weigh(digits[:length], range(length + 1, 1, -1)) % 11 % 10 == int(digits[length])
        for length in (9, 10)
    )


def belgian_number(digits: str) -> bool:
    """97 less the number modulo 97; those born from 2000 on count as if a 2 stood before it."""
    key = int(digits[9:])
    return is_day(digits[:6], "ymd") and any(97 - int(lead + digits[:9]) % 97 == key for lead in ("", "2"))


def swiss_ahv(digits: str) -> bool:
    return _weigh(digits, cycle((1, 3))) % 10 == 0


def norwegian_number(digits: str) -> bool:
    """Two check digits; days and months of provisional numbers carry 40."""
    day, month = int(digits[:2]), int(digits[2:4])
    born = f"{day - 40 * (day > 40):02}{month - 40 * (month > 40):02}{digits[4:6]}"
    return (
        is_day(born, "dmy")
        and _weigh(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
        and _weigh(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
    )


def finnish_hetu(compact: str) -> bool:
    number = compact[:6] + compact[-4:-1]
    return is_day(compact[:6], "dmy") and HETU_SIGNS[int(number) % 31] == compact[-1]


def chinese_id(compact: str) -> bool:
    total = sum((10 if one == "X" else int(one)) * 2 ** (17 - at) for at, one in enumerate(compact))
    year = int(compact[6:10])
    return total % 11 == 1 and 1880 <= year <= 2099 and is_day(compact[6:14], "Ymd")


def mexican_curp(compact: str) -> bool:
    values = [CURP_SIGNS.index(one) for one in compact[:17]]
    total = sum(value * (18 - at) for at, value in enumerate(values))
    return is_day(compact[4:10], "ymd") and str(-total % 10) == compact[17]


def chilean_rut(compact: str) -> bool:
    rest = -_weigh(compact[-2::-1], cycle(range(2, 8))) % 11
    return "0123456789K"[rest] == compact[-1]


def argentine_cuit(digits: str) -> bool:
    rest = -_weigh(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return "01234567899"[rest] == digits[10]


def canadian_sin(digits: str) -> bool:
    return digits[0] not in "08" and luhn(digits)


def uk_nhs(digits: str) -> bool:
    return _weigh(digits, range(10, 0, -1)) % 11 == 0


def irish_pps(compact: str) -> bool:
    second = ord(compact[8]) - 64 if len(compact) > 8 and compact[8] != "W" else 0
    return "WABCDEFGHIJKLMNOPQRSTUV"[(_weigh(compact[:7], range(8, 1, -1)) + second * 9) % 23] == compact[7]


def czech_number(digits: str) -> bool:
    """The last digit is the rest by 11, or 0 for 10; months of women carry 50, others may carry 20."""
    month = int(digits[2:4]) % 50 % 20
    born = f"{digits[:2]}{month:02}{digits[4:6]}"
    return int(digits[:9]) % 11 % 10 == int(digits[9]) and is_day(born, "ymd")


def romanian_cnp(digits: str) -> bool:
    rest = _weigh(digits[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return is_day(digits[1:7], "ymd") and (1 if rest == 10 else rest) == int(digits[12])


def turkish_number(digits: str) -> bool:
    tenth = _weigh(digits[:9], cycle((7, -1))) % 10
    return [tenth, (sum(map(int, digits[:9])) + tenth) % 10] == [int(digits[9]), int(digits[10])]


def south_african_id(digits: str) -> bool:
    return is_day(digits[:6], "ymd") and digits[10] in "012" and luhn(digits)


def korean_number(digits: str) -> bool:
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    return is_day(digits[:6], "ymd") and (11 - _weigh(digits[:12], weights) % 11) % 10 == int(digits[12])


def croatian_oib(digits: str) -> bool:
    return _mod_11_10(digits)


def singapore_nric(compact: str) -> bool:
    total = _weigh(compact[1:8], (2, 7, 6, 5, 4, 3, 2)) + 4 * (compact[0] in "TG")
    return ("JZIHGFEDCBA" if compact[0] in "ST" else "XWUTRQPNMLK")[total % 11] == compact[8]


def australian_tfn(digits: str) -> bool:
    return _weigh(digits, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def danish_cpr(digits: str) -> bool:
    """Numbers of late have no check digit: only the day of birth is looked at."""
    return is_day(digits[:6], "dmy")


def german_document(compact: str) -> bool:
    """An identity card or passport with the check digit that is printed beside the number."""
    return machine_check(compact[:9], compact[9])


def machine_check(field: str, digit: str) -> bool:
    """Whether the check digit of a machine-readable field holds; a filler counts as zero."""
    return str(_weigh(field.replace("<", "0"), cycle((7, 3, 1))) % 10) == digit


def _weigh(text: str, weights: Iterable[int]) -> int:
    """The sum of all places times their weights; letters count from 10 on."""
    return sum(int(one, 36) * weight for one, weight in zip(text, weights, strict=False))


def is_day(text: str, order: str) -> bool:
    """Whether digits are a day, such as "ymd" for 860231; two digits of a year may be of any century."""
    year, rest = (text[:4], text[4:]) if order[0] == "Y" else (text[:2], text[2:])
    if order == "dmy":
        year, rest = "20" + text[4:], text[2:4] + text[:2]
    elif order == "ymd":
        year = "20" + year
    return is_date(int(year), int(rest[:2]), int(rest[2:4]))


def is_date(year: int, month: int, day: int) -> bool:
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]
