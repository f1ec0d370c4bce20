"""Settings with good defaults, and the one place that reads them from the environment or a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from .errors import BadInput, Misconfigured
from .record import kind_of
from .scope import ALL, Scope
from .setting_rules import check_fields, parse_field, rules_of

CHOICES: Final = ("memory", "embedder")  # in a settings file beside the settings: what to open


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The rules by which memories move between tiers, fade and are summarised. None switches a limit off.

    Limits of entries and steps are those of one scope. Ages count from when a memory was made or last
    used, for importance 0.5: at importance 0 it moves after half the time, at 1 not by age at all.
    """

    short_entries: int | None = 10_000  # the short tier holds this many; the longest unused move on
    short_age_days: float | None = 30.0  # unused for this long, a memory moves from short to middle
    short_steps: int | None = None  # this many steps behind the newest, a memory moves from short to middle
    middle_entries: int | None = 100_000  # the middle tier holds this many; the longest unused move on
    middle_age_days: float | None = 180.0  # unused for this long, a memory moves from middle to long
    middle_steps: int | None = None  # this many steps behind the newest, a memory moves from middle to long
    gist_tokens: int = 48  # the long tier shows this much of a text
    promote_uses: int | None = 5  # this many uses since the last move lift a memory one tier
    promote_days: float = 7.0  # … provided the last use was within these days
    forget_below: float = 0.0  # forget memories whose strength falls below this; 0 forgets nothing
    archive_above: float = 0.5  # archive memories at least this important before forgetting them
    archive: str | None = None  # the archive: a folder or a URL; without one, important memories are kept
    half_life_days: float = 30.0  # forgetting curve: days until a memory has half its strength
    spacing_gain: float = 1.0  # forgetting curve: by how much a use lengthens the half-life
    importance_gain: float = 4.0  # forgetting curve: by how much importance lengthens it
    session_idle_hours: float | None = 6.0  # a session silent for this long has ended
    episode_messages: int | None = 50  # this many new messages of an open session make an episode
    episode_tokens: int = 200  # the length of an episode's summary
    fact_episodes: int = 2  # what this many episodes say becomes a fact
    every_insertions: int | None = None  # move memories in the background after this many new records
    moves_told_days: float = 7.0  # how long the history lists a move between tiers
    history_days: float | None = None  # how long it lists deleted records; None: forever
    batch: int = 100  # records changed per transaction

    def __post_init__(self) -> None:
        check_fields(self, "upkeep.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """A policy on how long to keep memories of a scope, or of some kinds: see `docs/guides/retention.md`.

    `then` is keep (upkeep deletes nothing of it for so many days, None: ever), archive (it goes into
    the archive and leaves the memory after so many days) or delete.
    """

    scope: str = "**"  # one scope, `acme/**` for it and all below, `**` for every scope
    kinds: Sequence[str] | None = None  # only these kinds; None: every kind
    then: str = "keep"  # keep, archive or delete
    days: float | None = None  # how long; None only with keep: forever
    since: str = "created"  # count the days from created or occurred
    name: str | None = None  # shown in reasons and reports

    def __post_init__(self) -> None:
        check_fields(self, "retention.")
        if self.days is None and self.then != "keep":
            raise Misconfigured(f"a retention with then={self.then!r} needs days")
        try:
            if self.scope != ALL:
                Scope(self.scope)
            if self.kinds is not None:
                kinds = (self.kinds,) if isinstance(self.kinds, str) else self.kinds
                object.__setattr__(self, "kinds", tuple(map(kind_of, kinds)))
        except BadInput as error:
            raise Misconfigured(f"invalid retention: {error}") from error

    def __str__(self) -> str:
        """Describes the policy, such as `delete message of acme/** after 30 days`."""
        which = f"{'/'.join(self.kinds) if self.kinds else 'all'} of {self.scope}"
        ends = {"keep": "for" if self.days is not None else "for good"}.get(self.then, "after")
        rule = f"{self.then} {which} {ends}" + ("" if self.days is None else f" {self.days:g} days")
        if self.name:
            return f"{self.name} ({rule})"
        return rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a memory. Names carry units."""

    durability: str = "process"  # "process" survives kill -9, "power" also a power cut
    language: str | None = None  # of the texts, for stemming; None: the file's own, or English
    ranking: str | None = None  # the version of the weights that recall ranks by; None: the newest
    keep_duplicates: bool = False  # store a fact again even if its scope has it word for word
    read_speakers: bool | None = None  # take who and occurred from "[2026-05-08] Ann: …"; None: if asked to
    text_chars: int = 1_000_000  # the longest text accepted
    index: str = field(default="embedded", repr=False)  # or the name or URL of another index
    index_memory_mb: int = 1024  # scopes beyond this leave RAM, least recently used first
    sidecar_from: int = 20_000  # scopes with this many records get a cache file beside the database
    flush_uses: int = 100  # this many pending use counts go out with the next write
    weigh: bool = False  # estimate importance from the text where you give none; about 0.1 ms a text
    facts: bool = True  # read facts out of facts and messages when they are stored; about 0.1 ms a text
    fact_steps: int = 1_000_000  # facts that one question of `memory.facts` may look at
    fact_seconds: float = 5.0  # how long one question of `memory.facts` may take
    guard: Any = None  # personal data: a Policy, or an action such as "redact"; None: off
    guard_key: Any = field(default=None, repr=False)  # bytes, hex or base64 text, file:PATH, env:NAME
    poison: str = "untrusted"  # scan texts for injected instructions: "untrusted", "all" or "off"
    quarantine_above: float | None = None  # hide texts with at least this poison score until reviewed
    review: str = "off"  # what waits until a person approves it: "derived", "untrusted" or "all" records
    waiting: str = "hidden"  # records that wait because of `review`: "hidden", or "marked" in answers
    audit: str | None = None  # the audit log file; "off" opens an audited memory without its log
    audit_recalls: bool = False  # audit reads too
    audit_sync: bool = False  # sync each audit entry to disk before the change is made
    audit_key_file: str | None = None  # a file with the key that authenticates audit entries
    key: str | None = field(default=None, repr=False)  # encrypts the store: env:NAME, file:PATH or base64
    index_unsealed: bool = False  # let a plugin's index hold decrypted vectors and words of a sealed memory
    retention: tuple[Retention, ...] = ()  # how long to keep records; the first policy that matches decides
    upkeep: Upkeep = field(default_factory=Upkeep)  # limits of tiers and forgetting, see `Upkeep`

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.upkeep, Upkeep):
            raise Misconfigured(f"setting upkeep must be Upkeep(…), not {self.upkeep!r:.80}")
        policies = tuple(self.retention) if isinstance(self.retention, Iterable) else (None,)
        if not all(isinstance(policy, Retention) for policy in policies):
            raise Misconfigured(f"setting retention must be a list of Retention(…), not {self.retention!r}")
        object.__setattr__(self, "retention", policies)


