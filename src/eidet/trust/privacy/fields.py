"""Guards personal data in the caller's drafts, changes, loaded records, queries and filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from ...core.draft import Draft
from ...core.errors import BadInput, Misconfigured
from ...core.private_files import decode_key, load_secret
from ...core.procedure import tell_data
from ...core.record import Record
from ...core.settings import Settings
from ...core.state import NO_STATE, MergedPart, State
from ...core.validate import Json, clean_json
from ...core.where import Condition, Where
from . import Action, Policy, guard, policy_of
from .findings import Pii

TEXTS: Final = ("text", "who", "source")
TREES: Final = ("data", "meta")
_COMPARED: Final = frozenset({"=", "!=", "in", "contains"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A policy and the key of its hashes."""

    policy: Policy
    key: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> Guard | None:
        """Builds the guard of the settings; None if they have no policy."""
        policy = policy_of(settings.guard)
        if policy is None:
            return None
        if settings.guard_key is not None:
            return cls(policy=policy, key=_subkey(key_of(settings.guard_key)))
        if Action.HASH in policy.actions:
            raise Misconfigured(
                "hashes need a key: Settings(guard_key=…) or EIDET_GUARD_KEY, such as secrets.token_hex(32)"
            )
        return cls(policy=policy)

    @property
    def asking(self) -> Guard:
        """A guard for queries, which are not stored: it redacts what this one refuses."""
        refused = (kind for kind in Pii if self.policy.action(kind) is Action.REFUSE)
        hidden: dict[str, Any] = dict.fromkeys(map(str, refused), Action.REDACT)
        patterns = tuple(
            replace(one, action=Action.REDACT) if one.action == Action.REFUSE else one
            for one in self.policy.patterns
        )
        return replace(self, policy=replace(self.policy, **hidden, patterns=patterns))

    def text(self, text: str, labels: set[str]) -> str:
        """Returns the text as it may be stored; adds the classes found in it to the labels."""
        return str(self.tree(text, "text", labels))

    def tree(self, value: Json, what: str, labels: set[str]) -> Json:
        found = guard(value, self.policy, self.key, what=what)
        labels |= {one.kind for one in found.findings if one.action != Action.KEEP}
        return found.value

    def fields(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Returns the fields as they may be stored, and the classes found; leaves badly typed ones alone."""
        labels: set[str] = set()
        kept = dict(given)
        for name in TEXTS:
            if isinstance(given.get(name), str):
                kept[name] = self.text(given[name], labels)
        for name in TREES:
            if given.get(name) is not None and (name == "data" or isinstance(given[name], Mapping)):
                kept[name] = self.tree(given[name], name, labels)
        return kept, labels

    def draft(self, draft: Draft) -> tuple[Draft, set[str]]:
        """Guards a draft, including a text generated from its data; drops the vector of a changed text."""
        kept, labels = self.fields({name: getattr(draft, name) for name in (*TEXTS, *TREES)})
        if draft.text is None and draft.data is not None:
            spoken = tell_data(clean_json(kept["data"], "data"), draft.kind)
            kept["text"] = self.text(spoken, labels)
        if draft.vector is not None and kept["text"] != draft.text:
            kept["vector"] = None
        return replace(draft, **kept), labels

    def changes(self, changes: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Guards the arguments of `revise`."""
        kept, labels = self.fields(changes)
        if "text" in kept and kept["text"] != changes["text"]:
            kept.pop("vector", None)
        return kept, labels

    def record(self, record: Record) -> Record:
        """Guards a stored record; a changed one gets its full detail back, without vector and terms."""
        whole = record.whole
        given = {name: getattr(whole, name) for name in (*TEXTS, *TREES)}
        kept, labels = self.fields(given)
        state = with_classes(self._state(record.state, labels), labels)
        if all(kept[name] == given[name] for name in (*TEXTS, "data")):
            same = kept["meta"] == given["meta"] and state == record.state
            return record if same else record.but(meta=kept["meta"], state=state)
        return whole.but(**kept, state=state, vector=None, terms=b"", level=0, original=None)

    def _state(self, state: State, labels: set[str]) -> State:
        """Guards the texts in a state: names, reasons, and the content of merged records."""
        if state is NO_STATE:
            return state
        marks = {name: getattr(state, name) for name in ("pinned", "hold", "quarantine", "reviewed")}
        kept = {name: self._mark(mark, labels) for name, mark in marks.items() if mark is not None}
        parts = tuple(self._part(part, labels) for part in state.merged)
        return state.but(**kept, merged=parts)

    def _mark(self, mark: Any, labels: set[str]) -> Any:
        texts = {name: getattr(mark, name, None) for name in ("by", "because")}
        kept = {name: self.text(value, labels) for name, value in texts.items() if value is not None}
        return replace(mark, **kept)

    def _part(self, part: MergedPart, labels: set[str]) -> MergedPart:
        return replace(
            part,
            text=self.text(part.text, labels),
            source=None if part.source is None else self.text(part.source, labels),
            meta=self.tree(part.meta, "meta", labels),
            state=self._state(part.state, labels),
        )

    def where(self, where: Where) -> Where:
        """Replaces personal data in a filter by the tokens that stand for it in records."""
        nested: dict[str, Any] = {
            name: tuple(map(self.where, getattr(where, name))) for name in ("every", "some", "never")
        }
        said = {name: getattr(where, name) for name in ("who", "source")}
        labels: dict[str, Any] = {name: value and self.text(value, set()) for name, value in said.items()}
        conditions = tuple(map(self._condition, where.conditions))
        return replace(where, **nested, **labels, conditions=conditions)

    def _condition(self, one: Condition) -> Condition:
        if one.op not in _COMPARED:
            return one
        name = next((step for step in reversed(one.path) if isinstance(step, str)), "")
        value = list(one.value) if isinstance(one.value, tuple) else one.value
        kept = self.tree({name: value}, "condition value", set())
        return Condition(one.path, one.op, next(iter(kept.values())))


def key_of(given: object) -> bytes:
    """Returns the bytes of a key, given as bytes, hexadecimal, base64, `file:PATH` or `env:NAME`.

    Error messages never contain the key.
    """
    key = given if isinstance(given, bytes) else decode_key(load_secret(str(given).strip(), "the guard key"))
    if not key:
        raise BadInput("a guard key is hexadecimal or base64 text, or file:PATH or env:NAME of such a text")
    if not 16 <= len(key) <= 64:
        raise BadInput(f"a guard key has 16 to 64 bytes, not {len(key)}: secrets.token_hex(32) makes one")
    return key


def _subkey(key: bytes) -> bytes:
    return blake2b(b"tokens", key=key, digest_size=32, person=b"eidet.guard").digest()


def with_classes(state: State, labels: set[str]) -> State:
    """Adds classes of personal data to those that the state is labelled with already."""
    if labels.issubset(state.pii):
        return state
    return state.but(pii=tuple(sorted(labels.union(state.pii))))
