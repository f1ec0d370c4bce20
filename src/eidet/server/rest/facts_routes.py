"""Facts: what held when, who is who, what was decided about it. Each route is a verb of `memory.facts`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, get_type_hints

from fastapi import APIRouter, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, create_model

from ...core.fact_verb_table import FACTS
from ...core.verb_table import Verb
from ...memory.facts import FactsNamespace
from ..serving import Grant
from .bodies import to_arguments
from .replies import reply_type, to_wire
from .routing import Handler, LeavableRoute, add_verb, answer


def add_to(router: APIRouter) -> None:
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
    """The model of an answer, from what the verb returns."""
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
    """The fields of a request as the arguments of a method: those by position, and those by name."""
    args, left = [], dict(given)
    for name, parameter in inspect.signature(method).parameters.items():
        sent = verb.renamed.get(name, name)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args += left.pop(sent, ())
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY and sent in left:
            args.append(left.pop(sent))
    return args, left
