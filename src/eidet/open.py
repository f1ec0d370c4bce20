"""Opens the parts of a memory from a path, a URL or a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from .core.errors import Misconfigured
from .core.plugins import call_plugin, list_plugins, load_plugin
from .core.settings import Settings
from .index import Index
from .models.embed import Embedder, embedder_named, embedder_of
from .parts import Parts
from .store import Store, verbs
from .store.traits import is_sealed, path_of, traits_of
from .text import Analyzer

if TYPE_CHECKING:
    from .trust.audit import Audit
    from .trust.audit.log import AuditLog
    from .trust.seal.service import Key

    AuditChoice = str | Path | Audit | AuditLog | Literal[False] | None

TIERED: Final = (
    "tiered://?short=redis://host&long=agent.db, with archive=s3://… if wanted; "
    "'&' and '?' inside of a part are written %26 and %3F"
)


RAM: Final = (None, "ram://", ":memory:", "sqlite://:memory:", "sqlite:///:memory:")


def open_store(place: str | Path | Store | None, settings: Settings) -> Store:
    """Opens the store at a place: None or "ram://" for RAM, a path for a file, "name://…" for a plugin."""
    if place in RAM:
        from .store.ram import RamStore

        return RamStore()
    if isinstance(place, Path):
        return _sqlite(place, settings)
    if not isinstance(place, str):
        if not _is_store(place):
            raise Misconfigured(f"a memory opens from a path, a URL or a store, not {type(place).__name__}")
        return place
    name, colon, rest = place.partition("://")
    if not colon:
        return _sqlite(Path(place), settings)
    if name == "sqlite":
        return _sqlite(Path(rest.removeprefix("/")), settings)
    if name == "tiered":
        return _open_tiered(place, settings)
    if name in ("http", "https"):
        raise Misconfigured(
            f"{name}://… is a server, not a store: Memory(url) opens it; "
            "`eidet export` and `eidet load` move its memories"
        )
    store: Store = _make("eidet.stores", name, place, settings=settings)
    if not _is_store(store):
        raise Misconfigured(f"{name!r} of eidet.stores must return a store, not {type(store).__name__}")
    return store


def _is_store(thing: object) -> bool:
    return callable(getattr(thing, "changes", None))


def _sqlite(path: Path, settings: Settings) -> Store:
    from .store.sql.sqlite import SqliteStore

    return SqliteStore(path.expanduser(), durability=settings.durability)


def _open_tiered(url: str, settings: Settings) -> Store:
    """Opens `tiered://?short=redis://…&long=agent.db&archive=s3://…`, parts percent-encoded."""
    from .net.url import Options
    from .store.tiered import TieredStore

    options = Options.parse(url.partition("?")[2], hint=TIERED)
    options.check_known(("short", "long", "archive"))
    short, long = options.get_text("short", ""), options.get_text("long", "")
    if not (short and long):
        raise options.error("a tiered memory names its short and its long store")
    return TieredStore(
        partial(open_store, short, settings),
        partial(open_store, long, settings),
        archive=options.get_text("archive", None) or None,
    )


def open_parts(
    place: str | Path | Store | None,
    *,
    embedder: object,
    settings: Settings,
    key: Key | None,
    audit: AuditChoice,
    clock: Callable[[], float],
) -> tuple[Parts, AuditLog | None]:
    """Opens a store, wraps it to seal and audit it as asked, and builds the parts; closes it on failure."""
    if not callable(clock):
        raise Misconfigured(f"clock must be a function such as time.time, not {type(clock).__name__}")
    if settings.ranking is not None:
        from .recall.model import load_weights

        load_weights(settings.ranking)  # an unknown one is refused before anything is opened
    store = open_store(place, settings)
    archive = traits_of(store).archive
    if settings.upkeep.archive is None and archive:
        settings = replace(settings, upkeep=replace(settings.upkeep, archive=archive))
    try:
        store = _seal_store(store, key, settings)
        log = _open_audit(audit, settings, clock)
        if log is not None:
            from .trust.audit.store import AuditedStore

            store = AuditedStore(store, log)
            store.attach()
        else:
            _check_unaudited(store, audit, settings, clock)
        parts = Parts(
            store=store,
            embedder=_embedder_for(store, embedder),
            settings=settings,
            clock=clock,
            open_index=partial(open_index, store, settings),
            has_embedded_index=settings.index == "embedded",
        )
    except BaseException:
        store.close()
        raise
    return parts, log


def _embedder_for(store: Store, embedder: object) -> Embedder:
    """Returns the embedder given, else the one that the store was written with, else the default."""
    name = verbs.get_setting(store, "embedder") if embedder is None else None
    if name:
        return embedder_named(name, int(verbs.get_setting(store, "width") or 0))
    return embedder_of(embedder)


def _open_audit(audit: AuditChoice, settings: Settings, clock: Callable[[], float]) -> AuditLog | None:
    """Opens the audit log that argument or settings name; None if neither does, or `audit=False`."""
    if audit is False or (audit is None and settings.audit is None):
        return None
    from .trust.audit import audit_of, audit_set

    return audit_of(audit_set(settings) if audit is None else audit, clock)


def _check_unaudited(store: Store, audit: object, settings: Settings, clock: Callable[[], float]) -> None:
    """Refuses to open an audited memory without its log, unless the caller insists with `audit=False`."""
    if verbs.get_setting(store, "audit") is not None or traits_of(store).audited:
        from .trust.audit import OFF
        from .trust.audit.store import check_unaudited

        check_unaudited(store, allowed=audit is False or settings.audit == OFF, clock=clock)


def _seal_store(store: Store, key: Key | None, settings: Settings) -> Store:
    """Wraps the store to seal it if there is a key; raises `Misconfigured` if store and key do not match."""
    from .trust.seal import SEAL, check_unsealed

    chosen, sealed = settings.key or None if key is None else key, verbs.get_setting(store, SEAL)
    if is_sealed(store):
        return store
    name = path_of(store) or "this memory"
    if sealed is None:
        check_unsealed(store)
    if chosen is None:
        if sealed is not None:
            from .trust.seal.keyring import read_master

            raise Misconfigured(
                f"{name} is sealed with the master key {read_master(store)['master']}: open it with "
                "Memory(…, key='env:EIDET_KEY') or key='file:PATH'; on the command line, EIDET_KEY or "
                "--key-file gives the key"
            )
        return store
    if sealed is None and (store.head().seq or not store.writable):
        raise Misconfigured(
            f"{name} is not sealed, but a key was given: `eidet copy {name} NEW --to-key file:KEY` copies "
            "it into a sealed one; or open it without a key (is EIDET_KEY set?)"
        )
    from .trust.seal.service import service_of
    from .trust.seal.store import SealedStore

    return SealedStore(store, service_of(chosen))


def open_index(
    store: Store,
    settings: Settings,
    width: int,
    renewed: Callable[[], None] | None = None,
    embedder: Embedder | None = None,
    analyzer: Analyzer | None = None,
) -> Index:
    """Opens the embedded index beside the store, or the plugin that the setting `index` names.

    An address such as `qdrant+http://host:6333` names the plugin `qdrant`, which parses the rest itself.
    `renewed` is called before an answer from vectors or terms that were replaced, and may raise to refuse it.
    With an embedder that has vectors of words, the embedded index also aligns words.
    """
    if settings.index != "embedded":
        if is_sealed(store) and not settings.index_unsealed:
            raise Misconfigured(
                f"this memory is sealed, and the index {settings.index.partition('://')[0]!r} would hold its "
                "vectors and words unsealed: leave the setting index as it is, or allow it with "
                "index_unsealed=True"
            )
        name = settings.index.partition("://")[0].partition("+")[0]
        parts = {"settings": settings, "renewed": renewed, "embedder": embedder, "analyzer": analyzer}
        index = _make("eidet.indexes", name, store, width, **parts)
        if not isinstance(index, Index):
            raise Misconfigured(f"{name!r} of eidet.indexes must return an index, not {type(index).__name__}")
        return index
    from .index.embedded import EmbeddedIndex
    from .index.embedded.lexicon import make_lexicon

    path = None if is_sealed(store) else path_of(store)  # cache files would hold what is sealed
    return EmbeddedIndex(
        store,
        width,
        folder=None if path is None else Path(f"{path}-index"),
        renewed=renewed,
        lexicon=make_lexicon(embedder, analyzer),
        analyzer=analyzer,
        memory_mb=settings.index_memory_mb,
        sidecar_from=settings.sidecar_from,
    )


def _make(group: str, name: str, *given: Any, **named: Any) -> Any:
    """Builds the object that an installed package registers under a name."""
    if (make := load_plugin(group, name)) is None:
        known = ", ".join(list_plugins(group))
        if group == "eidet.stores":
            raise Misconfigured(
                f"no store has addresses that begin with {name!r} (no entry point {name!r} of {group}; there "
                f"are {known}): name a file such as agent.db, or a URL such as postgresql://user@host/name"
            )
        raise Misconfigured(f"there is no entry point {name!r} of {group}; there are {known}")
    return call_plugin(group, name, make, given, **named)
