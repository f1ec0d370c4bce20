"""A store around a store that passes everything on: what a wrapper changes, it says itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.scope import Scope
from ..core.validate import Json
from ..quality import Survey
from . import Scrubbed, Store, Uses


class Around:
    """The verbs that say nothing of what records say."""

    inner: Store

    def __getattr__(self, name: str) -> Any:
        """What some stores tell of themselves beside the port: how their parts do."""
        if name in ("archive", "health", "missing"):
            return getattr(self.inner, name)
        raise AttributeError(name)

    def note(self, uses: Uses) -> None:
        self.inner.note(uses)

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        return self.inner.survey(scope, now=now, fresh=fresh, ripe=ripe, stale=stale)

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        return self.inner.retell(scope, id, before)

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        return self.inner.entombed(scope, marks)

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        return self.inner.exhume(scope, marks)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        return self.inner.scrub(said)

    def witness(self, seq: int) -> str | None:
        return self.inner.witness(seq)

    def setting(self, name: str) -> str | None:
        return self.inner.setting(name)

    def settings(self, prefix: str) -> dict[str, str]:
        return self.inner.settings(prefix)

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        self.inner.configure(settings, fresh=fresh)

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        return self.inner.lease(name, owner, now=now, until=until)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        return self.inner.prune(before, dead=dead, most=most)

    def trim(self, most: int) -> int:
        return self.inner.trim(most)

    def staged(self, name: str) -> int:
        return self.inner.staged(name)

    def size(self) -> int:
        return self.inner.size()

    def close(self) -> None:
        self.inner.close()
