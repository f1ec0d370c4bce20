"""Writes the reference from the code: every public name with its signature, fields and first sentence.

The meaning of a field is the comment beside it, or else that of the same field in `Draft` or `Record`. An
example is a snippet of examples/reference.md, or the shortest statement of any page that uses the name.
The pages are not in git: `.ci/site` makes them for the site.

python docs/make_reference.py [FOLDER]     # docs/reference, unless you name another folder
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import re
import sys
import tokenize
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import reference_cli
import reference_examples
import reference_rest
import reference_settings

FOLDER = Path(__file__).with_name("reference")
MODULES = (
    "eidet",
    "eidet.views",
    "eidet.hooks",
    "eidet.trust.privacy",
    "eidet.trust.audit",
    "eidet.compat.enhanced",
    "eidet.compat.manager",
    "eidet.compat.messages",
    "eidet.compat.agents",
    "eidet.compat.api",
)
HEAD = """# Every public name

`python docs/make_reference.py` writes these pages from the code. Docstrings say more:
`help(eidet.Memory.recall)`.

The values you meet most often: [`Draft`](eidet.md#draft), [`Record`](eidet.md#record),
[`Where`](eidet.md#where), [`Hit`](eidet.md#hit), [`Settings`](eidet.md#settings),
[`Upkeep`](eidet.md#upkeep), [`Retention`](eidet.md#retention). All verbs: [`Memory`](eidet.md#memory).

In the examples, `memory` is an open [`Memory`](eidet.md#memory).
"""
MORE = """## Other lists

- [Commands](cli.md) of the command line, with their options.
- [REST](rest.md): routes, bodies and answers of the server.
- [Settings](settings.md) with their variables and defaults.
"""


def pages() -> dict[str, str]:
    """Each page of the reference by its file name."""
    made = {"names.md": _index()}
    for name in MODULES:
        made[f"{name}.md"] = _module(name)
    made["cli.md"] = reference_cli.page()
    made["rest.md"] = reference_rest.page()
    made["settings.md"] = reference_settings.page(field_meanings, _default)
    return made


def _index() -> str:
    lines = ["| module | what it is | names |", "|---|---|---|"]
    for name in MODULES:
        module = importlib.import_module(name)
        said = first_sentence(module)
        links = [f"[`{one}`]({name}.md#{one.lower()})" for one in _names(module)]
        lines.append(f"| [`{name}`]({name}.md) | {said} | {', '.join(links)} |")
    return "\n\n".join([HEAD.rstrip(), "\n".join(lines), MORE.rstrip()]) + "\n"


def _module(name: str) -> str:
    module = importlib.import_module(name)
    entries = []
    for one in _names(module):
        entries.append(_entry(one, getattr(module, one), module))
        entries += reference_examples.example_of(name, one)
    return "\n\n".join([f"# `{name}`", first_sentence(module), *entries]) + "\n"


def _names(module: ModuleType) -> list[str]:
    public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    return sorted(n for n in public if callable(getattr(module, n)) or inspect.isclass(getattr(module, n)))


def _entry(name: str, what: Any, module: ModuleType) -> str:
    if not inspect.isclass(what):
        return f"## `{name}`\n\n`{name}{_signature(what)}`{_after(first_sentence(what))}"
    twin = getattr(module, name.removeprefix("Async"), None) if name.startswith("Async") else None
    known = set(vars(twin)) if twin is not None else set()
    said = first_sentence(what)
    if twin is not None:
        said += f" It has the same verbs as [`{twin.__name__}`](#{twin.__name__.lower()})."
    lines = [*_constructor(name, what, twin), *_fields(what), *_members(what, known, "")]
    return "\n\n".join(part for part in (f"## `{name}`", said.strip(), "\n".join(lines)) if part)


def _constructor(name: str, what: type, twin: type | None) -> Iterator[str]:
    """How it is made, where that is not a list of fields."""
    plain = twin is None and not dataclasses.is_dataclass(what) and not issubclass(what, Exception)
    if plain and inspect.isfunction(vars(what).get("__init__")):
        made = _signature(vars(what)["__init__"]).removesuffix(" -> None")
        yield f"- `{name}{made}`"
        yield from _options(vars(what)["__init__"])


def _fields(what: type) -> Iterator[str]:
    """One line for each public field of a dataclass: its type, its default, what it means."""
    if not dataclasses.is_dataclass(what):
        return
    meanings = field_meanings(what)
    for one in dataclasses.fields(what):
        if not one.name.startswith("_") and one.name in vars(what).get("__annotations__", {}):
            yield f"- `{one.name}: {one.type}{_default(one)}`{_after(meanings.get(one.name, ''))}"


def field_meanings(what: type) -> dict[str, str]:
    """What each field means: the comment beside it, or that of the same field in `Draft` or `Record`."""
    draft, record = (getattr(importlib.import_module("eidet"), name) for name in ("Draft", "Record"))
    own = _comments(what)
    shared = {**_comments(record), **_comments(draft)} if what in (draft, record) else {}
    return {**shared, **own}


@functools.cache
def _comments(what: type) -> dict[str, str]:
    """The comments at the end of the lines that declare fields."""
    source = inspect.getsource(what)
    beside = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.lineno in beside:
            found[node.target.id] = beside[node.lineno]
    return found


def _default(one: dataclasses.Field[Any]) -> str:
    if one.default is not dataclasses.MISSING:
        return f" = {_shown(one.default)}"
    if one.default_factory is not dataclasses.MISSING:
        return f" = {getattr(one.default_factory, '__name__', '…')}()"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'  # members of enums as the word they stand for
    if isinstance(value, int | float | bool | tuple | bytes | type(None)):
        return repr(value)
    return getattr(value, "__name__", "…")


def _members(what: type, known: set[str], prefix: str) -> Iterator[str]:
    """Verbs and properties; a property that leads to a namespace lists the verbs of the namespace."""
    for name, member in sorted(_all_members(what).items()):
        if name.startswith("_") or name in known:
            continue
        function = _function(member)
        if function is not None:
            yield f"- `{prefix}{name}{_signature(function)}`{_after(first_sentence(function))}"
            yield from _options(function)
        elif isinstance(member, property | functools.cached_property):
            yield from _property(what, name, _getter(member), prefix)
        elif type(member).__module__.startswith("eidet.") and inspect.isdatadescriptor(member):
            kind = type(member).__get__.__annotations__["return"]
            yield f"- `{prefix}{name} -> {kind}`{_after(first_sentence(type(member)))}"


def _all_members(what: type) -> dict[str, Any]:
    """Those of the class, and of its bases in our doors and namespaces that no entry tells of."""
    listed = [base for base in what.__mro__[1:] if _has_entry(base)]
    found: dict[str, Any] = {}
    for base in reversed(what.__mro__):
        ours = base.__module__.startswith(("eidet.compat", "eidet.memory."))
        if base is what or (ours and not any(issubclass(one, base) for one in listed)):
            found.update(vars(base))
    return found


@functools.cache
def _has_entry(what: type) -> bool:
    """Whether the page has an entry for a class."""
    for name in MODULES:
        module = importlib.import_module(name)
        if any(getattr(module, public) is what for public in _names(module)):
            return True
    return False


def _options(function: FunctionType) -> Iterator[str]:
    """What a verb takes as `**options`: the keys of a typed dict, which a signature only names."""
    for parameter in inspect.signature(function).parameters.values():
        named = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        if named is not None:
            keys = _resolve(named[1], importlib.import_module(function.__module__)).__annotations__
            listed = ", ".join(f"`{key}: {_spelt(kind)}`" for key, kind in keys.items())
            yield f"  - `{parameter.name}`: {listed}"


def _spelt(annotation: Any) -> str:
    """An annotation as it is written."""
    return getattr(annotation, "__forward_arg__", str(annotation))


def _function(member: Any) -> FunctionType | None:
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    return member if inspect.isfunction(member) else None


def _getter(member: property | functools.cached_property[Any]) -> Any:
    return member.fget if isinstance(member, property) else member.func


def _property(owner: type, name: str, getter: Any, prefix: str) -> Iterator[str]:
    kind = getter.__annotations__.get("return", "")
    yield f"- `{prefix}{name} -> {kind}`{_after(first_sentence(getter))}"
    namespace = namespace_of(owner, name)
    if namespace is not None and namespace is not owner and not prefix:
        yield from (f"  {line}" for line in _members(namespace, set(), f"{name}."))


def namespace_of(owner: type, name: str) -> type | None:
    """The class behind a property, if it is one of ours that has no entry of its own."""
    member = _all_members(owner).get(name)
    if not isinstance(member, property | functools.cached_property):
        return None
    getter = _getter(member)
    module = importlib.import_module(getter.__module__)
    name = str(getter.__annotations__.get("return", "")).removesuffix(" | None")
    found = _resolve(name, module)
    if not inspect.isclass(found) or not found.__module__.startswith("eidet."):
        return None
    if _has_entry(found) or dataclasses.is_dataclass(found) or issubclass(found, str | int):
        return None
    return found


def _resolve(name: str, module: ModuleType) -> Any:
    """What a name means in a module, be it imported for annotations only."""
    if name in vars(module):
        return vars(module)[name]
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            package = module.__package__ if node.level else None
            home = importlib.import_module("." * node.level + (node.module or ""), package)
            return getattr(home, name, None)
    return None


def _signature(function: Any) -> str:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(…)"
    text = str(signature.replace(parameters=[_plain(one) for one in signature.parameters.values()]))
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations as they are written
    return re.sub(r"^\((self|cls)(, /)?(, )?", "(", text.replace("= Ellipsis", "= …"))


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Defaults that are not plain values would depend on the machine this runs on."""
    simple = isinstance(parameter.default, str | int | float | bool | tuple | type(None) | type)
    return parameter if simple else parameter.replace(default=...)


def _after(said: str) -> str:
    return f": {said}" if said else ""


def first_sentence(what: Any) -> str:
    """The first sentence of a docstring, whole: up to its full stop, or to the end of the paragraph."""
    said = inspect.getdoc(what) or ""
    paragraph = said.split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.)\s+(?=[A-Z`])", paragraph, maxsplit=1)[0].strip()


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in pages().items():
        (folder / file).write_text(text, encoding="utf-8")
