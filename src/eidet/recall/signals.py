"""What speaks for each candidate, signal by signal, each 0 to 1 over all that was searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.record import Kind
from ..index import Candidates, Span
from ..index.state_columns import DataPath
from ..index.turn_line import TurnLine
from ..text.analysis import ACTOR, NAMED, NUMBERED, TIMED
from ..text.dates import Dated
from .recipes import Recipe
from .understand import Understood

DAY: Final = 86_400.0
UNIX: Final = 719_163  # the ordinal of 1970-01-01
SEVERAL: Final = 0.375  # of its weight the context keeps when several answers are wanted
SPOKEN: Final = 0.9  # what a text speaks of, against when it was said
OTHER_YEAR: Final = 0.6  # of "in May": May of a year that is not the last
NEXT_DAY: Final = 0.7  # what happened a day before or after the time that is meant
TOPIC: Final = 0.5  # from this match on, the time and the form of an answer count in full
KNOWN: Final = 0.6  # of the words that the best record has of the question, for what is about it
FEW: Final = 30  # candidates among which the least is no measure of what does not fit
VAGUE: Final = 0.5  # what speaks of a month, where a day is meant
COUNTED: Final = 2.0  # times its weight what is asked for has where that is a session: as much as a day
RANGE: Final = 0.8  # what speaks of a shorter time that has the day, as of "1 to 14 December"
LONG_TIME: Final = 27  # days from the first to the last: a month and more
YEARS: Final = 20
POOLED: Final = 0.125  # of theirs, date and form keep for a whole session, which has many of both
ALIKE: Final = 0.7  # covering all words is as good as this cosine
POOR: Final = 0.25  # a best cosine below this is more noise than match
EVERY: Final = slice(None)
AGAINST: Final = ("question",)  # signals that only count against a record
NUMBER_SHARE: Final = 0.5  # numbers are common: having one says less than having a name or a time

Floats = NDArray[Any]  # of any width of float
_KINDS: Final = {kind: code for code, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Signals:
    """Raw values and what they come to (0 to 1) by signal, and the weight each has for this question."""

    values: dict[str, Floats]
    shares: dict[str, Floats]
    weights: dict[str, float]
    terms: int = 0  # of the question
    identifiers: int = 0  # that the question names
    only_time: bool = False  # nothing is asked but what happened at a time
    scales: Mapping[DataPath, float] = field(default_factory=dict)  # of states: one step of each number
    times: Floats | None = None  # how well the time of each fits, whatever it is about
    meant: NDArray[np.bool_] | None = None  # which rows the time asked for allows; None: all


def signals_of(
    found: Candidates,
    asked: Understood,
    recipe: Recipe,
    now: float,
    zone: float,
    unit: str = "record",
    terms: int = 0,
) -> Signals:
    """`now` is when the question is asked, `zone` how many seconds local time is ahead of UTC."""
    line = found.traits.line or _line_up(found)
    talk = line.read_talk(recipe.talk_terms)
    dense, words = scale_to_span(found.dense, _raise_span(found.spans["dense"])), _words(found)
    if asked.foreign:
        dense, words = dense * (1.0 - asked.foreign), _mix_counted(words, found, asked.foreign)
    base = _base(dense, words, found, recipe, asked.foreign)
    values: dict[str, Floats] = {
        "dense": found.dense,
        "words": found.words if found.traits.aligned is None else found.traits.aligned,
    }
    shares: dict[str, Floats] = {"dense": dense, "words": words}
    if recipe.context > 0 and line.some:
        around = base * talk.share
        shares["dense"] = _stretch(line.smooth(dense, talk), float(np.maximum.reduce(dense, initial=0.0)))
        shares["context"] = line.best(around, base) * talk.share + base * talk.rest
    if recipe.reply > 0 and line.some:
        shares["reply"] = line.replies(base) * talk.share
    if recipe.question > 0:
        shares["question"] = talk.asking
    shares |= _about(found, asked, recipe, now, zone)
    times = shares.get("date")
    fit = np.minimum(1.0, shares.get("context", base) / TOPIC)
    if "date" in shares and not asked.only_time:
        shares["date"] = shares["date"] * _fit_subject(found, fit)
    if "form" in shares:
        shares["form"] = shares["form"] * fit
    weights = _weights(shares, asked, found, recipe, unit)
    return Signals(
        {**shares, **values}, shares, weights, terms, len(asked.identifiers), asked.only_time, times=times
    )


def _fit_subject(found: Candidates, fit: Floats) -> Floats:
    """How much a time counts for each: less where another record has far more of the question's words."""
    covered = found.traits.aligned
    if covered is None:
        return fit
    best = float(np.maximum.reduce(covered, initial=0.0))
    if best <= 0:
        return fit
    subject: Floats = np.minimum(fit, covered / (KNOWN * best))
    return subject


def _line_up(found: Candidates) -> TurnLine:
    traits = found.traits
    return TurnLine(traits.session, traits.turn, traits.who, traits.flags, traits.length)


