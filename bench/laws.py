"""The laws of recall on development sets: a record's own text finds it, and what should not matter does not.

    python bench/laws.py ../shared/data --least own=.99 --least half=.95

Each law is the share of a fixed sample that keeps it, by set:

own       the text of a record finds it, or a record of the same text, first at .8 or more
own-asks  that of a stored question, before which its answer may stand, finds it among the first three
half      the first half of its words finds it, or a record that begins the same, among the first three
yes-no    "Is Tom allergic to peanuts?", made from a statement, finds it first at .6 or more
case, signs, spaces, courtesy, please
          a question in small letters, without the signs around its words, with wider spaces, or wrapped in
          courtesies has the same first hit
company   records that have nothing to do with it leave the first hit of a question
order     records that were written in another order give the same first hit
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eidet import Draft, Hit, Memory
from eidet.eval import Case, read_cases
from eidet.text.flags import asks

SEED = 7
CASES = 8  # of a set, and at most so many records in them
RECORDS = 8_000
SAMPLE = 300  # records and questions of a set
OWN, YES = 0.8, 0.6
AMONG = 3
LONGEST = 4_000  # characters of a query
DAY = 86_400.0
UNRELATED = tuple(
    f"{thing} {deed} {place}."
    for thing in ("The quokka", "A trombone", "The glacier", "Every zeppelin", "The marzipan", "An obelisk")
    for deed in ("hums beside", "melts above", "was weighed under", "outlasts")
    for place in ("the viaduct of Pernambuco", "a basalt lagoon", "the turnstile museum", "seven lanterns")
)
_ENDS = ".,;:!?\"'()[]\u2026\u201c\u201d\u2018\u2019\u3002\uff0c\uff1f\uff01"
_SIGNS = re.compile(r"[^\w\s]|_")
_SENTENCE = re.compile(r"[^.!?\n]{12,160}[.!]?\Z")
_STATED = re.compile(
    r"((?:[A-Z][\w']*|the|my|our|her|his|i|we|she|he|they|it)(?: [\w'-]+){0,3}?)"
    r" (is|are|am|was|were|can|could|will|would|should|must) (?!n't)(.+?)[.!]*\Z"
)

_SMALL = re.compile(r"(?:the|my|our|her|his|we|she|he|they|it|there|this|that|you|these|those)\b")
_NO_SUBJECT = re.compile(r"(?:why|what|how|who|where|when|which|if|or|and|but|so|wow|as|because|while)\b")


@dataclass(frozen=True)
class World:
    """A case in a memory: its records by id, its questions with the time they are asked at."""

    scope: str
    texts: dict[str, str]
    questions: tuple[tuple[str, float], ...]
    now: float


def fold(text: str) -> str:
    """A text without what should not matter: case, signs, spaces."""
    return " ".join(_SIGNS.sub(" ", text.casefold()).split())


def halve(text: str) -> str:
    words = text.split()
    return " ".join(words[: (len(words) + 1) // 2])


def ask_whether(text: str) -> str | None:
    """The question for yes or no that a statement answers; None for what is no plain statement."""
    if _SENTENCE.match(text) is None or (found := _STATED.match(text)) is None:
        return None
    subject, verb, rest = found.groups()
    if _NO_SUBJECT.match(subject.lower()):
        return None
    if _SMALL.match(subject.lower()):
        subject = subject[0].lower() + subject[1:]
    return f"{verb.capitalize()} {subject} {rest}?"


VARIANTS: dict[str, Callable[[str], str]] = {
    "case": str.lower,
    "signs": lambda text: " ".join(word.strip(_ENDS) or word for word in text.split()),
    "spaces": lambda text: "  " + text.replace(" ", "   ") + " \n",
    "courtesy": lambda text: f"Hi, quick one: {text} Thanks!",
    "please": lambda text: f"Could you please tell me: {text}",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the development sets")
    parser.add_argument("--sets", nargs="*", help="only these, by the beginning of their names")
    parser.add_argument("--least", action="append", default=[], help="own=.99: what every set must reach")
    parser.add_argument("--show", type=int, default=0, help="so many failures of each law")
    given = parser.parse_args()
    missed = []
    for path in sorted(given.data.glob("*-dev.json*")):
        name = path.name.partition("-dev")[0]
        if given.sets and not name.startswith(tuple(given.sets)):
            continue
        kept = measure(read_cases(path))
        shares = {law: statistics.mean(ok for ok, _ in found) for law, found in kept.items()}
        print(
            f"{name:14}",
            *(f"{law} {share:.3f} ({len(kept[law])})" for law, share in shares.items()),
            flush=True,
        )
        for law, found in kept.items():
            for _, told in [one for one in found if not one[0]][: given.show]:
                print(f"    {law}: {told}")
        missed += [
            f"{name}: {law} is {shares[law]:.3f}, below {least}"
            for law, _, least in (one.partition("=") for one in given.least)
            if law in shares and shares[law] < float(least)
        ]
    sys.exit("\n".join(missed) or 0)


Kept = dict[str, list[tuple[bool, str]]]


def measure(cases: Sequence[Case]) -> Kept:
    draw = random.Random(SEED)
    kept: Kept = defaultdict(list)
    chosen = choose(cases, draw)
    with Memory() as memory, Memory() as turned:
        worlds = [fill(memory, case, range(len(case.records))) for case in chosen]
        for case in chosen:
            fill(turned, case, shuffle(case, draw))
        check_records(memory, worlds, draw, kept)
        check_questions(memory, turned, worlds, draw, kept)
    return kept


def choose(cases: Sequence[Case], draw: random.Random) -> list[Case]:
    """Some cases with questions, of not too many records."""
    chosen: list[Case] = []
    count = 0
    for case in draw.sample(list(cases), len(cases)):
        if len(chosen) < CASES and count + len(case.records) <= RECORDS and case.questions:
            chosen.append(case)
            count += len(case.records)
    return chosen or [cases[0]]


def shuffle(case: Case, draw: random.Random) -> list[int]:
    """Another order; what a session has at one and the same time stays in the order in which it was told."""
    places: dict[object, float] = defaultdict(draw.random)
    keys = [places[one.session, one.occurred] if one.session else draw.random() for one in case.records]
    return sorted(range(len(keys)), key=keys.__getitem__)


def fill(memory: Memory, case: Case, order: Sequence[int]) -> World:
    memory.remember([case.records[at] for at in order], scope=case.scope, keep_duplicates=True)
    known = memory.find(scope=case.scope, limit=100_000)
    latest = max(record.occurred for record in known) + DAY
    return World(
        scope=case.scope,
        texts={record.id: record.text for record in known},
        questions=tuple((one.text, one.asked or latest) for one in case.questions),
        now=latest,
    )


def check_records(memory: Memory, worlds: Sequence[World], draw: random.Random, kept: Kept) -> None:
    every = sorted((world.scope, text) for world in worlds for text in world.texts.values())
    by_scope = {world.scope: world for world in worlds}
    stated = []
    for scope, text in every:
        if question := ask_whether(text):
            stated.append((scope, text, question))
    for scope, text in draw.sample(every, min(SAMPLE, len(every))):
        if len(text) > LONGEST or not fold(text):
            continue
        now = by_scope[scope].now
        check_own(memory.recall(text, scope=scope, now=now, limit=AMONG), text, kept)
        if len(text.split()) >= 4:
            half = halve(text)
            hits = memory.recall(half, scope=scope, now=now, limit=AMONG)
            kept["half"].append((any(fold(hit.text).startswith(fold(half)) for hit in hits), half))
    for scope, text, question in draw.sample(stated, min(SAMPLE, len(stated))):
        hits = memory.recall(question, scope=scope, now=by_scope[scope].now, limit=AMONG)
        right = bool(hits) and fold(hits[0].text) == fold(text) and hits[0].score >= YES
        kept["yes-no"].append((right, f"{question} → {describe(hits)}"))


def check_own(hits: Sequence[Hit], text: str, kept: Kept) -> None:
    same = [fold(hit.text) == fold(text) for hit in hits]
    told = f"{text[:90]} → {describe(hits)}"
    if asks(text):
        kept["own-asks"].append((any(same), told))
    else:
        kept["own"].append((same[:1] == [True] and hits[0].score >= OWN, told))


def describe(hits: Sequence[Hit]) -> str:
    return f"{hits[0].score:.2f} {hits[0].text[:90]}" if hits else "nothing"


def check_questions(
    memory: Memory, turned: Memory, worlds: Sequence[World], draw: random.Random, kept: Kept
) -> None:
    every = sorted((world.scope, *question) for world in worlds for question in world.questions)
    asked = draw.sample(every, min(SAMPLE, len(every)))
    before = [first_of(memory, scope, text, now) for scope, text, now in asked]
    for (scope, text, now), first in zip(asked, before, strict=True):
        for law, change in VARIANTS.items():
            kept[law].append(compare(memory, scope, change(text), now, first))
        kept["order"].append(compare(turned, scope, text, now, first))
    for world in worlds:
        added = [Draft(text=text, occurred=world.now - DAY) for text in UNRELATED]
        memory.remember(added, scope=world.scope)
    for (scope, text, now), first in zip(asked, before, strict=True):
        kept["company"].append(compare(memory, scope, text, now, first))


def first_of(memory: Memory, scope: str, text: str, now: float) -> str:
    hits = memory.recall(text, scope=scope, now=now, limit=1)
    return fold(hits[0].text) if hits else ""


def compare(memory: Memory, scope: str, text: str, now: float, first: str) -> tuple[bool, str]:
    found = first_of(memory, scope, text, now)
    return found == first, f"{text[:120]!r}: {first[:70]!r}, then {found[:70]!r}"


if __name__ == "__main__":
    main()
