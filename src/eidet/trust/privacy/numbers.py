"""Numbers that say who somebody is: cards, accounts, national ids, telephones.

Each `Form` is a shape, a check and the words that usually stand before it. Shapes are tried at every
place where one can begin and have no unbounded repeats, so that time grows with the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from . import check_digits as checks
from .findings import Found, Pii, finding_at, leaning, weigh_confidence
from .identity_numbers import IDENTITY_FORMS, WORD, WORDS, Form, machine_lines

_ODD = re.compile(r"[^0-9A-Za-z]")
_SIGN = re.compile(r"[0-9A-Za-z]")


def _always(compact: str) -> bool:
    return len(set(compact)) > 2


def _e164(compact: str) -> bool:
    return 8 <= len(compact) - 2 * compact.startswith("00") <= 15 and len(set(compact)) > 2


def _nanp(compact: str) -> bool:
    return compact[-7:-5] != "11" and len(set(compact)) > 2


_S = r"[ \u00a0-]?"  # one separator or none
_G = r"[ \t.\u00a0/-]{0,3}"  # what may stand between the groups of a number that a check digit makes certain
_P = r"[ .\u00a0/-]"  # separators people put into telephone numbers
ID, PHONE = Pii.NATIONAL_ID, Pii.PHONE

_CALL = (
    r"(?:tele)?phones?(?: number)?|tele|tel|tlf|mobile|cell|call(?:ed|s)?(?: me)?|whatsapp|fax|sms|text me"
    r"|reach me|ring(?: me| mig)?|my number"
    r"|telefon\w*|handy\w*|mobil\w*|ruf\w*|anruf\w*|erreich\w*|t[ée]l[ée]phon\w*|portable|appel\w*|joindre"
    r"|joignable"
    r"|ll[aá]m\w*|m[oó]vil|tel[eé]fono|cellulare|chiam\w*|numero|telem[oó]vel|telefone|lig\w{1,3}"
    r"|bel(?: me)?|mobiel|telefoon\w*"
    r"|bereikbaar|kom[oó]rk\w*|zadzwo\w*|dzwo\w*|numer\w*|n[uú]mero|nummer|num[ée]ro|nr tel|ring"
)

FORMS = (
    Form(
        Pii.CARD,
        rf"[2-6][0-9]{{3}}(?:{_G}[0-9]{{4}}){{2}}{_G}[0-9]{{4}}(?:{_G}[0-9]{{3}})?",
        checks.card,
        0.9,
        0.99,
        r"card|visa|mastercard|amex|karte\w*|kreditkart\w*|carte|tarjeta|carta|cart[aã]o|creditcard|kaart"
        r"|kart\w*|kort\w*",
    ),
    Form(
        Pii.CARD,
        rf"3[47][0-9]{{2}}{_G}[0-9]{{6}}{_G}[0-9]{{5}}|3[068][0-9]{{2}}{_G}[0-9]{{6}}{_G}[0-9]{{4}}"
        rf"|4[0-9]{{12}}",
        checks.card,
        0.8,
        0.99,
        r"card|visa|amex|diners|karte\w*|carte|tarjeta|carta|cart[aã]o|kaart|kart\w*|kort\w*",
    ),
    Form(
        ID,
        r"[0-9]{3}([- ])[0-9]{2}\1[0-9]{4}",
        checks.us_ssn,
        0.8,
        0.97,
        r"ssn|social security(?: number| no)?|social",
    ),
    Form(ID, r"[0-9]{9}", checks.us_ssn, 0.1, 0.8, r"ssn|social security(?: number| no)?"),
    Form(
        ID,
        r"(?i:[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D])",
        checks.uk_nino,
        0.85,
        0.97,
        r"nino|ni|national insurance(?: number| no)?|insurance",
        lettered=True,
    ),
    Form(
        ID,
        rf"[1-9][0-9]{_S}[0-9]{{3}}{_S}[0-9]{{3}}{_S}[0-9]{{3}}",
        checks.german_tax_id,
        0.6,
        0.97,
        r"steuer\w*|(?:steuer-?)?id(?:entifikations)?-?(?:nr|nummer)|idnr|tin|tax id",
    ),
    Form(
        ID,
        r"[12][ .]?[0-9]{2}[ .]?[0-9]{2}[ .]?(?:[0-9]{2}|2[ABab])[ .]?[0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{2}",
        checks.french_nir,
        0.93,
        0.98,
        r"nir|s[ée]curit[ée] sociale|s[ée]cu|insee",
    ),
    Form(
        ID,
        r"[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}[- ]?[A-Za-z]",
        checks.spanish_dni,
        0.8,
        0.97,
        r"dni|nif|documento",
        lettered=True,
    ),
    Form(
        ID,
        r"[XYZxyz][- ]?[0-9]{7}[- ]?[A-Za-z]",
        checks.spanish_dni,
        0.9,
        0.98,
        r"nie|documento",
        lettered=True,
    ),
    Form(
        ID,
        r"(?i:[A-Z]{6} ?[0-9L-NP-V]{2} ?[A-Z] ?[0-9L-NP-V]{2} ?[A-Z][0-9L-NP-V]{3} ?[A-Z])",
        checks.italian_fiscal_code,
        0.97,
        0.99,
        r"codice fiscale|c\.?f",
        lettered=True,
    ),
    Form(
        ID,
        r"[0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{3}",
        checks.portuguese_nif,
        0.3,
        0.95,
        r"nif|contribuinte|fiscal",
    ),
    Form(
        ID,
        r"[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}|[0-9]{9}",
        checks.dutch_bsn,
        0.3,
        0.95,
        r"bsn|burgerservicenummer|sofinummer|service",
    ),
    Form(ID, r"[0-9]{11}", checks.polish_pesel, 0.8, 0.98, r"pesel|numer"),
    Form(
        ID,
        r"(?:19|20)?[0-9]{2}[01][0-9][0-9]{2}[-+][0-9]{4}",
        checks.swedish_personnummer,
        0.85,
        0.98,
        r"person(?:nummer|nr)|pnr|samordningsnummer",
    ),
    Form(
        ID,
        r"(?:19|20)?[0-9]{2}[01][0-9][0-9]{2} ?[0-9]{4}",
        checks.swedish_personnummer,
        0.4,
        0.95,
        r"person(?:nummer|nr)|pnr|samordningsnummer",
    ),
    # telephones: North America; ten digits with an area code that exists
    Form(
        PHONE,
        rf"(?:1{_P})?(?:\([2-9][0-9]{{2}}\) ?|[2-9][0-9]{{2}}{_P})[2-9][0-9]{{2}}{_P}[0-9]{{4}}",
        _nanp,
        0.75,
        0.95,
        _CALL,
    ),
    Form(PHONE, r"[2-9][0-9]{2}[2-9][0-9]{6}", _nanp, 0.3, 0.85, _CALL),
    # Europe with a trunk zero: area code, then groups
    Form(
        PHONE,
        rf"\(?0[1-9][0-9]{{0,4}}\)?{_P}{{1,2}}[0-9]{{2,8}}(?:{_P}[0-9]{{2,4}}){{0,4}}",
        lambda compact: 9 <= len(compact) <= 12 and _always(compact),
        0.7,
        0.95,
        _CALL,
    ),
    Form(PHONE, r"0[67][0-9]{8}|07[0-9]{9}|01[567][0-9]{8,9}", _always, 0.6, 0.95, _CALL),
    Form(PHONE, r"0[1-9][0-9]{7,10}", _always, 0.4, 0.9, _CALL),
    # Europe without one: nine or ten digits in groups; also how numbers are written, so a word must say so
    Form(
        PHONE,
        rf"[2-9][0-9]{{1,2}}{_P}[0-9]{{3}}{_P}?[0-9]{{2,4}}(?:{_P}?[0-9]{{2}}){{0,2}}"
        rf"|[2-9][0-9]{{2}}{_P}[0-9]{{2}}{_P}[0-9]{{2}}{_P}[0-9]{{2}}|3[0-9]{{2}}{_P}[0-9]{{6,7}}",
        lambda compact: len(compact) in (9, 10) and _always(compact),
        0.45,
        0.9,
        _CALL,
    ),
    Form(PHONE, r"[2-9][0-9]{8,9}", _always, 0.2, 0.8, _CALL),
    *IDENTITY_FORMS,
)
_AFTER = r"(?!\w|[.,:/-][0-9])"  # not a part of a longer word or number
_SHAPES = tuple((form, re.compile(rf"(?:{form.shape}){_AFTER}", re.ASCII)) for form in FORMS)
_PLAIN = tuple(one for one in _SHAPES if not one[0].lettered)
_LETTERED = tuple(one for one in _SHAPES if one[0].lettered)
_NAMED = frozenset(form for form in IDENTITY_FORMS if form.alone == WORD)  # only a word makes them count
_PLAIN_UNNAMED = tuple(one for one in _PLAIN if one[0] not in _NAMED)
_ABROAD = re.compile(rf"(?:\+|00)[1-9](?:{_P}{{0,2}}\(?[0-9]\)?){{6,14}}(?![0-9])", re.ASCII)

_GAP = r"[\s./\u2010-\u2015\u2212-]{0,4}"
_IBAN = re.compile(rf"(?<![^\W_])[A-Za-z]{{2}}{_GAP}[0-9]{_GAP}[0-9](?:{_GAP}[0-9A-Za-z]){{11,29}}")
_IBAN_DIGITS = 10  # that follow the check digits: a sentence that begins with "is 12" has fewer
_RUN = re.compile("[0-9]+")
_MANY = re.compile(r"[0-9](?:[ .()/\u00a0-]{0,3}[0-9]){8}")  # no plain form has fewer than nine digits
_LETTERS = re.compile(r"(?<![^\W_])[A-Za-z]{1,6}(?=[ -]?[0-9])")
_PART = re.compile(r"[0-9][.,/:-]")


def numbers(text: str) -> Iterator[Found]:
    yield from _ibans(text)
    yield from machine_lines(text)
    runs = [run.start() for run in _RUN.finditer(text)]
    if "+" in text or "00" in text:
        yield from _abroad(text, runs)
    starts = []
    for start in (_include_bracket(text, run) for run in runs):
        if _begins(text, start):
            starts.append(start)
    if _MANY.search(text):
        yield from _match_shapes(text, starts, _PLAIN if WORDS.search(text) else _PLAIN_UNNAMED)
    if len(runs) > 2 or any(len(run) > 5 for run in _RUN.findall(text)):
        letters = [word.start() for word in _LETTERS.finditer(text)]
        yield from _match_shapes(text, [*starts, *letters], _LETTERED)


def _ibans(text: str) -> Iterator[Found]:
    """Account numbers in groups of any size. The country says how many characters there are."""
    at = 0
    while match := _IBAN.search(text, at):
        at = match.start() + 1
        span = (match.start(), _end_of_iban(match))
        compact = _compact(text[slice(*span)])
        if sum(map(str.isdigit, compact[4:])) >= _IBAN_DIGITS and checks.iban(compact):
            yield finding_at(text, Pii.IBAN, span, 0.98)
            at = span[1]


def _end_of_iban(match: re.Match[str]) -> int:
    """Where the account number ends, if it is one; where the match starts if it goes on or is too short."""
    length = checks.IBAN_LENGTHS.get(match[0][:2].upper(), 0)
    places = [sign.start() for sign in _SIGN.finditer(match.string, *match.span())]
    if not length or len(places) < length or _SIGN.match(match.string, places[length - 1] + 1):
        return match.start()
    return places[length - 1] + 1


def _include_bracket(text: str, run: int) -> int:
    if run and text[run - 1] == "(":
        return run - 1
    return run


def _begins(text: str, start: int) -> bool:
    """Whether a number can begin here: not in a word, not after the first part of a longer number."""
    if not start:
        return True
    before = text[start - 1]
    return not (before.isalnum() or before in "_+") and not _PART.fullmatch(text, max(0, start - 2), start)


def _match_shapes(
    text: str, starts: Iterable[int], shapes: Iterable[tuple[Form, re.Pattern[str]]]
) -> Iterator[Found]:
    for start, (form, shape) in product(starts, shapes):
        match = shape.match(text, start)
        if match and form.holds(_compact(match[0])):
            lean = leaning(text, start, form.words)
            yield finding_at(
                text, form.kind, match.span(), weigh_confidence(lean, alone=form.alone, said=form.said)
            )


def _compact(text: str) -> str:
    return _ODD.sub("", text).upper()


def _abroad(text: str, runs: Iterable[int]) -> Iterator[Found]:
    """International numbers: a plus or two zeros, a country code, up to fifteen digits."""
    for run in runs:
        plus = run > 0 and text[run - 1] == "+"
        start = run - plus
        if _begins(text, start):
            match = _ABROAD.match(text, start)
        else:
            match = None
        if match and _e164(_compact(match[0])):
            lean = leaning(text, start, _CALL)
            yield finding_at(
                text, PHONE, match.span(), 0.93 if plus else weigh_confidence(lean, alone=0.6, said=0.95)
            )
