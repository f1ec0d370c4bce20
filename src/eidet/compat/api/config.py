"""The settings of this door, and their translation into those of the memory behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from ...core.settings import Upkeep, settings_of
from ...memory import Memory
from ...open import open_store
from ..opening import check_limit, check_number, check_positive, check_whole, open_memory
from .errors import MemoryConfigException, log

_SECONDS_A_DAY: Final = 86_400.0
MOVES: Final = ("expire", "promote", "move")
_HERE: Final = (None, "localhost", "127.0.0.1", "::1")
_check_whole = partial(check_whole, error=MemoryConfigException)
_check_limit = partial(check_limit, error=MemoryConfigException)
_check_number = partial(check_number, error=MemoryConfigException)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tier:
    """The limits of a tier: entries, seconds without use, steps back; None means no limit."""

    memory_limit: int | None = None
    ttl: float | None = None
    retention_steps: int | None = None

    def __post_init__(self) -> None:
        own = type(self).__name__
        _check_limit(self.memory_limit, f"{own}.memory_limit", least=0)
        _check_limit(self.retention_steps, f"{own}.retention_steps", least=0)
        if self.ttl is not None:
            check_positive(self.ttl, f"{own}.ttl", error=MemoryConfigException)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Redis(_Tier):
    """A tier that can live on a Redis server.

    `use_redis`, a `url`, or a host that is not this machine puts it on a server. Otherwise it is kept with
    the other tiers, in RAM or in the file. Its limits apply either way.
    """

    host: str | None = None
    port: int = 6379
    db: int = 0
    password: str | None = None
    url: str | None = None
    use_redis: bool = False

    def __post_init__(self) -> None:
        _Tier.__post_init__(self)
        if _check_whole(self.port, f"{type(self).__name__}.port", least=1) > 65_535:
            raise MemoryConfigException(f"a port must be a number from 1 to 65535, not {self.port}")

    @property
    def server(self) -> str | None:
        """Returns the URL of the server, if one is configured."""
        if self.url is not None:
            return self.url
        if not self.use_redis and self.host in _HERE:
            return None
        secret = f":{quote(self.password, safe='')}@" if self.password else ""
        return f"redis://{secret}{self.host or 'localhost'}:{self.port}/{self.db}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSTMConfig(_Redis):
    """Short-term memory: recent, in full detail."""

    memory_limit: int | None = 10_000
    ttl: float | None = _SECONDS_A_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisIMConfig(_Redis):
    """Intermediate memory: vectors in 8 bits."""

    memory_limit: int | None = 100_000
    ttl: float | None = 7 * _SECONDS_A_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLiteLTMConfig(_Tier):
    """Long-term memory: the entire history, compressed. `db_path` is the file of all embedded tiers."""

    db_path: str | Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """The settings of agents' memories. The tiers' settings may be dicts.

    `memory_priority_decay` is the factor by which a memory's priority shrinks with each `ttl` of the short
    tier (each day, if it has none) since it was stored.
    """

    stm_config: RedisSTMConfig | Mapping[str, Any] = field(default_factory=RedisSTMConfig)
    im_config: RedisIMConfig | Mapping[str, Any] = field(default_factory=RedisIMConfig)
    ltm_config: SQLiteLTMConfig | Mapping[str, Any] = field(default_factory=SQLiteLTMConfig)
    cleanup_interval: int = 100
    memory_priority_decay: float = 0.95
    cache_ttl: float = 300.0
    cache_size: int = 256
    promote_uses: int | None = 5
    promote_days: float = 7.0

    def __post_init__(self) -> None:
        for name, kind in _TIERS.items():
            object.__setattr__(self, name, _tier_of(kind, getattr(self, name), name))
        _check_whole(self.cleanup_interval, "cleanup_interval", least=1)
        _check_whole(self.cache_size, "cache_size")
        _check_limit(self.promote_uses, "promote_uses")
        _check_number(self.cache_ttl, "cache_ttl")
        _check_number(self.promote_days, "promote_days")
        _check_number(self.memory_priority_decay, "memory_priority_decay", least=1e-9, most=1.0)
        self._check_one_server()

    def _check_one_server(self) -> None:
        short, middle = self.stm.server, self.im.server
        if None not in (short, middle) and short != middle:
            raise MemoryConfigException(
                "stm_config and im_config name two servers: the short and the middle tier live on one server "
                "in one database; name the same for both, or leave it out of im_config"
            )

    @property
    def stm(self) -> RedisSTMConfig:
        assert isinstance(self.stm_config, RedisSTMConfig)
        return self.stm_config

    @property
    def im(self) -> RedisIMConfig:
        assert isinstance(self.im_config, RedisIMConfig)
        return self.im_config

    @property
    def ltm(self) -> SQLiteLTMConfig:
        assert isinstance(self.ltm_config, SQLiteLTMConfig)
        return self.ltm_config

    @property
    def server(self) -> str | None:
        """The server of the short and middle tiers, which share it; None if none is configured."""
        return self.stm.server or self.im.server

    @property
    def place(self) -> str | Path | None:
        """The place of all tiers, except a long tier with its own file beside a server; None is RAM."""
        if self.server is not None:
            return self.server
        if self.stm.host is not None or self.im.host is not None:
            log.info("using no Redis server: tiers stay embedded unless you pass use_redis=True or a url")
        return self.ltm.db_path

    def open(self, **how: Any) -> Memory:
        """Opens the memory. With a server and a `db_path`, the server has short and middle, the file long."""
        server, path = self.server, self.ltm.db_path
        if server is None or path is None:
            return open_memory(self.place, **how)
        from ...store.tiered import TieredStore

        settings = settings_of(how.get("settings"))
        store = TieredStore(
            short=lambda: open_store(server, settings), long=lambda: open_store(Path(path), settings)
        )
        return Memory(store, **how)

    def upkeep(self, *, short: int | None, middle: int | None) -> Upkeep:
        """Returns the limits of the tiers; `short` and `middle` are how many entries may stay."""
        return Upkeep(
            short_entries=short,
            short_age_days=_days(self.stm.ttl),
            short_steps=self.stm.retention_steps,
            middle_entries=middle,
            middle_age_days=_days(self.im.ttl),
            middle_steps=self.im.retention_steps,
            promote_uses=self.promote_uses,
            promote_days=self.promote_days,
        )

    def priority_after(self, age: float) -> float:
        """Returns the share of its priority that a memory of this age in seconds still has."""
        return float(self.memory_priority_decay ** max(0, int(age // (self.stm.ttl or _SECONDS_A_DAY))))

    def but(self, changes: Mapping[str, Any]) -> MemoryConfig:
        """Returns a copy with changes by name (`cleanup_interval`, `stm_config.ttl`), all or none."""
        flat: dict[str, Any] = {}
        for name, value in sorted(changes.items(), key=lambda change: "." in str(change[0])):
            head, _, part = str(name).partition(".")
            head = _SHORT.get(head, head)
            if part and head in _TIERS:
                base = _tier_of(_TIERS[head], flat.get(head, getattr(self, head)), head)
                flat[head] = _change_fields(base, {part: value}, head)
            else:
                flat[f"{head}.{part}" if part else head] = value
        return _change_fields(self, flat, "the config")


T = TypeVar("T", bound=_Tier)
S = TypeVar("S", bound=_Tier | MemoryConfig)
_TIERS: Final[dict[str, type[_Tier]]] = {
    "stm_config": RedisSTMConfig,
    "im_config": RedisIMConfig,
    "ltm_config": SQLiteLTMConfig,
}
_SHORT: Final = {"stm": "stm_config", "im": "im_config", "ltm": "ltm_config"}


def _tier_of(kind: type[T], given: object, name: str) -> T:
    if isinstance(given, kind):
        return given
    if isinstance(given, Mapping):
        return _change_fields(kind(), given, name)
    raise MemoryConfigException(f"{name} must be a {kind.__name__} or a dict, not {given!r}")


def _change_fields(base: S, changes: Mapping[str, Any], name: str) -> S:
    known = {f.name for f in fields(base)}
    if unknown := changes.keys() - known:
        listed = ", ".join(sorted(known))
        raise MemoryConfigException(f"{name} has no setting {sorted(unknown)}; there are {listed}")
    return replace(base, **changes)


def _days(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / _SECONDS_A_DAY
