"""Resolves the names of a scope to entities: which of them mean the same person or thing.

Namesakes stay separate if surnames or roles distinguish them; a bare name means the only person of that name.
If there are several, it is an entity of its own. Everything is computed from the present signatures, whatever
their order: no decision is stored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from ..text.facts.statement import VALUE
from .assertion import (
    PERSON,
    SPEAKERS,
    THING,
    USER,
    VAGUE,
    NameEntry,
    Node,
    Role,
    Signature,
    first_word,
    name_key,
    role_shelf,
)

USER_NODE: Node = f"{PERSON}:{USER}"


class NameBook:
    """The names of a scope, on the shelves where they are looked for."""

    def __init__(self) -> None:
        self.entries: dict[Signature, NameEntry] = {}
        self._shelves: defaultdict[str, list[NameEntry]] = defaultdict(list)

    def open(self, signature: Signature) -> NameEntry:
        """Returns the entry of a signature; adds one if there is none."""
        entry = self.entries.get(signature)
        if entry is None:
            entry = self.entries[signature] = NameEntry(signature)
            for shelf in _list_shelves(signature):
                self._shelves[shelf].append(entry)
        return entry

    def list_living(self, shelf: str) -> list[NameEntry]:
        """Lists the entries on a shelf that statements mention."""
        return [entry for entry in self._shelves.get(shelf, ()) if entry.uses]

    def list_fulls(self, word: str) -> list[str]:
        """Lists the full names of people with this first name."""
        return sorted({entry.signature.name for entry in self.list_living(_fulls_shelf(word))})

    def list_holders(self, role: Role) -> list[str]:
        """Lists the names of those to whom texts give a role."""
        return sorted({entry.signature.name for entry in self.list_living(_holders_shelf(*role))})

    def list_roles(self, name: str) -> set[Role]:
        """Returns the roles that texts give with a name."""
        told = (entry.signature for entry in self.list_living(name))
        return {(one.role, one.owner) for one in told if one.role}


def _list_shelves(signature: Signature) -> Iterator[str]:
    """Yields the shelves of a signature: its name or role; of a person, also the first name and the role."""
    name, sort, role, owner = signature
    yield name or role_shelf(role, owner)
    if sort == PERSON and name:
        if " " in name:
            yield _fulls_shelf(first_word(name))
        if role:
            yield _holders_shelf(role, owner)


def _fulls_shelf(word: str) -> str:
    return f"{word} "


def _holders_shelf(role: str, owner: str) -> str:
    return f"={role_shelf(role, owner)}"


@dataclass(frozen=True, slots=True)
class _Namesakes:
    """Entities that share a first name but are distinct."""

    fulls: tuple[str, ...] = ()  # by full names
    attached: dict[Role, str] = field(default_factory=dict)  # roles of those with full names
    loose: tuple[Role, ...] = ()  # roles of others

    def __len__(self) -> int:
        return len(self.fulls) + len(self.loose)


class Identities:
    """The entities that the names of a scope mean. Answers are cached until a name comes or goes."""

    def __init__(self) -> None:
        self.book: NameBook = NameBook()
        self._links: dict[object, tuple[NameEntry | str, NameEntry | str]] = {}
        nodes = cache(self._decide_node)
        roots = cache(lambda entry: self._root_of_node(self._node_of(entry.signature)))
        members, namesakes = cache(self._find_members), cache(self._tell_apart)
        names = cache(self._choose_name)
        self._node_of: Callable[[Signature], Node] = nodes
        self._namesakes_of: Callable[[str], _Namesakes] = namesakes
        self.root_of: Callable[[NameEntry], Node] = roots  # the entity that a name means
        self.members_of: Callable[[Node], tuple[NameEntry, ...]] = members  # the names that mean an entity
        self.name_of: Callable[[Node], str] = names  # the most used spelling, with a role among namesakes
        self._forget_names = names.cache_clear
        self._caches = (nodes, roots, members, namesakes)
        self._forget_answers()

    def note_mention(self, entry: NameEntry) -> None:
        """Forgets what a mention of a name may change. Call it before one comes, and after one has gone."""
        self._forget_names()
        if not entry.uses:
            self._forget_answers()

    def _forget_answers(self) -> None:
        self._forget_names()
        for answers in self._caches:
            answers.cache_clear()
        self._parents: dict[Node, Node] | None = None
        self._groups: dict[Node, list[Node]] = {}

    def link(self, key: object, first: NameEntry | str, second: NameEntry | str) -> None:
        """Links two names, or names or ids that `find` accepts, as one entity."""
        self._links[key] = first, second
        self._forget_answers()

    def unlink(self, key: object) -> None:
        if self._links.pop(key, None) is not None:
            self._forget_answers()

    def _find_members(self, root: Node) -> tuple[NameEntry, ...]:
        self._root_of_node(root)
        shelves = (shelf for node in self._groups.get(root, [root]) for shelf in self._list_shelves_of(node))
        named = (entry for shelf in dict.fromkeys(shelves) for entry in self.book.list_living(shelf))
        return tuple(entry for entry in named if self.root_of(entry) == root)

    def _list_shelves_of(self, node: Node) -> Iterator[str]:
        name = node.partition(":")[2]
        if name.startswith("/"):
            yield name
            return
        name = name.partition("/")[0]
        for shelf in dict.fromkeys((name, first_word(name))):
            yield shelf
            for role in sorted(self.book.list_roles(shelf)):
                yield role_shelf(*role)

    def list_roots(self) -> list[Node]:
        """Lists all entities that statements mention, without values."""
        entries = self.book.entries.values()
        living = (entry for entry in entries if entry.uses and entry.signature.sort != VALUE)
        return list(dict.fromkeys(map(self.root_of, living)))

    def find(self, name: str) -> list[Node]:
        """Finds the entities that a name or an id may mean."""
        if name.partition(":")[0] in (PERSON, THING, VALUE) and self.members_of(self._root_of_node(name)):
            return [self._root_of_node(name)]
        key = name_key(name)
        if key in SPEAKERS:
            key = USER
        shelves = (key, *self.book.list_fulls(key))
        roots = sorted({self.root_of(entry) for shelf in shelves for entry in self.book.list_living(shelf)})
        if roots or not name.endswith(")"):
            return roots
        found = self.find(name.rpartition(" (")[0])
        return [root for root in found if self.name_of(root) == name]

    # resolving signatures

    def _decide_node(self, signature: Signature) -> Node:
        name, sort = signature.name, signature.sort
        if sort in ("", VAGUE):
            sort = self._guess_sort(name)
        if sort != PERSON or " " in name:
            return f"{sort}:{name}"
        if not name:
            return self._decide_nameless(signature)
        namesakes = self._namesakes_of(name)
        if signature.role:
            return _node_of_role(signature, namesakes)
        return f"{PERSON}:{name if len(namesakes) > 1 else (*namesakes.fulls, name)[0]}"

    def _decide_nameless(self, signature: Signature) -> Node:
        """Resolves "my brother" to the only person known by name in that role; else to a node of its own."""
        role = (signature.role, signature.owner)
        names = self.book.list_holders(role)
        if len(names) == 1:
            return self._node_of(Signature(names[0], PERSON, *role))
        return f"{PERSON}:{role_shelf(*role)}"

    def _guess_sort(self, name: str) -> str:
        """Guesses from other texts whether a name means a person or a thing."""
        counts: Counter[str] = Counter()
        for entry in self.book.list_living(name):
            counts[entry.signature.sort] += entry.uses
        people = counts[PERSON] + len(self.book.list_fulls(name))
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

    def _meanings(self, who: NameEntry | str) -> list[Node]:
        """Returns the nodes behind an end of a link; empty for an ambiguous name."""
        if isinstance(who, NameEntry):
            return [self._node_of(who.signature)]
        if who.partition(":")[0] in (PERSON, THING):
            return [who]
        found = dict.fromkeys(self._node_of(one.signature) for one in self.book.list_living(name_key(who)))
        return list(found) if len(found) == 1 else []

    # names and kinds of entities

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
        name, slash, role = root.partition(":")[2].partition("/")
        if slash and name:
            return f" ({_spell_role(role)})"
        is_shared = any(entry.signature.sort == PERSON for entry in self.book.list_living(name))
        return f" ({self.kind_of(root) or THING})" if root.startswith(THING) and is_shared else ""

    def aliases_of(self, root: Node) -> tuple[str, ...]:
        return tuple(sorted(self._count_spellings(root)))

    def kind_of(self, root: Node) -> str:
        if root.startswith(PERSON):
            return PERSON
        told = (kind for entry in self.members_of(root) for _, kind in entry.list_mentions())
        kinds = Counter(filter(None, told))
        return max(sorted(kinds), key=kinds.__getitem__, default="")

    def _count_spellings(self, root: Node) -> Counter[str]:
        """Counts the spellings of all names of an entity."""
        told = (spelling for entry in self.members_of(root) for spelling, _ in entry.list_mentions())
        return Counter(filter(None, told))

    def count_uses(self, root: Node) -> int:
        return sum(entry.uses for entry in self.members_of(root))


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


def _spell_role(role: str) -> str:
    """Turns `brother/ann` into "ann's brother"."""
    what, _, owner = role.partition("/")
    return f"{owner}'s {what}" if owner and owner != USER else what
