"""The values behind pseudonyms: kept in the vault, revealed to who may see them, and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from ...core.errors import BadInput, EidetError, Misconfigured, Refused
from ...core.hit import Hit, Hits
from ...core.record import Record
from ...parts import Parts
from ...store import verbs
from ...store.rules import HELD, Held
from .pending import Pending

if TYPE_CHECKING:
    from .fields import Guard
    from .reveal import Telling, Told
    from .vault import VaultFile
    from .vault_gc import Living


class Pseudonyms:
    """The vault of an open memory, if it has one."""

    def __init__(self, parts: Parts, guard: Guard | None) -> None:
        self._parts = parts
        self._guard = guard

    def keep(self, pending: Pending) -> None:
        if pending.values and self._guard is not None and self._guard.vault is not None:
            self._guard.vault.keep(pending.values)

    def reveal(self, about: Told, key: object = None) -> Told:
        """With pseudonyms turned back, for who may see it: see `memory.trust.reveal`."""
        from .reveal import Telling, Told, describe_revealed, reveal_record, reveal_text

        if not isinstance(about, Told):
            raise BadInput(f"reveal takes a text, a record or hits, not {type(about).__name__}")
        guard = self._may_reveal(key)
        self._note("reveal", describe_revealed(about))
        if isinstance(about, str):
            return reveal_text(about, guard)
        if isinstance(about, Record):
            return reveal_record(about, guard)
        if isinstance(about, Hit):
            return Telling(guard).hits([about])[0]
        return Hits(Telling(guard).hits(about), about.trace, about.scope)

    def telling(self, reveal: bool) -> Telling:
        """How records are told in a context: as they are kept, or with pseudonyms turned back."""
        from .reveal import Telling

        if not reveal:
            return Telling(None)
        guard = self._may_reveal(None)
        self._note("reveal", {"what": "a context"})
        return Telling(guard)

    def _may_reveal(self, key: object) -> Guard:
        guard = self._guard
        if guard is None or guard.vault is None or guard.key is None:
            raise Misconfigured(
                "this memory has no vault to reveal from: name it with the setting vault (EIDET_VAULT)"
            )
        if key is None and not self._parts.settings.reveal:
            raise Refused("this memory reveals only with the key (the setting reveal): pass key=…")
        from .vault import key_of, subkey

        if key is not None and not compare_digest(subkey(key_of(key), b"tokens"), guard.key):
            raise Refused("the given key is not the one of this memory's vault")
        return guard

    def forget_value(self, value: str) -> int:
        guard = self._guard
        if guard is None or guard.vault is None:
            raise Misconfigured(
                "this memory has no vault to forget from: name it with the setting vault (EIDET_VAULT)"
            )
        from .reveal import tokens_of_value

        tokens = tokens_of_value(value, guard)
        self._check_free(guard, tokens)
        self._note("forget_value", {"pseudonyms": tokens})
        return self._drop(guard, guard.vault, tokens)

    def _drop(self, guard: Guard, vault: VaultFile, tokens: Sequence[str]) -> int:
        """Vault and store share no transaction: if a hold came in between, the values are put back."""
        values = {}
        for token in tokens:
            if value := vault.get(token):
                values[token] = value
        gone = vault.drop(tokens)
        try:
            self._check_free(guard, tokens)
        except EidetError:
            vault.keep(values)
            raise
        return gone

    def _check_free(self, guard: Guard, tokens: Iterable[str]) -> None:
        """`Held` if a record under a legal hold names one: without its value it could not be read."""
        from .vault_gc import tokens_in_record

        names = tuple(one.name for one in guard.policy.patterns)
        wanted, held = set(tokens), []
        for record in verbs.scan(self._parts.store, HELD):
            if not wanted.isdisjoint(tokens_in_record(record, names)):
                held.append((record.scope, record.id))
        if held:
            raise Held(held, "deprived of a value")

    @property
    def has_vault(self) -> bool:
        return self._guard is not None and self._guard.vault is not None

    def empty(self, records: Iterable[Record] | None, living: Living) -> int:
        """Takes what only forgotten records named out of the vault (None: what none names); how many.

        Refused where another memory has pseudonyms of the same vault: nobody here knows its records.
        """
        guard = self._guard
        if guard is None or guard.vault is None:
            return 0
        if guard.vault.users() - {self._parts.store.identity}:
            raise Refused("another memory uses the same vault: use `forget_value` to remove a value from it")
        from .vault_gc import empty_vault

        return empty_vault(guard.vault, records, living, tuple(one.name for one in guard.policy.patterns))

    def _note(self, verb: str, what: Mapping[str, Any]) -> None:
        """Before it is done, in the audit log if there is one: which records or pseudonyms, never a value."""
        if self._parts.audit is not None:
            self._parts.audit.note(verb, **what)

    def close(self) -> None:
        if self._guard is not None and self._guard.vault is not None:
            self._guard.vault.close()
