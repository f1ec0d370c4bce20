"""`Memory` and `AsyncMemory` with the methods of mem0's, kept by a memory of Eidet; mem0 is not needed.

entities.py       whose a memory is, and its scope     mem0_verbs.py     mem0's verbs as verbs of a memory
mem0_filters.py   filters as mem0 writes them          memory_adding.py  messages as memories
mem0_items.py     messages, memories, histories        mem0_config.py    what the class may be told

`eidet.server.mem0` serves the same verbs to the client of mem0's platform.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import fields, replace
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from ...core.errors import BadInput, NotFound
from ...memory import Memory as EidetMemory
from ...models.llm import LLM, llm_of
from ..extras import RisingTimes, finish
from .entities import Entities, Home, parse_id
from .mem0_config import Mem0Config, check_options, check_query, check_threshold, check_top_k
from .mem0_filters import parse_time
from .mem0_items import (
    Writing,
    clean_metadata,
    parse_expiration,
    parse_messages,
    tell_hit,
    tell_memory,
)
from .mem0_verbs import UNSET, Mem0Verbs, MemoryChange, Selection
from .memory_adding import PROCEDURAL, MemoryAdding

_ELSEWHERE: Final = ("vector_store", "graph_store", "history_db_path", "reranker")

__all__ = ["AsyncMemory", "Mem0Config", "Memory"]

P = ParamSpec("P")
T = TypeVar("T")

_ENTITIES: Final = ("user_id", "agent_id", "run_id")


class Memory:
    """mem0's `Memory`, kept by Eidet: `Memory("memory.db")`, or `Memory.from_config({"place": …})`.

    Without an LLM, `add` keeps messages as they are, as with `infer=False`; with one it words memories.
    Each user has a scope of the memory, which Eidet's own verbs reach: `mem0/user/ann`.
    """

    def __init__(self, config: Mem0Config | EidetMemory | str | Path | None = None) -> None:
        self.config: Mem0Config = _make_config(config)
        self._opened = not isinstance(self.config.place, EidetMemory)
        self.memory: EidetMemory = _open_memory(self.config)
        self.llm: LLM | None = None if self.config.llm is None else llm_of(self.config.llm)
        home, times = Home(self.config.scope), RisingTimes(self.memory.parts.clock)
        self._verbs = Mem0Verbs(self.memory, home)
        self._adding = MemoryAdding(self.memory, home, times, self.llm, self.config.custom_instructions)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Opens a memory from a dict with the names of `Mem0Config`."""
        return cls(_parse_config_dict(config_dict))

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Remembers a text or messages, all or none: `{"results": [{"id", "memory", "event"}]}`.

        `timestamp` says when that was. With `infer` and an LLM, the model words the memories; `prompt`
        takes the place of its instructions. If it fails, the messages are kept as they are.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        writing = Writing(
            entities=Entities.parse(ids),
            metadata=clean_metadata(metadata, "add()"),
            expiration_date=parse_expiration(expiration_date),
            now=self.memory.parts.clock(),
        )
        if memory_type is not None and memory_type != PROCEDURAL:
            raise BadInput(f"Invalid 'memory_type'. Please pass {PROCEDURAL} to create procedural memories.")
        turns = parse_messages(messages)
        if memory_type == PROCEDURAL and agent_id is not None:
            return {"results": self._adding.add_procedure(turns, writing, prompt)}
        at = None if timestamp is None else parse_time(timestamp, "timestamp")
        adding = self._adding if prompt is None else replace(self._adding, instructions=prompt)
        return {"results": adding.add(turns, writing, infer=infer, at=at)}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Returns a memory by its id; None if there is none."""
        try:
            return tell_memory(self._verbs.get(memory_id), self._verbs.home)
        except NotFound:
            return None

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The newest memories that a filter asks for, which names a user, agent or run."""
        check_options(kwargs, "get_all")
        check_top_k(top_k)
        records = self._verbs.list_memories(self._select(filters, show_expired), limit=top_k)
        return {"results": [tell_memory(record, self._verbs.home) for record in records]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,  # noqa: ARG002  # part of mem0's signature
        explain: bool = False,
        reference_date: Any | None = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Finds memories for a query, best first, with scores from `threshold` to 1.

        "Last week" is meant as of `reference_date`. Eidet ranks in one step, so `rerank` adds nothing.
        """
        check_options(kwargs, "search")
        check_top_k(top_k)
        now = None if reference_date is None else parse_time(reference_date, "reference_date")
        hits = self._verbs.search(
            check_query(query),
            self._select(filters, show_expired),
            limit=top_k,
            least=check_threshold(threshold),
            now=now,
        )
        return {"results": [tell_hit(hit, self._verbs.home, explain=explain) for hit in hits]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Changes the text of a memory, adds to its metadata, or sets or clears its date of expiry."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is UNSET:
            raise BadInput("At least one of text, metadata, or expiration_date must be provided.")
        if expiration_date is not UNSET:
            expiration_date = parse_expiration(expiration_date)
        change = MemoryChange(text=text, metadata=metadata, expiration_date=expiration_date)
        try:
            self._verbs.update(memory_id, change)
        except NotFound:
            raise BadInput(
                f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'"
            ) from None
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Deletes a memory."""
        try:
            self._verbs.delete([memory_id])
        except NotFound as error:
            raise BadInput(str(error)) from None
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Deletes all memories that belong to the user, agent and run that are named."""
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        if ids == dict.fromkeys(ids):
            raise BadInput(
                "At least one filter is required to delete all memories. If you want to delete all "
                "memories, use the `reset()` method."
            )
        self._verbs.delete_all(Entities.parse(ids))
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """The history of a memory, oldest first; empty once it is deleted."""
        try:
            return self._verbs.history(memory_id)
        except NotFound:
            return []

    def reset(self) -> None:
        """Deletes all memories of all users."""
        self._verbs.reset()

    def close(self) -> None:
        """Closes the memory, unless it was given open."""
        if self._opened:
            self.memory.close()

    def chat(self, query: str) -> None:
        """mem0 has not written this either."""
        raise NotImplementedError("Chat function not implemented yet.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def _select(self, filters: Mapping[str, Any] | None, show_expired: bool) -> Selection:
        chosen = dict(filters or {})
        for name in _ENTITIES:
            if isinstance(chosen.get(name), str | int) and chosen[name] != "*":
                chosen[name] = parse_id(chosen[name], name)
        return self._verbs.select(chosen, show_expired=show_expired)


def _twin(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]]:
    """A method of `Memory` for asyncio, with its signature and docstring."""

    async def run(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await finish(partial(method, self._sync, *args, **kwargs))

    return update_wrapper(run, method)


class AsyncMemory:
    """mem0's `AsyncMemory`: the methods of `Memory`, each in a thread.

    A call that is cancelled is finished first, so that nothing is lost or stored twice.
    """

    def __init__(self, config: Mem0Config | EidetMemory | str | Path | None = None) -> None:
        self._sync = Memory(config)
        self.config, self.memory = self._sync.config, self._sync.memory

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Opens a memory from a dict with the names of `Mem0Config`."""
        return cls(_parse_config_dict(config_dict))

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        llm: Any = None,
    ) -> dict[str, Any]:
        """Works like `Memory.add`; `llm` words the memories of this call."""
        return await finish(
            partial(
                self._choose(llm).add,
                messages,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                metadata=metadata,
                timestamp=timestamp,
                expiration_date=expiration_date,
                infer=infer,
                memory_type=memory_type,
                prompt=prompt,
            )
        )

    get = _twin(Memory.get)
    get_all = _twin(Memory.get_all)  # type: ignore[arg-type]  # its **kwargs could name `self`
    search = _twin(Memory.search)  # type: ignore[arg-type]
    update = _twin(Memory.update)
    delete = _twin(Memory.delete)
    delete_all = _twin(Memory.delete_all)
    history = _twin(Memory.history)
    reset = _twin(Memory.reset)

    def close(self) -> None:
        """Works like `Memory.close`."""
        self._sync.close()

    async def chat(self, query: str) -> None:
        """mem0 has not written this either."""
        self._sync.chat(query)

    def _choose(self, llm: Any) -> Memory:
        """The memory with another model, where one is given."""
        return self._sync if llm is None else Memory(replace(self.config, place=self.memory, llm=llm))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        self.close()


