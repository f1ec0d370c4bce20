"""What an open memory does to texts on their way in and out: personal data, labels, quarantine, pseudonyms.

fields.py     personal data in drafts, changes, loaded records, questions and filters
labels.py     labels for texts that look like orders, quarantine, review
revealing.py  pseudonyms turned back
emptying.py   values that leave the vault with the last record that names them
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from hmac import compare_digest
from pathlib import Path
from typing import Any, Final

from ...core.arguments import check_filter
from ...core.draft import Draft
from ...core.errors import BadInput, Misconfigured, Refused
from ...core.hit import Hit, Hits
from ...core.record import Record
from ...core.settings import Settings
from ...core.where import Where
from ...engine import Engine
from ...text.chunks import units_of
from ...upkeep import HOLD
from ...write import Given, drafts_of, text_said
from ...write.reembed import batches
from .fields import (
    Guard,
    Pending,
    guarded_changes,
    guarded_draft,
    guarded_fields,
    guarded_record,
    guarded_where,
)
from .labels import (
    LABELLED,
    SEEN,
    approved,
    is_reviewed,
    is_scanned,
    labelled,
    scan_of,
    scanned,
    seen,
    set_aside,
    threshold_of,
)
from .quoting import POISON, score_of
from .reveal import Telling, Told, named_in, named_tokens, revealed_record, revealed_text
from .vault import key_of, subkey
from .vault_gc import Living, emptied

__all__ = ["LABELLED", "SEEN", "Guard", "Guarding", "Pending", "score_of", "with_guard"]

BATCH: Final = 500


class Guarding:
    """The guard of an open memory. Without a policy, plain texts of users cost next to nothing."""

    def __init__(self, engine: Engine, guard: Guard | None) -> None:
        self._engine = engine
        self._guard = guard
        self._asking = None if guard is None else guard.asking
        self._scan = scan_of(engine.settings.poison)
        self._above = threshold_of(engine.settings.quarantine_above)
        if guard is not None and guard.vault is not None:
            guard.vault.note_user(engine.store.identity)
            guard.vault.close()  # opened again when it is needed

    # On the way in.

    def drafts(self, drafts: list[Draft]) -> tuple[list[Draft], Pending]:
        """Drafts as they may be kept, and the values behind their pseudonyms, which `checked` keeps."""
        pending = Pending()
        guard = self._guard
        if guard is None:
            return drafts, pending
        return [guarded_draft(draft, guard, pending) for draft in drafts], pending

    def changes(self, changes: Mapping[str, Any], old: Record) -> tuple[dict[str, Any], Pending]:
        pending = Pending()
        if self._guard is None:
            return dict(changes), pending
        return guarded_changes(changes, old, self._guard, pending), pending

    def checked(
        self, records: list[Record], now: float, pending: Pending, there: Sequence[Record | None] = ()
    ) -> list[Record]:
        """The last look before records are stored: labels, quarantine, and the vault before the records.

        A next version of a memory in quarantine (`there` are those that exist) stays in it.
        """
        aside = {record.id for record in there if record is not None and record.trust == "quarantined"}
        if self._scan != "off" or self._engine.settings.echo_guard or aside:
            records = [self._checked(record, now, aside) for record in records]
        self._keep(pending)
        return records

    def revised(self, new: Record, old: Record, now: float, pending: Pending) -> Record:
        if (new.text, new.data, new.trust, new.kind) == (old.text, old.data, old.trust, old.kind):
            self._keep(pending)
            return new
        return self.checked([new], now, pending)[0]

    def _checked(self, record: Record, now: float, aside: set[str]) -> Record:
        echo = self._echoed(record)
        if echo is not None or POISON in record.meta or is_scanned(record, self._scan):
            record = labelled(record, scanned(record, self._scan), echo)
        above = self._above is not None and POISON in record.meta and score_of(record) >= self._above
        return set_aside(record, now) if above or record.id in aside else record

    def _echoed(self, record: Record) -> Record | None:
        """The memory that a text only repeats, if the echo guard noticed that."""
        id = record.meta.get("echo_of") if self._engine.settings.echo_guard else None
        return self._engine.store.read(record.scope, [id])[0] if isinstance(id, str) else None

    def _keep(self, pending: Pending) -> None:
        if pending.values and self._guard is not None and self._guard.vault is not None:
            self._guard.vault.keep(pending.values)

    def loaded(self, records: Iterable[Record], now: float) -> Iterator[Record]:
        """Records of an export or an archive, as if they were remembered now; what was approved stays so."""
        if self._guard is None and self._scan == "off":
            yield from records
            return
        for batch in batches(records, BATCH):
            yield from self._loaded(batch, now)

    def _loaded(self, batch: list[Record], now: float) -> list[Record]:
        pending, guard = Pending(), self._guard
        kept = batch if guard is None else [guarded_record(record, guard, pending) for record in batch]
        pairs = enumerate(zip(kept, batch, strict=True))
        bare = [at for at, (new, old) in pairs if new.vector is None and old.vector is not None]
        for at, ready in zip(bare, self._engine.ingest.derived([kept[at] for at in bare]), strict=True):
            kept[at] = ready
        fresh = [record if POISON in record.meta or is_reviewed(record) else self._checked(record, now, set())
                 for record in kept]  # fmt: skip
        self._keep(pending)
        return fresh

    def texts(self, what: Given | Sequence[Given] | None, said: Mapping[str, Any]) -> list[str]:
        """The texts that `remember` will embed for what is given, as they will be kept."""
        told = {name: value for name, value in said.items() if value is not None}
        drafts, _ = self.drafts(drafts_of(what, {n: v for n, v in told.items() if n in _SAID})[0])
        texts = [draft.text for draft in drafts if draft.vector is None and isinstance(draft.text, str)]
        return [unit for text in texts for unit in units_of(text)]

    def said(self, changes: Mapping[str, Any]) -> list[str]:
        """The same for `revise`."""
        if self._guard is None:
            return text_said(changes)
        kept, _ = guarded_fields(changes, self._guard, Pending())
        return text_said(kept)

    @property
    def guards(self) -> bool:
        return self._guard is not None

    # Questions and filters.

    def query(self, text: str) -> str:
        """A question as it is asked: pseudonyms for values, which are not kept."""
        return text if self._asking is None else self._asking.text(text, Pending(), set())

    def asked(self, where: Where | None) -> Where | None:
        """A filter in the words of the records."""
        check_filter(where)
        return where if where is None or self._asking is None else guarded_where(where, self._asking)

    def seen(self, where: Where | None) -> Where:
        """The same, without what is in quarantine unless the filter asks for that."""
        return seen(self.asked(where))

    # Quarantine and review.

    def quarantined(self, record: Record, now: float, by: str | None, because: str | None) -> Record:
        return self._changed(record, set_aside(record, now, by=by, because=because), now, by)

    def approved(self, record: Record, trust: str | None, now: float, by: str | None) -> Record:
        return self._changed(record, approved(record, trust, now, by=by), now, by)

    def _changed(self, old: Record, new: Record, now: float, by: str | None) -> Record:
        if new is old:
            return old
        if old.meta.get(HOLD):
            raise Refused(f"record {old.id!r} is under a legal hold: `release` it before a change")
        return self._engine.put([new], now=now, unique=False, expect=old.version, by=by)[0]

    # Pseudonyms.

    def reveal(self, about: Told, key: object = None) -> Told:
        """With pseudonyms turned back, for who may see it: see `Memory.reveal`."""
        if not isinstance(about, Told):
            raise BadInput(f"reveal takes a text, a record or hits, not {type(about).__name__}")
        guard = self._may_reveal(key)
        self._note("reveal", named_in(about))
        if isinstance(about, str):
            return revealed_text(about, guard)
        if isinstance(about, Record):
            return revealed_record(about, guard)
        if isinstance(about, Hit):
            return Telling(guard).hits([about])[0]
        return Hits(Telling(guard).hits(about), about.trace, about.scope)

    def telling(self, reveal: bool) -> Telling:
        """How records are told in a context: as they are kept, or with pseudonyms turned back."""
        if not reveal:
            return Telling(None)
        guard = self._may_reveal(None)
        self._note("reveal", {"what": "a context"})
        return Telling(guard)

    def _may_reveal(self, key: object) -> Guard:
        guard = self._guard
        if guard is None or guard.vault is None or guard.key is None:
            raise Misconfigured("this memory has no vault to reveal from: Memory(…, guard=…, vault=…)")
        if key is None and not self._engine.settings.reveal:
            raise Refused("this memory does not reveal by itself (the setting reveal): give the key")
        if key is not None and not compare_digest(subkey(key_of(key), b"tokens"), guard.key):
            raise Refused("the key given is not the one of this memory's vault")
        return guard

    def forget_value(self, value: str) -> int:
        guard = self._guard
        if guard is None or guard.vault is None:
            raise Misconfigured("this memory has no vault to forget from: Memory(…, guard=…, vault=…)")
        tokens = named_tokens(value, guard)
        self._note("forget_value", {"pseudonyms": tokens})
        return guard.vault.drop(tokens)

    @property
    def has_vault(self) -> bool:
        return self._guard is not None and self._guard.vault is not None

    def empty(self, said: Iterable[Record] | None, living: Living) -> int:
        """Takes what only forgotten records named out of the vault (None: what none names); how many.

        Refused where another memory has pseudonyms of the same vault: nobody here knows its records.
        """
        guard = self._guard
        if guard is None or guard.vault is None:
            return 0
        if guard.vault.users() - {self._engine.store.identity}:
            raise Refused("another memory uses the same vault: `forget_value` takes a value out of it")
        return emptied(guard.vault, said, living, tuple(one.name for one in guard.policy.patterns))

    def _note(self, verb: str, what: Mapping[str, Any]) -> None:
        """Before it is done, in the audit log if there is one: which records or pseudonyms, never a value."""
        if self._engine.audit is not None:
            self._engine.audit.note(verb, **what)

    def close(self) -> None:
        if self._guard is not None and self._guard.vault is not None:
            self._guard.vault.close()


_SAID: Final = frozenset(field.name for field in fields_of(Draft))  # the rest is for `remember` itself


def with_guard(settings: Settings, guard: object, vault: str | Path | None) -> Settings:
    """The settings, with what was said beside them; checked before anything is opened."""
    scan_of(settings.poison)
    threshold_of(settings.quarantine_above)
    if guard is not None:
        settings = replace(settings, guard=guard)
    return settings if vault is None else replace(settings, vault=vault)
