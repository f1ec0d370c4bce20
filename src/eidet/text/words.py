"""The analyzer: words, stemmed by Snowball, without stop words.

How text becomes terms:
- Unicode is normalised (NFKC) and case is folded; ASCII text, the common case, skips this.
- Words split at anything but letters, digits and the marks of Indic scripts. "Ann's" is `ann`.
- Codes give their parts and the whole: "INV-2291" is `inv`, `2291` and `inv2291`; so
  "INV2291" finds it, "1,200" meets "1200" and "v1.2.3" has a rare term. "U.S.A." is `usa`.
- Scripts without spaces, and Hangul, give overlapping pairs of characters; a lone one stays alone.
- Accents do not separate: "café" meets "cafe". They are folded after stemming, because stemmers read
  them, except in English, whose stemmer does not ("résumés" meets "resume").
- Each emoji is a term, whatever its skin tone; a flag is one term.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TypeVar
from unicodedata import normalize

import Stemmer

from ..core.errors import BadInput
from . import Analyzer, analyzer_of, pack_ids, term_id

_STOP_TABLE = json.loads(Path(__file__).with_name("stopwords.json").read_text(encoding="utf-8"))
# function words by language, which say nothing about a shared subject
STOP_WORDS = {
    code: frozenset(" ".join(lines).split()) for code, lines in _STOP_TABLE.items() if code != "about"
}
RULES = 2  # to be raised with every change of terms, units or marks; part of the stored name

LANGUAGES = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "th": "thai",
    "tr": "turkish",
    "yi": "yiddish",
    "zh": "chinese",
    "none": "none",
}
_CODES = {name: code for code, name in LANGUAGES.items()} | {"nb": "no", "nn": "no"}

# Han, kana, Hangul, Thai, Lao, Khmer, Myanmar: no spaces between words, or none that help
SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# vowel signs and the like, which Python does not count as word characters
_SIGNS = (
    "\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0900-\u0963\u0966-\u096f\u0971-\u0df3\u0f18\u0f19"
    "\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f"
)
# accents left alone by NFKC, Hebrew points, Arabic vowels, invisible joiners, skin tones
_NOISE = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u200c\u200d\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff"
)
_EMOJI = "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
_LETTER = rf"[^\W_{SPACELESS}]"
_WORD = rf"{_LETTER}+(?:[{_SIGNS}]+{_LETTER}*)*"


def _words_of(letter: str, word: str) -> str:
    """Makes a pattern for a word, with parts tied by hyphens, dots or commas, and an English clitic."""
    more = rf"(?:[-._]{word}|(?<=[0-9]),[0-9]{{3}}(?![0-9]))*"
    return rf"{word}{more}(?:'(?:[stdm]|ll|re|ve)(?!{letter}))?"


# the most frequent case first: a word with nothing tied to it
_ASCII = re.compile(rf"[a-z0-9]++(?![-._,'])|{_words_of('[a-z0-9]', '[a-z0-9]+')}")
_UNSIGNED = b"abcdefghijklmnopqrstuvwxyz0123456789 "
# An ASCII text needs none of these; compiling them takes 10 ms.
_TOKEN = re.compile(rf"{_words_of(_LETTER, _WORD)}|[{SPACELESS}]+|[\U0001f1e6-\U0001f1ff]{{2}}|[{_EMOJI}]")
_SPACELESS = re.compile(rf"[{SPACELESS}]")
_DROPPED = re.compile(rf"[{_NOISE}]")
_APOSTROPHE = re.compile("[\u2018\u02bc]")
_TIES = re.compile(r"[-._,]")
_DIGIT = re.compile(r"\d")
_ACCENTED = re.compile("[\u00df-\u024f\u0370-\u03ff\u0451\u1e00-\u1fff]")
_PLAIN = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}


def code_of(language: str) -> str:
    """Returns the code of a language, given by code or English name; raises `BadInput` if it is unknown."""
    wanted = language.strip().lower() if isinstance(language, str) else ""
    code = _CODES.get(wanted, wanted)
    if code not in LANGUAGES:
        raise BadInput(
            f"no text analysis for the language {language!r}; "
            f"there are {', '.join(LANGUAGES)} (none: plain words of any language)"
        )
    return code


class WordAnalyzer:
    """The `Analyzer` of one language. A cached word costs one dict lookup."""

    def __init__(self, language: str = "en") -> None:
        code = code_of(language)
        self.language = code
        self._stop = STOP_WORDS.get(code, frozenset())
        self._plain_first = code == "en"
        self._snowball = _Snowball(LANGUAGES[code])
        self._kept = Memo(self._terms_of)
        self._ids = Memo(lambda word: tuple(map(term_id, self._terms_of(word))))
        self.name: str = f"words/{RULES} {code}{self._snowball.version}"

    def terms(self, text: str) -> list[str]:
        words = tokens(text)
        kept = list(chain.from_iterable(map(self._kept.__getitem__, words)))
        return kept or self._all_of(words)

    def pack_text(self, text: str) -> bytes:
        words = tokens(text)
        ids = list(chain.from_iterable(map(self._ids.__getitem__, words)))
        return pack_ids(ids or [term_id(term) for term in self._all_of(words)])

    def _terms_of(self, word: str) -> tuple[str, ...]:
        """Returns the terms of a word as written, without stop words."""
        if word in self._stop:
            return ()
        if word.isascii() and word.isalnum():  # no code, no clitic, no accent: nearly every word
            return (_plain(self._snowball.stem(word)) or word,)
        # the joined form of "U.S." is no pronoun, and no substring of it either
        return tuple(self._stem(part) for part in _parts(word) if part not in self._stop or part not in word)

    def _all_of(self, words: list[str]) -> list[str]:
        return list(map(self._stem, chain.from_iterable(map(_parts, words))))

    def _stem(self, part: str) -> str:
        if self._plain_first:
            part = _plain(part)
        return _plain(self._snowball.stem(part)) or part


def tokens(text: str) -> list[str]:
    """Returns the folded words, character pairs and emoji of a text, in order; codes in one piece."""
    text = text.replace("\u2019", "'")
    if text.isascii():
        return _split_ascii(text.lower())
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    folded = _DROPPED.sub("", _APOSTROPHE.sub("'", folded))
    found = _TOKEN.findall(folded)
    return list(_pair_letters(found)) if _SPACELESS.search(folded) else found


def _split_ascii(low: str) -> list[str]:
    """Splits an ASCII text; words with only blanks between them, as in many notes, need no pattern."""
    return _ASCII.findall(low) if low.encode().translate(None, _UNSIGNED) else low.split()


def _pair_letters(found: list[str]) -> Iterator[str]:
    for token in found:
        if len(token) > 2 and _SPACELESS.match(token):
            yield from map("".join, pairwise(token))
        else:
            yield token


def _parts(word: str) -> list[str]:
    """Returns the forms under which a word is found: without its clitic, or a code's parts and the whole."""
    head = word.partition("'")[0]
    parts = _TIES.split(head)
    if len(parts) == 1:
        return parts
    if max(map(len, parts)) == 1 and head.replace(".", "").isalpha():
        return ["".join(parts)]
    return [*parts, "".join(parts)] if len(parts) <= 4 and _DIGIT.search(head) else parts


