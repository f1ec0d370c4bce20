"""The same text again: what is a duplicate, and what differs in a detail."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any, Final

from ...core.record import Kind, Tier, Trust
from ...core.state import PoisonLabel, Protection, Quarantine, State
from .laws import ALL, LATER, NOW, StoreLaws, fact, ids

DETAILS: Final[dict[str, Any]] = {
    "kind": Kind.DOCUMENT,
    "who": "Ann",
    "agent": "planner",
    "session": "s 1",
    "step": 7,
    "place": (1.0, 2.0),
    "importance": 0.75,
    "occurred": NOW - 5,
    "source": "mail",
    "meta": {"n": 1},
    "derived_from": ("z",),
    "trust": Trust.TOOL,
    "vector": array("f", [0.0, 1.0, 0.0]).tobytes(),
    "state": State(ttl=60.0),
}
PLAIN: Final = array("f", [1.0, 0.0, 0.0]).tobytes()


def _make_fact(id: str, **details: Any) -> Any:
    return fact(id, **{"text": "same", "vector": PLAIN, **details})


class RepeatingLaws(StoreLaws):
    def test_what_differs_in_any_detail_is_another_record(self) -> None:
        others = [_make_fact(name, **{name: value}) for name, value in DETAILS.items()]
        self.put(_make_fact("plain"))
        for record in others:
            assert ids(self.put(record)) == [record.id]
        assert ids(self.store.find(ALL)) == ["plain", *DETAILS]
        again = [replace(record, id=f"again {record.id}") for record in others]
        assert ids(self.put(*again)) == list(DETAILS), "said again with the same details"

    def test_many_that_differ_in_a_detail_are_written_at_once(self) -> None:
        others = [_make_fact(name, **{name: value}) for name, value in DETAILS.items()]
        again = [replace(record, id=f"again {record.id}") for record in others]
        assert ids(self.put(*others, *again)) == [*DETAILS, *DETAILS]
        assert ids(self.store.find(ALL)) == list(DETAILS)

    def test_a_twin_lives_as_long_as_either_was_meant_to(self) -> None:
        for scope, first, second in (("short", 60, 90), ("long", 90, 60), ("ever", 60, None)):
            self.put(fact("x", scope, text="same", expires=NOW + first))
            end = None if second is None else NOW + second
            (twin,) = self.put(fact("y", scope, text="same", expires=end), now=NOW + 1)
            ends = None if second is None else NOW + 90
            assert (twin.id, twin.expires, twin.uses, twin.version) == ("x", ends, 1, 1)
            assert self.store.read(scope, ["x", "y"]) == [twin, None]

    def test_trust_and_quarantine_are_not_crossed(self) -> None:
        aside = State(quarantine=Quarantine(at=NOW, was="web"))
        self.put(fact("aside", text="same", trust=Trust.QUARANTINED, state=aside))
        self.put(fact("page", text="same", trust=Trust.WEB))
        self.put(fact("mine", text="same"))
        later = State(quarantine=Quarantine(at=LATER, was="web"))
        (twin,) = self.put(fact("again", text="same", trust=Trust.QUARANTINED, state=later))
        assert twin.id == "aside"
        assert ids(self.store.find(ALL)) == ["aside", "page", "mine"]

    def test_what_eidet_itself_keeps_makes_no_other_record(self) -> None:
        kept = {
            "hold": State(hold=Protection(at=NOW)),
            "pinned": State(pinned=Protection(at=NOW)),
            "poison": State(poison=PoisonLabel(score=0.5)),
            "worded_by": State(worded_by="rules"),
        }
        for name, state in kept.items():
            self.put(fact("x", name, text="same", state=state))
            assert ids(self.put(fact("y", name, text="same"))) == ["x"]
        self.put(fact("x", "tier", text="same", tier=Tier.LONG))
        assert ids(self.put(fact("y", "tier", text="same"))) == ["x"]