def _make_config(config: object) -> Mem0Config:
    """A config from what a user gives: one, a place, an open memory, or nothing."""
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


def _parse_config_dict(values: Mapping[str, Any]) -> Mem0Config:
    """A config from a dict. `llm` and `embedder` may be written as mem0 does, with provider and config."""
    if not isinstance(values, Mapping):
        raise BadInput(f"config_dict must be a dict, not {type(values).__name__}")
    known = [one.name for one in fields(Mem0Config)]
    given = {name: value for name, value in values.items() if name != "version"}
    for name in given:
        if name in _ELSEWHERE:
            raise BadInput(
                f"{name!r} has no meaning here: Eidet keeps everything in one place, such as "
                "{'place': 'memory.db'}; `eidet import` brings what a store of mem0 has"
            )
        if name not in known:
            raise BadInput(f"unknown config {name!r}; there are {', '.join(known)}")
    for name, make in (("llm", llm_of), ("embedder", _name_model)):
        if isinstance(given.get(name), Mapping):
            given[name] = _make_model(given[name], make)
    return Mem0Config(**given)


def _make_model(values: Mapping[str, Any], make: Callable[..., object]) -> object:
    """A model written as `{"provider": "openai", "config": {"model": …, "api_key": …}}`."""
    config = values.get("config") or {}
    provider, model = values.get("provider"), config.get("model")
    if not isinstance(provider, str) or not isinstance(model, str):
        raise BadInput("a model needs a provider and, in its config, a model")
    address = config.get(f"{provider}_base_url")
    name = f"{provider}:{model}" + ("" if address is None else f"@{address}")
    return make(name, **({"key": config["api_key"]} if "api_key" in config else {}))


def _name_model(name: str, *, key: str | None = None) -> str:
    if key is not None:
        raise BadInput("give the key of an embedder in the environment, such as OPENAI_API_KEY")
    return name


def _open_memory(config: Mem0Config) -> EidetMemory:
    """The memory that a config names, opened if it is not open."""
    if isinstance(config.place, EidetMemory):
        return config.place
    if config.place is not None:
        return EidetMemory(config.place, embedder=config.embedder)
    folder = Path(os.environ.get("MEM0_DIR") or "~/.mem0").expanduser()  # where mem0 keeps its own files
    folder.mkdir(parents=True, exist_ok=True)
    return EidetMemory(folder / "eidet.db", embedder=config.embedder)
