"""Models that a user chooses: embedders, rerankers and language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any

from ..core.errors import Misconfigured
from ..core.plugins import call_plugin, list_plugins, load_plugin


def make_named(
    spec: str, group: str, built_in: Mapping[str, str], is_one: Callable[[Any], bool], wanted: str
) -> Any:
    """Makes the model of `name:setting`, built in or from an entry point of the group.

    `wanted` describes for the error message what a plugin must return, such as "a reranker (name, scores)".
    """
    name, _, setting = spec.partition(":")
    given = [setting] if setting else []
    if name in built_in:
        module, _, attribute = built_in[name].partition(":")
        return attrgetter(attribute)(import_module(module, __name__))(*given)
    if (make := load_plugin(group, name)) is None:
        known = ", ".join(sorted({*built_in, *list_plugins(group)}))
        kind = wanted.split()[1]
        raise Misconfigured(f"no {kind} is called {name!r}; there are {known}, or give a callable")
    made = call_plugin(group, name, make, given)
    if not is_one(made):
        raise Misconfigured(f"{name!r} of {group} must return {wanted}, not {type(made).__name__}")
    return made
