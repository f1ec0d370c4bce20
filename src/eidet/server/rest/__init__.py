"""The routes under /v1: each turns a request into one verb, and its answer into JSON."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from ..serving import Secured, Serving
from . import health_routes


def add_rest(app: FastAPI, _serving: Serving) -> None:
    """Adds every route under /v1."""
    router = APIRouter(prefix="/v1", dependencies=[Secured])
    for part in (health_routes,):
        part.add_to(router)
    app.include_router(router)
