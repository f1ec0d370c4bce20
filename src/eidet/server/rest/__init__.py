"""The routes under /v1: each turns a request into one verb, and its answer into JSON.

bodies.py          request bodies from the table of verbs; arguments of verbs from bodies
replies.py         models of the answers      routing.py   turns a verb into a route
memory_routes.py   remember, get, revise, mark, forget by id     once.py   idempotency keys
search_routes.py   recall, context, find with its pages, forget, feedback
feed_routes.py     changes: page by page, and as server-sent events
admin_routes.py    scopes, stats, health, export, load
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI

from ...core.fact_verb_table import FACTS
from ...memory.facts import FactsNamespace
from ..serving import Secured, Serving
from . import admin_routes, feed_routes, memory_routes, search_routes
from .routing import LeavableRoute, add_plain_verb


def add_rest(app: FastAPI, serving: Serving) -> None:
    """Adds every route under /v1."""
    needed = [Secured] if serving.keys.required else []
    router = APIRouter(prefix="/v1", dependencies=needed)
    open_router = APIRouter(prefix="/v1")
    admin_routes.add_health(open_router)
    for part in (memory_routes, search_routes, feed_routes, admin_routes):
        part.add_to(router)
    _add_facts(router)
    # Routes are added one by one, so that a 405 can list the methods of a path.
    app.router.routes.extend([*open_router.routes, *router.routes])


def _add_facts(router: APIRouter) -> None:
    """Adds a route for each verb of `memory.facts`: facts over time, entities, decisions about them."""
    for name, verb in FACTS.items():
        how: dict[str, Any] = {"tags": ["facts"]}
        if "write" not in verb.rights:
            how["route_class_override"] = LeavableRoute
        add_plain_verb(router, f"facts/{name}", verb, FactsNamespace, "facts", **how)