def _words(found: Candidates) -> Floats:
    if found.traits.aligned is None:
        return scale_to_span(found.words, found.spans["words"])
    return scale_to_span(found.traits.aligned, found.spans["aligned"])


def _mix_counted(words: Floats, found: Candidates, foreign: float) -> Floats:
    """Aligned words, as far as the script is one whose words have vectors; else BM25."""
    mixed: Floats = words * (1.0 - foreign) + scale_to_span(found.words, found.spans["words"]) * foreign
    return mixed


def _base(dense: Floats, words: Floats, found: Candidates, recipe: Recipe, foreign: float) -> Floats:
    """How well each matches by itself."""
    if recipe.dense <= 0 or found.spans["dense"].high <= 0:
        return words
    if recipe.words <= 0 or not np.logical_or.reduce(words):
        return dense
    base: Floats = dense * 0.5
    base += words * (0.5 + 0.5 * foreign)
    return base


def scale_to_span(values: Floats, span: Span) -> Floats:
    """0 to 1 up to the best that the arm found; among few, the last need not be far from the best."""
    low = min(span.low, 0.0)
    if span.high <= low:
        return np.zeros(len(values))
    scaled: Floats = values - low
    scaled /= span.high - low
    np.maximum(scaled, 0.0, out=scaled)
    return np.minimum(scaled, 1.0, out=scaled)


def _raise_span(span: Span) -> Span:
    """The best of poor ones is no full match."""
    return span if span.high >= POOR else Span(span.low, POOR)


def _stretch(values: Floats, best: float) -> Floats:
    """0 to what was best before smoothing; among few, the last need not be far from the best."""
    high, low = np.maximum.reduce(values, initial=0.0), 0.0
    if len(values) > FEW:
        low = np.minimum.reduce(values)
    return (values - low) * (best / (high - low)) if high > low else values


def _about(
    found: Candidates, asked: Understood, recipe: Recipe, now: float, zone: float
) -> dict[str, Floats]:
    """The signals that need no scores: what a record is, set against what was asked."""
    shares: dict[str, Floats] = {}
    if recipe.speaker > 0 and asked.speaker in found.traits.voices:
        shares["speaker"] = _of(found, asked)
    if recipe.identifier > 0 and asked.identifiers and found.traits.mentions:
        has = _find_identifiers(found, asked)
        if has.any():
            shares["identifier"] = has
    if recipe.date > 0 and asked.dates:
        shares["date"] = score_dates(found, asked, zone)
    if recipe.form > 0 and asked.expects:
        shares["form"] = _score_form(found, asked.expects)
    if recipe.asked > 0 and (matching := _matching(found, asked)):
        shares["asked"] = _mean_of(matching)
    if recipe.importance > 0:
        shares["importance"] = found.traits.importance
    if recipe.recency > 0:
        age = np.maximum(now - found.traits.occurred, 0.0) / DAY
        shares["recency"] = np.exp2(-age / recipe.half_life_days)
    return shares


def _mean_of(rows: Sequence[Floats]) -> Floats:
    """`np.mean` over few rows, without its detours."""
    total = np.zeros(len(rows[0]))
    for row in rows:
        total += row
    return total / len(rows)


def _of(found: Candidates, asked: Understood) -> Floats:
    """Said by the one who is asked about; or, where nobody said it, naming them."""
    own = found.traits.who == found.traits.voices.index(asked.speaker or "")
    if asked.names and found.traits.mentions:
        own |= (found.traits.who < 0) & found.traits.mentions[0]
    elif not asked.names:
        own |= found.traits.who < 0
    floats: Floats = own * 1.0
    return floats


def _find_identifiers(found: Candidates, asked: Understood) -> Floats:
    """The share of the identifiers that each has, however it writes them."""
    at = len(asked.names[:1])
    total = np.zeros(len(found))
    for one in asked.identifiers:
        end = at + len(one.ways)
        total += np.logical_or.reduce(found.traits.mentions[at:end])
        at = end
    return total / len(asked.identifiers)


def _matching(found: Candidates, asked: Understood) -> list[Floats]:
    """For each thing the query names beside its subject, how well each candidate fits it."""
    fits: list[Floats] = []
    if asked.kind is not None:
        fits.append((found.traits.kind == _KINDS[asked.kind]) * 1.0)
    if found.traits.inside is not None:
        fits.append(found.traits.inside * 1.0)
    if found.traits.away is not None and not np.isnan(found.traits.away).all():
        middle = float(np.nanmedian(found.traits.away)) or 1.0
        fits.append(np.nan_to_num(1.0 / (1.0 + found.traits.away / middle)))
    return fits


def _score_form(found: Candidates, expects: int) -> Floats:
    return _list_forms(expects).take(found.traits.flags)


@lru_cache(maxsize=256)
def _list_forms(expects: int) -> Floats:
    """How well each combination of flags, of which there are 256, has the form that is expected."""
    flags = np.arange(256)
    has = (flags & expects & (TIMED | NAMED | ACTOR)) > 0
    number = (flags & expects & NUMBERED) > 0
    formed: Floats = np.maximum(has * 1.0, number * NUMBER_SHARE)
    return formed


