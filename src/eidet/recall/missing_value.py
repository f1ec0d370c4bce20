"""Whether a text that fits a question lacks what was asked for: "the red bike has a new chain" has no place.

Such a text knows the person and the thing but not the answer. It stays where it is, as others have even less,
and its score says so. Only short English statements are judged: a long one may say it elsewhere, and a state
has values without units.
"""

from __future__ import annotations

import re
from typing import Final

from ..text.flags import list_names, read_words
from ..text.worded_pattern import WordedPattern
from .answer_forms import SHORT, Wants, has_measure, has_place

MISSING: Final = 2.5  # taken off the log odds of a best hit that lacks what is asked for
MOST: Final = 0.29  # its score at most: few that lacked it were right

_MONTHS: Final = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_UNITS: Final = "[cmk]?m|k?g|m?l|h|s|ms|am|pm|[kmgt]b|st|nd|rd|th"
YES_OR_NO: Final = re.compile(
    r"(?:is|are|am|do|does|did|can|could|will|would|should|may|has|have|was|were)\b"
)
_PROSE: Final = read_words("the a an is was and of to for with on at has my our we i she he it")
# an amount without a unit: "we spend about 140", "thirteen chairs", "free"
_AMOUNT: Final = WordedPattern(
    rf"(?<![\w.,:/-])(?!(?:19|20)\d\d\b)\d[\d.,]*\b(?!\s?(?:{_MONTHS}|°|%|(?:{_UNITS})\b)|[:/-]\d)"
    r"|(?<!\bat )(?<!\buntil )(?<!\bby )\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|dozens?|half|several|few|both"
    r"|none|no|nothing|free|twins|once|twice|every|each|double|same)\b"
)
_ASKED_NUMBER: Final = re.compile(
    r"\bwhat(?:'s| is| was) (?:.* )?(?:number|code|pin|plate|extension|iban|postcode)\b"
)
_PHONE: Final = re.compile(r"\b(?:phone|telephone|mobile)\b")
_DIGIT: Final = re.compile(r"\d")
_CALLABLE: Final = re.compile(r"\d(?:[ ()/-]{0,2}\d){5}")
_ASKED_COLOUR: Final = re.compile(r"\b(?:what|which) colou?r\b")
_COLOUR: Final = WordedPattern(
    r"\b(?:red|blue|green|yellow|white|black|brown|gr[ae]y|orange|purple|pink|violet|beige|turquoise|silver"
    r"|gold(?:en)?|navy|cream|ivory|teal|olive|maroon|crimson|scarlet|lilac|blonde?|dark|light|transparent"
    r"|colou?rless)(?:d?ish)?\b"
)
_ADDRESS: Final = re.compile(r"\w[/\\.@]\w")


def lacks_value(text: str, wants: Wants) -> bool:
    """Whether a short statement has nothing of the kind that is asked for."""
    if len(text) > SHORT or YES_OR_NO.match(wants.low):
        return False
    if not (wants.measures or wants.place or "what" in wants.low or "which" in wants.low):
        return False
    if _PROSE.isdisjoint(text.lower().split()):
        return False
    return _lacks_amount(text, wants) or _lacks_place(text, wants) or _lacks_mark(text, wants.low)


def _lacks_amount(text: str, wants: Wants) -> bool:
    return bool(wants.measures) and not has_measure(text, wants) and _AMOUNT.search(text) is None


def _lacks_place(text: str, wants: Wants) -> bool:
    if not wants.place or has_place(text) or _ADDRESS.search(text):
        return False
    return all(name.lower() in wants.low for name in list_names(text))


def _lacks_mark(text: str, low: str) -> bool:
    """Whether a number or a colour is asked for, and the text has none."""
    if _ASKED_NUMBER.search(low):
        if _PHONE.search(low) and "extension" not in low:
            return _CALLABLE.search(text) is None
        return _DIGIT.search(text) is None
    return _ASKED_COLOUR.search(low) is not None and _COLOUR.search(text) is None
