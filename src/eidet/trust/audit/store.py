"""Wraps a store and writes each change to the audit log before applying it.

Reading, use counts, tallies, leases and vectors that are kept aside are passed on: they change nothing
of what is kept.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, TypeVar, cast

from ...core.actor import Acting, acting_as, acts
from ...core.errors import EidetError
from ...core.validate import Json
from ...store import Erased, Erasure, Reader, Scrubbed, Store, Transaction, verbs
from ...store.abilities import TakesAuditLog
from ...store.passthrough import PassthroughStore
from ...store.verbs.erasing import Erase
from ...store.verbs.values import AddCounts, AddUses, ClearLeases, StageVectors, TakeLease
from ...store.verbs.writing import Put, run_put
from .entries import describe_answer, describe_job
from .events import of_filter, of_records
from .log import AuditLog
from .mark import LogMark, SetMark, describe_absence, describe_attachment, describe_gap, read_mark
from .transaction import AuditedTransaction

T = TypeVar("T")
warner: logging.Logger = logging.getLogger("eidet")
MARK_EVERY: Final = 1000  # entries after which the store is told how far its log has come
QUIET: Final = (AddUses, AddCounts, TakeLease, ClearLeases, StageVectors)  # they change nothing that is kept


class AuditedStore(PassthroughStore):
    """Every write is in the log, or is not made. `owns`: closing the store closes the log.

    A store inside that has a method `note_in(log)` is given the log, to note what it alone can see
    (the use of keys, say).
    """

    passes: ClassVar[str] = (
        "identity writable read find match count_by head changes history values list_derived survey "
        "trim size describe note_in leap latest_seq fingerprint scan list_telling"
    )
    lacks: ClassVar[str] = "put_new"  # the job of `put` tells what to note; the store inside may shorten it

    def __init__(self, store: Store, log: AuditLog, *, owns: bool = False) -> None:
        super().__init__(store)
        self._log = log
        self._owns = owns
        self._marked: int | None = None  # how many entries the store knows of; None: it knows of no log
        if isinstance(store, TakesAuditLog):
            store.note_in(log)

    @property
    def audit(self) -> AuditLog:
        return self._log

    def attach(self) -> None:
        """Tells the store which log it has. Notes in the log what it lacks of what the store knows."""
        mark, seq = read_mark(self.inner), self.inner.head().seq
        log, head = self._log, self._log.head
        if mark is None:
            lacks = describe_attachment(self.inner.identity, seq, known=bool(seq) and self._is_known())
        else:
            lacks = describe_gap(mark, log.identity, head, log.key)
        for gap in (lacks, describe_absence(mark, seq)):
            if gap is not None:
                log.note(**gap)
        self._mark()

    def _is_known(self) -> bool:
        """Whether the log tells of this store already."""
        from .verify import entries

        return any(entry.details.get("store") == self.inner.identity for entry in entries(self._log.path))

    def _mark(self) -> None:
        """Writes down how far the log has come; what the store cannot take now, it takes next time."""
        if not self.inner.writable:
            return
        head = self._log.head
        mark = LogMark(log=self._log.identity, path=str(self._log.path.absolute()), head=head)
        self._marked = head.count
        try:
            self.inner.write(SetMark(mark))
        except EidetError as error:
            warner.warning("the memory could not note how far its audit log has come: %s", error)

    def _mark_if_due(self, numbers: Sequence[int]) -> None:
        if self._marked is not None and numbers and numbers[-1] - self._marked >= MARK_EVERY:
            self._mark()

    def write(self, job: Callable[[Transaction], T]) -> T:
        """Notes what a job of the verbs is about; of any other job, what it does while it does it.

        Who acts is captured here, because the thread of another writer may run the job.
        """
        if isinstance(job, QUIET):
            return cast("T", self.inner.write(job))
        if isinstance(job, Erase):
            return cast("T", self._erase(job, acts()))
        entries = describe_job(self._log, self.inner, job)
        if entries is None:
            return self._write_observed(job, acts())
        with self._log.about(entries) as numbers:
            answer = self._run(job)
        if details := describe_answer(job, answer):
            self._log.afterwards("done", of=numbers, **details)
        self._mark_if_due(numbers)
        return answer

    def _run(self, job: Callable[[Transaction], T]) -> T:
        return cast("T", run_put(self.inner, job)) if isinstance(job, Put) else self.inner.write(job)

    def _erase(self, job: Erase, actor: Acting) -> Erased:
        """Noted once it is planned, inside of the write: what cannot be noted is undone."""
        numbers: list[int] = []
        named: set[tuple[str, str]] = set()

        def plan(reader: Reader) -> Erasure:
            self._note_rerun(numbers)
            named.clear()
            planned = job.plan(reader)
            named.update((record.scope, record.id) for record in planned.gone)
            numbers.extend(self._log.append(self._describe_plan(planned, job.by, actor)))
            return planned

        erased = self._note_failure(replace(job, plan=plan), numbers)
        if numbers:
            others = [id for scope, id in erased.gone if (scope, id) not in named]
            counts = {"count": len(erased.gone), "histories": erased.histories}
            self._log.afterwards("done", by=job.by, of=numbers, ids=others or None, **counts)
        return erased

    def _describe_plan(self, erasure: Erasure, by: str | None, actor: Acting) -> list[dict[str, Json]]:
        entries = of_records(self._log, "erase", erasure.gone, by, acting=actor)
        entries += of_records(self._log, "anew", [old for old, _ in erasure.anew], by, acting=actor)
        if erasure.where is not None:
            entries.append(of_filter(self._log, "erase", erasure.where, by, None, actor))
        stones = Counter(stone.scope for stone in erasure.stones)
        for scope, count in stones.items():
            entries.append(self._log.describe("entomb", by=by, acting=actor, scope=scope, count=count))
        return entries

    def _write_observed(self, job: Callable[[Transaction], T], actor: Acting) -> T:
        numbers: list[int] = []

        def observe(transaction: Transaction) -> T:
            with acting_as(actor):
                self._note_rerun(numbers)
                return job(AuditedTransaction(transaction, self._log, numbers))

        return self._note_failure(observe, numbers)

    def _note_rerun(self, numbers: list[int]) -> None:
        """A store may run a job again: what an earlier run noted was not done."""
        if numbers:
            self._log.afterwards("failed", of=list(numbers), error="run again")
            numbers.clear()

    def _note_failure(self, job: Callable[[Transaction], T], numbers: list[int]) -> T:
        """Runs a job that fills in the numbers of its entries."""
        try:
            return self.inner.write(job)
        except BaseException as error:
            if numbers:
                self._log.note_failure(numbers, error)
            raise

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        with self._log.about(
            [self._log.describe("adopt", embedder=name, settings=sorted(settings))]
        ) as numbers:
            lacking = super().switch_vectors(name, settings)
        if lacking:
            self._log.afterwards("done", of=numbers, lacking=lacking, count=0)
        return lacking

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        with self._log.about([self._log.describe("scrub")]):
            return super().scrub(said)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Noted afterwards, and only if there was something: upkeep asks every time."""
        count = verbs.prune_history(self.inner, before, dead=dead, most=most)
        if count:
            self._log.afterwards("prune", count=count, dead=dead)
        return count

    def close(self) -> None:
        """Closing twice is fine."""
        if self._marked is not None:
            self._mark()
            self._marked = None
        super().close()
        if self._owns:
            self._log.close()
