"""From what a user names (a path, a URL, a store) to the store and the index that serve it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from .core.errors import Misconfigured
from .core.plugins import called, loaded, offered
from .core.settings import Settings
from .index import Index
from .models.embed import Embedder, WordEmbedder
from .store import Store, verbs
from .text import Analyzer

if TYPE_CHECKING:
    from .trust.audit import Audit
    from .trust.audit.log import AuditLog
    from .trust.seal.service import Key


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
    if name == "tiered":
        return _tiered(place, settings)
    store: Store = _made("eidet.stores", name, place, settings=settings)
    if not hasattr(store, "changes"):
        raise Misconfigured(f"{name!r} of eidet.stores is to give a store, not {type(store).__name__}")
    return store


def _sqlite(path: Path, settings: Settings) -> Store:
    from .store.sql.sqlite import SqliteStore

    return SqliteStore(path.expanduser(), durability=settings.durability)


def _tiered(url: str, settings: Settings) -> Store:
    """`tiered://?short=redis://…&long=agent.db&archive=s3://…&outbox=folder`; each part percent-encoded."""
    from .store.tiered import TieredStore

    parts = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    unknown = parts.keys() - {"short", "long", "archive", "outbox"}
    if unknown or not (parts.get("short") and parts.get("long")):
        raise Misconfigured(
            "a tiered memory is tiered://?short=redis://host&long=agent.db, with archive=s3://… and "
            "outbox=folder if wanted; '&' and '?' inside of a part are written %26 and %3F"
        )
    return TieredStore(
        partial(open_store, parts["short"], settings),
        partial(open_store, parts["long"], settings),
        outbox=parts.get("outbox") or None,
        archive=parts.get("archive") or None,
    )


def audited(
    store: Store,
    audit: str | Path | Audit | AuditLog | None,
    settings: Settings,
    clock: Callable[[], float] = time.time,
) -> Store:
    """The store, with its changes noted if that is asked for here or by the settings."""
    if audit is None and settings.audit is None:
        return store
    from .trust.audit import audit_of, audit_set
    from .trust.audit.store import AuditedStore

    log = audit_of(audit_set(settings) if audit is None else audit, clock)
    return store if log is None else AuditedStore(store, log, owns=log is not audit)


def sealed(store: Store, key: Key | None, settings: Settings) -> Store:
    """The store, sealed if there is a key. `Misconfigured` where file and key do not fit together."""
    from .trust.seal.keyring import SEAL, sealed_with

    chosen, told = settings.key or None if key is None else key, verbs.get_setting(store, SEAL)
    if getattr(store, "sealed", False):
        return store
    name = getattr(store, "path", "this memory")
    if chosen is None:
        if told is not None:
            raise Misconfigured(
                f"{name} is sealed with the master key {sealed_with(store)['master']}: open it with "
                "Memory(…, key='env:EIDET_KEY') or key='file:PATH'; on the command line, EIDET_KEY or "
                "--key-file gives the key"
            )
        return store
    if told is None and (store.head().seq or not store.writable):
        raise Misconfigured(
            f"{name} is not sealed, but a key was given: {_how_to_seal(store)}; or open it without a key "
            "(is EIDET_KEY set?)"
        )
    from .trust.seal.service import service_of
    from .trust.seal.store import SealedStore

    return SealedStore(store, service_of(chosen))


def _how_to_seal(store: Store) -> str:
    """In place, if all of it is one file."""
    path = getattr(store, "path", None)
    if path is None or hasattr(store, "missing"):
        return "export it, and load that into a new one with the key"
    return f"`eidet seal {path}` seals what it holds"


def open_index(
    store: Store,
    width: int,
    settings: Settings,
    renewed: Callable[[], None] | None = None,
    embedder: Embedder | None = None,
    analyzer: Analyzer | None = None,
) -> Index:
    """The embedded index beside the store, or the plugin that the setting `index` names.

    Without a setting, what the server of the store brings along is used, where it does.
    An address such as `qdrant+http://host:6333` names the plugin `qdrant`, which reads the rest itself.
    `renewed` is called before an answer from vectors or terms that were replaced, and may refuse it.
    An embedder that knows the vectors of words lets the embedded index align words, too.
    """
    settings = replace(settings, index=_index_of(store, settings))
    if settings.index != "embedded":
        _check_may_see(store, settings)
        name = settings.index.partition("://")[0].partition("+")[0]
        parts = {"settings": settings, "renewed": renewed, "embedder": embedder, "analyzer": analyzer}
        index: Index = _made("eidet.indexes", name, store, width, **parts)
        if not hasattr(index, "search"):
            raise Misconfigured(f"{name!r} of eidet.indexes is to give an index, not {type(index).__name__}")
        return index
    from .index.embedded import EmbeddedIndex, EmbeddedSettings
    from .index.embedded.lexicon import Lexicon

    # a cache file would hold words and vectors of a sealed memory
    path = None if getattr(store, "sealed", False) else getattr(store, "path", None)
    return EmbeddedIndex(
        store,
        width,
        folder=None if path is None else Path(f"{path}-index"),
        renewed=renewed,
        lexicon=Lexicon(embedder, analyzer) if analyzer and isinstance(embedder, WordEmbedder) else None,
        analyzer=analyzer,
        settings=EmbeddedSettings(memory_mb=settings.index_memory_mb, sidecar_from=settings.sidecar_from),
    )


def is_embedded(store: Store, settings: Settings) -> bool:
    """Whether the index keeps nothing but in RAM, and in files beside those of the store."""
    return _index_of(store, settings) == "embedded"


def _index_of(store: Store, settings: Settings) -> str:
    """What `auto` comes to; a server must not see the vectors of a sealed memory unasked."""
    if settings.index != "auto":
        return settings.index
    tell = None if getattr(store, "sealed", False) else getattr(store, "offered_index", None)
    return (tell() if tell is not None else None) or "embedded"


def _check_may_see(store: Store, settings: Settings) -> None:
    if getattr(store, "sealed", False) and not settings.index_unsealed:
        raise Misconfigured(
            f"this memory is sealed, and the index {settings.index.partition('://')[0]!r} would hold its "
            "vectors and words unsealed: leave the setting index as it is, or allow it with "
            "index_unsealed=True"
        )


def _made(group: str, name: str, *given: Any, **named: Any) -> Any:
    """What an installed package makes under a name."""
    if (make := loaded(group, name)) is None:
        known = ", ".join(offered(group))
        raise Misconfigured(f"no entry point of {group} is called {name!r}; there are {known}")
    return called(group, name, make, given, **named)
