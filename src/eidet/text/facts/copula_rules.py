"""Statements of "is": "I'm allergic to nuts", "Ann is a nurse", "Tom is my boss", "she's 30"."""

from __future__ import annotations

from typing import Final

from .attribute_rules import read_attribute
from .moods import Mood, read_mood, says_no_more
from .phrase_values import is_age
from .relations import FAVOURITE
from .sentence_reading import SentenceReading
from .statement import VALUE, Mention, Nature, Reference
from .valid_times import Validity
from .whose import owner_mention
from .word_tables import PRESENT, Frame

_AFTER_AGE: Final = frozenset({"", ",", "and", "but", "now", "yrs", "year-old"})
_PEOPLE: Final = frozenset({Reference.SPEAKER, Reference.HE, Reference.SHE, Reference.NAME, Reference.THEY})
_LASTING: Final = frozenset(
    {"born_in", "birthday", "condition", "replaced_by", "name", "nickname", "nationality"}
)
_PRAISE: Final = frozenset(
    ["good", "great", "best", "bad", "terrible", "better", "amazing", "decent", "big", "natural", "worst"]
)
_OPPOSITE: Final = {"likes": "dislikes", "fan_of": "dislikes"}


def read_copula(reading: SentenceReading, at: int) -> None:
    """The statements of a form of "to be" (or "became") at a word."""
    words, tables = reading.words, reading.tables
    if words.low[at] != "'s" and read_attribute(reading, at):
        return
    begin, denied = _skip(reading, at + 1)
    if not _may_follow(reading, begin):
        return
    mood = read_mood(words, at, tables, PRESENT)
    if {"unreal", "will", "none", "may", "planned", "to"} & mood.effects:
        return
    subjects = reading.subjects_before(mood.subject_end, things=True)
    if not subjects:
        return
    predicate = _Predicate(reading, at, begin, mood, subjects, denied or "not" in mood)
    predicate.read()


def _skip(reading: SentenceReading, at: int) -> tuple[int, bool]:
    """Past adverbs and "not", and whether there was one."""
    low, denied = reading.words.low, False
    while low[at] in reading.tables.adverbs or low[at] in ("not", "n't", "never", "nicht", "no", "longer"):
        denied = denied or low[at] in ("not", "n't", "never", "nicht", "no")
        at += 1
    return at, denied


def _may_follow(reading: SentenceReading, at: int) -> bool:
    """Whether what follows may be a predicate at all: the cheap check before subjects are read."""
    low, tables = reading.words.low, reading.tables
    word = low[at]
    if word in tables.predicates or word in tables.states or word in tables.articles:
        return True
    if word in tables.possessives or is_age(word) or word[:1].isdigit() or word in tables.jobs:
        return True
    if word in ("called", "named") or reading.mentions.is_name(at):
        return True
    if tables.inverts and word in tables.ties:
        return True
    return low[at + 1] in tables.states or low[at + 1] == "'s" or word in ("in", "on", "lactose", "gluten")


