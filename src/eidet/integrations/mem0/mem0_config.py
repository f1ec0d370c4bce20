"""The config of mem0's class: the place of its memories, and the models it uses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ...core.errors import BadInput
from ...memory import Memory as EidetMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Config:
    """The place of the memories, and the models. All fields have defaults."""

    place: str | Path | EidetMemory | None = None  # a memory, or a path or URL; None: a file in MEM0_DIR
    scope: str = "mem0"  # below it, each user has a scope
    embedder: object = None  # as `eidet.Memory` takes it
    llm: object = None  # as `llm_of` takes it; without one, messages are stored as they are
    custom_instructions: str | None = None  # for the model that words memories


def make_config(config: object) -> Mem0Config:
    """Returns a config for a config, a place, an open memory, or None."""
    if config is None:
        return Mem0Config()
    if isinstance(config, Mem0Config):
        return config
    if isinstance(config, str | Path | EidetMemory):
        return Mem0Config(place=config)
    raise BadInput(
        f"config must be a Mem0Config, a place or a memory, not {type(config).__name__}; "
        "Memory.from_config takes a dict"
    )


def parse_config_dict(values: Mapping[str, Any]) -> Mem0Config:
    """Parses a config dict; raises `BadInput` for settings of stores, which have no meaning here."""
    if not isinstance(values, Mapping):
        raise BadInput(f"config_dict must be a dict, not {type(values).__name__}")
    known = [one.name for one in fields(Mem0Config)]
    given = {name: value for name, value in values.items() if name != "version"}
    if unknown := [name for name in given if name not in known]:
        raise BadInput(
            f"unknown config {unknown[0]!r}; there are {', '.join(known)}. Eidet keeps everything in one "
            "place, such as {'place': 'memory.db'}; `eidet import` brings what a store of mem0 has"
        )
    return Mem0Config(**given)


def open_memory(config: Mem0Config) -> EidetMemory:
    """Returns the memory of a config, opened if it is not open."""
    if isinstance(config.place, EidetMemory):
        return config.place
    if config.place is not None:
        return EidetMemory(config.place, embedder=config.embedder)
    folder = Path(os.environ.get("MEM0_DIR") or "~/.mem0").expanduser()  # where mem0 keeps its own files
    folder.mkdir(parents=True, exist_ok=True)
    return EidetMemory(folder / "eidet.db", embedder=config.embedder)
