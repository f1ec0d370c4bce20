"""Guards a text or JSON data by a policy: finds personal data, acts on it, and says what was done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...core.errors import Misconfigured
from ...core.validate import Json
from .apply_until_stable import Acted, apply_policy, rewritten
from .json_walk import walk_json
from .policy import KEYED, Action, Policy, PrivacyKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found and done, without the value. Positions are those of the original text."""

    kind: str
    start: int
    end: int
    confidence: float
    action: Action
    path: str = ""  # where in the data; empty for a text


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """The text to keep; `labels` are the classes that the policy labels and that are in it."""

    text: str
    findings: tuple[Finding, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedData:
    """The data to keep, as `Guarded`."""

    data: Json
    findings: tuple[Finding, ...] = ()
    labels: tuple[str, ...] = ()


def guard_text(text: str, policy: Policy, keys: PrivacyKeys | None = None) -> Guarded:
    """Guarding twice is guarding once. Nothing reaches the vault if the policy refuses the text."""
    _check_keys(policy, keys)
    acted = apply_policy(text, policy, keys)
    _store(acted, keys)
    return Guarded(text=rewritten(text, acted), findings=_findings_of(acted, ""), labels=_labels(acted))


def guard_data(
    data: Json, policy: Policy, keys: PrivacyKeys | None = None, *, what: str = "data"
) -> GuardedData:
    """The same for every string and key of JSON data; a key counts as a word said about its value."""
    _check_keys(policy, keys)
    everything: list[Acted] = []
    findings: list[Finding] = []

    def guard(text: str, name: str, path: str) -> str:
        acted = apply_policy(text, policy, keys, before=f"{_as_words(name)}: " if name else "", path=path)
        everything.extend(acted)
        findings.extend(_findings_of(acted, path))
        return rewritten(text, acted)

    kept = walk_json(data, guard, what)
    _store(everything, keys)
    return GuardedData(data=kept, findings=tuple(findings), labels=_labels(everything))


def _as_words(name: str) -> str:
    """`date_of_birth` as one says it."""
    return name.replace("_", " ")


def _check_keys(policy: Policy, keys: PrivacyKeys | None) -> None:
    if keys is None and policy.actions & KEYED:
        raise Misconfigured("hashes and pseudonyms need a key: guard_text(text, policy, PrivacyKeys(key=…))")
    if Action.PSEUDONYM in policy.actions and (keys is None or keys.vault is None or keys.seal is None):
        raise Misconfigured("pseudonyms need a vault and a seal: PrivacyKeys(key=…, vault=…, seal=…)")


def _store(acted: Iterable[Acted], keys: PrivacyKeys | None) -> None:
    if keys is None or keys.vault is None or keys.seal is None:
        return
    for one in acted:
        if one.action is Action.PSEUDONYM and one.token is not None:
            keys.vault.put(one.token, keys.seal(one.found.text))


def _findings_of(acted: Iterable[Acted], path: str) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            kind=one.found.kind,
            start=one.found.start,
            end=one.found.end,
            confidence=one.found.confidence,
            action=one.action,
            path=path,
        )
        for one in acted
    )


def _labels(acted: Iterable[Acted]) -> tuple[str, ...]:
    return tuple(sorted({one.found.kind for one in acted if one.action is Action.LABEL}))