def read_settings(environment: Mapping[str, str], file: Path | None = None) -> Settings:
    """Reads settings from a TOML file's [eidet] table, overridden by EIDET_* variables.

    Those of `Upkeep` are in [eidet.upkeep], and in EIDET_UPKEEP_*; each [[eidet.retention]] is a `Retention`.
    """
    given = {} if file is None else _table(file)
    for name in CHOICES:
        given.pop(name, None)
    upkeep, retention = given.pop("upkeep", {}), _retention(given.pop("retention", []), file)
    if not isinstance(upkeep, dict):
        raise Misconfigured(f"settings file {file}: [eidet.upkeep] must be a table, not {upkeep!r}")
    chosen = _choose(Settings(), given, environment, "EIDET_", "")
    kept = _choose(Upkeep(), upkeep, environment, "EIDET_UPKEEP_", "upkeep.")
    return replace(chosen, retention=retention, upkeep=kept)


def read_choices(file: Path) -> dict[str, str]:
    """Reads `memory` and `embedder` from a settings file, for the command line."""
    given, choices = _table(file), {}
    for name in CHOICES:
        value = given.get(name)
        if value is None:
            continue
        if not isinstance(value, str) or not value:
            raise Misconfigured(f"settings file {file}: {name} must be a text, not {value!r:.80}")
        choices[name] = value
    return choices


