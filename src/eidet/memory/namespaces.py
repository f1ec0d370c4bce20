"""The namespaces of a memory, each opened when it is first used: most programs never touch most of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..parts import Parts
from ..recall.path import ReadPath
from ..trust.audit.reads import Auditing
from ..trust.privacy.service import Guarding
from ..upkeep.lifecycle import Life
from ..write import WritePath
from .forgetting import Forgetting
from .records import Records

if TYPE_CHECKING:
    from .admin import AdminNamespace
    from .facts import FactsNamespace
    from .keys import KeysNamespace
    from .trust import TrustNamespace
    from .upkeep import UpkeepNamespace


class Namespaces:
    """Makes the namespaces of one open memory."""

    def __init__(
        self,
        parts: Parts,
        records: Records,
        writes: WritePath,
        reads: ReadPath,
        guarding: Guarding,
        life: Life,
        forgetting: Forgetting,
        auditing: Auditing,
    ) -> None:
        self._parts = parts
        self._records = records
        self._writes = writes
        self._reads = reads
        self._guarding = guarding
        self._life = life
        self._forgetting = forgetting
        self._auditing = auditing

    @cached_property
    def facts(self) -> FactsNamespace:
        from .facts import FactsNamespace

        return FactsNamespace(self._parts, self._writes, self._reads, self._forgetting, self._auditing)

    @cached_property
    def upkeep(self) -> UpkeepNamespace:
        from .upkeep import UpkeepNamespace

        return UpkeepNamespace(self._parts, self._records, self._life, self._guarding, self._forgetting)

    @cached_property
    def trust(self) -> TrustNamespace:
        from .trust import TrustNamespace

        return TrustNamespace(self._records, self._guarding, self._forgetting, self._reads)

    @cached_property
    def keys(self) -> KeysNamespace:
        from .keys import KeysNamespace

        return KeysNamespace(self._parts)

    @cached_property
    def admin(self) -> AdminNamespace:
        from .admin import AdminNamespace

        return AdminNamespace(self._parts, self._reads, self._life)
