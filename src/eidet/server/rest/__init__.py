"""The routes under /v1: each turns a request into one verb, and its answer into JSON.

bodies.py, replies.py   what requests and answers hold          drafts.py    from bodies to arguments
memory_routes.py        remember, get, revise, mark, forget by id     once.py   idempotency keys
search_routes.py        recall, context, find, feedback         cursors.py   pages
forget_routes.py        forget by a filter, with a preview      respond.py   answers as bytes
admin_routes.py         scopes, stats, health, export, load
facts_routes.py         what held when, and who is who
decision_routes.py       why a fact is believed, and decisions about facts
"""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from ..serving import Secured, Serving
from . import (
    admin_routes,
    decision_routes,
    facts_routes,
    forget_routes,
    health_routes,
    memory_routes,
    search_routes,
)
from .once import clear_old_keys


def add_rest(app: FastAPI, serving: Serving) -> None:
    """Adds every route under /v1."""
    needed = [Secured] if serving.keys.required else []
    router = APIRouter(prefix="/v1", dependencies=needed)
    open_router = APIRouter(prefix="/v1")
    health_routes.add_to(open_router)
    for part in (
        memory_routes,
        search_routes,
        forget_routes,
        admin_routes,
        facts_routes,
        decision_routes,
    ):
        part.add_to(router)
    # Each route by itself, so that a 405 can list what a path allows.
    app.router.routes.extend([*open_router.routes, *router.routes])
    serving.lifespans.append(lambda: clear_old_keys(serving))
