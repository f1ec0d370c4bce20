"""Writes docs/reference.md: every public name with its signature and the first sentence of its docstring.

python docs/make_reference.py
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from eidet.aio.namespaces import AsyncAdmin, AsyncKeys, AsyncTrust, AsyncUpkeep
from eidet.memory.admin import AdminNamespace
from eidet.memory.keys import KeysNamespace
from eidet.memory.trust import TrustNamespace
from eidet.memory.upkeep import UpkeepNamespace

PAGE = Path(__file__).with_name("reference.md")
MODULES = (
    "eidet",
    "eidet.views",
    "eidet.hooks",
    "eidet.trust.privacy",
    "eidet.trust.audit",
    "eidet.testing",
    "eidet.compat.enhanced",
    "eidet.compat.manager",
    "eidet.compat.messages",
    "eidet.compat.agents",
    "eidet.compat.api",
)
NAMESPACES: dict[str, dict[str, type]] = {
    "Memory": {
        "upkeep": UpkeepNamespace,
        "trust": TrustNamespace,
        "keys": KeysNamespace,
        "admin": AdminNamespace,
    },
    "AsyncMemory": {"upkeep": AsyncUpkeep, "trust": AsyncTrust, "keys": AsyncKeys, "admin": AsyncAdmin},
}
HEAD = """# Reference

Every public name, made from the code by `python docs/make_reference.py`. The docstrings say more:
`help(eidet.Memory.recall)`.
"""


def page() -> str:
    return "\n".join([HEAD, *map(_module, MODULES)])


def _module(name: str) -> str:
    module = importlib.import_module(name)
    return "\n".join([f"## `{name}`\n", *(_entry(one, getattr(module, one)) for one in _names(module))])


def _names(module: Any) -> list[str]:
    public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    return sorted(n for n in public if callable(getattr(module, n)) or inspect.isclass(getattr(module, n)))


def _entry(name: str, what: Any) -> str:
    if not inspect.isclass(what):
        return f"- `{name}{_signature(what)}`: {_first(what)}\n"
    lines = [f"- **`{name}`**: {_first(what)}", *_verbs(what, "")]
    for namespace, kind in NAMESPACES.get(name, {}).items():
        lines += _verbs(kind, f"{namespace}.")
    return "\n".join([*lines, ""])


def _verbs(what: type, prefix: str) -> list[str]:
    return [
        f"  - `{prefix}{verb}{_signature(function)}`" + (f": {said}" if (said := _first(function)) else "")
        for verb, function in sorted(vars(what).items())
        if not verb.startswith("_") and inspect.isfunction(function)
    ]


def _signature(function: Any) -> str:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(…)"
    told = str(signature.replace(parameters=[_plain(one) for one in signature.parameters.values()]))
    told = re.sub(r"(: |-> )'([^']*)'", r"\1\2", told)  # annotations as they are written
    return told.replace("= Ellipsis", "= …").replace("(self, ", "(").replace("(self)", "()")


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Defaults that are not plain values would tell of the machine this runs on."""
    simple = isinstance(parameter.default, str | int | float | bool | tuple | type(None) | type)
    return parameter if simple else parameter.replace(default=...)


def _first(what: Any) -> str:
    said = inspect.getdoc(what) or ""
    return re.split(r"(?<=[.:])\s", said.replace("\n", " "), maxsplit=1)[0].strip().replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
