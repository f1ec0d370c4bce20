"""The routes under /v1: each turns a request into one verb, and its answer into JSON.

bodies.py          request bodies from the table of verbs; arguments of verbs from bodies
replies.py         models of the answers      routing.py   turns a verb into a route
memory_routes.py   remember, get, revise, mark, forget by id     once.py   idempotency keys
search_routes.py   recall, context, find with its pages, forget, feedback
feed_routes.py     changes: page by page, and as server-sent events
admin_routes.py    scopes, stats, health, export, load
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, get_type_hints

from fastapi import APIRouter, FastAPI, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, create_model

from ...core.fact_verb_table import FACTS
from ...core.verb_table import Verb
from ...memory.facts import FactsNamespace
from ..serving import Grant, Secured, Serving, describe_scope
from . import admin_routes, feed_routes, memory_routes, search_routes
from .bodies import to_arguments
from .replies import reply_type, to_wire
from .routing import Handler, LeavableRoute, add_verb, answer


def add_rest(app: FastAPI, serving: Serving) -> None:
    """Adds every route under /v1."""
    needed = [Secured] if serving.keys.required else []
    router = APIRouter(prefix="/v1", dependencies=needed)
    open_router = APIRouter(prefix="/v1")
    admin_routes.add_health(open_router)
    for part in (memory_routes, search_routes, feed_routes, admin_routes):
        part.add_to(router)
    _add_facts(router)
    describe_scope(router.routes)
    # Routes are added one by one, so that a 405 can list the methods of a path.
    app.router.routes.extend([*open_router.routes, *router.routes])


def _add_facts(router: APIRouter) -> None:
    """Adds a route for each verb of `memory.facts`: facts over time, entities, decisions about them."""
    for name, verb in FACTS.items():
        add_verb(
            router,
            f"facts/{name}",
            verb,
            _make_handler(name, verb),
            tags=["facts"],
            response_model=_reply_of(name, verb),
            route=APIRoute if _decides(verb) else LeavableRoute,
        )


def _decides(verb: Verb) -> bool:
    return "write" in verb.rights


def _reply_of(name: str, verb: Verb) -> type[BaseModel]:
    """Builds the model of an answer from the return type of the verb."""
    returned = get_type_hints(getattr(FactsNamespace, name))["return"]
    shape: Any = reply_type(str if returned is type(None) else returned)
    if not verb.answer:
        return shape  # type: ignore[no-any-return]
    fields: dict[str, Any] = {verb.answer: (shape, ...)}
    return create_model(f"Facts{name.capitalize()}Reply", **fields)


def _make_handler(name: str, verb: Verb) -> Handler:
    method = getattr(FactsNamespace, name)

    async def run(body: Any, grant: Grant) -> Response:
        given = to_arguments(body)
        args, keywords = _arrange(verb, method, given)
        scope = grant.single if _decides(verb) else grant.scope
        found = await getattr(grant.memory.facts, name)(*args, **keywords, scope=scope)
        told = given["id"] if found is None else found
        size = len(told) if isinstance(told, list) else 1
        return await answer(
            grant.serving, lambda: {verb.answer: to_wire(told)} if verb.answer else to_wire(told), size=size
        )

    return run


def _arrange(verb: Verb, method: Any, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Splits the fields of a request into positional and keyword arguments of a method."""
    args, left = [], dict(given)
    for name, parameter in inspect.signature(method).parameters.items():
        sent = verb.renamed.get(name, name)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args += left.pop(sent, ())
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY and sent in left:
            args.append(left.pop(sent))
    return args, left
