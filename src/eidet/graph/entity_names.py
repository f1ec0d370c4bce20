"""What entities are called: the spelling used most, with what tells it from namesakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .name_book import NameBook
from .names import PERSON, THING, USER

Node = str  # one meaning of a name: `person:ann`, `person:alex/brother/ann`, `thing:porto`, `value:42`


class EntityNames:
    """What entities are called, and what they are."""

    def __init__(self, book: NameBook, members_of: Callable[[Node], tuple[int, ...]]) -> None:
        self._book = book
        self._members_of = members_of
        self._known: dict[Node, str] = {}

    def forget_answers(self) -> None:
        """To be called when a mention came or went."""
        if self._known:
            self._known.clear()

    def name_of(self, root: Node) -> str:
        """The spelling used most, with what tells it from namesakes."""
        name = self._known.get(root)
        if name is None:
            name = self._known[root] = self._choose_name(root)
        return name

    def _choose_name(self, root: Node) -> str:
        spellings = self._count_spellings(root)
        if not spellings:
            return self._spell_nameless(root)
        best = max(spellings, key=lambda spelling: (spellings[spelling], len(spelling), spelling))
        return best + self._qualify(root)

    def _spell_nameless(self, root: Node) -> str:
        """ "Ann's brother": the owner as texts spell the name."""
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
        if not living:
            return ""
        return max(living, key=kinds.__getitem__)

    def _count_spellings(self, root: Node) -> Counter[str]:
        """Of all names that an entity has, as texts write them."""
        spellings: Counter[str] = Counter()
        for number in self._members_of(root):
            for spelling, count in self._book.spellings[number].items():
                if spelling and count > 0:
                    spellings[spelling] += count
        return spellings

    def count_uses(self, root: Node) -> int:
        return sum(self._book.uses[number] for number in self._members_of(root))


def _spell_role(role: str) -> str:
    """`brother/ann` as "ann's brother"; a label as it is."""
    what, _, owner = role.partition("/")
    if what.startswith("~"):
        return what[1:]
    if owner and owner != USER:
        return f"{owner}'s {what}"
    return what
