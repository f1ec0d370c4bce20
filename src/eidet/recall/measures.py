"""What a question asks to be measured, and how a text tells it: a price, a weight, how long, how often."""

from __future__ import annotations

import re
from typing import Final

from ..text.worded_pattern import WordedPattern

_COUNT = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty)"
)
_AMOUNT = r"\d[\d.,]*\s?"
# what a question asks to be measured, and how a text says it
_MEASURES: Final = (
    (
        WordedPattern(r"\bhow (?:much|expensive)\b|\bcosts?\b|\bprices?\b|\bfees?\b|\bsalary\b|\brent\b"),
        WordedPattern(
            rf"[$€£¥]\s?\d|{_AMOUNT}(?:[$€£¥]|euros?|dollars?|pounds?|cents?|eur|usd|gbp|chf|kron(?:er|or)"
            r"|francs?|bucks|k)\b|\b\d+[.,]\d\d\b(?! ?(?:c?m|km|kg|l|tall|met))"
            r"|\b(?:hundred|thousand|million)\b"
        ),
    ),
    (
        WordedPattern(r"\bhow (?:hot|warm|cold)\b|\btemperature\b|\bdegrees\b"),
        WordedPattern(rf"{_AMOUNT}(?:°|degrees?|celsius|fahrenheit|[cf]\b)|\bdegrees\b"),
    ),
    (
        WordedPattern(r"\bhow (?:heavy|much .* weigh)|\bweigh(?:s|t)?\b|\bhow many (?:kilo|gram|kg|pound)"),
        WordedPattern(rf"{_AMOUNT}(?:kg|kilos?|kilograms?|grams?|g|pounds|lbs?|tons?|tonnes?)\b"),
    ),
    (
        WordedPattern(
            r"\bhow (?:tall|high|long is|far|deep|wide|big|large)\b|\bwhat size\b"
            r"|\b(?:height|distance|width|depth)\b|\bhow many (?:km|kilomet|met(?:er|re)|miles)"
        ),
        WordedPattern(
            rf"{_AMOUNT}(?:m|cm|mm|km|(?:kilo|centi|milli)?met(?:er|re)s?|miles?|feet|foot|ft|inch(?:es)?|square)\b"
        ),
    ),
    (
        WordedPattern(
            r"\bhow many (?:lit(?:er|re)s?|gallons?|cups?)\b|\bhow much (?:water|milk|oil|petrol|fuel)\b"
        ),
        WordedPattern(rf"{_AMOUNT}(?:l|ml|cl|dl|lit(?:er|re)s?|gallons?|cups?)\b"),
    ),
    (
        WordedPattern(r"\bhow old\b|\bwhat age\b|\bage of\b"),
        WordedPattern(rf"\b(?:years? old|turn(?:s|ed)?|aged?|born)\b|\bis {_COUNT}\b|\b\d+-year"),
    ),
    (
        WordedPattern(
            r"\bhow long\b|\bhow many (?:days|weeks|months|years|hours|minutes|seconds)\b|\bhow much time\b"
        ),
        WordedPattern(
            rf"\b(?:{_COUNT}|half an?|an?|several|few|couple of)[ -]"
            r"(?:seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|decades?|nights?)\b"
            r"|\b(?:until|since)\b|\b\d+(?:d|h|min|s|ms)\b"
        ),
    ),
    (
        WordedPattern(
            r"\b(?:what|which) (?:time|hour)\b|\bdeparture time\b"
            r"|\bwhen (?:does|do|is|are) .*(?:open|close|start|leave|begin)"
        ),
        WordedPattern(
            rf"\b\d{{1,2}}(?::\d\d|\s?(?:am|pm|o'clock))|\bat (?:{_COUNT}|noon|midnight)\b|\bhalf past\b"
            r"|\bquarter (?:to|past)\b"
        ),
    ),
    (
        WordedPattern(r"\bhow (?:often|many times|frequently)\b"),
        WordedPattern(
            r"\b(?:once|twice|every|each|times|daily|weekly|monthly|yearly"
            r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
        ),
    ),
    (WordedPattern(r"\bper ?cent\b|\bwhat share\b|\bdiscount\b"), WordedPattern(r"\d\s?%|\bper ?cent\b")),
    (
        WordedPattern(r"\bhow many\b"),
        WordedPattern(rf"\b(?:{_COUNT}|hundred|dozen|both|twins|none|no)\b"),
    ),
)
_MEASURING: Final = re.compile(
    "how|cost|price|fee|salary|rent|temperature|degree|weigh|size|height|distance|width|depth|age|time|hour|cent"
    "|share|discount"
)


def list_measures(low: str) -> tuple[WordedPattern, ...]:
    """What finds values of the kinds that a question asks for; it is given in small letters."""
    if _MEASURING.search(low) is None:
        return ()
    return tuple(tells for asks, tells in _MEASURES if asks.search(low))
