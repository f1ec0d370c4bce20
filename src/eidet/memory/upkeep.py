"""`memory.upkeep`: maintains a memory, now or in the background, and pins, holds or restores records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.arguments import actor, check_flag, check_texts, one, one_or_all
from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Upkeep
from ..core.validate import Moment, clean_text, moment
from ..upkeep import HOLD, PINNED, Maintained
from .namespaces import Services

if TYPE_CHECKING:
    from ..upkeep.archive import Archive
    from ..upkeep.lifecycle import UpkeepWorker
    from ..upkeep.service import Keeping
    from ..upkeep.tier_plan import Standing


class UpkeepNamespace:
    """Keeps the records of a memory in order: see `docs/guides/life.md`."""

    def __init__(self, services: Services) -> None:
        self._services, self._parts, self._life = services, services.parts, services.life

    @property
    def keeping(self) -> Keeping:
        """The service behind these verbs, with its archives."""
        return self._life.keeping

    def maintain(
        self,
        scope: str | Scope | None = None,
        *,
        dry_run: bool = False,
        only: str | Sequence[str] | None = None,
        settings: Upkeep | None = None,
        archive: Archive | str | Path | None = None,
        llm: object = None,
        now: Moment | None = None,
    ) -> Maintained:
        """Maintains one scope or all: see `docs/guides/life.md`.

        `only` names works of `eidet.upkeep.WORKS`; `dry_run` changes nothing and reports what would be
        done and why. Recalls and writes go on meanwhile, and upkeep keeps their changes.
        An `llm` writes summaries and facts; if it fails, the rules do.
        """
        from ..upkeep.service import UpkeepTask

        task = UpkeepTask(scope=one_or_all(scope), only=only, settings=settings, archive=archive, llm=llm)
        at = self._parts.clock() if now is None else moment(now, "now")
        dry_run = check_flag(dry_run, "dry_run")
        done = self.keeping.maintain(task, now=at, dry_run=dry_run)
        if not dry_run:
            self._services.forgetting.clean_up()
        return done

    def background(
        self,
        every: float = 60.0,
        *,
        scope: str | Scope | None = None,
        only: str | Sequence[str] | None = None,
        settings: Upkeep | None = None,
        archive: Archive | str | Path | None = None,
        llm: object = None,
    ) -> UpkeepWorker:
        """Runs `maintain` in a thread, now and every `every` seconds: `with memory.upkeep.background(): …`.

        Ends with the block, with `stop()`, with `close()` or with the program. Of several processes on
        one file, one at a time does the work. `stats()` of the worker reports on the runs. For an
        `AsyncMemory`: `async with await memory.upkeep.background(): …`.
        """
        from ..upkeep.service import UpkeepTask

        task = UpkeepTask(scope=one_or_all(scope), only=only, settings=settings, archive=archive, llm=llm)
        return self._life.start(every, task)

    def retention(self, scope: str | Scope | None = None) -> list[Standing]:
        """Reports, for each retention policy, how many records it covers and how many are due."""
        return self.keeping.retention(one_or_all(scope), self._parts.clock())

    def end_session(self, session: str, *, scope: str | Scope = "default", llm: object = None) -> Record:
        """Summarises a session in an episode that names its messages; a later call covers all of it again."""
        name = clean_text(session, "session")
        return self.keeping.end_session(name, one(scope), llm, self._parts.clock())

    def unarchive(
        self,
        archive: Archive | str | Path | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        scope: str | Scope | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> int:
        """Restores records from an archive. Returns how many.

        Restores all, or those with the `ids`, of the `scope`, or created from `since` to `until`.
        """
        wanted = [ids] if isinstance(ids, str) else ids
        sought = {
            "ids": None if wanted is None else set(check_texts(wanted, "ids")),
            "scope": one_or_all(scope),
            "since": None if since is None else moment(since, "since"),
            "until": None if until is None else moment(until, "until"),
        }
        return self.keeping.unarchive(
            archive, sought, self._parts.clock(), self._services.guarding.check_loaded
        )

    def claim_archive(self, archive: Archive | str | Path | None = None) -> int:
        """Makes the pieces of an archive this memory's own. Returns how many were not.

        Forgetting changes only pieces that the memory archived from its present place. Claim the archive
        after the memory's file was moved or restored, never for a copy while the original is in use.
        """
        return self.keeping.claim(archive)

    def detail(self, id: str, *, scope: str | Scope = "default") -> Record:
        """Returns a record with the full detail that its tier may hide; changes nothing."""
        return self._life.detail(self._services.records.require(id, scope))

    def restore(self, id: str, *, scope: str | Scope = "default") -> Record:
        """Moves a record back to the middle tier with all its detail and counts that as a use."""
        return self._services.records.change(id, scope, self._life.restore)

    def pin(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        """Pins a record: until it is unpinned, upkeep leaves it alone and it does not expire."""
        return self._mark(id, scope, PINNED, True, by)

    def unpin(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        """Ends a `pin`; the record's expiry, if any, applies again."""
        return self._mark(id, scope, PINNED, False, by)

    def hold(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        """Places a legal hold: no one can change or delete the record until it is released."""
        return self._mark(id, scope, HOLD, True, by)

    def release(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        """Ends a legal hold; the record's expiry, if any, applies again."""
        return self._mark(id, scope, HOLD, False, by)

    def _mark(self, id: str, scope: str | Scope, mark: str, on: bool, by: str | None) -> Record:
        who = actor(by)
        return self._services.records.change(
            id, scope, lambda old, now: self._life.mark(old, mark, on, now, who)
        )
