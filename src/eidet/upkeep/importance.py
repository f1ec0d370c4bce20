"""Estimates the importance of a record, from 0 to 1, by its content, its metadata and its use.

Unknown parts are left out and their weight goes to the others; NaN counts as unknown. Every part is
within 0-1, and so is the result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import numpy as np

from ..core.record import Kind, Record
from ..core.validate import Json
from ..models.embed.quantise import first_rows
from ..text import words_in
from ..text.sentences import sentences
from ..text.words import STOP_WORDS, tokens
from . import Change, Write
from .curve import DAY

_TAGS: Final = {
    "critical": 1.0,
    "important": 0.9,
    "decision": 0.9,
    "preference": 0.8,
    "commitment": 0.8,
    "todo": 0.7,
    "fact": 0.6,
    "smalltalk": 0.1,
    "noise": 0.0,
}


def action_importance(reward: float | None, state_change: float | None) -> float:
    """Computes `min(1, 0.5 * |reward| + 0.5 * state change)`; unknown or negative change counts as 0."""
    return min(1.0, 0.5 * abs(_value_or(reward, 0.0)) + 0.5 * max(_value_or(state_change, 0.0), 0.0))


def state_importance(health: float | None, reward: float | None) -> float:
    """Computes `max(0.5, 1 - health, min(1, |reward| / 5))`, at most 1; health defaults to 1, reward to 0."""
    return min(1.0, max(0.5, 1.0 - _value_or(health, 1.0), min(1.0, abs(_value_or(reward, 0.0)) / 5.0)))


def move_score(age: float, ttl: float | None, importance: float | None) -> float:
    """Computes `age / ttl * (1 - importance)`: a record is due for the next tier at 1.

    Age and ttl have the same unit. Returns 0 without a ttl (None, 0, infinite or NaN). Unknown importance
    is 0.5.
    """
    lasts, lived = _value_or(ttl, 0.0), max(_value_or(age, 0.0), 0.0)
    if lasts <= 0 or math.isinf(lasts):
        return 0.0
    spare = 1.0 - _clamp(_value_or(importance, 0.5))
    return lived / lasts * spare if spare else 0.0


# The relative weight of each part.
_WEIGHTS: Final = {"content": 0.5, "tagged": 0.3, "reward": 0.3, "surprise": 0.2, "uses": 0.2, "age": 0.05}
_MOST_REWARD: Final = 5.0  # the reward, of either sign, from which on its part is 1
_HALF_OF_USES: Final = 5.0  # uses at which their part is 0.5
_AGE_HALF_LIFE_DAYS: Final = 30.0  # age at which its part is 0.5


def importance(
    text: str,
    *,
    stated: float | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    reward: float | None = None,
    surprise: float | None = None,
    uses: int | None = None,
    age_days: float | None = None,
) -> float:
    """Returns 1 for a pinned record, the caller's value if given, else a weighted estimate."""
    if pinned:
        return 1.0
    if stated is not None and not math.isnan(stated):
        return _clamp(stated)
    parts = {
        "content": measure_information(text),
        "tagged": max((_TAGS[tag.casefold()] for tag in tags if tag.casefold() in _TAGS), default=None),
        "reward": None if reward is None else abs(reward) / _MOST_REWARD,
        "surprise": surprise,
        "uses": None if uses is None else 1.0 - _HALF_OF_USES / (_HALF_OF_USES + max(uses, 0)),
        "age": None if age_days is None else 2.0 ** -(max(age_days, 0.0) / _AGE_HALF_LIFE_DAYS),
    }
    known = {name: _clamp(part) for name, part in parts.items() if part is not None and not math.isnan(part)}
    return sum(part * _WEIGHTS[name] for name, part in known.items()) / sum(map(_WEIGHTS.__getitem__, known))


def _value_or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None or math.isnan(value) else value


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


# Importance that no caller stated: estimated from the content at first, later also from use and age.


_STEP: Final = 0.05  # smaller changes are not written
_WINDOW: Final = 4_096


def weigh_record(record: Record) -> Record:
    """Returns the record with the importance that its content and metadata suggest."""
    value = _by_formula(record)
    if value is None:
        value = importance(record.text, tags=_tags(record.meta), reward=_number(record.data, "reward"),
                           pinned=record.state.pinned is not None)  # fmt: skip
    return record.but(importance=value, state=record.state.but(weighed=True))


def reweigh(records: Iterable[Record], now: float, width: int) -> Iterator[Change]:
    """Yields updates of estimated importance by use, age and surprise, unless they are small."""
    walk = iter(records)
    while window := sorted(islice(walk, _WINDOW), key=lambda record: (record.created, record.id)):
        free = (at for at, one in enumerate(window) if one.state.weighed and not one.state.is_protected)
        ours = [at for at in free if _by_formula(window[at]) is None]
        for at, new in zip(ours, _surprises(window, ours, width), strict=True):
            record = window[at]
            value = importance(
                record.whole.text,
                tags=_tags(record.meta),
                reward=_number(record.data, "reward"),
                surprise=new,
                uses=record.uses,
                age_days=(now - record.occurred) / DAY,
            )
            if abs(value - record.importance) >= _STEP:
                yield _put(record, value, new)


def _put(record: Record, value: float, new: float | None) -> Write:
    known = f", surprise {new:.2f}" if new is not None else ""
    because = f"importance {record.importance:.2f} becomes {value:.2f}: {record.uses} uses{known}"
    return Write(
        what="weigh", record=record.but(importance=value), because=because, instead=record, recast=True
    )


def _surprises(window: Sequence[Record], wanted: Sequence[int], width: int) -> list[float | None]:
    """Computes the surprise of each wanted record: one minus the cosine with the nearest before it."""
    if not wanted:
        return []
    rows = first_rows([record.vector for record in window], [record.level for record in window], width)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return [_clamp(1.0 - float((rows[:at] @ rows[at]).max())) if at else None for at in wanted]


