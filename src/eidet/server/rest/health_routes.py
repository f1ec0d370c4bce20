"""Whether the server is alive, and whether its memory answers."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from ..errors import ErrorBody
from ..serving import serving_of


class Aliveness(BaseModel):
    """That the process answers."""

    status: str = Field("ok", description="Always ok: whoever can say so is alive.")


def add_to(router: APIRouter) -> None:
    router.get("/health/live", tags=["health"], operation_id="live")(live)
    router.get("/health/ready", tags=["health"], operation_id="ready", responses={503: {"model": ErrorBody}})(
        ready
    )


async def live() -> Aliveness:
    """Whether the process answers; asks nobody else."""
    return Aliveness(status="ok")


async def ready(request: Request) -> Aliveness:
    """Whether the memory answers; 503 with Retry-After while its store is away. Takes two seconds at most."""
    serving = serving_of(request)
    await serving.readiness.check(serving.memory)
    return Aliveness(status="ok")
