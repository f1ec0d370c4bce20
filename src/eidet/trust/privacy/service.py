"""The guard of an open memory: personal data, labels and quarantine of texts that enter and leave it.

fields.py      personal data in drafts, changes, loaded records, queries and filters
quarantine.py  labels for texts that look like orders, quarantine, review, quoting
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from ...core.arguments import check_filter
from ...core.draft import Draft
from ...core.errors import Refused
from ...core.record import Kind, Record, Trust
from ...core.settings import Settings
from ...core.validate import clean_text
from ...core.where import Where
from ...parts import Parts
from ...store import verbs
from .quarantine import (
    ASIDE,
    LABELLED,
    SEEN,
    UNTRUSTED,
    approve_record,
    await_review,
    is_reviewed,
    label_record,
    score_of,
    set_aside,
    without_quarantine,
)

if TYPE_CHECKING:
    from ...write.shape import Given
    from .fields import Guard

__all__ = ["LABELLED", "SEEN", "Guarding", "guard_of", "score_of"]

BATCH: Final = 500


class Guarding:
    """The guard of an open memory. Without a policy, plain texts of users cost next to nothing."""

    def __init__(self, parts: Parts, guard: Guard | None) -> None:
        self._parts = parts
        self._guard = guard
        self._asking = None if guard is None else guard.asking
        self._scan = parts.settings.poison
        self._above = parts.settings.quarantine_above
        self._review = parts.settings.review

    # Writes.

    def drafts(self, drafts: list[Draft]) -> tuple[list[Draft], list[set[str]]]:
        """Returns the drafts as they may be stored, and the classes of personal data found in each."""
        if self._guard is None:
            return drafts, []
        guarded = list(map(self._guard.draft, drafts))
        return [draft for draft, _ in guarded], [labels for _, labels in guarded]

    def changes(self, changes: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        return (dict(changes), set()) if self._guard is None else self._guard.changes(changes)

    def check_records(
        self,
        records: list[Record],
        now: float,
        labels: Sequence[set[str]],
        there: Sequence[Record | None] = (),
    ) -> list[Record]:
        """Labels and quarantines records as the last check before they are stored.

        The next version of a quarantined record stays in quarantine; `there` holds the existing records.
        """
        if any(labels):
            records = [_label_pii(record, found) for record, found in zip(records, labels, strict=True)]
        known = {old.id: old for old in there if old is not None}
        aside = any(old.trust is Trust.QUARANTINED for old in known.values())
        if self._scan != "off" or self._review != "off" or aside:
            records = [self._check_record(record, now, known.get(record.id)) for record in records]
        return records

    def check_revision(self, new: Record, old: Record, now: float, labels: set[str]) -> Record:
        """Works like `check_records` for a revision. Raises `Refused` if it would end a quarantine."""
        if old.trust is Trust.QUARANTINED and new.trust is not Trust.QUARANTINED:
            raise Refused(
                f"record {old.id!r} is in quarantine: say how far it is trusted with "
                "`eidet mark ID approve`; in Python, memory.trust.approve"
            )
        new = _label_pii(new, labels)
        if (new.text, new.data, new.trust, new.kind) == (old.text, old.data, old.trust, old.kind):
            return new
        return self.check_records([new], now, ())[0]

    def _check_record(self, record: Record, now: float, old: Record | None = None) -> Record:
        record = self._label(record, now)
        if old is None and self._review == "off":
            return record
        if old is not None and old.trust is Trust.QUARANTINED:
            return set_aside(record, now)
        return await_review(record, old, self._review, now)

    def _label(self, record: Record, now: float) -> Record:
        """Labels a record and quarantines it if its score is too high."""
        if self._is_scanned(record):
            from .poisoning import poison

            record = label_record(record, poison(record.text))
        elif record.state.poison is not None:
            record = label_record(record, None)
        above = (
            self._above is not None and record.state.poison is not None and score_of(record) >= self._above
        )
        return set_aside(record, now) if above else record

    def _is_scanned(self, record: Record) -> bool:
        if self._scan == "untrusted":
            return record.trust in UNTRUSTED or record.kind in (Kind.DOCUMENT, Kind.PROCEDURE)
        return self._scan == "all"

    def check_loaded(self, records: Iterable[Record], now: float, *, review: bool = True) -> Iterator[Record]:
        """Checks records of an export or an archive as if remembered now; approvals stay.

        Records in quarantine here stay there, unless they were approved later. Without `review`, no further
        record waits for review, so that a copy is exact.
        """
        from ...write.ingest import batches

        aside = self._list_quarantined()
        reviews = review and self._review != "off"
        if self._guard is None and self._scan == "off" and not aside and not reviews:
            yield from records
            return
        for batch in batches(records, BATCH):
            checked = self._check_batch(batch, now)
            if reviews:
                there = verbs.find_same_ids(self._parts.store, checked)
                checked = [
                    await_review(record, there.get((record.scope, record.id)), self._review, now)
                    for record in checked
                ]
            for record in checked:
                since = aside.get((record.scope, record.id))
                if since is None or record.trust == "quarantined" or is_reviewed(record, since):
                    yield record
                else:
                    yield set_aside(record, now)

    def _list_quarantined(self) -> dict[tuple[str, str], float]:
        """Maps each quarantined record to the time of its quarantine."""
        store = self._parts.store
        if not verbs.count(store, ASIDE):
            return {}
        marks = ((one.scope, one.id, one.state.quarantine) for one in verbs.scan(store, ASIDE))
        return {(scope, id): 0.0 if mark is None else mark.at for scope, id, mark in marks}

    def check_loadable(self, record: Record) -> None:
        """Raises `Refused` if the policy forbids loading a record; stores nothing."""
        if self._guard is not None:
            self._guard.record(record)

    def _check_batch(self, batch: list[Record], now: float) -> list[Record]:
        from ...write.ingest import Ingest

        kept = list(batch if self._guard is None else map(self._guard.record, batch))
        pairs = enumerate(zip(kept, batch, strict=True))
        bare = [at for at, (new, old) in pairs if new.vector is None and old.vector is not None]
        for at, ready in zip(bare, Ingest.of(self._parts).derive([kept[at] for at in bare]), strict=True):
            kept[at] = ready
        return [record if _is_judged(record) else self._label(record, now) for record in kept]

    def guard_worded(self, record: Record) -> Record:
        """Guards a record that upkeep or a model wrote; redacts values that the policy refuses."""
        if self._asking is not None:
            record = self._asking.record(record)
        return await_review(record, None, self._review, self._parts.clock())

    def guard_reason(self, why: str | None) -> str | None:
        """Guards a reason before it goes to a record, a receipt or the audit log."""
        return None if why is None else self.query(clean_text(why, "a reason"))

    def texts(self, what: Given | Sequence[Given] | None, given: Mapping[str, Any]) -> list[str]:
        """Returns the texts that `remember` will embed, as they will be stored."""
        from ...write.shape import drafts_of, units_said

        details = {  # the rest is for `remember` itself
            name: value for name, value in given.items() if value is not None and name in Draft.__slots__
        }
        drafts, _ = self.drafts(drafts_of(what, details)[0])
        said = (units_said(one.text, one.data, one.kind) for one in drafts if one.vector is None)
        return list(chain.from_iterable(said))

    @property
    def guards(self) -> bool:
        return self._guard is not None

    # Queries and filters.

    def query(self, text: str) -> str:
        """Guards a query: replaces values by the tokens that stand for them in records."""
        return text if self._asking is None else self._asking.text(text, set())

    def guard_filter(self, where: Where | None) -> Where | None:
        """Resolves the keys in a filter and replaces personal data by the tokens of the records."""
        chosen = check_filter(where)
        if chosen is None:
            return None
        chosen = self._parts.key_ids.resolve(chosen)
        return chosen if self._asking is None else self._asking.where(chosen)

    def filter_visible(self, where: Where | None) -> Where:
        """Works like `guard_filter`, but excludes quarantine unless the filter or settings ask for it."""
        return without_quarantine(self.guard_filter(where), self._parts.settings.waiting)

    # Quarantine and review.

    def quarantine(self, record: Record, now: float, by: str | None, because: str | None) -> Record:
        return self._change(record, set_aside(record, now, by=by, because=because), now, by)

    def approve(self, record: Record, trust: str | None, now: float, by: str | None) -> Record:
        return self._change(record, approve_record(record, trust, now, by=by), now, by)

    def _change(self, old: Record, new: Record, now: float, by: str | None) -> Record:
        if new is old:
            return old
        from ...write.write_path import put_records

        return put_records(self._parts, [new], now=now, expect=old.version, by=by)[0]


def _label_pii(record: Record, labels: set[str]) -> Record:
    if not labels:
        return record
    from .fields import with_classes

    return record.but(state=with_classes(record.state, labels))


def _is_judged(record: Record) -> bool:
    return record.state.poison is not None or is_reviewed(record)


def guard_of(settings: Settings) -> Guard | None:
    """Builds the guard of the settings; None if they have no policy."""
    if settings.guard is None:
        return None
    from .fields import Guard

    return Guard.of(settings)