def _by_formula(record: Record) -> float | None:
    """Applies the formulas for states and actions with a reward, health or state change; None for others."""
    reward, health = _number(record.data, "reward"), _number(record.data, "health")
    change = _number(record.data, "state_change")
    if record.kind is Kind.ACTION and (reward, change) != (None, None):
        return action_importance(reward, change)
    if record.kind is Kind.STATE and (reward, health) != (None, None):
        return state_importance(health, reward)
    return None


def _number(data: Json, name: str) -> float | None:
    value = data.get(name) if isinstance(data, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _tags(meta: Mapping[str, Json]) -> list[str]:
    tags = meta.get("tags", meta.get("tag", ()))
    if isinstance(tags, str | list | tuple):
        return [tag for tag in ([tags] if isinstance(tags, str) else tags) if isinstance(tag, str)]
    return []


# Scores how much lasting information a text contains.

_READ: Final = 4_000  # characters that suffice to judge a text, which bounds the cost


_NUMBER = re.compile(r"\d+")
_QUESTION = re.compile(r"[?？؟]['\"”’)\]]*\Z")
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_DATE = re.compile(
    r"""\b(?: (?:19|20)\d\d | \d{1,2}[:.h]\d\d | \d{1,2}\s?(?:am|pm)
    | (?:mon|tues|wednes|thurs|fri|satur|sun)day
    | january|february|march|april|june|july|august|september|october|november|december
    | yesterday|tomorrow|tonight | (?:last|next)\s(?:week|month|year|night|summer|winter|spring|fall)
    )s?\b""",
    re.VERBOSE,
)
_CUES: Final = (
    re.compile(  # says who they are
        r"\bmy name is\b|\bi(?:'m| am) (?:an? |from\b|allerg|born|vegan|vegetarian|married|single|divorced)"
        r"|\bi (?:live|work|study|grew up|was born)\b"
        r"|\bmy (?:birthday|address|phone|email|job|wife|husband|partner)\b",
    ),
    re.compile(  # states a preference
        r"\b(?:i|we|he|she|they)(?: really| also| always)? (?:like|love|hate|prefer|enjoy|dislike|adore)s?\b"
        r"|\bfavou?rite\b|\b(?:i|we) (?:always|never|usually|can't stand)\b|\bi'd rather\b"
        r"|\ballerg(?:y|ic)\b",
    ),
    re.compile(  # states a decision
        r"\b(?:decided|decision|agreed|chose|chosen|settled on|going with|made up my mind|signed up|quit"
        r"|approved|rejected|concluded)\b",
    ),
    re.compile(  # makes a commitment
        r"\b(?:i|we)(?:'ll| will| promise| must)\b|\bdeadline\b"
        r"|\bdue (?:on|by|date)\b|\b(?:don't|do not|never) forget\b|\bremember (?:to|that)\b|\bremind me\b",
    ),
    re.compile(  # tells what happened
        r"\b(?:i|we|he|she|they|my \w+|our \w+)(?: just| also| finally| recently)?"
        r" (?:\w{2,}ed|went|got|saw|met|made|took|bought|had|was|were|did|came|gave|found|began|won|lost)\b",
    ),
)
_SMALL_TALK: Final = words_in("""
    hi hello hey yo hiya bye goodbye cya thanks thank thx ty please welcome sorry ok okay k yes yeah yep
    yup no nope nah sure right great good nice cool awesome amazing wow wonderful perfect lovely fine haha
    hahaha lol oh ah hmm um uh well morning afternoon evening night day weekend luck see talk later soon
    take care u much what's up glad happy sounds absolutely definitely exactly totally cheers congrats
    congratulations again always anytime problem worries been doing hear chat catch everything appreciate
    support kind words means lot really
    """)


def measure_information(text: str) -> float:
    """Estimates the information in a text from 0 (none) to 1, by its first 4,000 characters.

    The weights come from a logistic regression on the turns that questions of two public sets are about;
    they are rounded, because both sets are English.
    """
    text = text[:_READ]
    words, spoken = tokens(text), sentences(text)
    if not words:
        return 0.0
    low = text.lower().replace("’", "'")
    cues = sum(cue.search(low) is not None for cue in _CUES)
    asked, idle = sum(map(bool, map(_QUESTION.search, spoken))) / len(spoken), _idle(words)
    details = _details(low, spoken)
    score = 0.1 + 0.45 * _much(len(words), 12) + 0.3 * _much(details, 1.5) + 0.3 * _much(cues, 1)
    return min(max(score - 0.2 * asked - (0.2 if cues else 0.4) * idle, 0.05), 1.0)


def _details(low: str, said: Iterable[str]) -> int:
    """Counts the distinct numbers, dates and names."""
    found = chain(_NUMBER.findall(low), _DATE.findall(low), *map(_names, said))
    return len({detail.casefold() for detail in found})


def _names(sentence: str) -> list[str]:
    """Lists capitalised words after the first; none of a sentence in capitals or of at most three words."""
    words = _WORD.findall(sentence)
    if len(words) <= 3 or sentence.isupper():
        return []
    return [word for word in words[1:] if word[0].isupper() and len(word) > 1]


def _idle(words: Sequence[str]) -> float:
    """Returns the share of small talk among the content words; 1 if there are only function words."""
    content = [word for word in words if word.partition("'")[0] not in STOP_WORDS["en"]]
    return sum(word in _SMALL_TALK for word in content) / len(content) if content else 1.0


def _much(count: int, half: float) -> float:
    """Maps a count to 0-1: 0 for none, 0.5 at `half`, towards 1 for many."""
    return count / (count + half)
