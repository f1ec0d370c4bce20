"""From what a user names (a path, a URL, a store) to the store and the index that serve it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from .config import Settings
from .embed import Embedder, WordEmbedder
from .errors import Misconfigured
from .index import Index
from .store import Store
from .text import Analyzer


def open_store(place: str | Path | Store | None, settings: Settings) -> Store:
    """None or "ram://": RAM; a path or "sqlite:///path": a file; "name://…": a plugin's store."""
    if place is None or place == "ram://":
        from .store.ram import RamStore

        return RamStore()
    if isinstance(place, Path):
        return _sqlite(place, settings)
    if not isinstance(place, str):
        if not hasattr(place, "changes"):
            raise Misconfigured(f"a memory is opened by a path, a URL or a store, not {type(place).__name__}")
        return place
    name, colon, rest = place.partition("://")
    if not colon:
        return _sqlite(Path(place), settings)
    if name == "sqlite":
        return _sqlite(Path(rest.removeprefix("/")), settings)
    store: Store = _plugin("eidet.stores", name)(place, settings=settings)
    return store


def _sqlite(path: Path, settings: Settings) -> Store:
    from .store.sqlite import SqliteStore

    return SqliteStore(path.expanduser(), durability=settings.durability)


def open_index(
    store: Store,
    width: int,
    settings: Settings,
    renewed: Callable[[], None] | None = None,
    embedder: Embedder | None = None,
    analyzer: Analyzer | None = None,
) -> Index:
    """The embedded index beside the store, or the plugin that the setting `index` names.

    `renewed` is called before an answer from vectors or terms that were replaced, and may refuse it.
    An embedder that knows the vectors of words lets the embedded index align words, too.
    """
    if settings.index != "embedded":
        index: Index = _plugin("eidet.indexes", settings.index)(
            store, width, settings=settings, renewed=renewed
        )
        return index
    from .index.embedded import EmbeddedIndex, EmbeddedSettings
    from .index.lexicon import Lexicon

    path = getattr(store, "path", None)
    return EmbeddedIndex(
        store,
        width,
        folder=None if path is None else Path(f"{path}-index"),
        renewed=renewed,
        lexicon=Lexicon(embedder, analyzer) if analyzer and isinstance(embedder, WordEmbedder) else None,
        analyzer=analyzer,
        settings=EmbeddedSettings(memory_mb=settings.index_memory_mb, sidecar_from=settings.sidecar_from),
    )


def _plugin(group: str, name: str) -> Callable[..., Any]:
    """What an installed package offers under a name."""
    found = entry_points(group=group)
    for entry in found.select(name=name):
        make: Callable[..., Any] = entry.load()
        return make
    known = ", ".join(sorted(found.names))
    raise Misconfigured(f"no entry point of {group} is called {name!r}; there are {known}")
