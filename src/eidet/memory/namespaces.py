"""The paths and the namespaces of a memory, each created when it is first used.

Most programs use few of them, and many only read or only write.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..parts import Parts
from ..trust.audit import Auditing
from ..trust.privacy.service import Guarding
from ..upkeep.lifecycle import Life
from .forgetting import Forgetting
from .records import Records

if TYPE_CHECKING:
    from ..models.rerank import Reranker
    from ..recall.path import ReadPath
    from ..trust.audit.log import AuditLog
    from ..write.write_path import WritePath
    from .admin import AdminNamespace
    from .facts import FactsNamespace
    from .keys import KeysNamespace
    from .records import Promotions
    from .trust import TrustNamespace
    from .upkeep import UpkeepNamespace


def find_reranker(thing: object) -> Reranker | None:
    """Builds the reranker that a caller names, None for None; raises `Misconfigured` if it cannot be one."""
    if thing is None:
        return None
    from ..models.rerank import reranker_of

    return reranker_of(thing)


class Namespaces:
    """Creates the paths and namespaces of one open memory on first use."""

    def __init__(
        self,
        parts: Parts,
        records: Records,
        guarding: Guarding,
        life: Life,
        forgetting: Forgetting,
        auditing: Auditing,
        reranker: Reranker | None,
    ) -> None:
        self._parts = parts
        self._records = records
        self._guarding = guarding
        self._life = life
        self._forgetting = forgetting
        self._auditing = auditing
        self._reranker = reranker

    @cached_property
    def reads(self) -> ReadPath:
        from ..recall.path import ReadPath

        return ReadPath(self._parts, self._guarding, self._auditing, self._reranker)

    @cached_property
    def writes(self) -> WritePath:
        from ..write.write_path import WritePath

        return WritePath(self._parts, self._guarding, self._life)

    @cached_property
    def facts(self) -> FactsNamespace:
        from .facts import FactsNamespace

        return FactsNamespace(self._parts, self.writes, self.reads, self._forgetting, self._auditing)

    @cached_property
    def upkeep(self) -> UpkeepNamespace:
        from .upkeep import UpkeepNamespace

        return UpkeepNamespace(self._parts, self._records, self._life, self._guarding, self._forgetting)

    @cached_property
    def trust(self) -> TrustNamespace:
        from .trust import TrustNamespace

        return TrustNamespace(self._records, self._guarding, self._forgetting, self.reads, self.writes)

    @cached_property
    def keys(self) -> KeysNamespace:
        from .keys import KeysNamespace

        return KeysNamespace(self._parts)

    @cached_property
    def admin(self) -> AdminNamespace:
        from .admin import AdminNamespace

        return AdminNamespace(self._parts, self.reads, self._life, self._auditing)

    @cached_property
    def promotions(self) -> Promotions:
        from .records import Promotions

        return Promotions(self._parts, self._records, self._life, self._auditing)


class HasNamespaces:
    """Gives a memory its namespaces."""

    _parts: Parts
    _log: AuditLog | None
    _namespaces: Namespaces

    @property
    def parts(self) -> Parts:
        """The parts of this memory: store, index, embedder, analyzer, settings, clock, audit log."""
        return self._parts

    @property
    def facts(self) -> FactsNamespace:
        """Facts over time, and entities: `memory.facts.about("Ann", as_of="2024-03-01")`."""
        return self._namespaces.facts

    @property
    def upkeep(self) -> UpkeepNamespace:
        """Maintenance, pins, legal holds and retention: `memory.upkeep.maintain()`."""
        return self._namespaces.upkeep

    @property
    def trust(self) -> TrustNamespace:
        """Quarantine, review, and receipts of what was forgotten."""
        return self._namespaces.trust

    @property
    def keys(self) -> KeysNamespace:
        """The keys of a sealed memory: `memory.keys.rotate(key)`, `memory.keys.shred("ann")`."""
        return self._namespaces.keys

    @property
    def admin(self) -> AdminNamespace:
        """Operation of the memory: `memory.admin.stats()`, `memory.admin.reembed(…)`."""
        return self._namespaces.admin

    @property
    def audit(self) -> AuditLog | None:
        """The open audit log, for entries of your own: `memory.audit.note("consent", scope="ann")`."""
        return self._log

    def __repr__(self) -> str:
        """Returns one short line without asking the store or server."""
        return f"Memory({self._parts.place}, {self._parts.embedder.name})"
