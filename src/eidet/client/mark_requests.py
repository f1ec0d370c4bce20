"""`client.upkeep` as requests: pins and legal holds."""

from __future__ import annotations

from ..core.record import Record
from ..core.scope import Scope
from .packing import pack_scope
from .requests_of import Steps, path_of_record
from .sending import WireRequest
from .unpacking import unpack_record


def pin(id: str, *, scope: str | Scope = "default") -> Steps[Record]:
    """Upkeep leaves the record alone, and it does not expire, until it is unpinned."""
    return unpack_record((yield _mark("PUT", id, "pin", scope)))


def unpin(id: str, *, scope: str | Scope = "default") -> Steps[Record]:
    """Ends a `pin`; an expiry that the record had counts again."""
    return unpack_record((yield _mark("DELETE", id, "pin", scope)))


def hold(id: str, *, scope: str | Scope = "default") -> Steps[Record]:
    """A legal hold: nobody can change or delete the record until it is released. Needs the right admin."""
    return unpack_record((yield _mark("PUT", id, "hold", scope)))


def release(id: str, *, scope: str | Scope = "default") -> Steps[Record]:
    """Ends a legal hold; an expiry that the record had counts again. Needs the right admin."""
    return unpack_record((yield _mark("DELETE", id, "hold", scope)))


def _mark(method: str, id: str, mark: str, scope: str | Scope) -> WireRequest:
    """Setting or ending a mark twice is the same as once."""
    return WireRequest(method=method, path=f"{path_of_record(id)}/{mark}", params=pack_scope(scope))
