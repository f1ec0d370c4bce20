"""The values behind pseudonyms: kept in the vault, revealed to who may see them, and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from ...core.errors import BadInput, EidetError, Misconfigured, Refused
from ...core.hit import Hit, Hits
from ...core.record import Record
from ...core.state import State
from ...core.validate import Json
from ...parts import Parts
from ...store import verbs
from ...store.rules import HELD, Held

if TYPE_CHECKING:
    from ...recall.nearby import Beside
    from .fields import Guard
    from .vault import Living, VaultFile

Told = str | Record | Hit | Hits
_NO_VAULT = "this memory has no vault to {} from: name it with the setting vault (EIDET_VAULT)"


class Pending:
    """Changes that wait until records are about to be stored.

    `values` stand behind new pseudonyms; `classes` are those of personal data, one set for each record.
    """

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.classes: list[set[str]] = []


def with_classes(records: list[Record], pending: Pending) -> list[Record]:
    """Labels records with the classes of personal data found in them."""
    if not any(pending.classes):
        return records
    pairs = zip(records, pending.classes, strict=True)
    return [record.but(state=with_more_classes(record.state, labels)) for record, labels in pairs]


def with_more_classes(state: State, labels: set[str]) -> State:
    """Classes that it was labelled with before stay."""
    if labels.issubset(state.pii):
        return state
    return state.but(pii=tuple(sorted(labels.union(state.pii))))


class Pseudonyms:
    """The vault of an open memory, if it has one."""

    def __init__(self, parts: Parts, guard: Guard | None) -> None:
        self._parts = parts
        self._guard = guard

    @property
    def vault(self) -> VaultFile | None:
        return None if self._guard is None else self._guard.vault

    def keep(self, pending: Pending) -> None:
        if pending.values and self.vault is not None:
            self.vault.keep(pending.values)

    def reveal(self, about: Told, key: object = None) -> Told:
        """Restores pseudonyms for a caller that may see them: see `memory.trust.reveal`."""
        if not isinstance(about, Told):
            raise BadInput(f"reveal takes a text, a record or hits, not {type(about).__name__}")
        guard = self._may_reveal(key)
        telling = _Telling(guard)
        self._note("reveal", _describe_revealed(about))
        if isinstance(about, str):
            return _reveal_text(about, guard)
        if isinstance(about, Record):
            return telling.records([about])[0]
        if isinstance(about, Hit):
            return telling.hits([about])[0]
        return Hits(telling.hits(about), about.trace, about.scope)

    def telling(self, reveal: bool) -> _Telling:
        """Chooses how a context shows records: as kept, or with pseudonyms restored."""
        if not reveal:
            return _Telling(None)
        guard = self._may_reveal(None)
        self._note("reveal", {"what": "a context"})
        return _Telling(guard)

    def _may_reveal(self, key: object) -> Guard:
        guard = self._guard
        if guard is None or guard.vault is None or guard.key is None:
            raise Misconfigured(_NO_VAULT.format("reveal"))
        if key is None and not self._parts.settings.reveal:
            raise Refused("this memory reveals only with the key (the setting reveal): pass key=…")
        from .vault import key_of, subkey

        if key is not None and not compare_digest(subkey(key_of(key), b"tokens"), guard.key):
            raise Refused("the given key is not the one of this memory's vault")
        return guard

    def forget_value(self, value: str) -> int:
        """Vault and store share no transaction: if a hold came in between, the values are put back."""
        guard = self._guard
        if guard is None or guard.vault is None:
            raise Misconfigured(_NO_VAULT.format("forget"))
        tokens = _tokens_of_value(value, guard)
        self._check_free(guard, tokens)
        self._note("forget_value", {"pseudonyms": tokens})
        values = {token: kept for token in tokens if (kept := guard.vault.get(token))}
        gone = guard.vault.drop(tokens)
        try:
            self._check_free(guard, tokens)
        except EidetError:
            guard.vault.keep(values)
            raise
        return gone

    def _check_free(self, guard: Guard, tokens: Iterable[str]) -> None:
        """`Held` if a record under a legal hold names one: without its value it could not be read."""
        from .vault import tokens_in_record

        wanted, names = set(tokens), guard.names
        held = [
            (record.scope, record.id)
            for record in verbs.scan(self._parts.store, HELD)
            if not wanted.isdisjoint(tokens_in_record(record, names))
        ]
        if held:
            raise Held(held, "deprived of a value")

    def empty(self, records: Iterable[Record] | None, living: Living) -> int:
        """Removes from the vault what only forgotten records named (None: what none names). Returns how
        many.

        Refused where another memory has pseudonyms of the same vault: nobody here knows its records.
        """
        if self._guard is None or self.vault is None:
            return 0
        if self.vault.users() - {self._parts.store.identity}:
            raise Refused("another memory uses the same vault: use `forget_value` to remove a value from it")
        from .vault import empty_vault

        return empty_vault(self.vault, records, living, self._guard.names)

    def _note(self, verb: str, what: Mapping[str, Any]) -> None:
        """Before it is done, in the audit log if there is one: which records or pseudonyms, never a value."""
        if self._parts.audit is not None:
            self._parts.audit.note(verb, **what)

    def close(self) -> None:
        if self.vault is not None:
            self.vault.close()


@dataclass(frozen=True, slots=True)
class _Telling:
    """How to show records to the caller; without a guard, as they are kept."""

    guard: Guard | None

    def records(self, records: Sequence[Record]) -> Sequence[Record]:
        return records if self.guard is None else [_reveal_record(one, self.guard) for one in records]

    def hits(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        if self.guard is None:
            return hits
        return [replace(hit, record=_reveal_record(hit.record, self.guard)) for hit in hits]

    def turns(self, turns: Beside) -> Beside:
        if self.guard is None:
            return turns
        return {key: self.records(near) for key, near in turns.items()}


def _reveal_record(record: Record, guard: Guard) -> Record:
    """Text, data, meta, state, who and source; what it was lowered from stays behind its pseudonyms."""
    texts = {name: getattr(record, name) for name in ("text", "who", "source")}
    kept: dict[str, Any] = {
        name: None if value is None else _reveal_text(value, guard) for name, value in texts.items()
    }
    trees = {name: _reveal_tree(getattr(record, name), guard) for name in ("data", "meta")}
    return record.but(**kept, **trees, state=State.from_json(_reveal_tree(record.state.to_json(), guard)))


def _reveal_tree(value: Json, guard: Guard) -> Json:
    if isinstance(value, str):
        return _reveal_text(value, guard)
    if isinstance(value, dict):
        return {_reveal_text(key, guard): _reveal_tree(item, guard) for key, item in value.items()}
    if isinstance(value, list):
        return [_reveal_tree(item, guard) for item in value]
    return value


def _reveal_text(text: str, guard: Guard) -> str:
    from .placeholders import restore_text

    assert guard.vault is not None
    return restore_text(text, guard.vault.get, guard.names)


def _describe_revealed(about: Told) -> dict[str, Any]:
    """Describes what was revealed for the audit log: pseudonyms of a text, or ids and scope of records."""
    from .placeholders import tokens_in

    if isinstance(about, str):
        return {"pseudonyms": tokens_in(about)}
    hits = [about] if isinstance(about, Hit) else about
    records = [hits] if isinstance(hits, Record) else [hit.record for hit in hits]
    scopes = {record.scope for record in records}
    return {"ids": [r.id for r in records], "scope": scopes.pop() if len(scopes) == 1 else None}


def _tokens_of_value(value: str, guard: Guard) -> list[str]:
    """The pseudonyms in a text, and those that its values have."""
    from .placeholders import tokens_in

    pending = Pending()
    kept = guard.text(value, pending, set())
    return list(dict.fromkeys((*pending.values, *tokens_in(kept, guard.names))))
