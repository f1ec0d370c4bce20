"""Laws about reading a store's history, head and changes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from ...core.record import Kind, Record
from .. import Changes, Entry, verbs
from .laws import FULL, LATER, NOW, StoreLaws, fact, within

STATES: Final = b"\0\x80\1\0 an analysis with statements"  # the second byte marks statements
PLAIN: Final = b"\0\x01\1\0 an analysis without any"


class FollowingLaws(StoreLaws):
    def test_history_tells_what_happened_oldest_first(self) -> None:
        self.put(fact("x", agent="ann", place=(1.0, 2.0), data={"n": [1]}))
        self.put(fact("x", text="new", agent="bob"), now=NOW + 1, by="bob")
        self.put(fact("x", text="new", agent="bob", importance=0.9), now=NOW + 2)
        created, revised, again = self.store.history("a", "x")
        assert (created.what, created.at, created.by, created.version) == ("created", NOW, "ann", 1)
        assert (revised.what, revised.at, revised.by, revised.version) == ("revised", NOW + 1, "bob", 2)
        assert revised.before == {
            "text": "x of a",
            "agent": "ann",
            "place": [1.0, 2.0],
            "data": {"n": [1]},
        }
        assert (again.what, again.at, again.by, again.version) == ("revised", NOW + 2, None, 3)
        assert again.before == {"importance": 0.5}
        assert {(e.id, e.scope) for e in (created, revised, again)} == {("x", "a")}
        assert self.store.history("b", "x") == self.store.history("a", "y") == []

    def test_history_of_the_forgotten_keeps_the_facts_but_no_content(self) -> None:
        self.put(fact("x", agent="ann"))
        self.put(fact("x", text="secret", agent="ann"), now=NOW + 1)
        verbs.delete_where(self.store, within("a"), now=LATER, by="bob")
        events = self.store.history("a", "x")
        assert [(e.what, e.at, e.by) for e in events] == [
            ("created", NOW, "ann"),
            ("revised", NOW + 1, None),
            ("forgotten", LATER, "bob"),
        ]
        assert all(event.before is None for event in events)

    def test_history_tells_each_life_of_an_id(self) -> None:
        (old,) = self.put(fact("x", agent="ann", uses=5))
        verbs.delete_where(self.store, within("a"), now=NOW + 1)
        (again,) = self.put(fact("x", created=NOW + 2, occurred=NOW + 2, agent="bob"), now=NOW + 2)
        assert (again.version, again.uses) == (1, 0)
        assert again.seq > old.seq
        events = [(e.what, e.at, e.by) for e in self.store.history("a", "x")]
        lives = [("created", NOW, "ann"), ("forgotten", NOW + 1, None), ("created", NOW + 2, "bob")]
        assert events == lives
        self.put(fact("x", text="new", agent="bob"), now=NOW + 3)
        events = [(e.what, e.at, e.by) for e in self.store.history("a", "x")]
        assert events == [*lives, ("revised", NOW + 3, None)]

    def test_head_rises_with_every_write(self) -> None:
        heads = [self.store.head()]
        for write in (
            lambda: self.put(fact("x")),
            lambda: self.put(fact("x", text="new")),
            lambda: verbs.delete_where(self.store, within("a"), now=NOW),
            lambda: self.put(fact("x")),
            lambda: verbs.replace_derived(self.store, []),
        ):
            write()
            heads.append(self.store.head())
        assert heads == sorted(set(heads))

    def test_changes_tell_new_entries_by_rising_seq(self) -> None:
        stored = self.put(FULL, fact("x", FULL.scope), fact("y", FULL.scope))
        changes = self.store.changes(FULL.scope, 0, 10)
        assert changes.head == self.store.head()
        assert [entry.seq for entry in changes.entries] == [record.seq for record in stored]
        assert list(changes.gone) == []
        first = changes.entries[0]
        assert isinstance(first, Entry)
        assert (first.x, first.y, first.z) == FULL.place
        for name in set(Entry._fields) - {"x", "y", "z"}:
            assert getattr(first, name) == getattr(stored[0], name), name
        assert (changes.entries[1].x, changes.entries[1].step) == (None, None)

    def test_changes_of_one_scope_do_not_tell_of_others(self) -> None:
        self.put(fact("x", "a"), fact("y", "b"), fact("z", "a/b"))
        changes = self.store.changes("a", 0, 10)
        assert len(changes.entries) == 1
        assert changes.head == self.store.head()
        verbs.delete_where(self.store, within("b"), now=NOW)
        assert self.store.changes("a", changes.head.seq, 10)[1:3] == ([], [])

    def test_changes_tell_what_is_gone(self) -> None:
        x, y, z = self.put(fact("x"), fact("y"), fact("z"))
        since = self.store.head().seq
        verbs.delete_where(self.store, within("a", ids=("x",)), now=NOW)
        (new,) = self.put(fact("y", text="new"))
        changes = self.store.changes("a", since, 10)
        assert [entry.seq for entry in changes.entries] == [new.seq]
        assert sorted(changes.gone) == [x.seq, y.seq]
        assert self.store.changes("a", changes.head.seq, 10) == Changes(changes.head, [], [])
        assert z.seq not in changes.gone

    def test_what_came_and_went_in_between_is_left_out(self) -> None:
        self.put(fact("stays"))
        since = self.store.head().seq
        self.put(fact("brief"))
        self.put(fact("brief", text="still brief"))
        verbs.delete_where(self.store, within("a", ids=("brief",)), now=NOW)
        changes = self.store.changes("a", since, 10)
        assert (list(changes.entries), list(changes.gone)) == ([], [])
        assert changes.head.seq > since

    def test_few_changes_among_many_of_others_are_found(self) -> None:
        for n in range(4):
            self.put(*(fact(f"{n}-{i}", "b") for i in range(300)))
            self.put(fact(f"{n}"), fact(f"again {n}"))
            self.put(fact("0", text=f"new {n}"))
        verbs.delete_where(self.store, within("a", ids=("again 1",)), now=NOW)
        for limit in (1, 2, 3, 100):
            assert sorted(self.follow("a", limit)) == self.store.match(within("a")), limit
            assert sorted(self.follow("b", 100 * limit)) == self.store.match(within("b")), limit

    def test_a_follower_that_comes_back_misses_nothing(self) -> None:
        held: set[int] = set()
        at = 0
        for n in range(12):
            self.put(fact(f"{n}"), fact(f"{n}", "b"))
            self.put(fact(f"{n // 2}", text=f"again {n}"))
            verbs.delete_where(self.store, within("a", ids=(f"{n // 3}",)), now=NOW)
            changes = self.store.changes("a", at, 2)
            held = (held - set(changes.gone)) | {entry.seq for entry in changes.entries}
            at = changes.head.seq
        assert sorted(self.follow("a", 2, held, at)) == self.store.match(within("a"))

    def test_what_tells_something_is_told_in_pages_that_miss_nothing(self) -> None:
        for n in range(9):
            others = [fact(f"{n}-{i}", "b", terms=STATES) for i in range(100)]
            self.put(fact(f"{n}", terms=STATES), fact(f"plain {n}", terms=PLAIN), *others)
            self.put(fact(f"none {n}", terms=b""), fact(f"triple {n}", kind=Kind.TRIPLE))
        verbs.delete_where(self.store, within("a", ids=("2", "triple 5")), now=NOW)
        self.put(fact("7", text="new", terms=PLAIN), fact("plain 3", text="new", terms=STATES))
        ask = partial(verbs.changes_telling, self.store)
        for scope in ("a", "b"):
            telling = {record.seq for record in self.store.find(within(scope)) if _tells(record)}
            for limit in (1, 3, 16, 2000):
                assert telling <= self.follow(scope, limit, ask=ask), (scope, limit)

    def follow(
        self,
        scope: str,
        limit: int,
        known: Collection[int] = (),
        at: int = 0,
        *,
        ask: Callable[[str, int, int], Changes] | None = None,
    ) -> set[int]:
        """Follows a scope page by page from `at` to the head. Returns the seqs held at the end."""
        held = set(known)
        while at < self.store.head().seq:
            changes = (ask or self.store.changes)(scope, at, limit)
            assert ask is not None or len(changes.entries) <= limit
            assert changes.head.seq > at
            assert all(seq <= at for seq in changes.gone)
            held = (held - set(changes.gone)) | {entry.seq for entry in changes.entries}
            at = changes.head.seq
        return held

    def test_a_witness_tells_writes_apart_and_stays_the_same(self) -> None:
        x, y = self.put(fact("x"), fact("y", "b"))
        seen = [verbs.fingerprint(self.store, x.seq), verbs.fingerprint(self.store, y.seq)]
        assert seen == [verbs.fingerprint(self.store, x.seq), verbs.fingerprint(self.store, y.seq)]
        assert None not in seen
        assert seen[0] != seen[1]
        assert verbs.fingerprint(self.store, y.seq + 1) is None

    def test_history_can_be_told_in_other_words(self) -> None:
        self.put(fact("x", importance=0.1), fact("y"))
        self.put(fact("x", importance=0.2), fact("y", text="new"))
        self.put(fact("x", importance=0.3))
        head = self.store.head()
        assert (
            verbs.rewrite_history(self.store, "a", "x", {2: {"importance": 0.7}, 9: {"importance": 0.8}}) == 1
        )
        assert [e.before for e in self.store.history("a", "x")] == [
            None,
            {"importance": 0.7},
            {"importance": 0.2},
        ]
        assert self.store.head() == head
        verbs.delete_where(self.store, within("a", ids=("y",)), now=LATER)
        assert verbs.rewrite_history(self.store, "a", "y", {2: {"importance": 0.7}}) == 0
        assert self.store.history("a", "y")[1].before is None
        assert verbs.rewrite_history(self.store, "b", "x", {2: {"importance": 0.7}}) == 0
        assert len(self.store.history("a", "x")) == 3


def _tells(record: Record) -> bool:
    return record.kind == Kind.TRIPLE or record.terms[1:2] >= b"\x80"
