"""The words of questions that ask for a talk, by language, from `talk_words.json`.

There, `talk` has lists of words and one pattern; `session` has patterns, those of a number or an ordinal in
their order, each without a space.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..text.flags import words_in
from ..text.stopwords import STOP_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWords:
    """How a language asks "what did we talk about last time?".

    A question is meant if it has `known` words only and speaks of a talk and of the last one, or if it
    has one of the `turns` of phrase. `news` ask for what is new since a time.
    """

    talk: frozenset[str]
    last: frozenset[str]
    news: frozenset[str]
    we: frozenset[str]
    known: frozenset[str]  # all of these, function words, and words that say nothing of a subject
    turns: re.Pattern[str]


@cache
def _load() -> dict[str, dict[str, Any]]:
    text = files(__package__).joinpath("talk_words.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, Any]] = json.loads(text)
    return loaded


@cache
def list_languages(language: str) -> tuple[str, ...]:
    """A language, if its words are known, and English: many people ask in English, whatever they store."""
    return tuple(dict.fromkeys((language, "en"))) if language in _load() else ("en",)


@cache
def talk_words(language: str) -> tuple[TalkWords, ...]:
    """Returns the words of a language, and the English ones."""
    return tuple(_make(code, **_load()[code]["talk"]) for code in list_languages(language))


def session_words(language: str) -> dict[str, str]:
    """The patterns of one language that speak of sessions by number."""
    words: dict[str, str] = _load()[language]["session"]
    return words


def _make(language: str, *, talk: str, last: str, news: str, we: str, other: str, turns: str) -> TalkWords:
    sets = [words_in(text) for text in (talk, last, news, we)]
    known = STOP_WORDS[language] | words_in(other)
    return TalkWords(
        talk=sets[0],
        last=sets[1],
        news=sets[2],
        we=sets[3],
        known=known.union(*sets),
        turns=re.compile(rf"(?<!\w)(?:{turns})(?!\w)"),
    )
