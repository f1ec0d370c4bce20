"""The API of mem0's platform under /mem0, so that its client reaches a memory: `MemoryClient(host=…/mem0)`.

mem0_bodies.py   what requests hold               mem0_access.py   whose memories a key reaches
mem0_routes.py   each turns a request into a verb of `eidet.integrations.mem0`

The routes are not in the OpenAPI schema: mem0 defines this API, and its clients send fields that Eidet has
no use for and must let pass. `docs/integrations/mem0.md` lists the routes.
"""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from ..serving import Serving
from . import mem0_routes
from .mem0_access import Mem0Door


def add_mem0(app: FastAPI, serving: Serving) -> None:
    """Adds every route under /mem0."""
    app.state.mem0 = Mem0Door(serving)
    router = APIRouter(prefix="/mem0", include_in_schema=False)
    mem0_routes.add_to(router)
    # Each route by itself, so that a 405 can list what a path allows.
    app.router.routes.extend(router.routes)
