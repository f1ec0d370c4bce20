"""The English words of time, and what they stand for."""

from __future__ import annotations

from .holidays import FEASTS


def words_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


def number_words(words: str, start: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), start)}


MONTH_NAMES = "january february march april may june july august september october november december"
WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"

MONTHS = number_words(MONTH_NAMES, 1)
SHORT_MONTHS = {name[:3]: number for name, number in MONTHS.items() if name != "may"} | {"sept": 9}
ALL_MONTHS = MONTHS | SHORT_MONTHS
# names of people, verbs and adjectives too: months only where the words around say so
DOUBTFUL = frozenset({"march", "april", "may", "june", "august"})

WEEKDAYS = number_words(WEEKDAY_NAMES, 0)
SHORT_WEEKDAYS = {name[:3]: number for name, number in WEEKDAYS.items()} | {
    "tues": 1,
    "thur": 3,
    "thurs": 3,
}
ALL_WEEKDAYS = WEEKDAYS | SHORT_WEEKDAYS
MANY_WEEKDAYS = {name + "s": number for name, number in WEEKDAYS.items()}

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
UNITS = {
    "day": "day",
    "days": "day",
    "week": "week",
    "weeks": "week",
    "wk": "week",
    "wks": "week",
    "fortnight": "fortnight",
    "fortnights": "fortnight",
    "month": "month",
    "months": "month",
    "year": "year",
    "years": "year",
    "yr": "year",
    "yrs": "year",
    "decade": "decade",
    "decades": "decade",
    "night": "day",
    "nights": "day",
}
HOURS = {
    "minute": 60,
    "minutes": 60,
    "min": 60,
    "mins": 60,
    "hour": 3600,
    "hours": 3600,
    "hr": 3600,
    "hrs": 3600,
}
WEEKENDS = frozenset({"weekend", "weekends"})
PARTS_OF_DAY = frozenset({"morning", "afternoon", "evening", "night", "noon"})

_ONES = "one two three four five six seven eight nine ten eleven twelve"
NUMBERS = number_words(f"{_ONES} thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 1)
TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
# how few and how many a vague number means
VAGUE = {"few": (2, 5), "several": (3, 7), "couple": (2, 2), "some": (2, 8), "many": (5, 20)}
_FIRSTS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = number_words(_FIRSTS, 1) | {"thirtieth": 30, "last": -1, "final": -1}
DECADES = {f"{word[:-1]}ies": number for word, number in TENS.items()}

BACK = frozenset({"last", "previous"})
ON = frozenset({"next", "following", "coming", "upcoming"})
WHICH = BACK | ON | {"this", "past"}

PARTS = {
    "early": "early",
    "mid": "mid",
    "late": "late",
    "beginning": "early",
    "start": "early",
    "middle": "mid",
    "end": "late",
}
# after these a month, a weekday, a season or a holiday is a time
BEFORE_TIMES = words_of(
    "in on during by since until till from to of for last next this early mid late through before "
    "after between around about past previous coming over is was 's at every throughout starting "
    "every each late like"
)

FEAST_STARTS = frozenset(name.split()[0].partition("'")[0] for name in FEASTS)
# things that carry a holiday's name at any time of the year
FEAST_THINGS = words_of(
    "tree trees card cards song songs carol carols music movie movies film films decoration "
    "decorations light lights ornament ornaments costume costumes gift gifts present presents egg "
    "eggs bunny cookie cookies sweater sweaters market markets stocking stockings candy wreath "
    "cactus story stories playlist"
)
# a bare number before these counts them
COUNTED = words_of(
    "people km miles meters metres feet percent calories words dollars euros pounds mg ml kg "
    "grams steps users kcal square cc rpm mah mhz hz gb mb bc points pages years days hours "
    "minutes weeks months times"
)

# as `letters` gives them: an expression has one of these, or digits that look like a date
_TRIGGERS = (
    {*ALL_MONTHS, *ALL_WEEKDAYS, *MANY_WEEKDAYS, *UNITS, *HOURS, *WEEKENDS, *PARTS_OF_DAY, *SEASONS, *DECADES}
    | {name.split()[-1].partition("'")[0] for name in FEASTS} - {"day", "s", "year", "years"}
    | words_of(
        "quarter quarters today tonight yesterday tomorrow recently lately ago valentine century while"
    )
)
# greetings and idioms have these too: alone they are no time
_IDLE = {"min", "mins", "day", "night"}
# words that are about time wherever they stand; the others of TRIGGERS are asked of the grammar
_TIMES = {
    *WEEKDAYS,
    *MANY_WEEKDAYS,
    *MONTHS,
    *UNITS,
    *HOURS,
    *WEEKENDS,
    *DECADES,
} - DOUBTFUL - _IDLE | words_of(
    "today tonight yesterday tomorrow recently lately ago mornings afternoons evenings noon midnight seconds "
    "century centuries daily weekly monthly yearly annually nowadays weekdays weekday summers winters autumn "
    "autumns christmas halloween thanksgiving easter"
)

TRIGGERS = frozenset(word.encode() for word in _TRIGGERS)
TIMES = frozenset(word.encode() for word in _TIMES)
