"""The laws of `Store` as tests. Subclass it in a test file and say how yours is made:

class TestMine(StoreContract):
    def make(self) -> Store:
        return Mine(self.folder / "mine.db")
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from ..core.errors import BadInput, Conflict
from ..core.lossless import Original, pack_original
from ..core.record import Kind, Record, Tier
from ..core.scope import Scope
from ..core.state import Protection, State
from ..core.where import Condition, Where
from ..quality import Survey, Tally
from . import (
    BELOW_MARK,
    ORDERS,
    SCOPE_MARK,
    Changes,
    Claim,
    Derived,
    Entry,
    Erased,
    Erasure,
    Look,
    Stone,
    Store,
    Watch,
    verbs,
)
from .contract_port import PortContract
from .rules import Entombed

E = TypeVar("E", bound=Exception)

NOW: Final = 1_700_000_000.0
LATER: Final = NOW + 60
ALL: Final = Where()
FULL: Final = Record(
    id="full",
    scope="acme/ann b",
    text="naïve café 🙂 \0 after the NUL\r\n\u2028 e\u0301",
    kind=Kind.EPISODE,
    tier=Tier.LONG,
    data={"big": 2**80, "nul\0key": ["\0", {"deep": [None, True, 1, 1.0, -0.0, 1e-320, ""]}], "": {}},
    who="Ann",
    agent="planner",
    session="s 1",
    step=2**53,
    place=(1.5, -2.5, 0.1 + 0.2),
    importance=0.25,
    created=NOW + 1e-6,
    occurred=-5.25,
    uses=3,
    last_used=NOW - 1,
    expires=NOW + 1e9,
    source="mail",
    meta={"tags": ["x", "é"], "n": -(2**70)},
    state=State(pinned=Protection(at=NOW, by="é\0"), ttl=0.5, pii=("email",), more={"n": 2**70}),
    vector=bytes(range(256)),
    terms=b"\0\1\2\3\4",
    level=2,
    original=pack_original(Original(text="the whole of it", data=(None,), vector=bytes(64), embedder="x")),
    derived_from=("one", "two"),
    version=4,
)


def fact(id: str, scope: str = "a", **fields: Any) -> Record:
    """A plain record that says nothing another one says."""
    return Record(
        id=id, scope=scope, **{"text": f"{id} of {scope}", "created": NOW, "occurred": NOW, **fields}
    )


def within(scope: str, **parts: Any) -> Where:
    return Where(scope=Scope(scope), **parts)


def caught(kind: type[E], call: Callable[[], object]) -> E:
    """The error of that kind which the call must raise."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def ids(records: list[Record]) -> list[str]:
    return [record.id for record in records]


