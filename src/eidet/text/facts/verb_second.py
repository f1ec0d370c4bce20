"""What a German question names: the verb stands second, its other half at the end of the sentence."""

from __future__ import annotations

from typing import Final, NamedTuple

from .mentions import MentionReader
from .question_parts import QuestionParts
from .relations import ATTRIBUTE
from .sentence_words import SentenceWords
from .statement import Mention, Reference
from .tables import german_questions as asked_words
from .whose import SPEAKER, owner_mention
from .word_tables import PAST, Frame, WordTables

_SITES: Final = frozenset({"place", "org", "school", "group"})
_LONGEST_NOUN: Final = 3  # words between a question word and its verb


class _Asked(NamedTuple):
    """Whom a question is about, the attribute or relative of theirs that it names, and what follows."""

    mention: Mention
    noun: str
    after: int


class VerbSecondReader:
    """Reads one German sentence as a question. Every method gives None where it does not fit."""

    __slots__ = ("low", "mentions", "tables", "words")

    def __init__(self, words: SentenceWords, tables: WordTables, mentions: MentionReader) -> None:
        self.words = words
        self.low = words.low
        self.tables = tables
        self.mentions = mentions

    def read(self) -> QuestionParts | None:
        preposition, at = "", 1
        if self.low[1] in asked_words.PREPOSITIONS and self.low[2] in asked_words.WH:
            preposition, at = self.low[1], 2
        if self.low[at] not in asked_words.WH:
            return self._read_whether()
        verb = self._find_verb(at + 1)
        if verb == 0:
            return None
        preposition = preposition or asked_words.WITH_PREPOSITION.get(self.low[at], "")
        return self._read_wh(at, verb, preposition)

    def _find_verb(self, at: int) -> int:
        for place in range(at, min(at + _LONGEST_NOUN, self.words.last + 1)):
            if self._is_verb(self.low[place]):
                return place
        return 0

    def _is_verb(self, word: str) -> bool:
        return word in self.tables.frames or word in asked_words.BE or word in asked_words.HAVE

    def _read_wh(self, at: int, verb: int, preposition: str) -> QuestionParts | None:
        wh, noun = self.low[at], self.low[at + 1 : verb]
        asked = self._read_asked(self._skip_fillers(verb + 1))
        if wh == "wer" or asked is None:
            return self._read_open_subject(verb)
        past = self._is_past(verb)
        if wh == "wie":
            return self._read_how(asked, noun, past)
        if asked.noun:
            return QuestionParts(asked.mention, self._attribute(asked.noun), None, "object", past)
        if noun and noun[-1] in asked_words.NOUNS:
            return self._ask_object(asked, tuple(asked_words.NOUNS[noun[-1]].split()), past)
        if "beruf" in self.low[asked.after :]:
            return self._ask_object(asked, ("works_as",), past)
        frames = self._list_frames(verb, asked.after)
        relations = [frame.relation for frame in frames if self._fits(frame, wh, preposition)]
        if not relations:
            return None
        return self._ask_object(asked, tuple(relations), past and not _is_change(frames))

    def _ask_object(self, asked: _Asked, relations: tuple[str, ...], past: bool) -> QuestionParts:
        return QuestionParts(asked.mention, relations, None, "object", past)

    def _read_how(self, asked: _Asked, noun: list[str], past: bool) -> QuestionParts | None:
        """Wie alt ist Ann · wie heißt Anns Schwester."""
        if noun and noun[0] in asked_words.HOW:
            return self._ask_object(asked, (asked_words.HOW[noun[0]],), past)
        if asked.noun:
            return self._ask_object(asked, self._attribute(asked.noun), past)
        return None

    def _read_open_subject(self, verb: int) -> QuestionParts | None:
        """Wer arbeitet bei Acme · wer ist mit Tom verheiratet."""
        for frame in self._list_frames(verb, verb + 1):
            begin = self._skip_fillers(verb + 1)
            if frame.ties:
                if self.low[begin] not in frame.ties:
                    continue
                begin += 1
            objects, _ = self.mentions.objects(begin, frame.object)
            if objects:
                past = self._is_past(verb) and not _is_change([frame])
                return QuestionParts(None, (frame.relation,), objects[0], "subject", past)
        return None

    def _read_whether(self) -> QuestionParts | None:
        """Wohnt Ann noch in Porto · ist Ann mit Tom verheiratet."""
        if not self._is_verb(self.low[1]):
            return None
        asked = self._read_asked(2)
        if asked is None or asked.noun:
            return None
        begin = self._skip_fillers(asked.after)
        for frame in self._list_frames(1, begin):
            first = begin
            if frame.ties:
                if self.low[first] not in frame.ties:
                    continue
                first += 1
            objects, _ = self.mentions.objects(first, frame.object)
            if objects:
                return QuestionParts(
                    asked.mention, (frame.relation,), objects[0], "whether", self._is_past(1)
                )
        return None

    def _list_frames(self, verb: int, after: int) -> list[Frame]:
        """Those of the verb, or of what ends the sentence behind "hat" and "ist"."""
        word = self.low[verb]
        if word not in asked_words.BE and word not in asked_words.HAVE:
            return list(self.tables.frames[word])
        for place in range(self.words.last, after - 1, -1):
            last = self.low[place]
            if last in self.tables.predicates:
                return list(self.tables.predicates[last])
            frames = [frame for frame in self.tables.frames.get(last, ()) if frame.form == PAST]
            if frames:
                return frames
        return []

    def _fits(self, frame: Frame, wh: str, preposition: str) -> bool:
        if preposition == "nach" or wh == "wohin":
            return "nach" in frame.ties
        if preposition == "aus":
            return frame.relation == "from"
        if preposition:
            return preposition in frame.ties
        if wh in asked_words.PLACES:
            return frame.object in _SITES and frame.relation != "from"
        return not frame.ties

    def _is_past(self, verb: int) -> bool:
        word = self.low[verb]
        if word in asked_words.HAVE:
            return True
        if word in asked_words.BE:
            return word in asked_words.PAST_AUXILIARIES
        return any(frame.form == PAST for frame in self.tables.frames[word])

    def _read_asked(self, at: int) -> _Asked | None:
        """Ich · sie · Ann · Anns Schwester · meine Telefonnummer."""
        word = self.low[at]
        if word in self.tables.speaker:
            return _Asked(SPEAKER, "", at + 1)
        if word in self.tables.pronouns:
            return _Asked(Mention(reference=Reference(self.tables.pronouns[word])), "", at + 1)
        if word in self.tables.possessives:
            return _Asked(owner_mention(self.tables.possessives[word]), self.low[at + 1], at + 2)
        if word.endswith("s") and self._is_owned(at + 1) and self.mentions.is_name(at):
            return _Asked(Mention(name=self.words.raw(at)[:-1]), self.low[at + 1], at + 2)
        after = self._name_after(at)
        if after == at:
            return None
        return _Asked(Mention(name=self.words.cut(at, after)), "", after)

    def _name_after(self, at: int) -> int:
        """The place after a name. Nouns have capitals, too: one that a preposition ties is no part of it."""
        while at <= self.words.last and self.mentions.is_name(at):
            if self.words.starts[at] in self.mentions.times:
                break
            at += 1
            if self.low[at] == "von" and self.low[at + 1] != "beruf" and self.mentions.is_name(at + 1):
                at += 1
        return at

    def _is_owned(self, at: int) -> bool:
        """Whether a word names what somebody has: a relative, an animal, an attribute."""
        word, tables = self.low[at], self.tables
        known = word in tables.kin or word in tables.pets or word in tables.attributes
        return known or word in asked_words.ATTRIBUTES

    def _attribute(self, noun: str) -> tuple[str, ...]:
        if noun in self.tables.kin:
            return (self.tables.kin[noun],)
        if noun in self.tables.pets:
            return ("pet",)
        if noun in self.tables.attributes:
            return (self.tables.attributes[noun],)
        return tuple(asked_words.ATTRIBUTES.get(noun, noun + ATTRIBUTE).split())

    def _skip_fillers(self, at: int) -> int:
        while self.low[at] in asked_words.FILLERS:
            at += 1
        return at


def _is_change(frames: list[Frame]) -> bool:
    """Whether what happened once tells what holds since: "wohin ist sie gezogen?"."""
    return any("change" in frame.marks for frame in frames)