def _retention(tables: Any, file: Path | None) -> tuple[Retention, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise Misconfigured(f"settings file {file}: write each policy as a table [[eidet.retention]]")
    names = {f.name for f in fields(Retention)}
    for table in tables:
        if unknown := table.keys() - names:
            raise Misconfigured(
                f"unknown settings {sorted(unknown)} of retention; there are {', '.join(sorted(names))}"
            )
    return tuple(Retention(**table) for table in tables)


T = TypeVar("T", Settings, Upkeep)


def _choose(
    usual: T,
    given: Mapping[str, Any],
    environment: Mapping[str, str],
    prefix: str,
    within: str,
) -> T:
    names = {f.name for f in fields(usual)} - {"upkeep", "retention"}
    chosen = {
        name: environment[prefix + name.upper()] for name in names if prefix + name.upper() in environment
    }
    values = {**given, **chosen}
    if unknown := values.keys() - names:
        listed = sorted(f"{within}{name}" for name in unknown)
        raise Misconfigured(f"unknown settings {listed}; there are {', '.join(sorted(names))}")
    kind: Any = type(usual)
    rules = rules_of(kind)
    typed = {name: parse_field(rules[name], within + name, value) for name, value in values.items()}
    return replace(usual, **typed)


def _table(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("eidet", {})
    except OSError as error:
        raise Misconfigured(f"settings file {file} cannot be used: {error.strerror}") from error
    except ValueError as error:
        raise Misconfigured(f"settings file {file} cannot be used: {error}") from error
    if not isinstance(table, dict):
        raise Misconfigured(f"settings file {file} needs a table [eidet]")
    return dict(table)


# A memory that was given no settings uses those of the environment, as the command line does.

SECURITY: Final = (
    *("guard", "guard_key", "poison", "quarantine_above", "review", "waiting"),
    "key",
    *("audit", "audit_recalls", "audit_sync", "audit_key_file"),
)
CONFIG, KEY_FILE = "EIDET_CONFIG", "EIDET_KEY_FILE"
RECEIPT_KEY: Final = "EIDET_RECEIPT_KEY"  # of 0.3.0: what protected a memory is never ignored in silence


class UnusedVariable(UserWarning):
    """A warning: an environment variable looks as if it protected a memory, but does not."""


def settings_of(given: Settings | None) -> Settings:
    """Returns the settings given, or those of the environment; raises `Misconfigured` for another type."""
    if given is None:
        return read_environment(os.environ)
    if not isinstance(given, Settings):
        raise Misconfigured(f"settings must be Settings(…), not {type(given).__name__}")
    return given


def change_settings(settings: Settings, **changes: Any) -> Settings:
    """Returns the settings with these fields replaced; None leaves a field as it is."""
    given = {name: value for name, value in changes.items() if value is not None}
    return replace(settings, **given) if given else settings


def read_environment(environment: Mapping[str, str]) -> Settings:
    """Reads the EIDET_* variables, and the settings file that EIDET_CONFIG names."""
    if RECEIPT_KEY in environment:
        raise Misconfigured(f"{RECEIPT_KEY} is no setting any more: memories sign receipts; unset it")
    file = environment.get(CONFIG)
    found = read_settings(environment, Path(file) if file else None)
    if environment.get(KEY_FILE) and found.key is None:
        return replace(found, key=f"file:{environment[KEY_FILE]}")
    return found


def warn_unused(used: Settings, given: Mapping[str, Any]) -> None:
    """Warns of security variables that a caller's settings leave unused; `given` are other arguments."""
    names = [name for name in SECURITY if f"EIDET_{name.upper()}" in os.environ and given.get(name) is None]
    usual = Settings()
    unused = [f"EIDET_{name.upper()}" for name in names if getattr(used, name) == getattr(usual, name)]
    if os.environ.get(KEY_FILE) and used.key is None and given.get("key") is None:
        unused.append(KEY_FILE)
    if unused:
        warnings.warn(
            f"{', '.join(unused)}: set, but not used, because settings were given in code; "
            "leave settings out, or start from eidet.core.settings.read_environment(os.environ)",
            UnusedVariable,
            stacklevel=3,
        )
