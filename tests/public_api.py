"""The public names of Eidet with their signatures, one a line, as `tests/public_api.txt` keeps them.

A test compares the file with the code. After a change that is meant, accept it and look at the difference:

python -m tests.public_api && git diff tests/public_api.txt
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_name("public_api.txt")
SOURCE = Path(__file__).parents[1] / "src"
MODULES = (
    *("eidet", "eidet.views", "eidet.hooks", "eidet.client", "eidet.copy", "eidet.eval"),
    *("eidet.memory.admin", "eidet.memory.facts", "eidet.memory.keys", "eidet.memory.trust"),
    *("eidet.memory.upkeep", "eidet.trust.audit", "eidet.trust.privacy", "eidet.core.errors"),
    *("eidet.store", "eidet.store.abilities", "eidet.index", "eidet.index.vectordb", "eidet.text"),
    *("eidet.models.embed", "eidet.models.llm", "eidet.models.rerank"),
    *("eidet.compat.enhanced", "eidet.compat.manager", "eidet.compat.messages"),
    *("eidet.compat.agents", "eidet.compat.api"),
)


def make_snapshot() -> str:
    lines: list[str] = []
    for name in MODULES:
        lines += describe_module(importlib.import_module(name))
    for file in sorted((SOURCE / "eidet" / "integrations").glob("[a-z]*")):
        lines += describe_adapter(file)
    return "".join(f"{line}\n" for line in lines)


def describe_module(module: ModuleType) -> Iterator[str]:
    for name in sorted(list_public(module)):
        value = getattr(module, name)
        full = f"{module.__name__}.{name}"
        if inspect.isclass(value):
            yield from describe_class(full, value)
        elif inspect.isroutine(value):
            yield f"{full}{describe_signature(value)}"
        else:
            yield f"{full}: {type(value).__name__}"


def list_public(module: ModuleType) -> list[str]:
    """What `__all__` lists, or else the classes and functions that the module itself defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    names = []
    for name, value in vars(module).items():
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__:
            names.append(name)
    return names


def describe_class(full: str, owner: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in owner.__bases__ if base is not object)
    yield f"class {full}({bases})"
    if dataclasses.is_dataclass(owner):
        for field in dataclasses.fields(owner):
            if not field.name.startswith("_"):
                yield f"{full}.{field.name}: {field.type}{describe_field_default(field)}"
    for name, member in sorted(list_members(owner).items()):
        yield from describe_member(full, name, member)


def describe_field_default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {show_default(field.default)}"
    if field.default_factory is not dataclasses.MISSING:
        return " = …"
    return ""


def list_members(owner: type) -> dict[str, Any]:
    """The public members of a class, with those that it inherits from another class of Eidet."""
    members: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        if base.__module__.startswith("eidet"):
            members |= vars(base)
    public = {}
    for name, member in members.items():
        if not name.startswith("_") or name == "__init__":
            public[name] = member
    made = public.get("__init__")
    if dataclasses.is_dataclass(owner) or not getattr(made, "__module__", "").startswith("eidet"):
        public.pop("__init__", None)  # made by Python, for a dataclass or a protocol
    return public


def describe_member(full: str, name: str, member: Any) -> Iterator[str]:
    if isinstance(member, property):
        yield f"{full}.{name} -> {show_annotation(inspect.signature(member.fget or len).return_annotation)}"
    elif isinstance(member, functools.cached_property):
        yield f"{full}.{name} -> {show_annotation(inspect.signature(member.func).return_annotation)}"
    elif isinstance(member, staticmethod | classmethod):
        yield f"{full}.{name}{describe_signature(member.__func__)}"
    elif inspect.isfunction(member):
        yield f"{full}.{name}{describe_signature(member)}"
    elif inspect.isdatadescriptor(member) and type(member).__module__.startswith("eidet"):
        yield f"{full}.{name}"


def describe_signature(function: Any) -> str:
    signature = inspect.signature(function)
    parts: list[str] = []
    kind = None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and kind not in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        ):
            parts.append("*")
        kind = parameter.kind
        parts.append(describe_parameter(parameter))
    return f"({', '.join(parts)}) -> {show_annotation(signature.return_annotation)}"


def describe_parameter(parameter: inspect.Parameter) -> str:
    text = parameter.name
    if parameter.kind is parameter.VAR_POSITIONAL:
        text = f"*{text}"
    elif parameter.kind is parameter.VAR_KEYWORD:
        text = f"**{text}"
    if parameter.annotation is not parameter.empty:
        text += f": {show_annotation(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {show_default(parameter.default)}"
    return text


def show_annotation(annotation: Any) -> str:
    """As it is written; a type that was resolved already by its name."""
    if annotation is inspect.Parameter.empty:
        return "…"
    if isinstance(annotation, str):
        return annotation
    return str(getattr(annotation, "__name__", annotation))


def show_default(value: Any) -> str:
    """Plain values only: others would show where an object lies."""
    if isinstance(value, str):
        return f'"{value}"'  # also the members of enums, as the word that they stand for
    if value is None or isinstance(value, int | float | bytes | tuple):
        return repr(value)
    return "…"


def describe_adapter(path: Path) -> Iterator[str]:
    """From the source: most frameworks are not installed where this runs."""
    file = path / "__init__.py" if path.is_dir() else path
    if file.suffix != ".py" or not file.exists() or path.stem == "extras":
        return
    full = f"eidet.integrations.{path.stem}"
    exported = False
    tree = ast.parse(file.read_text(encoding="utf-8"))
    methods = find_methods(tree)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            exported = True
            for name in sorted(ast.literal_eval(node.value)):
                yield f"{full}.{name}"
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield from describe_node(full, node, methods)
    assert exported or path.is_file(), f"{file} needs __all__"


Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_methods(tree: ast.Module) -> dict[str, Function]:
    """The methods of a module's classes, by `Class.method`."""
    methods: dict[str, Function] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, Function):
                    methods[f"{node.name}.{member.name}"] = member
    return methods


def describe_node(full: str, node: ast.ClassDef | Function, methods: Mapping[str, Function]) -> Iterator[str]:
    if isinstance(node, Function):
        yield describe_function(f"{full}.{node.name}", node)
        return
    yield f"class {full}.{node.name}({', '.join(map(ast.unparse, node.bases))})"
    for member in node.body:
        if isinstance(member, Function) and is_public(member.name):
            yield describe_function(f"{full}.{node.name}.{member.name}", member)
        elif isinstance(member, ast.Assign) and isinstance(member.value, ast.Call):
            yield from describe_twin(f"{full}.{node.name}", node.name, member, methods)


def describe_twin(
    full: str, owner: str, member: ast.Assign, methods: Mapping[str, Function]
) -> Iterator[str]:
    """`get = twin(Other.get)` takes what the other method takes; so does `asave = twin(save)`."""
    assert isinstance(member.value, ast.Call)
    for given in map(ast.unparse, member.value.args):
        method = methods.get(given) or methods.get(f"{owner}.{given}")
        if method is not None:
            yield describe_function(f"{full}.{ast.unparse(member.targets[0])}", method)


def describe_function(full: str, node: Function) -> str:
    returns = ast.unparse(node.returns) if node.returns else "…"
    return f"{full}({ast.unparse(node.args)}) -> {returns}"


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"


if __name__ == "__main__":
    FILE.write_text(make_snapshot(), encoding="utf-8")
