"""The routes under /v1: each turns a request into one verb, and its answer into JSON.

bodies.py          bodies of requests, from the table of verbs; drafts and arguments from bodies
replies.py         what answers hold          routing.py   how a verb becomes a route
memory_routes.py   remember, get, revise, mark, forget by id     once.py   idempotency keys
search_routes.py   recall, context, find with its pages, forget, feedback
admin_routes.py    scopes, stats, health, export, load
facts_routes.py    what held when, who is who, and decisions about facts
"""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from ..serving import Secured, Serving
from . import (
    admin_routes,
    facts_routes,
    memory_routes,
    search_routes,
)
from .once import clear_old_keys


def add_rest(app: FastAPI, serving: Serving) -> None:
    """Adds every route under /v1."""
    needed = [Secured] if serving.keys.required else []
    router = APIRouter(prefix="/v1", dependencies=needed)
    open_router = APIRouter(prefix="/v1")
    admin_routes.add_health(open_router)
    for part in (
        memory_routes,
        search_routes,
        admin_routes,
        facts_routes,
    ):
        part.add_to(router)
    # Each route by itself, so that a 405 can list what a path allows.
    app.router.routes.extend([*open_router.routes, *router.routes])
    serving.lifespans.append(lambda: clear_old_keys(serving))
