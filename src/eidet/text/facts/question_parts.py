"""What an English question names: who it is about, which relations, and what is asked for."""

from __future__ import annotations

from typing import Final, NamedTuple

from .mentions import MentionReader
from .question_entities import EntityPhrase, EntityReader
from .question_relations import RelationFinder
from .relations import FAVOURITE
from .sentence_words import SentenceWords
from .statement import Mention
from .tables import english_questions as asked_words
from .whose import owner_mention
from .word_tables import WordTables

_BE: Final = frozenset({"is", "are", "was", "were", "'s", "'re", "am", "'m"})
_KIN_ENDS: Final = frozenset({"name", "called", "named", "names"})


class QuestionParts(NamedTuple):
    """A question taken apart; `past` is its verb's tense."""

    subject: Mention | None
    relations: tuple[str, ...]
    object: Mention | None
    asks: str
    past: bool


class QuestionReader:
    """Reads one sentence as a question. Every method gives None where it does not fit."""

    __slots__ = ("entities", "low", "mentions", "relations", "tables", "words")

    def __init__(self, words: SentenceWords, tables: WordTables, mentions: MentionReader) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.tables: WordTables = tables
        self.mentions: MentionReader = mentions
        self.entities: EntityReader = EntityReader(words, tables, mentions)
        self.relations: RelationFinder = RelationFinder(words, tables, mentions)

    def read(self) -> QuestionParts | None:
        begin = self._find_wh()
        if begin:
            return self._read_wh(begin)
        if self.low[1] in asked_words.AUXILIARIES:
            return self._read_whether(1)
        return None

    def _find_wh(self) -> int:
        """Where the question word is: at the beginning, or after "tell me", "do you know" and the like."""
        for at in range(1, min(self.words.last, 12) + 1):
            word = self.low[at]
            if word in asked_words.WH and word != "since":
                return at
        return 0

    def _read_wh(self, at: int) -> QuestionParts | None:
        word = self.low[at]
        if word == "how":
            return self._read_how(at)
        if word == "whose":
            return self._read_whose(at)
        verb = self._find_auxiliary(at + 1)
        noun = self.low[at + 1 : verb] if verb else []
        if word in ("who", "what", "which") and (subject := self._read_open_subject(at + 1)):
            return subject
        if verb == 0:
            return self._read_embedded(at)
        return self._read_after(word, noun, verb)

    def _find_auxiliary(self, at: int) -> int:
        """The auxiliary that belongs to a question word, across at most four words of its noun."""
        for place in range(at, min(at + 5, self.words.last + 1)):
            if self.low[place] in asked_words.AUXILIARIES:
                return place
            if self.low[place] in self.tables.speaker or self.mentions.is_name(place):
                return 0
            if self.low[place] in self.tables.possessives or self.low[place] in self.tables.pronouns:
                return 0
        return 0

    def _read_after(self, wh: str, noun: list[str], auxiliary: int) -> QuestionParts | None:
        """Where | is | Ann …: who it is about follows the auxiliary."""
        past = self.low[auxiliary] in asked_words.PAST_AUXILIARIES
        self.relations.after_be = self.low[auxiliary] in _BE
        at = self.entities.skip_fillers(auxiliary + 1)
        if parts := self._read_of(at, past):
            return parts
        entity = self.entities.entity(at)
        if entity is None:
            return None
        if entity.attribute:
            return self._attribute(wh, entity, past)
        return self._read_verb(wh, noun, entity, past)

    def _read_embedded(self, at: int) -> QuestionParts | None:
        """… where Ann lives · … what my phone number is."""
        wh, noun = self.low[at], list[str]()
        place = at + 1
        while place < self.words.last and place < at + 4 and self.entities.entity(place) is None:
            noun.append(self.low[place])
            place += 1
        entity = self.entities.entity(place)
        if entity is None:
            return None
        past = any(word in asked_words.PAST_AUXILIARIES for word in self.low[entity.after :])
        if entity.attribute:
            return self._attribute(wh, entity, past)
        return self._read_verb(wh, noun, entity, past)

    def _read_verb(self, wh: str, noun: list[str], entity: EntityPhrase, past: bool) -> QuestionParts | None:
        """The verb after who it is about: … live (in) · … from · … allergic to · … called."""
        asks = "when" if wh == "when" else "object"
        at = self.entities.skip_fillers(entity.after)
        if kin := self._kin_name(entity, at):
            return QuestionParts(kin[0], (kin[1],), None, asks, past)
        if noun and (relations := self.relations.noun_relations(noun, at)):
            return QuestionParts(entity.mention, relations, None, asks, past)
        for place in range(at, min(at + 5, self.words.last + 1)):
            relations = self.relations.verb_relations(wh, place)
            if relations:
                past = self.relations.is_past(place, past)
                return QuestionParts(entity.mention, relations, self.relations.object(place), asks, past)
        if wh == "where" and self.relations.is_last(at - 1):
            return QuestionParts(entity.mention, ("lives_in", "located_in"), None, asks, past)
        return None

    def _kin_name(self, entity: EntityPhrase, at: int) -> tuple[Mention, str] | None:
        """What is my sister called: who the sister is."""
        mention = entity.mention
        if not mention.role or mention.name:
            return None
        if self.low[at] not in _KIN_ENDS and not self.relations.is_last(at - 1):
            return None
        return owner_mention(mention.owner), self.entities.kin_relation(mention.role)

    def _attribute(self, wh: str, entity: EntityPhrase, past: bool) -> QuestionParts | None:
        """Who is | Leo's sister · what is | my phone number · when is | Ann's birthday."""
        words = [word for word in entity.attribute if word not in asked_words.BEFORE | asked_words.NOW]
        if not words:
            return None
        if entity.mention.role and not entity.mention.name and words[-1] in _KIN_ENDS:
            relation = self.entities.kin_relation(entity.mention.role)
            return QuestionParts(owner_mention(entity.mention.owner), (relation,), None, "object", past)
        asks = "when" if wh == "when" and words[-1] in self.tables.events else "object"
        if words[0] in self.tables.favourites and len(words) > 1:
            return QuestionParts(entity.mention, (FAVOURITE + "_".join(words[1:]),), None, asks, past)
        return QuestionParts(entity.mention, self.relations.attribute_relations(words), None, asks, past)

    def _read_of(self, at: int, past: bool) -> QuestionParts | None:
        """What is | the owner of the billing service · the name of my dog."""
        if self.low[at] not in self.tables.articles:
            return None
        for place in range(at + 1, min(at + 5, self.words.last)):
            if self.low[place] not in ("of", "for"):
                continue
            attribute = self.low[at + 1 : place]
            entity = self.entities.entity(place + 1)
            if entity is None or not attribute:
                return None
            return self._of(attribute, entity, past)
        return None

    def _of(self, attribute: list[str], entity: EntityPhrase, past: bool) -> QuestionParts:
        mention = entity.mention
        if mention.role and not mention.name and attribute[-1] in _KIN_ENDS:
            relation = self.entities.kin_relation(mention.role)
            return QuestionParts(owner_mention(mention.owner), (relation,), None, "object", past)
        if attribute[-1] in self.tables.kin:
            return QuestionParts(mention, (self.tables.kin[attribute[-1]],), None, "object", past)
        return QuestionParts(mention, self.relations.attribute_relations(attribute), None, "object", past)

    def _read_open_subject(self, at: int) -> QuestionParts | None:
        """Who works at Acme · which services use Kafka · who is allergic to nuts · who owns auth-api."""
        place, past = at, False
        while self.low[place] in asked_words.AUXILIARIES | asked_words.FILLERS:
            past = past or self.low[place] in asked_words.PAST_AUXILIARIES
            place += 1
        if self.entities.entity(place) is not None or place > at + 3:
            return None
        for verb in range(place, min(place + 3, self.words.last + 1)):
            relations = self.relations.verb_relations("what", verb)
            target = self.relations.object(verb) if relations else None
            if target is not None:
                return self._ask_subject(relations, target, self.relations.is_past(verb, past))
        return None

    def _ask_subject(self, relations: tuple[str, ...], target: Mention, past: bool) -> QuestionParts:
        if relations[0] == "owns":
            return QuestionParts(None, ("owns", "owner"), target, "subject", past)
        return QuestionParts(None, relations, target, "subject", past)

    def _read_whose(self, at: int) -> QuestionParts | None:
        """Whose sister is Maria."""
        word = self.low[at + 1]
        entity = self.entities.entity(at + 3)
        if entity is None or (word not in self.tables.kin and word not in self.tables.pets):
            return None
        return QuestionParts(None, (self.entities.kin_relation(word),), entity.mention, "subject", False)

    def _read_how(self, at: int) -> QuestionParts | None:
        """How old is Ann · how many kids does Ann have · how can I reach Ann."""
        relation = asked_words.HOW.get(self.low[at + 1], "")
        auxiliary = self._find_auxiliary(at + 1)
        if relation and auxiliary:
            entity = self.entities.entity(auxiliary + 1)
            past = self.low[auxiliary] in asked_words.PAST_AUXILIARIES
            return QuestionParts(entity.mention, (relation,), None, "object", past) if entity else None
        if self.low[at + 1] == "many" and auxiliary:
            return self._read_after("what", self.low[at + 2 : auxiliary], auxiliary)
        if (
            auxiliary
            and self.low[auxiliary + 1] in ("i", "we")
            and self.low[auxiliary + 2] in asked_words.VERBS
        ):
            entity = self.entities.entity(auxiliary + 3)
            return (
                QuestionParts(entity.mention, ("phone", "email"), None, "object", False) if entity else None
            )
        return None

    def _read_whether(self, at: int) -> QuestionParts | None:
        """Does Ann still work at Acme · is Ann allergic to nuts · is Maria Ann's sister."""
        past = self.low[at] in asked_words.PAST_AUXILIARIES
        self.relations.after_be = self.low[at] in _BE
        entity = self.entities.entity(self.entities.skip_fillers(at + 1))
        if entity is None or entity.attribute:
            return None
        if entity.mention.role and " " in entity.mention.owner and entity.after > self.words.last:
            return self._whether_kin(entity.mention, past)
        return self._read_claim(entity, at, past)

    def _read_claim(self, entity: EntityPhrase, at: int, past: bool) -> QuestionParts | None:
        """What is said of somebody in a question that wants yes or no."""
        place = self.entities.skip_fillers(entity.after)
        second = self.entities.entity(place)
        if second and second.mention.role and self.low[at] in ("is", "are", "was", "were"):
            relation = self.entities.kin_relation(second.mention.role)
            owner = owner_mention(second.mention.owner)
            return QuestionParts(owner, (relation,), entity.mention, "whether", past)
        for verb in range(place, min(place + 3, self.words.last + 1)):
            if relations := self.relations.verb_relations("what", verb):
                return QuestionParts(entity.mention, relations, self.relations.object(verb), "whether", past)
        return None

    def _whether_kin(self, mention: Mention, past: bool) -> QuestionParts:
        """Is Maria Ann's sister: two names in a row, of whom the last is the owner."""
        name, _, owner = mention.owner.rpartition(" ")
        relation = self.entities.kin_relation(mention.role)
        return QuestionParts(Mention(name=owner), (relation,), Mention(name=name), "whether", past)