def score_dates(found: Candidates, asked: Understood, zone: float) -> Floats:
    """How well the time of each fits the times asked about, by when it happened or what it speaks of."""
    day = np.floor((found.traits.occurred + zone) / DAY) + UNIX
    days = found.traits.days
    fits = np.zeros(len(found))
    for one in asked.dates:
        score = one.confidence * _precision(one.last - one.first + 1)
        for first, last, certain in list_years(one, day):
            _raise_near(fits, day, first, last, score * certain)
            if len(days):
                _raise_spoken(fits, days, first, last, score * certain * SPOKEN)
    return fits


def _raise_near(fits: Floats, day: Floats, first: int, last: int, score: float) -> None:
    """Raises what happened from `first` to `last` to a score, and what happened a day away to less."""
    near = ((day >= first - 1) & (day <= last + 1)).nonzero()[0]  # few of all did
    if not len(near):
        return
    there = day.take(near)
    within = (there >= first) & (there <= last)
    fits[near] = np.maximum(fits.take(near), np.where(within, score, score * NEXT_DAY))


def _raise_spoken(fits: Floats, days: NDArray[np.int32], first: int, last: int, score: float) -> None:
    """Raises what speaks of a time from `first` to `last` to a score; to less, if of a much longer time."""
    spoken = days[(days[:, 1] <= last) & (days[:, 2] >= first)]
    if not len(spoken):
        return
    rows, length = spoken[:, 0], spoken[:, 2] - spoken[:, 1]
    meant = length <= max(31, last - first)
    wide = np.where(length > 2 * (last - first) + 2, np.where(length >= LONG_TIME, VAGUE, RANGE), 1.0)
    np.maximum.at(fits, rows[meant], score * wide[meant])


def _precision(days: int) -> float:
    """The shorter the time, the more it tells."""
    if days <= 10:
        return 1.0
    if days <= 31:
        return 0.9
    if days <= 100:
        return 0.7
    return 0.5


def list_years(one: Dated, day: Floats) -> Iterator[tuple[int, int, float]]:
    """The time that is meant and, where its year was only guessed, the same time of the other years."""
    yield one.first, one.last, 1.0
    if one.yearless and len(day):
        early, late = int(day.min() - one.first) // 365, int(day.max() - one.first) // 365 + 1
        for years in range(max(early, -YEARS), min(late, YEARS) + 1):
            if years:
                away = round(years * 365.2425)
                yield one.first + away, one.last + away, OTHER_YEAR


def _weights(
    shares: dict[str, Floats], asked: Understood, found: Candidates, recipe: Recipe, unit: str
) -> dict[str, float]:
    """The weight of every signal that has something to say, adding up to one."""
    wanted = {name: getattr(recipe, name) for name in shares}
    for name, arm in (("dense", "dense"), ("words", "words" if found.traits.aligned is None else "aligned")):
        if found.spans[arm].high <= 0:
            wanted[name] = 0.0
    wanted = _by_strength(wanted, found)
    if asked.session and "asked" in wanted:
        wanted["asked"] *= COUNTED
    if asked.several and "context" in wanted:
        wanted["context"] *= SEVERAL
    if unit != "record":
        wanted |= {name: wanted[name] * POOLED for name in ("date", "form") if name in wanted}
    total = _sum_for(wanted) + recipe.uses
    if not total > 0:
        return {}
    return {name: weight / total for name, weight in wanted.items() if weight > 0}


def _sum_for(wanted: dict[str, float]) -> float:
    """What the signals weigh together that may count for a record."""
    total = 0.0
    for name, weight in wanted.items():
        if name not in AGAINST:
            total += weight
    return total


def _by_strength(wanted: dict[str, float], found: Candidates) -> dict[str, float]:
    """Both arms share their weight by what they found, and what builds on them counts less if that is poor.

    Brought to 0-1, the best of an arm is 1 even where it is noise.
    """
    near, here = float(np.maximum.reduce(found.dense, initial=0.0)), ALIKE * share_covered(found)
    dense, words = wanted["dense"], wanted["words"]
    total = dense * near + words * here
    if dense and words and total > 0:
        dense, words = (dense + words) * dense * near / total, (dense + words) * words * here / total
    trust = min(1.0, max(near if dense else 0.0, here if words else 0.0) / POOR)
    judged = wanted | {"dense": dense * trust, "words": words * trust}
    for name in ("context", "reply"):
        if name in judged:
            judged[name] *= trust
    return judged


def share_covered(found: Candidates, rows: NDArray[np.intp] | slice = EVERY) -> float:
    """The share of the question's words that the best of the rows covers."""
    if found.traits.aligned is not None:
        return float(np.maximum.reduce(found.traits.aligned[rows], initial=0.0))
    if found.rarity > 0:
        return min(1.0, float(np.maximum.reduce(found.words[rows], initial=0.0)) / found.rarity)
    return 0.0