class _Predicate:
    """What follows a copula, read against its subjects."""

    __slots__ = ("at", "copula", "denied", "mood", "reading", "subjects", "sure")

    def __init__(
        self,
        reading: SentenceReading,
        copula: int,
        at: int,
        mood: Mood,
        subjects: list[Mention],
        denied: bool,
    ) -> None:
        self.reading = reading
        self.copula = copula
        self.at = at
        self.mood = mood
        self.subjects = subjects
        self.denied = denied
        self.sure = min(mood.confidence, reading.confidence_at(copula))

    def read(self) -> None:
        attempts = (
            self._favourite,
            self._kin,
            self._state,
            self._frame,
            self._number,
            self._noun,
            self._name,
        )
        for attempt in attempts:
            if attempt():
                return

    @property
    def _past(self) -> bool:
        return self.reading.tables.copulas[self.reading.words.low[self.copula]] == "past"

    @property
    def _person(self) -> bool:
        first = self.subjects[0]
        return first.reference in _PEOPLE and (first.kind != "thing" or bool(first.role))

    def _frame(self) -> bool:
        words, tables = self.reading.words, self.reading.tables
        if tables.inverts and self._frame_at_end():
            return True
        for frame in tables.predicates.get(words.low[self.at], ()):
            if words.low[self.copula] == "got" and frame.object != "person":
                continue
            if frame.relation == "name" and (self.subjects[0].role or self._is_favourite()):
                return True
            begin = self.at + 1
            if frame.ties:
                if words.low[begin] not in frame.ties:
                    continue
                begin += 1
            objects, _ = self.reading.mentions.objects(begin, frame.object)
            if objects and objects[0].name.lower() not in tables.vague:
                self._say(frame, objects)
                return True
        return False

    def _frame_at_end(self) -> bool:
        """Mit Tom verheiratet: the object before the predicate."""
        words, tables = self.reading.words, self.reading.tables
        for at in range(self.at + 2, min(self.at + 6, words.last + 1)):
            for frame in tables.predicates.get(words.low[at], ()):
                objects, after = self.reading.mentions.objects(self.at + 1, frame.object)
                if words.low[self.at] in frame.ties and objects and after == at:
                    self._say(frame, objects)
                    return True
        return False

    def _say(self, frame: Frame, objects: list[Mention]) -> None:
        span = self.reading.span(1, 0)
        relation, nature, negated = frame.relation, Nature.FACT, self.denied
        if "taste" in frame.marks:
            if not self._person:
                return
            nature = Nature.PREFERENCE
            if negated:
                relation, negated = _OPPOSITE.get(relation, ""), False
        if self._past and {"lived", "thing"} & frame.marks and "change" not in frame.marks:
            return
        if relation:
            self._add(relation, objects, span, nature, negated)

    def _add(
        self,
        relation: str,
        objects: list[Mention],
        span: Validity,
        nature: Nature = Nature.FACT,
        negated: bool = False,
    ) -> None:
        low = self.reading.words.low
        ended = "ended" in self.mood or (low[self.copula + 1] == "no" and low[self.copula + 2] == "longer")
        ended = ended or (negated and says_no_more(self.reading.words, self.copula))
        ended = ended or (self._past and relation not in _LASTING)
        if span.point and not ended and relation != "replaced_by":
            span = Validity()
        self.reading.add(
            self.subjects,
            relation,
            objects,
            span=span,
            ended=ended,
            negated=negated and not ended,
            confidence=self.sure,
            nature=nature,
        )

    def _number(self) -> bool:
        """30 · 30 years old · 180 cm tall, of a person."""
        word, low = self.reading.words.low[self.at], self.reading.words.low
        if not self._person or self._past:
            return False
        if low[self.at + 2] == "tall" and word[0].isdigit():
            height = self.reading.words.cut(self.at, self.at + 2)
            self._add("height", [Mention(name=height, kind=VALUE)], Validity())
            return True
        after = low[self.at + 1]
        old = (after in ("years", "jahre") and low[self.at + 2] in ("old", "alt")) or after in _AFTER_AGE
        if not is_age(word) or not old or (not word.isdigit() and after == "and"):
            return False
        self._add("age", [Mention(name=word, kind=VALUE)], Validity())
        return True

    def _name(self) -> bool:
        """I'm Nina."""
        reading = self.reading
        if self.subjects[0].reference is not Reference.SPEAKER or self.denied or self._past or self.at > 6:
            return False
        names, after = reading.mentions.objects(self.at, "name")
        if len(names) != 1 or not (reading.mentions.ends_clause(after) or reading.words.low[after] == "from"):
            return False
        self._add("name", [Mention(name=names[0].name, kind=VALUE)], Validity())
        return True

    def _favourite(self) -> bool:
        """Lasagna is my favourite dish."""
        reading, low = self.reading, self.reading.words.low
        if (
            low[self.at] not in reading.tables.possessives
            or low[self.at + 1] not in reading.tables.favourites
        ):
            return False
        things, _ = reading.mentions.objects(self.at + 2, "thing")
        if (
            self._past
            or len(things) != 1
            or not self.subjects[0].name
            or things[0].name in reading.tables.vague
        ):
            return False
        owner = owner_mention(reading.tables.possessives[low[self.at]])
        relation = FAVOURITE + things[0].name.lower().replace(" ", "_")
        reading.add([owner], relation, self.subjects, confidence=self.sure, nature=Nature.PREFERENCE)
        return True

    def _is_favourite(self) -> bool:
        return self.subjects[0].name.partition(" ")[0] in self.reading.tables.favourites

    def _state(self) -> bool:
        """Vegetarian · retired · single · Portuguese: one word that stands alone."""
        words, tables = self.reading.words, self.reading.tables
        at = self.at + (words.low[self.at] in tables.articles)
        if words.low[at] in ("lactose", "gluten") and words.low[at + 1] == "intolerant":
            self._add("condition", [Mention(name=words.cut(at, at + 2), kind=VALUE)], self.reading.span(1, 0))
            return True
        relation = tables.states.get(words.low[at])
        after = words.low[at + 1]
        if relation is None or not self._person or not self._ends(at + 1):
            return False
        if after == "to" and relation == "relationship_status":
            return False
        value = Mention(name=words.raw(at).lower(), kind=VALUE)
        self._add(relation, [value], self.reading.span(1, 0), negated=self.denied)
        return True

    def _ends(self, at: int) -> bool:
        return self.reading.mentions.ends_clause(at)

    def _kin(self) -> bool:
        """Tom is my boss · Maria is Ann's sister."""
        reading, low = self.reading, self.reading.words.low
        for end in range(self.at, min(self.at + 6, reading.words.last + 1)):
            relation = reading.tables.kin.get(low[end]) or ("pet" if low[end] in reading.tables.pets else "")
            owner = reading.mentions.owner_before(end - 1) if relation else None
            if owner is None or owner[1] != self.at:
                continue
            if not self._ends(end + 1) or not self._has_names():
                return False
            self._say_kin(relation, low[end], owner[0])
            return True
        return False

    def _has_names(self) -> bool:
        return all(subject.name or subject.reference is not Reference.NAME for subject in self.subjects)

    def _say_kin(self, relation: str, role: str, owner: str) -> None:
        people: list[Mention] = []
        for subject in self.subjects:
            kind = "person" if relation != "pet" else "thing"
            people.append(
                Mention(name=subject.name, reference=subject.reference, kind=kind, role=role, owner=owner)
            )
        ended = self._past or "ended" in self.mood
        self.reading.add(
            [owner_mention(owner)],
            relation,
            people,
            ended=ended,
            negated=self.denied and not ended,
            confidence=self.sure,
        )

    def _noun(self) -> bool:
        """A nurse · a member of the chess club · a big fan of jazz."""
        reading, low = self.reading, self.reading.words.low
        if low[self.at] not in reading.tables.articles and low[self.at] not in reading.tables.jobs:
            return False
        first = self.at + (low[self.at] in reading.tables.articles)
        for at in range(first, min(first + 4, reading.words.last + 1)):
            if low[at] in ("member", "fan", "lover", "part", "mitglied") and low[at + 1] in (
                "of",
                "von",
                "im",
            ):
                return self._group(low[at], at + 2)
            if low[at] in reading.tables.jobs and self._person:
                return _PRAISE.isdisjoint(low[first:at]) and self._job(first, at)
            if low[at] in reading.tables.kin and low[at + 1] == "of" and low[at + 2] in ("mine", "ours"):
                self._say_kin(reading.tables.kin[low[at]], low[at], "")
                return True
            if low[at] in reading.tables.stops or low[at] in reading.tables.ties:
                break
        return False

    def _group(self, word: str, at: int) -> bool:
        relation = {"member": "member_of", "mitglied": "member_of", "part": "part_of"}.get(word, "fan_of")
        if relation == "part_of" and self.subjects[0].kind != "thing":
            relation = "member_of"
            if self.reading.tables.classes["group"].isdisjoint(self.reading.words.low[at : at + 6]):
                return False
        kind = "activity" if relation == "fan_of" else "org"
        objects, _ = self.reading.mentions.objects(at, kind)
        if not objects or objects[0].name.rpartition(" ")[2].lower() in self.reading.tables.vague:
            return False
        if relation == "fan_of" and self.denied:
            self._add("dislikes", objects, Validity(), Nature.PREFERENCE)
        elif relation == "fan_of":
            self._add(relation, objects, Validity(), Nature.PREFERENCE)
        else:
            self._add(relation, objects, self.reading.span(1, 0), negated=self.denied)
        return True

    def _job(self, first: int, last: int) -> bool:
        """The job, and where: "a nurse at Acme"."""
        words, span = self.reading.words, self.reading.span(1, 0)
        while words.low[last + 1] in self.reading.tables.jobs:
            last += 1
        former = words.low[first] in ("retired", "former", "ehemaliger", "ehemalige")
        first += former
        job = [Mention(name=words.cut(first, last + 1), kind=VALUE)]
        if former:
            self.reading.add(self.subjects, "works_as", job, ended=True, confidence=self.sure)
            return True
        self._add("works_as", job, span, negated=self.denied)
        if words.low[last + 1] in ("at", "for", "bei", "of") and not self.denied:
            objects, _ = self.reading.mentions.objects(last + 2, "name")
            for item in objects[:1]:
                place = Mention(name=item.name, kind="organisation")
                relation = "runs" if words.low[last] in ("founder", "co-founder", "cofounder") else "works_at"
                self._add(relation, [place], span)
        return True
