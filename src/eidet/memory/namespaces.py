"""The paths and the namespaces of a memory, each created on first use.

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
    from .trust import TrustNamespace
    from .upkeep import UpkeepNamespace


def find_reranker(thing: object) -> Reranker | None:
    """Builds the reranker that a caller names, None for None; raises `Misconfigured` if it cannot be one."""
    if thing is None:
        return None
    from ..models.rerank import reranker_of

    return reranker_of(thing)


class HasNamespaces:
    """Gives a memory its paths and namespaces, each created on first use."""

    _parts: Parts
    _records: Records
    _guarding: Guarding
    _life: Life
    _forgetting: Forgetting
    _auditing: Auditing
    _log: AuditLog | None
    _reranker: Reranker | None

    @property
    def parts(self) -> Parts:
        """The parts of this memory: store, index, embedder, analyzer, settings, clock, audit log."""
        return self._parts

    @property
    def audit(self) -> AuditLog | None:
        """The open audit log, for entries of your own: `memory.audit.note("consent", scope="ann")`."""
        return self._log

    @cached_property
    def facts(self) -> FactsNamespace:
        """Facts over time, and entities: `memory.facts.about("Ann", as_of="2024-03-01")`."""
        from .facts import FactsNamespace

        return FactsNamespace(self._parts, self._writes, self._reads, self._forgetting, self._auditing)

    @cached_property
    def upkeep(self) -> UpkeepNamespace:
        """Maintenance, pins, legal holds and retention: `memory.upkeep.maintain()`."""
        from .upkeep import UpkeepNamespace

        return UpkeepNamespace(self._parts, self._records, self._life, self._guarding, self._forgetting)

    @cached_property
    def trust(self) -> TrustNamespace:
        """Quarantine, review, and receipts of what was forgotten."""
        from .trust import TrustNamespace

        return TrustNamespace(self._records, self._guarding, self._forgetting, self._reads, self._writes)

    @cached_property
    def keys(self) -> KeysNamespace:
        """The keys of a sealed memory: `memory.keys.rotate(key)`, `memory.keys.shred("ann")`."""
        from .keys import KeysNamespace

        return KeysNamespace(self._parts)

    @cached_property
    def admin(self) -> AdminNamespace:
        """Operation of the memory: `memory.admin.stats()`, `memory.admin.reembed(…)`."""
        from .admin import AdminNamespace

        return AdminNamespace(self._parts, self._reads, self._life, self._auditing)

    @cached_property
    def _reads(self) -> ReadPath:
        from ..recall.path import ReadPath

        return ReadPath(self._parts, self._guarding, self._auditing, self._reranker)

    @cached_property
    def _writes(self) -> WritePath:
        from ..write.write_path import WritePath

        return WritePath(self._parts, self._guarding, self._life)

    def __repr__(self) -> str:
        """Returns one short line without asking the store or server."""
        return f"Memory({self._parts.place}, {self._parts.embedder.name})"
