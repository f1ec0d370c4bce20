"""Laws about other forms of records: tiers, derived bytes, the vectors of another embedder."""

from __future__ import annotations

from dataclasses import replace

from ...core.record import Tier
from .. import Derived, verbs
from .laws import ALL, FULL, LATER, NOW, StoreLaws, fact, ids, within


class FormLaws(StoreLaws):
    def test_a_recast_record_keeps_its_version_and_its_uses(self) -> None:
        old = self.put(fact("x", tier=Tier.SHORT))[0]
        verbs.add_uses(self.store, {("a", "x"): (2, LATER)})
        form = old.but(tier=Tier.LONG, level=2, text="x", vector=b"1", original=FULL.original, uses=99)
        since = self.store.head().seq
        new = verbs.rewrite_form(self.store, [(old, form)], now=LATER, by="upkeep")[0]
        assert new == form.but(uses=2, last_used=LATER, seq=new.seq if new else 0)
        assert self.store.read("a", ["x"]) == [new]
        assert new is not None
        assert new.seq > old.seq
        events = [(event.what, event.version, event.by) for event in self.store.history("a", "x")]
        assert events == [("created", 1, None), ("moved", 1, "upkeep")]
        changes = self.store.changes("a", since, 10)
        assert changes.gone == [old.seq]
        assert [(entry.seq, entry.level, entry.vector) for entry in changes.entries] == [(new.seq, 2, b"1")]

    def test_what_changed_since_it_was_read_is_not_recast(self) -> None:
        one, two, three = self.put(fact("one"), fact("two"), fact("three"))
        self.put(one.but(text="changed"))
        verbs.delete_where(self.store, within("a", ids=("two",)), now=NOW)
        forms = [(record, record.but(tier=Tier.LONG)) for record in (one, two, three)]
        made = verbs.rewrite_form(self.store, forms, now=LATER)
        assert [record is None for record in made] == [True, True, False]
        assert [record.tier for record in self.store.find(ALL)] == [Tier.SHORT, Tier.LONG]
        assert verbs.rewrite_form(self.store, forms, now=LATER) == [None, None, None]

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
        assert verbs.read_staged(self.store, "new") == 0
        verbs.stage_vectors(self.store, "new", [(x.seq, b"one")])
        assert verbs.read_staged(self.store, "new") == x.seq
        assert verbs.switch_vectors(self.store, "new", {"embedder": "new"}) == 1
        assert verbs.get_setting(self.store, "embedder") is None
        assert self.store.head() == before
        verbs.stage_vectors(self.store, "new", [(y.seq, b"two")])
        assert verbs.read_staged(self.store, "new") == y.seq
        assert verbs.switch_vectors(self.store, "new", {"embedder": "new"}) == 0
        assert [r.vector for r in self.store.find(ALL)] == [b"one", b"two", None]
        assert self.store.find(ALL)[2] == bare
        assert verbs.get_setting(self.store, "embedder") == "new"
        assert self.store.head() == (before.epoch + 1, before.seq)
        assert verbs.read_staged(self.store, "new") == 0

    def test_staging_under_another_name_starts_anew(self) -> None:
        (x,) = self.put(fact("x", vector=b"1"))
        verbs.stage_vectors(self.store, "first", [(x.seq, b"one")])
        assert verbs.read_staged(self.store, "second") == 0
        verbs.stage_vectors(self.store, "second", [])
        assert (verbs.read_staged(self.store, "first"), verbs.read_staged(self.store, "second")) == (0, 0)
        for name in ("first", "second", "third"):
            assert verbs.switch_vectors(self.store, name, {"embedder": name}) == 1
        assert self.store.find(ALL) == [x]
        assert verbs.get_setting(self.store, "embedder") is None
