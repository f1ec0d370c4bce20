"""`client.upkeep` as requests: pins and legal holds."""

from __future__ import annotations

from ..core.record import Record
from ..core.scope import Scope
from .packing import check_left_out, pack_scope
from .requests_of import Steps, path_of_record
from .sending import WireRequest
from .unpacking import unpack_record


def pin(id: str, *, scope: str | Scope = "default", by: str | None = None) -> Steps[Record]:
    """Upkeep leaves the record alone, and it does not expire, until it is unpinned."""
    return unpack_record((yield _mark("PUT", id, "pin", scope, by)))


def unpin(id: str, *, scope: str | Scope = "default", by: str | None = None) -> Steps[Record]:
    """Ends a `pin`; an expiry that the record had counts again."""
    return unpack_record((yield _mark("DELETE", id, "pin", scope, by)))


def hold(id: str, *, scope: str | Scope = "default", by: str | None = None) -> Steps[Record]:
    """A legal hold: nobody can change or delete the record until it is released. Needs the right admin."""
    return unpack_record((yield _mark("PUT", id, "hold", scope, by)))


def release(id: str, *, scope: str | Scope = "default", by: str | None = None) -> Steps[Record]:
    """Ends a legal hold; an expiry that the record had counts again. Needs the right admin."""
    return unpack_record((yield _mark("DELETE", id, "hold", scope, by)))


def _mark(method: str, id: str, mark: str, scope: str | Scope, by: str | None) -> WireRequest:
    """Setting or ending a mark twice is the same as once."""
    check_left_out(by=by)
    return WireRequest(method=method, path=f"{path_of_record(id)}/{mark}", params=pack_scope(scope))
