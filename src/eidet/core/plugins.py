"""Plugins: objects that installed packages add by entry points, and clear errors if one cannot be used."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from .errors import EidetError, Misconfigured

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

OWN: Final = "eidet"


def list_plugins(group: str) -> list[str]:
    """Lists the names of a group in order."""
    return sorted(_entries(group).names)


def load_plugin(group: str, name: str) -> Any | None:
    """Loads what a package registers under a name; returns None if no package does.

    Eidet's own entries take precedence. Raises `Misconfigured` if two other packages offer different objects
    under the name, or if the object cannot be imported.
    """
    entry = _choose(group, name, list(_entries(group).select(name=name)))
    if entry is None:
        return None
    try:
        return entry.load()
    except EidetError:
        raise
    except Exception as error:  # a plugin's module may raise anything
        raise Misconfigured(
            f"{name!r} of {group}, which {_package_of(entry)} offers as {entry.value}, cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def _entries(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # takes 20 ms, and most memories need no plugin

    return entry_points(group=group)


def call_plugin(group: str, name: str, make: Any, given: Sequence[Any] = (), **named: Any) -> Any:
    """Calls a plugin's factory; raises `Misconfigured` if it does not accept these arguments."""
    if not callable(make):
        raise Misconfigured(f"{name!r} of {group} must be a class or a function, not {make!r}")
    try:
        inspect.signature(make).bind(*given, **named)
    except TypeError as error:
        raise Misconfigured(
            f"{name!r} of {group} cannot be called as docs/guides/plugins.md says: {error}"
        ) from error
    except ValueError:  # some builtins have no signature: calling them will show
        pass
    return make(*given, **named)


def _choose(group: str, name: str, found: list[EntryPoint]) -> EntryPoint | None:
    own = [entry for entry in found if entry.dist is not None and entry.dist.name == OWN]
    if not own and len({entry.value for entry in found}) > 1:
        packages = " and ".join(sorted(f"{_package_of(entry)} ({entry.value})" for entry in found))
        raise Misconfigured(f"{packages} each offer {name!r} of {group}: uninstall all but one of them")
    return next(iter((*own, *found)), None)


def _package_of(entry: EntryPoint) -> str:
    if entry.dist is None:
        return "an installed package"
    return f"the package {entry.dist.name} {entry.dist.version}"
