"""The services and the namespaces of a memory, most created on first use: many programs only read."""

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
    from ..trust.privacy.fields import Guard
    from ..write.write_path import WritePath
    from .admin import AdminNamespace
    from .facts import FactsNamespace
    from .keys import KeysNamespace
    from .trust import TrustNamespace
    from .upkeep import UpkeepNamespace


class Services:
    """What the verbs and namespaces of an open memory share."""

    def __init__(
        self, parts: Parts, log: AuditLog | None, guard: Guard | None, reranker: Reranker | None
    ) -> None:
        self.parts = parts
        self.log = log
        self._reranker = reranker
        self.auditing: Auditing = Auditing(log)
        self.guarding: Guarding = Guarding(parts, guard)
        self.life: Life = Life(parts, self.guarding.guard_worded)
        self.records: Records = Records(parts, self.auditing)
        self.forgetting: Forgetting = Forgetting(parts, self.guarding, self.life)

    @cached_property
    def reads(self) -> ReadPath:
        from ..recall.path import ReadPath

        return ReadPath(self.parts, self.guarding, self.auditing, self._reranker)

    @cached_property
    def writes(self) -> WritePath:
        from ..write.write_path import WritePath

        return WritePath(self.parts, self.guarding, self.life)


class HasNamespaces:
    """Gives a memory its namespaces."""

    _services: Services

    @property
    def parts(self) -> Parts:
        """The parts of this memory: store, index, embedder, analyzer, settings, clock."""
        return self._services.parts

    @property
    def audit(self) -> AuditLog | None:
        """The open audit log, for entries of your own: `memory.audit.note("consent", scope="ann")`."""
        return self._services.log

    @cached_property
    def facts(self) -> FactsNamespace:
        """Facts over time, and entities: `memory.facts.about("Ann", as_of="2024-03-01")`."""
        from .facts import FactsNamespace

        return FactsNamespace(self._services)

    @cached_property
    def upkeep(self) -> UpkeepNamespace:
        """Maintenance, pins, legal holds and retention: `memory.upkeep.maintain()`."""
        from .upkeep import UpkeepNamespace

        return UpkeepNamespace(self._services)

    @cached_property
    def trust(self) -> TrustNamespace:
        """Quarantine, review, and receipts of what was forgotten."""
        from .trust import TrustNamespace

        return TrustNamespace(self._services)

    @cached_property
    def keys(self) -> KeysNamespace:
        """The keys of a sealed memory: `memory.keys.rotate(key)`, `memory.keys.shred("ann")`."""
        from .keys import KeysNamespace

        return KeysNamespace(self._services.parts)

    @cached_property
    def admin(self) -> AdminNamespace:
        """Operation of the memory: `memory.admin.stats()`, `memory.admin.reembed(…)`."""
        from .admin import AdminNamespace

        return AdminNamespace(self._services)

    def __repr__(self) -> str:
        """Returns one short line without asking the store or server."""
        return f"Memory({self.parts.place}, {self.parts.embedder.name})"
