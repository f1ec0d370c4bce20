"""A store around a store that passes everything on: what a wrapper changes, it says itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.scope import Scope
from ..core.validate import Json
from ..quality import Survey
from . import Scrubbed, Store, Uses, verbs


class Around:
    """The verbs that say nothing of what records say."""

    inner: Store

    def __getattr__(self, name: str) -> Any:
        """What some stores tell of themselves beside the port: how their parts do."""
        if name in ("archive", "health", "missing"):
            return getattr(self.inner, name)
        raise AttributeError(name)

    def note(self, uses: Uses) -> None:
        verbs.add_uses(self.inner, uses)

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        return verbs.quality_counts(self.inner, scope, now=now, fresh=fresh, ripe=ripe, stale=stale)

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        return verbs.rewrite_history(self.inner, scope, id, before)

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        return verbs.tombstones_in(self.inner, scope, marks)

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        return verbs.lift_tombstones(self.inner, scope, marks)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        return verbs.scrub_files(self.inner, said)

    def witness(self, seq: int) -> str | None:
        return verbs.fingerprint(self.inner, seq)

    def setting(self, name: str) -> str | None:
        return verbs.get_setting(self.inner, name)

    def settings(self, prefix: str) -> dict[str, str]:
        return verbs.get_settings(self.inner, prefix)

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        verbs.set_settings(self.inner, settings, fresh=fresh)

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        return verbs.take_lease(self.inner, name, owner, now=now, until=until)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        return verbs.prune_history(self.inner, before, dead=dead, most=most)

    def trim(self, most: int) -> int:
        return verbs.compact(self.inner, most)

    def staged(self, name: str) -> int:
        return verbs.staged_up_to(self.inner, name)

    def size(self) -> int:
        return verbs.measure_size(self.inner)

    def close(self) -> None:
        self.inner.close()
