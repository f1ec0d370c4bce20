"""The write path: guard → shape → embed → analyse → the records to store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..embed import Embedder, checked
from ..embed.bytes import packed, packed_rows
from ..model import Draft, Record
from ..text import Analyzer
from .shape import Given, drafts_of, shaped, text_said, texts_of

__all__ = ["Given", "Ingest", "drafts_of", "text_said", "texts_of"]


@dataclass(frozen=True, slots=True)
class Ingest:
    """Turns drafts into records that are ready to be stored. Writes nothing."""

    embedder: Embedder
    analyzer: Analyzer
    text_chars: int

    def records(self, drafts: Sequence[Draft], *, scope: str, now: float) -> list[Record]:
        """One record per draft, in order; the first bad draft is an error and nothing is embedded."""
        plain = [shaped(draft, scope=scope, now=now, text_chars=self.text_chars) for draft in drafts]
        return self.derived(plain, [draft.vector for draft in drafts])

    def derived(self, records: Sequence[Record], vectors: Sequence[object] | None = None) -> list[Record]:
        """The same records with what is computed from their text: vector and terms."""
        given = vectors or [None] * len(records)
        own = {i: packed(v, self.embedder.width) for i, v in enumerate(given) if v is not None}
        missing = [i for i in range(len(records)) if i not in own]
        made = self._embed([records[i].text for i in missing])
        own.update(zip(missing, made, strict=True))
        return [
            record.but(vector=own[i], terms=self.analyzer.packed(searchable(record)))
            for i, record in enumerate(records)
        ]

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        return packed_rows(checked(self.embedder, texts)) if texts else []


def searchable(record: Record) -> str:
    """The text whose words are indexed: who spoke is part of it."""
    return f"{record.who}: {record.text}" if record.who else record.text