def _plain(term: str) -> str:
    """Removes accents from Latin and Greek letters; ё becomes е; й and other scripts' marks stay."""
    if term.isascii():
        return term
    return _ACCENTED.sub(lambda letter: _PLAIN.get(letter[0]) or normalize("NFD", letter[0])[0], term)


class _Snowball(threading.local):
    """A stemmer per thread, as Snowball's hold state; the identity for a language without a stemmer."""

    def __init__(self, algorithm: str) -> None:
        self.stem: Callable[[str], str] = str
        self.version = ""
        if algorithm in Stemmer.algorithms():
            self.stem = Stemmer.Stemmer(algorithm, 0).stemWord
            self.version = f" snowball/{Stemmer.version()}"


Value = TypeVar("Value")


class Memo(dict[str, Value]):
    """A cache of a function's results for short words, cleared at once when it is full."""

    __slots__ = ("_of",)
    most: int = 2**16
    longest: int = 32

    def __init__(self, of: Callable[[str], Value]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, word: str) -> Value:
        value = self._of(word)
        if len(word) <= self.longest:
            if len(self) >= self.most:
                self.clear()
            self[word] = value
        return value


# --- English forms of one word that no stemmer joins: `bought` of `buy`

_FORM = 0.95  # nearness of another form of the same word
Related = dict[int, float]  # ids of terms, and their nearness


@cache
def load_forms() -> tuple[tuple[str, ...], ...]:
    """Loads the forms of each word."""
    text = Path(__file__).with_name("word_forms.txt").read_text(encoding="utf-8")
    return tuple(tuple(line.split()) for line in text.splitlines())


def list_related(analyzer: Analyzer) -> dict[int, Related]:
    """Maps a term's id to those of its other forms. Empty for a language without a list."""
    return _relate_forms() if analyzer.language == "en" else {}


@cache
def _relate_forms() -> dict[int, Related]:
    analyzer, found = analyzer_of("en"), dict[int, Related]()
    for forms in load_forms():
        ids = [term_id(term) for form in forms for term in analyzer.terms(form)]
        for one in ids:
            if others := {other: _FORM for other in ids if other != one}:
                found.setdefault(one, {}).update(others)
    return found
