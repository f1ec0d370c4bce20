"""Opens the two ends of a copy. An open memory stays open; one given by name is opened and closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import Misconfigured, NotFound
from ..core.settings import Settings, settings_of
from ..memory import Memory
from ..open import open_store
from ..store import Store, verbs
from ..store.sql.inspect_file import file_of
from ..store.traits import path_of
from ..trust.seal import SEAL
from ..trust.seal.keyring import read_master

if TYPE_CHECKING:
    from ..trust.seal.service import Key

Place = Memory | str | Path


def source_at(place: str | Path, *, key: Key | None = None, settings: Settings | None = None) -> Memory:
    """Opens a memory that must exist; uses the key of the settings only if it is sealed."""
    file = file_of(str(place))
    if file is not None and not file.exists():
        raise NotFound(f"there is no memory {file} to copy from")
    chosen = settings_of(settings)
    store = open_store(place, chosen)
    return _open_end(store, chosen, key or _own_key(store, chosen), "from")


def target_at(
    place: str | Path,
    source: Memory,
    *,
    embedder: object = None,
    language: str | None = None,
    key: Key | None = None,
    settings: Settings | None = None,
) -> Memory:
    """Opens or creates the target: like the source, except for what is given here."""
    chosen = settings_of(settings)
    store = open_store(place, chosen)
    origin = source.parts  # its embedder made the vectors
    new = verbs.get_setting(store, "embedder") is None
    fallback = chosen.key if new and not store.head().seq else _own_key(store, chosen)
    return _open_end(
        store,
        chosen,
        key or fallback,
        "to",
        embedder=origin.embedder if new and embedder is None else embedder,
        language=verbs.get_setting(origin.store, "language") if new and language is None else language,
    )


def _open_end(store: Store, settings: Settings, key: Key | None, end: str, **how: Any) -> Memory:
    try:
        _check_key(store, key, end)
        return Memory(store, settings=replace(settings, key=None), key=key, **how)
    except BaseException:
        store.close()
        raise


def _check_key(store: Store, key: Key | None, end: str) -> None:
    if key is None and verbs.get_setting(store, SEAL) is not None:
        name = path_of(store) or "the memory that is copied"
        raise Misconfigured(
            f"{name} is sealed with the master key {read_master(store)['master']}: name it by "
            f"--{end}-key file:PATH or --{end}-key env:NAME, or set EIDET_KEY; in Python, open it with "
            "Memory(…, key=…) and copy that"
        )


def _own_key(store: Store, settings: Settings) -> str | None:
    return None if verbs.get_setting(store, SEAL) is None else settings.key
