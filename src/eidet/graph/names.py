"""Keys of names, equal for all spellings of a name, and the names of a scope with their counts."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from ..text.facts.statement import VALUE, Mention, Reference

USER: Final = "user"  # the speaker of records without a name
SPEAKERS: Final = frozenset(("", "user", "human", "me", "i", "myself", "we"))
PERSON: Final = "person"
VAGUE: Final = "vague"  # a name of unclear kind: a thing unless other texts say more
THING: Final = "thing"  # a place, an organisation, an event: neither person nor value
ARTICLES: Final = ("the ", "a ", "an ")


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Answers(dict[_Key, _Value]):
    """A cache of a function's results, kept until it is cleared."""

    def __init__(self, of: Callable[[_Key], _Value]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, key: _Key) -> _Value:
        value = self[key] = self._of(key)
        return value


class Signature(NamedTuple):
    """The identifying parts of a mention, normalised so that those of two texts can be equal."""

    name: str
    sort: str = ""  # PERSON, THING, VAGUE, VALUE, or "" if the text does not say
    role: str = ""
    owner: str = ""

    @property
    def shelf(self) -> str:
        """The key for looking it up: the name, or the role if there is no name."""
        return self.name or role_shelf(self.role, self.owner)


def role_shelf(role: str, owner: str) -> str:
    return f"/{role}/{owner}"


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """Returns the key of a name: without case, article, possessive and surrounding punctuation."""
    key = " ".join(unicodedata.normalize("NFKC", name).casefold().split()).strip(" .,;:!?\"'()[]“”‘’")
    key = key.removesuffix("'s").removesuffix("’s")
    for article in ARTICLES:
        rest = key.removeprefix(article)
        if rest != key and rest:
            return rest
    return key


def first_word(name: str) -> str:
    return name.partition(" ")[0]


@lru_cache(maxsize=65_536)
def sign_mention(mention: Mention, speaker: str) -> Signature:
    """Makes the signature of a mention by name, or of the speaker. Pronouns must be resolved before."""
    if mention.reference is Reference.SPEAKER:
        return Signature(speaker, PERSON)
    if mention.kind == VALUE:
        return Signature(name_key(mention.name) or mention.name, VALUE)
    owner = (name_key(mention.owner) or speaker) if mention.role else ""
    if owner in SPEAKERS and mention.role:
        owner = USER
    return Signature(name_key(mention.name), _sort_of(mention), name_key(mention.role), owner)


def _sort_of(mention: Mention) -> str:
    if mention.kind == PERSON or mention.role:
        return PERSON
    if mention.kind == THING and mention.name[:1].isupper():
        return VAGUE
    return THING if mention.kind else ""


Node = str  # one meaning of a name: `person:ann`, `person:alex/brother/ann`, `thing:porto`, `value:42`
Role = tuple[str, str]  # brother, of whom


