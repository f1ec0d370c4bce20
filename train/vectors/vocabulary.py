"""Chooses the entries of the table: words of seven languages, by frequency.

    python train/vectors/vocabulary.py WORK

Writes WORK/vocabulary.json (English first, then the others) and WORK/frequencies.json.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from wordfreq import get_frequency_dict

from corpus import OTHERS
from eidet.models.embed.multi import find_words

ENGLISH = 32_000
OTHER = 8_500  # words of each other language
FOREIGN = 30.0  # so many times more common elsewhere than in English: its English meaning is dropped


def count_words(language: str) -> dict[str, float]:
    """How common the words of a language are, spelt as the table spells them."""
    found: Counter[str] = Counter()
    for phrase, frequency in get_frequency_dict(language, "large" if language != "pt" else "best").items():
        for word in find_words(phrase):
            if word.isalpha():
                found[word] += frequency
    return found


def choose_words() -> tuple[list[str], list[str], dict[str, float]]:
    english = count_words("en")
    common = {language: count_words(language) for language in OTHERS}
    highest: dict[str, float] = dict(english)
    foreign: set[str] = set()
    for counts in common.values():
        for word, frequency in counts.items():
            if frequency > FOREIGN * english.get(word, 0.0):
                foreign.add(word)
            highest[word] = max(highest.get(word, 0.0), frequency)
    ours = [word for word in _most_common(english, ENGLISH) if word not in foreign or len(word) == 1]
    theirs = {word for counts in common.values() for word in _most_common(counts, OTHER)} - set(ours)
    return ours, sorted(theirs, key=lambda word: -highest[word]), highest


def _most_common(counts: dict[str, float], count: int) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]


if __name__ == "__main__":
    work = Path(sys.argv[1])
    ours, theirs, highest = choose_words()
    print(len(ours), len(theirs))
    (work / "vocabulary.json").write_text(json.dumps([*ours, *theirs]))
    kept = {word: highest[word] for word in (*ours, *theirs)}
    (work / "frequencies.json").write_text(json.dumps({"english": len(ours), "frequency": kept}))
