"""Resolves the signatures of a scope to entities: which of them mean the same person or thing.

Namesakes stay separate if surnames or roles distinguish them; a bare name means the only person of that name.
If there are several, it is an entity of its own. Everything is computed from the present signatures, whatever
their order: no decision is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..text.facts.statement import VALUE
from .names import (
    PERSON,
    SPEAKERS,
    THING,
    USER,
    VAGUE,
    Answers,
    EntityNames,
    NameBook,
    Node,
    Role,
    Signature,
    first_word,
    name_key,
    role_shelf,
)

USER_NODE: Node = f"{PERSON}:{USER}"


@dataclass(frozen=True, slots=True)
class _Namesakes:
    """Entities that share a first name but are distinct."""

    fulls: tuple[str, ...] = ()  # by full names
    attached: dict[Role, str] = field(default_factory=dict)  # roles of those with full names
    loose: tuple[Role, ...] = ()  # roles of others

    def __len__(self) -> int:
        return len(self.fulls) + len(self.loose)


class Identities:
    """The signatures of a scope and the entities that they mean."""

    def __init__(self) -> None:
        self.book: NameBook = NameBook()
        self.names: EntityNames = EntityNames(self.book, self.members_of)
        self._links: dict[object, tuple[Signature | str, Signature | str]] = {}
        self._nodes: Answers[Signature, Node] = Answers(self._decide_node)
        self._roots: Answers[int, Node] = Answers(self._decide_root)
        self._members: Answers[Node, tuple[int, ...]] = Answers(lambda root: tuple(self._list_members(root)))
        self._namesakes: Answers[str, _Namesakes] = Answers(self._tell_apart)
        self._forget_answers()

    @property
    def signatures(self) -> list[Signature]:
        return self.book.signatures

    def add(self, signature: Signature, spelling: str, kind: str) -> int:
        """Counts one more mention; returns the number of its signature."""
        number, is_new = self.book.add(signature, spelling, kind)
        self.names.forget_answers()
        if is_new:
            self._forget_answers()
        return number

    def remove(self, number: int, spelling: str, kind: str) -> None:
        """Removes one mention from the counts."""
        self.names.forget_answers()
        if self.book.remove(number, spelling, kind):
            self._forget_answers()

    def _forget_answers(self) -> None:
        self.names.forget_answers()
        for answers in (self._nodes, self._roots, self._members, self._namesakes):
            answers.clear()
        self._parents: dict[Node, Node] | None = None
        self._groups: dict[Node, list[Node]] = {}

    def link(self, key: object, first: Signature | str, second: Signature | str) -> None:
        """Links two signatures, or names or ids that `find` accepts, as one entity."""
        self._links[key] = first, second
        self._forget_answers()

    def unlink(self, key: object) -> None:
        if self._links.pop(key, None) is not None:
            self._forget_answers()

    def root_of(self, number: int) -> Node:
        """Returns the entity that a signature means."""
        return self._roots[number]

    def _decide_root(self, number: int) -> Node:
        return self._root_of_node(self._nodes[self.signatures[number]])

    def members_of(self, root: Node) -> tuple[int, ...]:
        """Lists the numbers of the signatures in use that mean an entity."""
        return self._members[root]

    def _list_members(self, root: Node) -> Iterator[int]:
        self._root_of_node(root)
        nodes = self._groups.get(root, [root])
        for shelf in dict.fromkeys(shelf for node in nodes for shelf in self._list_shelves(node)):
            for number in self.book.list_living(shelf):
                if self.root_of(number) == root:
                    yield number

    def _list_shelves(self, node: Node) -> Iterator[str]:
        name = node.partition(":")[2]
        if name.startswith("/"):
            yield name
            return
        name = name.partition("/")[0]
        for shelf in dict.fromkeys((name, first_word(name))):
            yield shelf
            for number in self.book.list_living(shelf):
                signature = self.signatures[number]
                if signature.role:
                    yield role_shelf(signature.role, signature.owner)

    def list_roots(self) -> list[Node]:
        """Lists all entities that statements mention, without values."""
        living = (
            number
            for number, signature in enumerate(self.signatures)
            if self.book.uses[number] and signature.sort != VALUE
        )
        return list(dict.fromkeys(map(self.root_of, living)))

    def find(self, name: str) -> list[Node]:
        """Finds the entities that a name or an id may mean."""
        if name.partition(":")[0] in (PERSON, THING, VALUE) and self.members_of(self._root_of_node(name)):
            return [self._root_of_node(name)]
        key = name_key(name)
        if key in SPEAKERS:
            key = USER
        numbers = self.book.list_living(key)
        for full in self.book.list_fulls(key):
            numbers += self.book.list_living(full)
        roots = sorted({self.root_of(number) for number in numbers})
        if roots or not name.endswith(")"):
            return roots
        found = self.find(name.rpartition(" (")[0])
        return [root for root in found if self.names.name_of(root) == name]

    # resolving signatures

    def _decide_node(self, signature: Signature) -> Node:
        name, sort = signature.name, signature.sort
        if sort in ("", VAGUE):
            sort = self._guess_sort(signature)
        if sort != PERSON or " " in name:
            return f"{sort}:{name}"
        if not name:
            return self._decide_nameless(signature)
        namesakes = self._namesakes[name]
        if signature.role:
            return _node_of_role(signature, namesakes)
        return f"{PERSON}:{name if len(namesakes) > 1 else (*namesakes.fulls, name)[0]}"

    def _decide_nameless(self, signature: Signature) -> Node:
        """Resolves "my brother" to the only person known by name in that role; else to a node of its own."""
        role = (signature.role, signature.owner)
        names = self.book.list_holders(role)
        if len(names) == 1:
            return self._nodes[Signature(names[0], PERSON, *role)]
        return f"{PERSON}:{role_shelf(*role)}"

    def _guess_sort(self, signature: Signature) -> str:
        """Guesses from other texts whether a name means a person or a thing."""
        counts: Counter[str] = Counter()
        for number in self.book.list_living(signature.name):
            counts[self.signatures[number].sort] += self.book.uses[number]
        people = counts[PERSON] + len(self.book.list_fulls(signature.name))
        return PERSON if people and people >= counts[THING] else THING

    def _tell_apart(self, word: str) -> _Namesakes:
        roles_of = {full: self.book.list_roles(full) for full in self.book.list_fulls(word)}
        attached: dict[Role, str] = {}
        for full, roles in roles_of.items():
            for role in roles:
                attached.setdefault(role, full)
        loose = sorted(self.book.list_roles(word) - attached.keys())
        return _Namesakes(tuple(roles_of), attached, tuple(loose))

    # aliases

    def _root_of_node(self, node: Node) -> Node:
        if self._parents is None:
            self._parents = {}
            self._join_links()
        return self._parents.get(node, node)

    def _join_links(self) -> None:
        groups: dict[Node, set[Node]] = {}
        for first, second in self._links.values():
            for one in self._meanings(first):
                for other in self._meanings(second):
                    _join(groups, one, other)
        assert self._parents is not None
        for group in {id(group): group for group in groups.values()}.values():
            root = _choose_root(group)
            self._parents |= dict.fromkeys(group, root)
            self._groups[root] = sorted(group)

    def _meanings(self, who: Signature | str) -> list[Node]:
        """Returns the nodes behind an end of a link; empty for an ambiguous name."""
        if isinstance(who, Signature):
            return [self._nodes[who]]
        if who.partition(":")[0] in (PERSON, THING):
            return [who]
        numbers = self.book.list_living(name_key(who))
        found = dict.fromkeys(self._nodes[self.signatures[number]] for number in numbers)
        return list(found) if len(found) == 1 else []


def _node_of_role(signature: Signature, namesakes: _Namesakes) -> Node:
    full = namesakes.attached.get((signature.role, signature.owner))
    if full is not None:
        return f"{PERSON}:{full}"
    if len(namesakes) == 1:
        return f"{PERSON}:{signature.name}"
    return f"{PERSON}:{signature.name}/{signature.role}/{signature.owner}"


def _join(groups: dict[Node, set[Node]], one: Node, other: Node) -> None:
    """Merges two groups: the members of the smaller one move to the larger."""
    large, small = groups.setdefault(one, {one}), groups.setdefault(other, {other})
    if large is small:
        return
    if len(large) < len(small):
        large, small = small, large
    large |= small
    groups |= dict.fromkeys(small, large)


def _choose_root(group: Iterable[Node]) -> Node:
    """Returns the user of the scope, else the first by name, so that the order of arrival has no effect."""
    nodes = sorted(group)
    return USER_NODE if USER_NODE in nodes else nodes[0]