class StoreContract(PortContract):
    """Every store passes these. `make` gives an empty one; `folder` is a place for its files.

    A store that outlives its object also has `reopen`, which opens the same one a second time.
    """

    def make(self) -> Store:
        raise NotImplementedError

    def reopen(self, store: Store) -> Store | None:
        """Another object on the same records; None where records end with their object."""
        del store
        return None

    @cached_property
    def folder(self) -> Path:
        self._folder = TemporaryDirectory(prefix="eidet-contract-")
        return Path(self._folder.name)

    @cached_property
    def store(self) -> Store:
        return self.make()

    def teardown_method(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        if "folder" in self.__dict__:
            self._folder.cleanup()

    def put(self, *records: Record, now: float = NOW, **how: Any) -> list[Record]:
        return verbs.put(self.store, records, now=now, **how)

    # Writing.

    def test_put_answers_in_order_with_rising_seqs(self) -> None:
        stored = self.put(fact("c"), fact("a"), fact("b", "z"))
        assert ids(stored) == ["c", "a", "b"]
        seqs = [record.seq for record in stored]
        assert seqs == sorted(set(seqs))
        assert min(seqs) > 0
        assert self.put(fact("d"))[0].seq > seqs[-1]

    def test_put_of_nothing_writes_nothing(self) -> None:
        before = self.store.head()
        assert self.put() == []
        assert self.store.head() == before

    def test_every_field_comes_back_exactly(self) -> None:
        (stored,) = self.put(FULL)
        assert stored == replace(FULL, seq=stored.seq)
        assert self.store.read(FULL.scope, ["full"]) == [stored]
        assert self.store.read(FULL.scope, [stored.seq]) == [stored]
        assert self.store.find(ALL) == [stored]
        assert list(verbs.scan(self.store, ALL)) == [stored]

    def test_a_record_of_defaults_comes_back_exactly(self) -> None:
        (stored,) = self.put(Record(id="x", scope="a", text=""))
        assert self.store.read("a", ["x"]) == [Record(id="x", scope="a", text="", seq=stored.seq)]

    def test_numbers_and_truth_values_keep_their_types(self) -> None:
        (stored,) = self.put(fact("x", data=[1, 1.0, True, False, 0, -0.0, None, "1"]))
        (found,) = self.store.find(within("a"))
        assert [repr(value) for value in found.data] == [repr(value) for value in stored.data]

    def test_a_place_of_two_coordinates_stays_one_of_two(self) -> None:
        self.put(fact("flat", place=(0.0, 1.0)), fact("solid", place=(0.0, 1.0, 0.0)))
        assert [r.place for r in self.store.find(ALL)] == [(0.0, 1.0), (0.0, 1.0, 0.0)]

    def test_the_same_id_becomes_the_next_version(self) -> None:
        (old,) = self.put(fact("x", uses=2, last_used=NOW))
        (new,) = self.put(fact("x", text="other", created=LATER, occurred=LATER), now=LATER)
        assert (new.version, new.text) == (2, "other")
        assert (new.created, new.uses, new.last_used) == (NOW, 2, NOW)
        assert new.seq > old.seq
        assert self.store.read("a", ["x"]) == [new]
        assert self.store.read("a", [old.seq, new.seq]) == [None, new]
        assert verbs.count(self.store, ALL) == 1

    def test_what_a_new_version_does_not_say_of_time_is_kept(self) -> None:
        self.put(fact("x", occurred=5.0))
        (new,) = self.put(fact("x", text="other", created=LATER, occurred=LATER), now=LATER)
        assert new.occurred == 5.0
        (newer,) = self.put(fact("x", text="other", created=LATER, occurred=7.0), now=LATER)
        assert newer.occurred == 7.0

    def test_a_record_that_says_the_same_is_left_alone(self) -> None:
        (old,) = self.put(FULL)
        before = self.store.head()
        again = replace(FULL, created=LATER, uses=0, vector=b"other", terms=b"")
        assert self.put(again, now=LATER) == [old]
        assert self.store.head() == before
        assert len(self.store.history(FULL.scope, "full")) == 1

    def test_an_id_twice_in_one_put_is_written_in_order(self) -> None:
        first, second = self.put(fact("x", text="one"), fact("x", text="two"))
        assert (first.version, second.version) == (1, 2)
        assert self.store.read("a", ["x"]) == [second]

    def test_the_same_id_in_another_scope_is_another_record(self) -> None:
        here, there = self.put(fact("x", "a"), fact("x", "b"))
        assert (here.version, there.version) == (1, 1)
        self.put(fact("x", "a", text="new"))
        assert self.store.read("b", ["x"]) == [there]

    def test_a_fact_or_document_its_scope_has_is_counted_as_used(self) -> None:
        for kind in (Kind.FACT, Kind.DOCUMENT):
            (first,) = self.put(fact("x", kind, text="same", data=[1], kind=kind))
            (twin,) = self.put(fact("y", kind, text="same", data=[1], kind=kind), now=LATER)
            assert twin == replace(first, uses=1, last_used=LATER)
            assert self.store.read(kind, ["x", "y"]) == [twin, None]

    def test_twins_in_one_put_are_recognised(self) -> None:
        first, twin = self.put(fact("x", text="same"), fact("y", text="same"))
        assert twin == replace(first, uses=1, last_used=NOW)

    def test_a_use_of_a_twin_never_turns_time_back(self) -> None:
        self.put(fact("x", text="same", last_used=LATER))
        assert self.put(fact("y", text="same"), now=NOW)[0].last_used == LATER

    def test_other_kinds_data_and_scopes_are_no_twins(self) -> None:
        self.put(fact("x", text="yes"))
        stored = self.put(
            fact("m1", text="yes", kind=Kind.MESSAGE),
            fact("m2", text="yes", kind=Kind.MESSAGE),
            fact("data", text="yes", data=1),
            fact("float", text="yes", data=1.0),
            fact("away", "b", text="yes"),
        )
        assert ids(stored) == ["m1", "m2", "data", "float", "away"]
        assert verbs.count(self.store, ALL) == 6

    def test_twins_are_kept_when_they_need_not_be_unique(self) -> None:
        self.put(fact("x", text="same"), fact("y", text="same"), unique=False)
        assert verbs.count(self.store, ALL) == 2

    def test_an_expired_twin_does_not_count(self) -> None:
        self.put(fact("old", text="same", expires=LATER))
        assert ids(self.put(fact("early", text="same"), now=LATER - 1)) == ["old"]
        assert ids(self.put(fact("new", text="same"), now=LATER)) == ["new"]

    def test_a_dropped_or_revised_twin_does_not_count(self) -> None:
        self.put(fact("x", text="same"), fact("y", text="also"))
        verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
        self.put(fact("y", text="changed"))
        assert ids(self.put(fact("v", text="same"), fact("w", text="also"))) == ["v", "w"]

    def test_an_upsert_may_say_what_another_record_says(self) -> None:
        self.put(fact("x", text="one"), fact("y", text="two"))
        (new,) = self.put(fact("y", text="one"))
        assert (new.id, new.version, new.uses) == ("y", 2, 0)

    def test_an_expected_version_is_written(self) -> None:
        self.put(fact("x"))
        assert self.put(fact("x", text="two"), expect=1)[0].version == 2

    def test_another_version_than_expected_is_a_conflict_that_tells_the_current(self) -> None:
        self.put(fact("x"))
        self.put(fact("x", text="two"))
        error = caught(Conflict, lambda: self.put(fact("x", text="three"), expect=1))
        assert error.current == 2
        assert self.store.find(ALL)[0].text == "two"

    def test_an_expected_record_that_is_absent_is_a_conflict(self) -> None:
        self.put(fact("x", "b"))
        assert caught(Conflict, lambda: self.put(fact("x"), expect=1)).current is None
        assert verbs.count(self.store, within("a")) == 0

    def test_a_put_that_fails_half_way_leaves_no_trace(self) -> None:
        self.put(fact("x"))
        before = self.store.head()
        batch = fact("x", text="two"), fact("missing")
        caught(Conflict, lambda: self.put(*batch, expect=1))
        assert self.store.head() == before
        assert [(r.text, r.version) for r in self.store.find(ALL)] == [("x of a", 1)]
        assert len(self.store.history("a", "x")) == 1

    def test_a_writer_of_another_epoch_is_refused(self) -> None:
        epoch = self.store.head().epoch
        self.put(fact("x"), epoch=epoch)
        verbs.replace_derived(self.store, [])
        error = caught(Conflict, lambda: self.put(fact("y"), epoch=epoch))
        assert error.current == epoch + 1
        assert verbs.count(self.store, ALL) == 1
        self.put(fact("y"), epoch=epoch + 1)

    def test_many_threads_lose_nothing(self) -> None:
        def write(worker: int) -> list[int]:
            return [self.put(fact(f"{worker}-{n}"))[0].seq for n in range(10)]

        assert verbs.count(self.store, ALL) == 0  # makes the store, once, before the threads ask for it
        with ThreadPoolExecutor(8) as pool:
            seqs = list(pool.map(write, range(8)))
        assert all(mine == sorted(mine) for mine in seqs)
        assert len({seq for mine in seqs for seq in mine}) == verbs.count(self.store, ALL) == 80

    # Reading.

    # Other forms of a record.

    def test_a_recast_record_keeps_its_version_and_its_uses(self) -> None:
        old = self.put(fact("x", tier=Tier.SHORT))[0]
        verbs.add_uses(self.store, {("a", "x"): (2, LATER)})
        form = old.but(tier=Tier.LONG, level=2, text="x", vector=b"1", original=FULL.original, uses=99)
        new = verbs.rewrite_form(self.store, [(old, form)], now=LATER, by="upkeep")[0]
        assert new == form.but(uses=2, last_used=LATER, seq=new.seq if new else 0)
        assert self.store.read("a", ["x"]) == [new]
        assert new is not None
        assert new.seq > old.seq
        told = [(event.what, event.version, event.by) for event in self.store.history("a", "x")]
        assert told == [("created", 1, None), ("moved", 1, "upkeep")]

    def test_what_changed_since_it_was_read_is_not_recast(self) -> None:
        one, two, three = self.put(fact("one"), fact("two"), fact("three"))
        self.put(one.but(text="changed"))
        verbs.delete_where(self.store, within("a", ids=("two",)), now=NOW)
        forms = [(record, record.but(tier=Tier.LONG)) for record in (one, two, three)]
        made = verbs.rewrite_form(self.store, forms, now=LATER)
        assert [record is None for record in made] == [True, True, False]
        assert [record.tier for record in self.store.find(ALL)] == [Tier.SHORT, Tier.LONG]
        assert verbs.rewrite_form(self.store, forms, now=LATER) == [None, None, None]

    def test_a_recast_of_another_epoch_is_refused(self) -> None:
        old = self.put(fact("x"))[0]
        verbs.replace_derived(self.store, [Derived(old.seq, b"new", b"")])
        head = self.store.head()
        caught(
            Conflict,
            lambda: verbs.rewrite_form(
                self.store, [(old, old.but(level=1))], now=LATER, epoch=head.epoch - 1
            ),
        )
        assert self.store.head() == head

    def test_followers_learn_of_other_forms(self) -> None:
        old = self.put(fact("x", vector=b"full"))[0]
        since = self.store.head().seq
        new = verbs.rewrite_form(self.store, [(old, old.but(vector=b"1", level=2))], now=LATER)[0]
        assert new is not None
        told = self.store.changes("a", since, 10)
        assert told.gone == [old.seq]
        assert [(entry.seq, entry.level, entry.vector) for entry in told.entries] == [(new.seq, 2, b"1")]

    def test_a_lowered_record_still_says_the_whole(self) -> None:
        old = self.put(fact("x", text="the whole of it", data=None))[0]
        form = old.but(text="the gist", level=2, original=FULL.original)
        lowered = verbs.rewrite_form(self.store, [(old, form)], now=LATER)[0]
        assert lowered is not None
        assert lowered.whole.text == "the whole of it"
        assert self.put(fact("y", text="the whole of it"))[0].id == "x", "a twin is known by the whole"
        revised = self.put(old.but(text="another"))[0]
        assert revised.original is None
        before = self.store.history("a", "x")[-1].before
        assert before is not None
        assert before["text"] == "the whole of it"
        assert "original" not in before

    def test_only_what_is_as_it_was_read_is_buried(self) -> None:
        one, two = self.put(fact("one"), fact("two"))
        self.put(two.but(text="changed"))
        assert verbs.delete_unchanged(self.store, [one, two, one, fact("none")], now=LATER, by="upkeep") == [
            "one"
        ]
        assert ids(self.store.find(ALL)) == ["two"]
        last = self.store.history("a", "one")[-1]
        assert (last.what, last.by, last.at) == ("forgotten", "upkeep", LATER)
        assert verbs.delete_unchanged(self.store, [], now=LATER) == []

    def test_a_lease_has_one_owner_until_it_ends_or_is_given_back(self) -> None:
        lease = partial(verbs.take_lease, self.store)
        assert lease("upkeep", "one", now=10.0, until=20.0)
        assert not lease("upkeep", "two", now=15.0, until=25.0)
        assert lease("other", "two", now=15.0, until=25.0)
        assert lease("upkeep", "one", now=19.0, until=30.0)
        assert not lease("upkeep", "two", now=29.0, until=40.0)
        assert lease("upkeep", "two", now=30.0, until=40.0)
        assert lease("upkeep", "two", now=31.0, until=0.0)
        assert lease("upkeep", "one", now=32.0, until=40.0)

    def test_trimming_ends_and_loses_nothing(self) -> None:
        kept = self.put(*(fact(f"{n}", text=f"{n} " * 500) for n in range(50)))
        verbs.delete_where(self.store, within("a", ids=tuple(r.id for r in kept[5:])), now=LATER)
        for _ in range(100):
            if not verbs.compact(self.store, 1 << 16):
                break
        else:
            raise AssertionError("there was always more to give back")
        assert self.store.find(ALL) == kept[:5]

    def test_notes_of_moves_can_be_removed_and_nothing_else(self) -> None:
        old = self.put(fact("x"), now=NOW)[0]
        moved = verbs.rewrite_form(self.store, [(old, old.but(tier=Tier.LONG))], now=NOW)[0]
        assert moved is not None
        self.put(moved.but(text="new"), now=LATER)
        self.put(fact("y"), now=NOW)
        verbs.delete_where(self.store, within("a", ids=("y",)), now=NOW)
        self.put(fact("last"), now=LATER)
        verbs.delete_where(self.store, within("a", ids=("last",)), now=LATER)
        head = self.store.head()
        assert verbs.prune_history(self.store, NOW, dead=True, most=10) == 0
        assert verbs.prune_history(self.store, NOW + 1, dead=False, most=10) == 1
        assert [event.what for event in self.store.history("a", "x")] == ["created", "revised"]
        assert self.store.history("a", "y")
        assert verbs.prune_history(self.store, NOW + 1, dead=True, most=10) >= 1
        assert self.store.history("a", "y") == []
        assert [event.what for event in self.store.history("a", "x")] == ["created", "revised"]
        assert verbs.prune_history(self.store, NOW + 1, dead=True, most=10) == 0
        assert self.store.head() == head
        verbs.prune_history(self.store, LATER + 1, dead=True, most=10)
        assert self.store.head() == head, "a seq is never given twice"

    def test_whoever_was_away_too_long_is_told_so(self) -> None:
        one, _ = self.put(fact("one"), fact("two"))
        since = self.store.head().seq
        verbs.rewrite_form(self.store, [(one, one.but(tier=Tier.LONG))], now=NOW)
        self.put(fact("three"), now=LATER)
        verbs.delete_where(self.store, within("a", ids=("three",)), now=LATER)
        verbs.prune_history(self.store, LATER, dead=False, most=10)
        told = self.store.changes("a", since, 10)
        assert told.pruned > since or one.seq in told.gone
        now = self.store.head().seq
        assert self.store.changes("a", now, 10).pruned <= now

    def test_scopes_count_the_living(self) -> None:
        self.put(fact("x", expires=NOW + 5), fact("y"), fact("z", scope="b", expires=NOW + 5))
        assert verbs.count_scopes(self.store, alive_at=NOW) == {"a": 2, "b": 1}
        assert verbs.count_scopes(self.store, alive_at=NOW + 5) == {"a": 1}
        assert verbs.count_scopes(self.store, Scope("b"), alive_at=NOW + 5) == {}

    def test_get_and_fetch_answer_in_the_order_asked(self) -> None:
        a, b = self.put(fact("a"), fact("b"))
        assert self.store.read("a", ["b", "no", "a", "b"]) == [b, None, a, b]
        assert self.store.read("a", [b.seq, 10**12, a.seq, b.seq]) == [b, None, a, b]
        assert self.store.read("a", []) == []
        assert self.store.read("a", []) == []

    def test_get_and_fetch_do_not_reach_into_other_scopes(self) -> None:
        (there,) = self.put(fact("x", "a/b"))
        for scope in ("a", "b", "a/b/c", "A/b", "nowhere"):
            assert self.store.read(scope, ["x"]) == [None]
            assert self.store.read(scope, [there.seq]) == [None]

    def test_thousands_are_answered_at_once(self) -> None:
        stored = self.put(*(fact(f"{n}") for n in range(1500)))
        assert self.store.read("a", [f"{n}" for n in range(1500)]) == stored
        assert self.store.read("a", [r.seq for r in stored]) == stored
        assert verbs.count(self.store, Where(ids=tuple(f"{n}" for n in range(1500)))) == 1500

    def test_find_orders_by_each_field_both_ways(self) -> None:
        low: dict[str, Any] = {"occurred": 1.0, "created": 1.0, "importance": 0.1, "step": -1, "uses": 1}
        high: dict[str, Any] = {"occurred": 2.0, "created": 2.0, "importance": 0.2, "step": 5, "uses": 2}
        self.put(fact("high", **high), fact("low", **low))
        for order in set(ORDERS) - {"seq"}:
            assert ids(self.store.find(ALL, order=order)) == ["low", "high"], order
            assert ids(self.store.find(ALL, order=f"-{order}")) == ["high", "low"], order
        assert ids(self.store.find(ALL)) == ["high", "low"]
        assert ids(self.store.find(ALL, order="-seq")) == ["low", "high"]

    def test_absent_values_come_last_both_ways(self) -> None:
        self.put(fact("none1"), fact("two", step=2), fact("none2"), fact("one", step=1))
        assert ids(self.store.find(ALL, order="step")) == ["one", "two", "none1", "none2"]
        assert ids(self.store.find(ALL, order="-step")) == ["two", "one", "none2", "none1"]

    def test_equal_values_are_ordered_by_seq_in_the_same_direction(self) -> None:
        self.put(fact("a"), fact("b", importance=0.9), fact("c"), fact("d", "b"))
        assert ids(self.store.find(ALL, order="importance")) == ["a", "c", "d", "b"]
        assert ids(self.store.find(ALL, order="-importance")) == ["b", "d", "c", "a"]

    def test_an_unknown_order_is_bad_input(self) -> None:
        for order in ("text", "", "-", "--seq", "seq desc"):
            caught(BadInput, lambda order=order: self.store.find(ALL, order=order))  # type: ignore[misc]

    def test_limit_and_offset_cut_pages(self) -> None:
        self.put(*(fact(f"{n}") for n in range(5)))
        pages = [ids(self.store.find(ALL, limit=2, offset=at)) for at in (0, 2, 4, 6)]
        assert pages == [["0", "1"], ["2", "3"], ["4"], []]
        assert ids(self.store.find(ALL, offset=3)) == ["3", "4"]

    def test_scan_gives_each_match_once_by_rising_seq(self) -> None:
        stored = self.put(*(fact(f"{n}", "ab"[n % 2]) for n in range(7)))
        for batch in (1, 2, 3, 100):
            assert list(verbs.scan(self.store, ALL, batch=batch)) == stored
            assert list(verbs.scan(self.store, within("a"), batch=batch)) == stored[::2]
            assert list(verbs.scan(self.store, ALL, after=stored[3].seq, batch=batch)) == stored[4:]

    def test_match_count_and_census_agree_with_find(self) -> None:
        self.put(fact("a"), fact("b", kind=Kind.MESSAGE), fact("c", tier=Tier.LONG), fact("d", "b"))
        for where in (ALL, within("a"), within("a", kinds=(Kind.FACT,)), within("none")):
            found = self.store.find(where)
            assert self.store.match(where) == [record.seq for record in found]
            assert verbs.count(self.store, where) == len(found)
            assert sum(verbs.count_kinds(self.store, where).values()) == len(found)
        assert verbs.count_kinds(self.store, within("a")) == {
            ("fact", "short"): 1,
            ("message", "short"): 1,
            ("fact", "long"): 1,
        }

    def test_filters_reach_every_part_of_a_record(self) -> None:
        self.put(FULL, fact("other"))
        for where in (
            Where(kinds="episode"),  # type: ignore[arg-type]
            Where(tiers=(Tier.LONG,)),
            Where(agent="planner", session="s 1", who="Ann", source="mail"),
            Where(until=0.0, step_from=1, importance_max=0.3),
            Where(conditions=(Condition(("data", "nul\0key", 1, "deep", 2), "=", 1),)),
            Where(conditions=(Condition("meta.n", "<", -(2**69)),)),
            Where(conditions=(Condition("state.pinned.by", "=", "é\0"),)),
            Where(conditions=(Condition("state.n", ">", 2**69),)),
        ):
            assert ids(self.store.find(where)) == ["full"], where
            assert ids(self.store.find(~where)) == ["other"], where

    def test_filters_reach_the_numbers_of_a_record(self) -> None:
        self.put(fact("new"), fact("used"), fact("lowered", tier=Tier.LONG, level=2))
        verbs.add_uses(self.store, {("a", "used"): (3, NOW + 5)})
        for path, op, value, found in (
            ("record.uses", ">=", 3, ["used"]),
            ("record.uses", "<", 3, ["new", "lowered"]),
            ("record.uses", "!=", 0, ["used"]),
            ("record.last_used", "exists", False, ["new", "lowered"]),
            ("record.last_used", "<=", NOW + 5, ["used"]),
            ("record.last_used", ">", NOW + 5, []),
            ("record.level", "=", 2, ["lowered"]),
        ):
            where = within("a", conditions=(Condition(path, op, value),))
            assert ids(self.store.find(where)) == ids(list(verbs.scan(self.store, where))) == found, where
            assert verbs.count(self.store, where) == len(self.store.match(where)) == len(found)
            assert len(self.store.find(~where)) == 3 - len(found)

    def test_scopes_are_told_with_their_counts_by_name(self) -> None:
        paths = ("b", "a", "a/x", "a/x/y", "a0", "a-b", "A", "a%", "a_", "é/ü", "日本")
        self.put(*(fact(f"{n}", path) for n, path in enumerate(paths)), fact("more", "a"))
        assert list(verbs.count_scopes(self.store)) == sorted(paths)
        assert verbs.count_scopes(self.store)["a"] == 2
        assert verbs.count_scopes(self.store, Scope("a")) == {"a": 2}
        assert verbs.count_scopes(self.store, Scope.under("a")) == {"a": 2, "a/x": 1, "a/x/y": 1}
        assert verbs.count_scopes(self.store, Scope.under("nowhere")) == {}

    def test_below_a_scope_is_only_what_lies_below_its_slash(self) -> None:
        inside = ("a%/b", "a%/b/c", "a%/🙂")
        outside = ("a%", "a%/b0", "ax/b", "a%/B", "a%0", "a")
        self.put(*(fact(f"{n}", path) for n, path in enumerate((*inside, *outside))))
        assert set(verbs.count_scopes(self.store, Scope.under("a%/b"))) == {"a%/b", "a%/b/c"}
        assert verbs.count(self.store, Where(scope=Scope.under("a%"))) == 6

    # Forgetting and using.

    def test_drop_tells_only_what_existed(self) -> None:
        self.put(fact("a"), fact("b"), fact("c", "b"))
        assert verbs.delete_where(self.store, within("a", ids=("b", "no", "c")), now=LATER) == ["b"]
        assert verbs.delete_where(self.store, within("a", ids=("b",)), now=LATER) == []
        assert self.store.match(ALL) == [r.seq for r in self.store.find(ALL)]
        assert ids(self.store.find(ALL)) == ["a", "c"]

    def test_drop_of_nothing_leaves_no_trace(self) -> None:
        self.put(fact("a"))
        before = self.store.head()
        assert verbs.delete_where(self.store, within("a", ids=("no",)), now=LATER) == []
        assert self.store.head() == before
        assert self.store.history("a", "no") == []

    def test_what_was_dropped_is_found_in_no_way(self) -> None:
        (gone,) = self.put(FULL)
        verbs.delete_where(self.store, Where(ids=("full",)), now=LATER)
        assert self.store.read(FULL.scope, ["full"]) == [None]
        assert self.store.read(FULL.scope, [gone.seq]) == [None]
        assert self.store.find(ALL) == list(verbs.scan(self.store, ALL)) == []
        assert self.store.match(ALL) == []
        assert verbs.count_kinds(self.store, ALL) == {}
        assert verbs.count_scopes(self.store) == {}
        assert self.store.changes(FULL.scope, 0, 10).entries == []

    def test_drop_of_a_scope_leaves_all_others(self) -> None:
        self.put(fact("x", "a"), fact("x", "a/b"), fact("x", "a0"), fact("x", "b"))
        assert verbs.delete_where(self.store, Where(scope=Scope.under("a")), now=LATER) == ["x", "x"]
        assert verbs.count_scopes(self.store) == {"a0": 1, "b": 1}

    def test_an_id_that_was_dropped_begins_anew(self) -> None:
        (old,) = self.put(fact("x", uses=5))
        self.put(fact("x", text="two", uses=5))
        verbs.delete_where(self.store, within("a"), now=LATER)
        (new,) = self.put(fact("x", text="three", created=LATER, occurred=LATER), now=LATER)
        assert (new.version, new.created, new.uses) == (1, LATER, 0)
        assert new.seq > old.seq

    def test_uses_add_up_and_change_neither_version_nor_seq(self) -> None:
        (x, other) = self.put(fact("x", expires=NOW + 1), fact("x", "b"))
        before = self.store.head()
        verbs.add_uses(self.store, {("a", "x"): (2, LATER), ("a", "gone"): (9, LATER)})
        verbs.add_uses(self.store, {("a", "x"): (3, NOW)})
        assert self.store.read("a", ["x"]) == [replace(x, uses=5, last_used=LATER)]
        assert self.store.read("b", ["x"]) == [other]
        assert self.store.head() == before
        verbs.add_uses(self.store, {})

    # Tallies.

    def tally(self, *rows: Tally, since: int = -1) -> None:
        verbs.add_counts(self.store, rows, since=since)

    def test_tallies_of_the_same_scope_day_and_thing_add_up(self) -> None:
        before = self.store.head()
        self.tally(
            Tally("a", 5, "recall", {"recalls": 2, "empty": 1}), Tally("a", 5, "recall", {"recalls": 3})
        )
        self.tally(Tally("a", 5, "recall", {"recalls": 2**40, "hits": 7}))
        wanted = Tally("a", 5, "recall", {"recalls": 5 + 2**40, "empty": 1, "hits": 7})
        assert verbs.read_counts(self.store, None, 0) == [wanted]
        assert self.store.head() == before
        self.tally()

    def test_tallies_are_told_by_scope_day_and_thing(self) -> None:
        rows = [
            Tally(scope, day, what, {"recalls": day + 1})
            for scope in ("a", "a/b", "a0", "é b")
            for day in (-1, 0, 19_000)
            for what in ("list", "recall")
        ]
        self.tally(*reversed(rows))
        assert verbs.read_counts(self.store, None, -1) == rows
        assert verbs.read_counts(self.store, Scope("a"), -1) == rows[:6]
        assert verbs.read_counts(self.store, Scope.under("a"), -1) == rows[:12]
        assert verbs.read_counts(self.store, Scope("é b"), 1) == rows[-2:]
        assert verbs.read_counts(self.store, Scope("none"), -1) == []

    def test_what_a_caller_does_to_counts_stays_with_the_caller(self) -> None:
        counts = {"recalls": 1}
        self.tally(Tally("a", 1, "recall", counts))
        counts["recalls"] = 9
        verbs.read_counts(self.store, None, 0)[0].counts.update(recalls=9)  # type: ignore[attr-defined]
        assert verbs.read_counts(self.store, None, 0) == [Tally("a", 1, "recall", {"recalls": 1})]

    def test_old_days_are_given_up_in_the_scopes_named(self) -> None:
        self.tally(*(Tally(scope, day, "recall", {"recalls": 1}) for scope in "ab" for day in (1, 2, 3)))
        self.tally(Tally("a", 4, "recall", {"recalls": 1}), Tally("a", 1, "list", {"recalls": 1}), since=3)
        assert [(row.scope, row.day) for row in verbs.read_counts(self.store, None, 0)] == [
            ("a", 3),
            ("a", 4),
            ("b", 1),
            ("b", 2),
            ("b", 3),
        ]

    def test_tallies_go_with_a_whole_scope_and_only_with_one(self) -> None:
        self.put(fact("x", "a"), fact("y", "a"))
        self.tally(*(Tally(scope, 1, "recall", {"recalls": 1}) for scope in ("a", "a/b", "a0", "b")))
        verbs.delete_where(self.store, within("a", ids=("x",)), now=LATER)
        verbs.delete_where(self.store, within("a", kinds=(Kind.FACT,)), now=LATER)
        assert len(verbs.read_counts(self.store, None, 0)) == 4
        verbs.delete_where(self.store, within("a"), now=LATER)
        assert [row.scope for row in verbs.read_counts(self.store, None, 0)] == ["a/b", "a0", "b"]
        verbs.delete_where(self.store, Where(scope=Scope.under("a")), now=LATER)
        assert [row.scope for row in verbs.read_counts(self.store, None, 0)] == ["a0", "b"]
        verbs.delete_where(self.store, ALL, now=LATER)
        assert verbs.read_counts(self.store, None, 0) == []

    def test_many_threads_lose_no_counts(self) -> None:
        other = self.reopen(self.store) or self.store

        def count(n: int) -> None:
            verbs.add_counts(
                (self.store, other)[n % 2], [Tally("a", 1, "recall", {"recalls": 1, f"s{n % 3}": 1})], since=0
            )

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(count, range(60)))
        (row,) = verbs.read_counts(self.store, Scope("a"), 0)
        assert row.counts == {"recalls": 60, "s0": 20, "s1": 20, "s2": 20}
        if other is not self.store:
            other.close()

    def test_a_survey_counts_the_living_by_age_and_use(self) -> None:
        self.put(
            fact("new", created=NOW),
            fact("old", created=10.0),
            fact("idle", created=10.0, uses=2, last_used=20.0),
            fact("loved", created=10.0, uses=1, last_used=NOW),
            fact("dead", created=10.0, expires=NOW),
            fact("elsewhere", "b", created=5.0),
        )
        self.put(fact("again", text="old of a", created=50.0), unique=False)
        self.put(*(fact(f"yes{n}", text="yes", kind=Kind.MESSAGE) for n in range(3)))
        asked = {"now": NOW, "fresh": NOW, "ripe": 50.0, "stale": 30.0}
        assert verbs.quality_counts(self.store, Scope("a"), **asked) == Survey(
            records=8, used=2, fresh=4, oldest=10.0, ripe=3, never=1, stale=2, distinct=4, duplicates=1
        )
        assert verbs.quality_counts(self.store, None, **asked).records == 9
        assert verbs.quality_counts(self.store, Scope("none"), **asked) == Survey(
            0, 0, 0, None, 0, 0, 0, 0, 0
        )

    def test_the_same_in_two_scopes_is_no_duplicate(self) -> None:
        self.put(fact("x", "a", text="same"), fact("x", "b", text="same"))
        found = verbs.quality_counts(self.store, None, now=NOW, fresh=0.0, ripe=0.0, stale=0.0)
        assert (found.distinct, found.duplicates) == (2, 0)

    # History.

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
        self.put(fact("x", agent="ann"))
        verbs.delete_where(self.store, within("a"), now=NOW + 1)
        self.put(fact("x", created=NOW + 2, occurred=NOW + 2, agent="bob"), now=NOW + 2)
        told = [(e.what, e.at, e.by) for e in self.store.history("a", "x")]
        lives = [("created", NOW, "ann"), ("forgotten", NOW + 1, None), ("created", NOW + 2, "bob")]
        assert told == lives
        self.put(fact("x", text="new", agent="bob"), now=NOW + 3)
        told = [(e.what, e.at, e.by) for e in self.store.history("a", "x")]
        assert told == [*lives, ("revised", NOW + 3, None)]

    def test_history_keeps_to_its_scope(self) -> None:
        self.put(fact("x"))
        assert self.store.history("b", "x") == []
        assert self.store.history("a", "y") == []
        self.put(fact("x", "b"))
        verbs.delete_where(self.store, within("b"), now=LATER)
        assert [event.what for event in self.store.history("a", "x")] == ["created"]

    # Following.

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
        told = self.store.changes(FULL.scope, 0, 10)
        assert told.head == self.store.head()
        assert [entry.seq for entry in told.entries] == [record.seq for record in stored]
        assert list(told.gone) == []
        first = told.entries[0]
        assert isinstance(first, Entry)
        assert (first.x, first.y, first.z) == FULL.place
        for name in set(Entry._fields) - {"x", "y", "z"}:
            assert getattr(first, name) == getattr(stored[0], name), name
        assert (told.entries[1].x, told.entries[1].step) == (None, None)

    def test_changes_of_one_scope_do_not_tell_of_others(self) -> None:
        self.put(fact("x", "a"), fact("y", "b"), fact("z", "a/b"))
        told = self.store.changes("a", 0, 10)
        assert len(told.entries) == 1
        assert told.head == self.store.head()
        verbs.delete_where(self.store, within("b"), now=NOW)
        assert self.store.changes("a", told.head.seq, 10)[1:3] == ([], [])

    def test_changes_tell_what_is_gone(self) -> None:
        x, y, z = self.put(fact("x"), fact("y"), fact("z"))
        since = self.store.head().seq
        verbs.delete_where(self.store, within("a", ids=("x",)), now=NOW)
        (new,) = self.put(fact("y", text="new"))
        told = self.store.changes("a", since, 10)
        assert [entry.seq for entry in told.entries] == [new.seq]
        assert sorted(told.gone) == [x.seq, y.seq]
        assert self.store.changes("a", told.head.seq, 10) == Changes(told.head, [], [])
        assert z.seq not in told.gone

    def test_what_came_and_went_in_between_is_left_out(self) -> None:
        self.put(fact("stays"))
        since = self.store.head().seq
        self.put(fact("brief"))
        self.put(fact("brief", text="still brief"))
        verbs.delete_where(self.store, within("a", ids=("brief",)), now=NOW)
        told = self.store.changes("a", since, 10)
        assert (list(told.entries), list(told.gone)) == ([], [])
        assert told.head.seq > since

    def test_changes_come_in_pages_that_miss_nothing(self) -> None:
        for n in range(9):
            self.put(fact(f"{n}"), fact(f"{n}", "b"))
        verbs.delete_where(self.store, within("a", ids=("2", "5")), now=NOW)
        self.put(fact("7", text="new"), fact("0", text="new"))
        for limit in (1, 2, 3, 7, 8, 100):
            assert self.followed("a", limit) == self.store.match(within("a")), limit

    def test_few_changes_among_many_of_others_are_found(self) -> None:
        for n in range(4):
            self.put(*(fact(f"{n}-{i}", "b") for i in range(300)))
            self.put(fact(f"{n}"), fact(f"again {n}"))
            self.put(fact("0", text=f"new {n}"))
        verbs.delete_where(self.store, within("a", ids=("again 1",)), now=NOW)
        for limit in (1, 2, 3, 100):
            assert self.followed("a", limit) == self.store.match(within("a")), limit
            assert self.followed("b", 100 * limit) == self.store.match(within("b")), limit

    def test_a_follower_that_comes_back_misses_nothing(self) -> None:
        held: set[int] = set()
        at = 0
        for n in range(12):
            self.put(fact(f"{n}"), fact(f"{n}", "b"))
            self.put(fact(f"{n // 2}", text=f"again {n}"))
            verbs.delete_where(self.store, within("a", ids=(f"{n // 3}",)), now=NOW)
            told = self.store.changes("a", at, 2)
            held = (held - set(told.gone)) | {entry.seq for entry in told.entries}
            at = told.head.seq
        assert sorted(self.follow("a", 2, held, at)) == self.store.match(within("a"))

    def followed(self, scope: str, limit: int) -> list[int]:
        return sorted(self.follow(scope, limit, set(), 0))

    def follow(self, scope: str, limit: int, held: set[int], at: int) -> set[int]:
        """The seqs of someone who holds some and reads on, page by page, to the head."""
        while at < self.store.head().seq:
            told = self.store.changes(scope, at, limit)
            assert len(told.entries) <= limit
            assert told.head.seq > at
            assert all(seq <= at for seq in told.gone)
            held = (held - set(told.gone)) | {entry.seq for entry in told.entries}
            at = told.head.seq
        return held

    def test_a_witness_tells_writes_apart_and_stays_the_same(self) -> None:
        x, y = self.put(fact("x"), fact("y", "b"))
        seen = [verbs.fingerprint(self.store, x.seq), verbs.fingerprint(self.store, y.seq)]
        assert seen == [verbs.fingerprint(self.store, x.seq), verbs.fingerprint(self.store, y.seq)]
        assert None not in seen
        assert seen[0] != seen[1]
        assert verbs.fingerprint(self.store, y.seq + 1) is None

    # Settings and derived bytes.

    def test_settings_are_kept_by_name(self) -> None:
        assert verbs.get_setting(self.store, "some") is None
        verbs.set_settings(self.store, {"some": "thing", "other": ""})
        verbs.set_settings(self.store, {"some": "é\0"})
        assert (verbs.get_setting(self.store, "some"), verbs.get_setting(self.store, "other")) == ("é\0", "")

    def test_settings_are_told_by_the_beginning_of_their_names(self) -> None:
        verbs.set_settings(self.store, {"b:2": "two", "b:1": "one", "b%": "other", "B:1": "no", "é:x": "é"})
        assert verbs.get_settings(self.store, "b:") == {"b:1": "one", "b:2": "two"}
        assert list(verbs.get_settings(self.store, "b:")) == ["b:1", "b:2"]
        assert verbs.get_settings(self.store, "é") == {"é:x": "é"}
        assert verbs.get_settings(self.store, "none") == {}

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

    def test_rewriting_replaces_derived_bytes_in_place(self) -> None:
        x, y = self.put(fact("x", vector=b"old", terms=b"old"), fact("y", "b"))
        before = self.store.head()
        verbs.replace_derived(
            self.store,
            [Derived(x.seq, b"new", b"terms"), Derived(10**12, b"", b""), Derived(y.seq, None, b"t")],
        )
        assert self.store.head() == (before.epoch + 1, before.seq)
        assert self.store.read("a", ["x"]) == [replace(x, vector=b"new", terms=b"terms")]
        assert self.store.read("b", ["y"]) == [replace(y, terms=b"t")]
        assert self.store.changes("a", 0, 10).head.epoch == before.epoch + 1
        assert len(self.store.history("a", "x")) == 1

    def test_staged_vectors_are_adopted_at_once(self) -> None:
        x, y, bare = self.put(fact("x", vector=b"1"), fact("y", "b", vector=b"2"), fact("bare"))
        before = self.store.head()
        assert verbs.staged_up_to(self.store, "new") == 0
        verbs.stage_vectors(self.store, "new", [(x.seq, b"one")])
        assert verbs.staged_up_to(self.store, "new") == x.seq
        assert verbs.switch_vectors(self.store, "new", {"embedder": "new"}) == 1
        assert verbs.get_setting(self.store, "embedder") is None
        assert self.store.head() == before
        verbs.stage_vectors(self.store, "new", [(y.seq, b"two")])
        assert verbs.staged_up_to(self.store, "new") == y.seq
        assert verbs.switch_vectors(self.store, "new", {"embedder": "new"}) == 0
        assert [r.vector for r in self.store.find(ALL)] == [b"one", b"two", None]
        assert self.store.find(ALL)[2] == bare
        assert verbs.get_setting(self.store, "embedder") == "new"
        assert self.store.head() == (before.epoch + 1, before.seq)
        assert verbs.staged_up_to(self.store, "new") == 0

    def test_staging_under_another_name_starts_anew(self) -> None:
        (x,) = self.put(fact("x", vector=b"1"))
        verbs.stage_vectors(self.store, "first", [(x.seq, b"one")])
        assert verbs.staged_up_to(self.store, "second") == 0
        verbs.stage_vectors(self.store, "second", [])
        assert (verbs.staged_up_to(self.store, "first"), verbs.staged_up_to(self.store, "second")) == (0, 0)
        assert (
            verbs.switch_vectors(self.store, "first", {})
            == verbs.switch_vectors(self.store, "second", {})
            == 1
        )

    def test_adopting_what_was_not_staged_changes_nothing(self) -> None:
        (x,) = self.put(fact("x", vector=b"1"))
        verbs.stage_vectors(self.store, "first", [(x.seq, b"one")])
        assert verbs.switch_vectors(self.store, "second", {"embedder": "second"}) == 1
        assert verbs.staged_up_to(self.store, "first") == x.seq
        assert self.store.find(ALL) == [x]

    def test_a_record_that_changed_since_it_was_staged_lacks_a_vector(self) -> None:
        (x,) = self.put(fact("x", vector=b"1"))
        verbs.stage_vectors(self.store, "new", [(x.seq, b"one")])
        (revised,) = self.put(fact("x", text="other", vector=b"2"))
        assert verbs.switch_vectors(self.store, "new", {}) == 1
        verbs.stage_vectors(self.store, "new", [(revised.seq, b"two")])
        assert verbs.switch_vectors(self.store, "new", {}) == 0
        assert self.store.find(ALL)[0].vector == b"two"

    def test_adopting_without_records_only_writes_the_settings(self) -> None:
        assert verbs.switch_vectors(self.store, "new", {"embedder": "new"}) == 0
        assert verbs.get_setting(self.store, "embedder") == "new"

    # Forgetting for good.

    def watch(self, *claims: Claim, **how: bool) -> Watch:
        return Watch(lambda: list(claims), **how)

    def erase(self, erasure: Erasure, *, now: float = LATER, by: str | None = None) -> Erased:
        return verbs.erase(self.store, lambda _: erasure, now=now, by=by)

    def test_erasing_deletes_entombs_and_tells(self) -> None:
        one, other = self.put(fact("one"), fact("other"))
        erased = self.erase(
            Erasure(gone=[one], stones=[Stone("a", b"m1")], settings={"some": "thing"}), by="ann"
        )
        assert erased == Erased([("a", "one")], 0)
        assert self.store.find(ALL) == [other]
        assert verbs.tombstones_in(self.store, "a", [b"m1", b"m2"]) == {b"m1": LATER}
        assert verbs.tombstones_in(self.store, "b", [b"m1"]) == {}
        assert verbs.get_setting(self.store, "some") == "thing"
        assert [(e.what, e.by) for e in self.store.history("a", "one")][-1] == ("forgotten", "ann")
        assert self.store.changes("a", other.seq, 10).gone == [one.seq]

    def test_erasing_all_that_matches_counts_what_history_lost(self) -> None:
        self.put(fact("one"), fact("two", "a/b"), fact("three", "c"))
        self.put(fact("one", text="else"))
        self.tally(Tally("a", 1, "recall", {"recalls": 1}))
        erased = self.erase(Erasure(where=Where(scope=Scope.under("a"))))
        assert sorted(erased.gone) == [("a", "one"), ("a/b", "two")]
        assert erased.histories == 1
        assert [event.before for event in self.store.history("a", "one")] == [None, None, None]
        assert verbs.read_counts(self.store, None, 0) == []
        assert ids(self.store.find(ALL)) == ["three"]

    def test_what_is_made_anew_keeps_nothing_of_what_it_said(self) -> None:
        self.put(fact("sum", text="first"))
        (old,) = self.put(fact("sum", text="second"))
        assert self.erase(Erasure(anew=[(old, old.but(text="third"))])).histories == 1
        (new,) = self.store.find(ALL)
        assert (new.text, new.version, new.created) == ("third", 3, old.created)
        told = self.store.history("a", "sum")
        assert [event.what for event in told] == ["created", "revised", "revised"]
        assert [event.before for event in told] == [None, None, None]
        assert self.store.changes("a", old.seq, 10).gone == [old.seq]

    def test_a_plan_sees_the_store_and_its_error_undoes_everything(self) -> None:
        one, _, made = self.put(
            fact("one", text="same"), fact("two"), fact("made", derived_from=("one",)), unique=False
        )
        (copy,) = self.put(fact("copy", text="same"), unique=False)
        self.put(fact("away", "b", text="same", derived_from=("x",)))
        seen: list[Any] = []

        def plan(look: Look) -> Erasure:
            seen.extend(look.scan(within("a", ids=("one",))))
            seen.extend(look.twins([one]))
            seen.extend(look.derived(Scope("a")))
            seen.append([event.what for event in look.history("a", "one")])
            seen.append(look.setting("nothing"))
            raise BadInput("no")

        head = self.store.head()
        caught(BadInput, lambda: verbs.erase(self.store, plan, now=LATER))
        assert seen == [one, copy, made, ["created"], None]
        assert self.store.head() == head
        assert verbs.count(self.store, ALL) == 5

    def test_what_is_entombed_is_refused_with_all_that_came_along(self) -> None:
        self.erase(Erasure(stones=[Stone("a", b"m")]))
        records = [fact("x"), fact("y")]
        watch = self.watch(Claim(), Claim((b"m",)))
        error = caught(Entombed, lambda: verbs.put(self.store, records, now=NOW, watch=watch))
        assert error.found == {1: LATER}
        assert verbs.count(self.store, ALL) == 0
        assert len(verbs.put(self.store, [fact("y", "b")], now=NOW, watch=self.watch(Claim((b"m",))))) == 1
        assert len(self.put(fact("z"), watch=self.watch(Claim((b"n",))))) == 1

    def test_claims_are_not_asked_for_where_nothing_is_entombed(self) -> None:
        def never() -> list[Claim]:
            raise AssertionError("asked")

        assert len(self.put(fact("x"), watch=Watch(never))) == 1

    def test_what_is_said_again_is_exhumed(self) -> None:
        self.erase(Erasure(stones=[Stone("a", b"m"), Stone("a", b"n")]))
        self.put(fact("x"), watch=self.watch(Claim((b"m",)), again=True))
        assert verbs.tombstones_in(self.store, "a", [b"m", b"n"]) == {b"n": LATER}
        assert verbs.lift_tombstones(self.store, "a", [b"m", b"n"]) == 1
        assert verbs.lift_tombstones(self.store, "a", [b"n"]) == 0

    def test_an_id_that_was_forgotten_does_not_return_from_before(self) -> None:
        self.erase(Erasure(stones=[Stone("a", b"id")]))
        watch = self.watch(Claim(id=b"id"))
        caught(Entombed, lambda: self.put(fact("x", created=LATER), watch=watch))
        assert len(self.put(fact("x", created=LATER + 1), watch=watch)) == 1

    def test_nothing_is_made_of_what_was_forgotten_unless_it_is_there_again(self) -> None:
        self.erase(Erasure(stones=[Stone("a", b"id")]))
        watch = self.watch(Claim(made_of=(("source", b"id"),)))
        caught(Entombed, lambda: self.put(fact("x"), watch=watch))
        self.put(fact("source"))
        assert len(self.put(fact("x"), watch=watch)) == 1

    def test_what_a_scope_held_before_its_end_does_not_return(self) -> None:
        self.erase(Erasure(stones=[Stone("a", SCOPE_MARK), Stone("b", BELOW_MARK)]))
        back = self.watch(Claim(), returning=True)
        for scope in ("a", "b", "b/c", "b/c/d"):
            caught(Entombed, lambda scope=scope: self.put(fact("x", scope), watch=back))  # type: ignore[misc]
            assert len(self.put(fact("x", scope, created=LATER + 1), watch=back)) == 1
            assert len(self.put(fact("y", scope), watch=self.watch(Claim()))) == 1
        assert len(self.put(fact("x", "a/b"), watch=back)) == 1
        assert len(self.put(fact("x", "bb"), watch=back)) == 1

    def test_scrubbing_changes_nothing_of_what_is_kept(self) -> None:
        self.put(FULL, *[fact(f"f{n}", text=f"text {n} " * 50) for n in range(40)])
        self.erase(Erasure(where=within("a")))
        for said in ([b"text 1 text 1"], [], None):
            assert verbs.scrub_files(self.store, said).pending == ()
        assert ids(self.store.find(ALL)) == ["full"]

    # Life.

    def test_it_says_who_it_is_and_how_large(self) -> None:
        assert self.store.identity
        assert self.store.writable is True
        self.put(FULL)
        assert verbs.measure_size(self.store) > 0

    def test_closing_twice_is_fine(self) -> None:
        self.put(fact("x"))
        self.store.close()
        self.store.close()

    def test_a_second_opening_sees_every_write_at_once(self) -> None:
        other = self.reopen(self.store)
        if other is None:
            return
        (x,) = self.put(FULL)
        assert other.identity == self.store.identity
        assert other.head() == self.store.head()
        assert other.find(ALL) == [x]
        (y,) = verbs.put(other, [fact("y")], now=NOW)
        assert y.seq > x.seq
        assert self.store.head() == other.head()
        assert self.store.read("a", ["y"]) == [y]
        assert [e.seq for e in self.store.changes("a", x.seq, 10).entries] == [y.seq]
        other.close()
        assert verbs.count(self.store, ALL) == 2

    def test_everything_is_there_after_reopening(self) -> None:
        self.put(FULL, fact("gone"), fact("used", vector=b"1"))
        self.put(fact("used", text="new", vector=b"2"), by="bob")
        verbs.delete_where(self.store, Where(ids=("gone",)), now=LATER)
        verbs.add_uses(self.store, {("a", "used"): (1, LATER)})
        verbs.set_settings(self.store, {"some": "thing"})
        verbs.stage_vectors(self.store, "next", [(10, b"v")])
        self.tally(Tally("a", 1, "recall", {"recalls": 1}))
        before = self.seen(self.store)
        self.store.close()
        again = self.reopen(self.store)
        if again is None:
            return
        assert self.seen(again) == before
        assert verbs.put(again, [fact("later")], now=LATER)[0].seq > before[1].seq
        again.close()

    def seen(self, store: Store) -> Any:
        """All that a store tells of the scopes used here."""
        return (
            store.identity,
            store.head(),
            store.find(ALL),
            [store.history("a", id) for id in ("gone", "used")],
            store.changes("a", 0, 100),
            (
                verbs.get_setting(store, "some"),
                verbs.staged_up_to(store, "next"),
                verbs.read_counts(store, None, 0),
            ),
        )