class NameBook:
    """Counts mentions. Names that are no longer mentioned stay, with a count of zero."""

    def __init__(self) -> None:
        self.signatures: list[Signature] = []
        self.uses: list[int] = []
        self.spellings: list[dict[str, int]] = []  # plain dicts of plain values cost the collector nothing
        self.kinds: list[dict[str, int]] = []
        self._numbers: dict[Signature, int] = {}
        self._shelves: defaultdict[str, list[int]] = defaultdict(list)
        self._fulls: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._holders: defaultdict[Role, Counter[str]] = defaultdict(Counter)

    def add(self, signature: Signature, spelling: str, kind: str) -> tuple[int, bool]:
        """Counts one more mention; returns the number of its signature, and whether it is newly in use."""
        number = self._numbers.get(signature)
        if number is None:
            number = self._open(signature)
        self.uses[number] += 1
        is_new = self.uses[number] == 1
        if is_new:
            self._count_name(signature, 1)
        spellings, kinds = self.spellings[number], self.kinds[number]
        spellings[spelling] = spellings.get(spelling, 0) + 1
        if kind:
            kinds[kind] = kinds.get(kind, 0) + 1
        return number, is_new

    def _open(self, signature: Signature) -> int:
        number = self._numbers[signature] = len(self.signatures)
        self.signatures.append(signature)
        self.uses.append(0)
        self.spellings.append({})
        self.kinds.append({})
        self._shelves[signature.shelf].append(number)
        return number

    def remove(self, number: int, spelling: str, kind: str) -> bool:
        """Removes one mention from the counts; returns whether it was the last."""
        self.uses[number] -= 1
        self.spellings[number][spelling] -= 1
        if kind:
            self.kinds[number][kind] -= 1
        if self.uses[number]:
            return False
        self._count_name(self.signatures[number], -1)
        return True

    def _count_name(self, signature: Signature, by: int) -> None:
        if signature.sort != PERSON or not signature.name:
            return
        if " " in signature.name:
            self._fulls[first_word(signature.name)][signature.name] += by
        if signature.role:
            self._holders[signature.role, signature.owner][signature.name] += by

    def list_living(self, shelf: str) -> list[int]:
        """Lists the numbers of the signatures in use on a shelf."""
        return [number for number in self._shelves.get(shelf, ()) if self.uses[number]]

    def list_fulls(self, word: str) -> list[str]:
        """Lists the full names of people with this first name."""
        return sorted(name for name, count in self._fulls.get(word, Counter()).items() if count > 0)

    def list_holders(self, role: Role) -> list[str]:
        """Lists the names of those to whom texts give a role."""
        return sorted(name for name, count in self._holders.get(role, Counter()).items() if count > 0)

    def list_roles(self, name: str) -> set[Role]:
        """Returns the roles that texts give with a name."""
        told = (self.signatures[number] for number in self.list_living(name))
        return {(one.role, one.owner) for one in told if one.role}

    def is_person(self, name: str) -> bool:
        return any(self.signatures[number].sort == PERSON for number in self.list_living(name))


class EntityNames:
    """The names and kinds of entities."""

    def __init__(self, book: NameBook, members_of: Callable[[Node], tuple[int, ...]]) -> None:
        self._book = book
        self._members_of = members_of
        self._known: Answers[Node, str] = Answers(self._choose_name)

    def forget_answers(self) -> None:
        """Clears the cached names, because a mention came or went."""
        self._known.clear()

    def name_of(self, root: Node) -> str:
        """Returns the most used spelling, with a role or kind if there are namesakes."""
        return self._known[root]

    def _choose_name(self, root: Node) -> str:
        spellings = self._count_spellings(root)
        if not spellings:
            return self._spell_nameless(root)
        best = max(spellings, key=lambda spelling: (spellings[spelling], len(spelling), spelling))
        return best + self._qualify(root)

    def _spell_nameless(self, root: Node) -> str:
        """Returns a phrase such as "Ann's brother", with the owner's name as texts spell it."""
        rest = root.partition(":")[2]
        if not rest.startswith("/"):
            return rest
        role, _, owner = rest[1:].partition("/")
        spellings = self._count_spellings(f"{PERSON}:{owner}")
        return _spell_role(f"{role}/{max(spellings, key=len, default=owner)}")

    def _qualify(self, root: Node) -> str:
        _, _, rest = root.partition(":")
        name, slash, role = rest.partition("/")
        if slash and name:
            return f" ({_spell_role(role)})"
        if root.startswith(THING) and self._book.is_person(name):
            return f" ({self.kind_of(root) or THING})"
        return ""

    def aliases_of(self, root: Node) -> tuple[str, ...]:
        return tuple(sorted(self._count_spellings(root)))

    def kind_of(self, root: Node) -> str:
        kinds: Counter[str] = Counter()
        for number in self._members_of(root):
            kinds.update(self._book.kinds[number])
        if root.startswith(PERSON):
            return PERSON
        living = sorted(kind for kind, count in kinds.items() if count > 0)
        return max(living, key=kinds.__getitem__, default="")

    def _count_spellings(self, root: Node) -> Counter[str]:
        """Counts the spellings of all names of an entity."""
        spellings: Counter[str] = Counter()
        for number in self._members_of(root):
            for spelling, count in self._book.spellings[number].items():
                if spelling and count > 0:
                    spellings[spelling] += count
        return spellings

    def count_uses(self, root: Node) -> int:
        return sum(self._book.uses[number] for number in self._members_of(root))


def _spell_role(role: str) -> str:
    """Turns `brother/ann` into "ann's brother"."""
    what, _, owner = role.partition("/")
    return f"{owner}'s {what}" if owner and owner != USER else what
