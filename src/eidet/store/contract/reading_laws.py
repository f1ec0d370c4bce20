"""Laws about reading records: order, pages, filters, counts."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.errors import BadInput
from ...core.record import Kind, Tier
from ...core.scope import Scope
from ...core.where import Condition, Where
from .. import ORDERS, verbs
from .laws import ALL, FULL, NOW, StoreLaws, catch, fact, ids, within


class ReadingLaws(StoreLaws):
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
            catch(BadInput, partial(self.store.find, ALL, order=order))

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
            Where(kinds="episode"),
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
        self.put(fact("new"), fact("used", derived_from=("x",)), fact("lowered", tier=Tier.LONG, level=2))
        verbs.add_uses(self.store, {("a", "used"): (3, NOW + 5)})
        for path, op, value, found in (
            ("record.uses", ">=", 3, ["used"]),
            ("record.uses", "<", 3, ["new", "lowered"]),
            ("record.uses", "!=", 0, ["used"]),
            ("record.last_used", "exists", False, ["new", "lowered"]),
            ("record.last_used", "<=", NOW + 5, ["used"]),
            ("record.last_used", ">", NOW + 5, []),
            ("record.level", "=", 2, ["lowered"]),
            ("record.derived_from", "exists", True, ["used"]),
            ("record.version", "=", 1, ["new", "used", "lowered"]),
            ("record.version", ">", 1, []),
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
        assert verbs.count_scopes(self.store, Scope.among(["a", "a/x/**"])) == {"a": 2, "a/x": 1, "a/x/y": 1}

    def test_below_a_scope_is_only_what_lies_below_its_slash(self) -> None:
        inside = ("a%/b", "a%/b/c", "a%/🙂")
        outside = ("a%", "a%/b0", "ax/b", "a%/B", "a%0", "a")
        self.put(*(fact(f"{n}", path) for n, path in enumerate((*inside, *outside))))
        assert set(verbs.count_scopes(self.store, Scope.under("a%/b"))) == {"a%/b", "a%/b/c"}
        assert verbs.count(self.store, Where(scope=Scope.under("a%"))) == 6
