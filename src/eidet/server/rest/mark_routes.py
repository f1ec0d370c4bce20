"""Marks on memories: a pin keeps upkeep away, a legal hold keeps everybody away."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from ..serving import Administers, Writes
from .memory_routes import CONFLICT, TAGS, MemoryId
from .replies import StoredMemory, etag_of, tell_record
from .respond import answer, errors

PIN, HOLD = "/memories/{id}/pin", "/memories/{id}/hold"


def add_to(router: APIRouter) -> None:
    how: dict[str, Any] = {"tags": TAGS, "response_model": StoredMemory, "responses": errors(CONFLICT)}
    router.put(PIN, operation_id="pin", **how)(pin)
    router.delete(PIN, operation_id="unpin", **how)(unpin)
    router.put(HOLD, operation_id="hold", **how)(hold)
    router.delete(HOLD, operation_id="release", **how)(release)


async def pin(id: MemoryId, grant: Writes) -> Response:
    """Upkeep leaves the memory alone, and it does not expire, until it is unpinned."""
    record = await grant.memory.upkeep.pin(id, scope=grant.single)
    return await answer(grant.serving, lambda: tell_record(record), headers={"ETag": etag_of(record)})


async def unpin(id: MemoryId, grant: Writes) -> Response:
    """Ends a pin; an expiry that the memory had counts again."""
    record = await grant.memory.upkeep.unpin(id, scope=grant.single)
    return await answer(grant.serving, lambda: tell_record(record), headers={"ETag": etag_of(record)})


async def hold(id: MemoryId, grant: Administers) -> Response:
    """A legal hold: nobody can change or forget the memory until it is released."""
    record = await grant.memory.upkeep.hold(id, scope=grant.single)
    return await answer(grant.serving, lambda: tell_record(record), headers={"ETag": etag_of(record)})


async def release(id: MemoryId, grant: Administers) -> Response:
    """Ends a legal hold; an expiry that the memory had counts again."""
    record = await grant.memory.upkeep.release(id, scope=grant.single)
    return await answer(grant.serving, lambda: tell_record(record), headers={"ETag": etag_of(record)})
