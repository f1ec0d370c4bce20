"""A search that follows all ways of matching at once: one step for each character of a value.

The pattern becomes a graph of nodes. A state of the search is a set of nodes; where a character leads from
a state is worked out once and kept, so that most steps are one look-up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from ..errors import BadInput
from ..limits import REGEX_NODES
from .literals import begins_at_start
from .syntax import At, Either, One, Repeat, Series, Tree

MOST_KEPT: Final = 200_000  # nodes in states, and steps, that are kept at once
END, LAST_NEWLINE = "end", "last newline"  # what may follow in place of a character; both are longer than one

_START, _WORD, _ASCII_WORD, _NEWLINE, _END, _LAST = 1, 2, 4, 8, 16, 32  # what is known of a neighbour


@dataclass(frozen=True, slots=True)
class _Node:
    """Reads a character, asks for a place, or leads on to others at once."""

    one: int | None = None  # number of the test of a character
    at: At | None = None
    then: tuple[int, ...] = ()


class _State(dict[str, "_State"]):
    """Where each character leads; filled while values are searched."""

    __slots__ = ("_automaton", "before", "nodes")

    def __init__(self, automaton: Automaton, nodes: frozenset[int], before: int) -> None:
        super().__init__()
        self._automaton, self.nodes, self.before = automaton, nodes, before

    def __missing__(self, symbol: str) -> _State:
        self[symbol] = found = self._automaton.step(self, symbol)
        return found


class _NoWay(Exception):
    """No match can follow, whatever comes."""


class _LostState(_State):
    """Nothing can be found any more."""

    __slots__ = ()

    def __missing__(self, symbol: str) -> _State:
        raise _NoWay


@dataclass
class _Graph:
    """The nodes of a pattern; node 0 is the goal."""

    nodes: list[_Node] = field(default_factory=lambda: [_Node()])
    ones: dict[One, int] = field(default_factory=dict)

    def add(self, node: _Node) -> int:
        if len(self.nodes) >= REGEX_NODES:
            raise BadInput(
                f"the regular expression is too large: with its repeats written out it has more than "
                f"{REGEX_NODES} parts; use smaller counts, or * and +"
            )
        self.nodes.append(node)
        return len(self.nodes) - 1

    def build(self, tree: Tree, then: int) -> int:
        """The node from which the tree is matched and `then` follows."""
        match tree:
            case One():
                return self.add(_Node(one=self.ones.setdefault(tree, len(self.ones)), then=(then,)))
            case At():
                return self.add(_Node(at=tree, then=(then,)))
            case Series():
                for part in reversed(tree.parts):
                    then = self.build(part, then)
                return then
            case Either():
                starts: list[int] = []
                for part in tree.parts:
                    starts.append(self.build(part, then))
                return self.add(_Node(then=tuple(starts)))
            case Repeat():
                return self._build_repeat(tree, then)

    def _build_repeat(self, tree: Repeat, then: int) -> int:
        start = then
        if tree.most is None:
            start = self.add(_Node())
            self.nodes[start] = _Node(then=(self.build(tree.part, start), then))
        else:
            for _ in range(tree.most - tree.least):
                start = self.add(_Node(then=(self.build(tree.part, start), then)))
        for _ in range(tree.least):
            once = self.build(tree.part, start)
            if once == start:
                break  # an empty part: any number of it is none
            start = once
        return start


class Automaton:
    """Searches values for one pattern."""

    def __init__(self, tree: Tree) -> None:
        graph = _Graph()
        self._first = graph.build(tree, 0)
        self._nodes = graph.nodes
        self._tests = [re.compile(one.source, one.flags) for one in graph.ones]
        self._asks_places = any(node.at is not None for node in graph.nodes)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._passes: dict[str, frozenset[int]] = {}
        self._kept = 0
        self._found = _State(self, frozenset(), 0)
        self._lost = _LostState(self, frozenset(), 0)
        self._begins_at_start = begins_at_start(tree)
        self._start = self._state(frozenset(), _START)

    def search(self, value: str) -> bool:
        body: str = value
        ends: tuple[str, ...] = (END,)
        if value.endswith("\n"):
            body, ends = value[:-1], (LAST_NEWLINE, END)
        try:
            return self._follow(chain(body, ends))
        except _NoWay:
            return False

    def _follow(self, symbols: Iterable[str]) -> bool:
        state, found = self._start, self._found
        for symbol in symbols:
            state = state[symbol]
            if state is found:
                return True
        return False

    def step(self, state: _State, symbol: str) -> _State:
        """Where a character leads; the search may begin anew at each one."""
        self._make_room(len(state.nodes))
        character = "\n" if symbol == LAST_NEWLINE else symbol
        reading, found = self._spread({*state.nodes, self._first}, state.before, self._describe(symbol))
        if found:
            return self._found
        if symbol == END:
            return self._start
        passed = self._list_passed(character)
        nodes = frozenset(node.then[0] for node in reading if node.one in passed)
        if self._begins_at_start and not nodes:
            return self._lost
        return self._state(nodes, self._describe(character))

    def _state(self, nodes: frozenset[int], before: int) -> _State:
        key = (nodes, before)
        if key not in self._states:
            self._states[key] = _State(self, nodes, before)
        return self._states[key]

    def _make_room(self, nodes: int) -> None:
        """Forgets the steps worked out so far once they take too much memory."""
        self._kept += nodes + 1
        if self._kept <= MOST_KEPT:
            return
        for state in list(self._states.values()):
            state.clear()
        self._start.clear()
        self._states, self._passes, self._kept = {}, {}, 0

    def _spread(self, nodes: set[int], before: int, after: int) -> tuple[list[_Node], bool]:
        """The nodes that read a character, reached from these without reading one; and if the goal is."""
        waiting, seen = list(nodes), set(nodes)
        reading: list[_Node] = []
        while waiting:
            number = waiting.pop()
            if number == 0:
                return [], True
            node = self._nodes[number]
            if node.one is not None:
                reading.append(node)
                continue
            if node.at is not None and not _is_at(node.at, before, after):
                continue
            for other in node.then:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return reading, False

    def _list_passed(self, character: str) -> frozenset[int]:
        """The numbers of the tests that a character passes."""
        if character not in self._passes:
            numbered = enumerate(self._tests)
            self._passes[character] = frozenset(n for n, test in numbered if test.fullmatch(character))
        return self._passes[character]

    def _describe(self, symbol: str) -> int:
        """What places ask of the character before or after them."""
        if not self._asks_places:
            return 0
        if symbol == END:
            return _END
        if symbol == LAST_NEWLINE:
            return _NEWLINE | _LAST
        if symbol == "\n":
            return _NEWLINE
        if not (symbol.isalnum() or symbol == "_"):
            return 0
        return _WORD | _ASCII_WORD if symbol.isascii() else _WORD


def _is_at(place: At, before: int, after: int) -> bool:
    multiline = place.flags & re.MULTILINE
    match place.name:
        case "^" if multiline:
            return bool(before & (_START | _NEWLINE))
        case "^" | "\\A":
            return bool(before & _START)
        case "$" if multiline:
            return bool(after & (_END | _NEWLINE))
        case "$":
            return bool(after & (_END | _LAST))
        case "\\Z" | "\\z":
            return bool(after & _END)
    word = _ASCII_WORD if place.flags & re.ASCII else _WORD
    at_edge = bool(before & word) != bool(after & word)
    return at_edge if place.name == "\\b" else not at_edge
