"""Laws about small values: uses, tallies, settings, leases, surveys."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from ...core.record import Kind
from ...core.scope import Scope
from ...core.where import Where
from ...quality import Survey, Tally
from .. import verbs
from .laws import ALL, LATER, NOW, StoreLaws, fact, within


class ValueLaws(StoreLaws):
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

    def test_leases_whose_time_has_passed_are_cleared_by_the_beginning_of_their_names(self) -> None:
        for name, until in (("once:a", 20.0), ("once:b", 40.0), ("other", 20.0)):
            assert verbs.take_lease(self.store, name, "one", now=10.0, until=until)
        assert verbs.clear_leases(self.store, "once:", now=30.0) == 1
        assert verbs.read_lease(self.store, "once:a") is None
        assert verbs.read_lease(self.store, "once:b") == ("one", 40.0)
        assert verbs.read_lease(self.store, "other") == ("one", 20.0)

    def test_uses_add_up_and_change_neither_version_nor_seq(self) -> None:
        (x, other) = self.put(fact("x", expires=NOW + 1), fact("x", "b"))
        before = self.store.head()
        verbs.add_uses(self.store, {("a", "x"): (2, LATER), ("a", "gone"): (9, LATER)})
        verbs.add_uses(self.store, {("a", "x"): (3, NOW)})
        assert self.store.read("a", ["x"]) == [replace(x, uses=5, last_used=LATER)]
        assert self.store.read("b", ["x"]) == [other]
        assert self.store.head() == before
        verbs.add_uses(self.store, {})

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

    def test_what_a_caller_does_to_counts_stays_with_the_caller(self) -> None:
        counts = {"recalls": 1}
        self.tally(Tally("a", 1, "recall", counts))
        counts["recalls"] = 9
        verbs.read_counts(self.store, None, 0)[0].counts.update(recalls=9)  # type: ignore[attr-defined]
        assert verbs.read_counts(self.store, None, 0) == [Tally("a", 1, "recall", {"recalls": 1})]

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
            fact("elsewhere", "b", text="old of a", created=5.0),
        )
        self.put(fact("again", text="old of a", created=50.0), unique=False)
        self.put(*(fact(f"yes{n}", text="yes", kind=Kind.MESSAGE) for n in range(3)))
        asked = {"now": NOW, "fresh": NOW, "ripe": 50.0, "stale": 30.0}
        assert verbs.quality_counts(self.store, Scope("a"), **asked) == Survey(
            records=8, used=2, fresh=4, oldest=10.0, ripe=3, never=1, stale=2, distinct=4, duplicates=1
        )
        everywhere = verbs.quality_counts(self.store, None, **asked)
        assert (everywhere.records, everywhere.distinct, everywhere.duplicates) == (9, 5, 1)
        assert verbs.quality_counts(self.store, Scope("none"), **asked) == Survey(
            0, 0, 0, None, 0, 0, 0, 0, 0
        )

    def test_settings_are_told_by_the_beginning_of_their_names(self) -> None:
        verbs.set_settings(self.store, {"b:2": "two", "b:1": "one", "b%": "other", "B:1": "no", "é:x": "é"})
        assert verbs.get_settings(self.store, "b:") == {"b:1": "one", "b:2": "two"}
        assert list(verbs.get_settings(self.store, "b:")) == ["b:1", "b:2"]
        assert verbs.get_settings(self.store, "é") == {"é:x": "é"}
        assert verbs.get_settings(self.store, "none") == {}
        assert verbs.get_setting(self.store, "none") is None
        verbs.set_settings(self.store, {"b:1": "é\0", "empty": ""})
        assert [verbs.get_setting(self.store, name) for name in ("b:1", "empty")] == ["é\0", ""]
