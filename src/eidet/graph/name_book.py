"""All signatures of a scope with how often each is used, how it is spelt, and where it is looked up."""

from __future__ import annotations

from collections import Counter, defaultdict

from .names import PERSON, Signature, first_word

Role = tuple[str, str]  # brother, of whom


class NameBook:
    """Counts mentions. What nobody mentions any more is kept, and counts for nothing."""

    def __init__(self) -> None:
        self.signatures: list[Signature] = []
        self.uses: list[int] = []
        self.spellings: list[dict[str, int]] = []  # plain dicts of plain values: no work for the collector
        self.kinds: list[dict[str, int]] = []
        self._numbers: dict[Signature, int] = {}
        self._shelves: defaultdict[str, list[int]] = defaultdict(list)
        self._fulls: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._holders: defaultdict[Role, Counter[str]] = defaultdict(Counter)

    def add(self, signature: Signature, spelling: str, kind: str) -> tuple[int, bool]:
        """Counts one more mention; the number of its signature, and whether it was in use before."""
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
        """Takes one mention back; whether it was the last."""
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
        """The numbers of signatures in use that are looked up by a name (or by a role without one)."""
        return [number for number in self._shelves.get(shelf, ()) if self.uses[number]]

    def list_fulls(self, word: str) -> list[str]:
        """The full names of people with this first name."""
        return sorted(name for name, count in self._fulls.get(word, Counter()).items() if count > 0)

    def list_holders(self, role: Role) -> list[str]:
        """The names of those who were told to have a role."""
        return sorted(name for name, count in self._holders.get(role, Counter()).items() if count > 0)

    def list_roles(self, name: str) -> set[Role]:
        """The roles that were told with a name."""
        roles: set[Role] = set()
        for number in self.list_living(name):
            signature = self.signatures[number]
            if signature.role and not signature.label:
                roles.add((signature.role, signature.owner))
        return roles

    def is_distinguished(self, word: str) -> bool:
        """Whether anybody of this first name is told apart by a surname, a role or a label."""
        if self._fulls.get(word):
            return True
        return any(self.signatures[number].is_distinct for number in self._shelves.get(word, ()))

    def is_person(self, name: str) -> bool:
        return any(self.signatures[number].sort == PERSON for number in self.list_living(name))
