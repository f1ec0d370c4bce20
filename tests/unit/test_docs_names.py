"""Whatever a page names exists: commands, options, settings, environment variables, verbs, fields."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from tests.reference import ROOT, list_pages, load_generator

import eidet
from eidet.cli import app

OTHERS = ("README.md", "CONTRIBUTING.md", "examples/README.md", "examples/reference.md", "tests/coverage.md")
PAGES = [*(ROOT / page for page in OTHERS), *list_pages()]
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
SHELLS = ("bash", "console", "sh")
CALL = re.compile(r"\b([A-Z]\w+)\(")
VERB = re.compile(r"(?<!gen_ai\.)\bmemory\.([a-z]\w*)(?:\.([a-z]\w*))?")


def _id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# Doors and these frameworks have classes and objects of their own under the same names.
FOREIGN = ("integrations/adk.md", "integrations/crewai.md", "integrations/mem0.md")
OWN_PAGES = [page for page in PAGES if page.parent.name != "doors" and not _id(page).endswith(FOREIGN)]


def _fences(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def _inline(page: Path) -> list[str]:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in INLINE.findall(prose)]


def _code(page: Path) -> list[str]:
    return [*(block for _, block in _fences(page)), *_inline(page)]


# Commands


def _command_lines(page: Path) -> Iterator[str]:
    for language, block in _fences(page):
        if language in SHELLS:
            for line in block.splitlines():
                yield from _commands_in(line.strip().removeprefix("$ "))
    for code in _inline(page):
        yield from _commands_in(code)


def _commands_in(line: str) -> Iterator[str]:
    for part in re.split(r"&&|\||;", line):
        if re.match(r"eidet( |$)", part.strip()):
            yield part.strip()


@cache
def _root_command() -> Any:
    return typer.main.get_command(app)


def _check_command(line: str) -> str | None:
    """What is wrong with a command as a page shows it, or None."""
    command: Any = _root_command()
    words = shlex.split(re.sub(r"[\[\]…]", " ", line), comments=True)[1:]
    for word in words:
        commands = getattr(command, "commands", {})
        if commands and not word.startswith("-"):
            if word not in commands:
                return f"there is no command {word!r}"
            command = commands[word]
        elif word.startswith("--") and word.partition("=")[0] not in _options(command):
            return f"there is no option {word!r}"
    return None


def _options(command: Any) -> set[str]:
    named = [option for one in command.params for option in (*one.opts, *one.secondary_opts)]
    return {*named, "--help", "--install-completion", "--show-completion"}


def test_every_command_and_option_exists() -> None:
    lines = {(_id(page), line) for page in PAGES for line in _command_lines(page)}
    assert {line: bad for line in lines if (bad := _check_command(line[1]))} == {}


def test_a_command_that_does_not_exist_is_found() -> None:
    assert _check_command("eidet check --at agent.db") == "there is no command 'check'"
    assert _check_command("eidet recall --colour red") == "there is no option '--colour'"
    assert _check_command("eidet keys master --to file:new.key  # another key") is None
    assert len(list(_command_lines(ROOT / "docs" / "operate" / "encryption.md"))) >= 5


# Environment variables and settings files


@cache
def _variables() -> set[str]:
    """Those of the settings, and those that the code and the tests read under a name of their own."""
    settings = {f"EIDET_{one.name.upper()}" for one in dataclasses.fields(eidet.Settings)}
    upkeep = {f"EIDET_UPKEEP_{one.name.upper()}" for one in dataclasses.fields(eidet.Upkeep)}
    return settings | upkeep | set(_literals())


def _literals() -> Iterator[str]:
    for file in (*(ROOT / "src" / "eidet").rglob("*.py"), ROOT / "tests" / "making.py"):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "EIDET_" in text else ():
            value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and re.fullmatch(r"EIDET_[A-Z_]*[A-Z]", value):
                yield value


def test_every_environment_variable_exists() -> None:
    known = {*_variables(), "EIDET_", "EIDET_UPKEEP_"}
    for page in PAGES:
        named = set(re.findall(r"\bEIDET_[A-Z_]*", page.read_text(encoding="utf-8")))
        assert named <= known, page


def test_every_key_of_a_settings_file_exists() -> None:
    for language, block in (fence for page in PAGES for fence in _fences(page)):
        table = tomllib.loads(block).get("eidet", {}) if language == "toml" else {}
        assert set(table) <= {*_fields("Settings"), "memory", "embedder"}  # commands read these two
        assert set(table.get("upkeep", {})) <= _fields("Upkeep")
        for policy in table.get("retention", []):
            assert set(policy) <= _fields("Retention")


# Values and verbs


@cache
def _fields(name: str) -> set[str]:
    return set(inspect.signature(getattr(eidet, name)).parameters)


def _calls(code: str) -> Iterator[tuple[str, str]]:
    """Names that look like classes with the text between their brackets."""
    for match in CALL.finditer(code):
        depth, at = 1, match.end()
        while depth and at < len(code):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        yield match[1], code[match.end() : at - 1]


def _keywords(inside: str) -> set[str]:
    """The keyword arguments of a call, without those of calls inside of it."""
    flat = re.sub(r'"[^"]*"', '""', inside)
    while re.search(r"[(\[{][^()\[\]{}]*[)\]}]", flat):
        flat = re.sub(r"[(\[{][^()\[\]{}]*[)\]}]", "", flat)
    return set(re.findall(r"(?:^|,)\s*(\w+)\s*=(?!=)", flat))


def _values() -> set[str]:
    classes = {name for name in eidet.__all__ if dataclasses.is_dataclass(getattr(eidet, name))}
    return classes - {"Condition"} | {"Memory", "AsyncMemory"}


def test_every_field_that_a_page_sets_exists() -> None:
    wrong, values = {}, _values()
    for code in (code for page in OWN_PAGES for code in _code(page)):
        for name, inside in _calls(code):
            if name in values and not _keywords(inside) <= _fields(name):
                wrong[f"{name}({inside})"] = _keywords(inside) - _fields(name)
        for name, field in re.findall(r"\b(Settings|Upkeep|Retention)\.(\w+)", code):
            if field not in _fields(name):
                wrong[f"{name}.{field}"] = {field}
    assert wrong == {}


def test_keywords_of_inner_calls_are_not_those_of_the_outer_one() -> None:
    ((name, inside), *_) = _calls('Settings(upkeep=Upkeep(batch=6), index="a(b=1)")')
    assert name == "Settings"
    assert _keywords(inside) == {"upkeep", "index"}


def _verb_is_there(verb: str, inner: str, generator: ModuleType) -> bool:
    member = inspect.getattr_static(eidet.Memory, verb, None)
    if member is None:
        return False
    namespace = generator.namespace_of(eidet.Memory, verb)
    return not inner or namespace is None or hasattr(namespace, inner)


def test_every_verb_of_a_memory_exists() -> None:
    generator = load_generator()
    code = "\n".join(code for page in OWN_PAGES for code in _code(page))
    named = {(verb, inner) for verb, inner in VERB.findall(code) if verb not in ("py", "db")}
    assert {(verb, inner) for verb, inner in named if not _verb_is_there(verb, inner, generator)} == set()
