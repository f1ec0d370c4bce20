"""Turns drafts into records that are ready to be stored: shaped, embedded and analysed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeVar

from ..core.draft import Draft
from ..core.errors import BadInput, Conflict, Corrupt, each_item
from ..core.record import Kind, Record, decode_original
from ..core.validate import clean_json, clean_text, local
from ..core.where import Where
from ..models.embed import Embedder, embed_checked
from ..models.embed.quantise import are_finite, dequantise, how_many, pack_rows, pack_vector, quantise
from ..parts import Parts
from ..store import Derived, Store, verbs
from ..text import Analyzer
from ..text.analysis import decode_analysis, pack_analysis
from ..text.facts.fact_reader import read_facts
from ..text.facts.statement import pack_statements
from ..text.flags import marks_of, times_of
from ..text.sentences import units_of
from .shape import shape_record

STATING: Final = (Kind.FACT, Kind.MESSAGE)  # kinds whose texts are searched for facts


class Ingest(NamedTuple):
    """Turns drafts into records that are ready to be stored. Writes nothing."""

    embedder: Embedder
    analyzer: Analyzer
    text_chars: int
    facts: bool = True

    @classmethod
    def of(cls, parts: Parts) -> Ingest:
        """Builds the ingest of an open memory, after checking that its embedder and analyzer fit."""
        binding, settings = parts.binding, parts.settings
        parts.ready_index()
        binding.check_width()
        return cls(binding.embedder, binding.analyzer, settings.text_chars, settings.facts)

    def records(self, drafts: Sequence[Draft], *, scope: str, now: float) -> list[Record]:
        """Makes one record per draft, in order. The first bad draft raises before anything is embedded."""
        shape = partial(shape_record, scope=scope, now=now, text_chars=self.text_chars)
        plain = each_item(shape, drafts)
        return self.derive(plain, [draft.vector for draft in drafts])

    def derive(self, records: Sequence[Record], vectors: Sequence[object] | None = None) -> list[Record]:
        """Adds the vectors and the analysis of their texts to the records, unit by unit."""
        packed = self._pack_vectors(records, vectors or ())
        ready = zip(records, packed, self.analyse(records, packed), strict=True)
        return [record.but(vector=vector, terms=terms) for record, vector, terms in ready]

    def _pack_vectors(self, records: Sequence[Record], given: Sequence[object]) -> list[bytes]:
        """Returns the callers' vectors, and computes those of the other texts."""
        width = self.embedder.width
        own = {at: pack_vector(vector, width) for at, vector in enumerate(given) if vector is not None}
        if not own:
            return embed_units(self.embedder, [record.text for record in records])
        missing = [at for at in range(len(records)) if at not in own]
        made = embed_units(self.embedder, [records[at].text for at in missing])
        own.update(zip(missing, made, strict=True))
        return [own[at] for at in range(len(records))]

    def analyse(self, records: Sequence[Record], vectors: Sequence[bytes | None]) -> list[bytes]:
        """Computes the data that search and graph keep of each text."""
        width, analyzer = self.embedder.width, self.analyzer
        pairs = zip(records, vectors, strict=True)
        return [analyse_record(one, vector, width, analyzer, facts=self.facts) for one, vector in pairs]

    def refit(self, records: Sequence[Record], embedded: bool) -> list[Record]:
        """Recomputes terms (and vectors, if not `embedded`) made by another analyzer, keeping the level."""
        if embedded:
            terms = self.analyse(records, [record.vector for record in records])
            return [record.but(terms=made) for record, made in zip(records, terms, strict=True)]
        fresh = self.derive([record.whole.but(level=0, original=None) for record in records])
        return [
            record.but(vector=quantise(new.vector or b"", record.level, self.embedder.width), terms=new.terms)
            for record, new in zip(records, fresh, strict=True)
        ]


def embed_units(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Embeds the units of each text and joins their vectors."""
    if not texts:
        return []
    units = [units_of(text) for text in texts]
    rows = pack_rows(embed_checked(embedder, list(chain.from_iterable(units))))
    if len(rows) == len(texts):
        return rows
    rest = iter(rows)
    return [b"".join(islice(rest, len(parts))) for parts in units]


def analyse_record(
    record: Record, vector: bytes | None, width: int, analyzer: Analyzer, *, facts: bool = True
) -> bytes:
    """Computes the data that search and graph keep of a record's text, one unit per vector.

    If a caller's vectors are more or fewer than the units of the text, all words belong to the first vector.
    """
    record, language = record.whole, analyzer.language
    units = _pack_words(record, vector, width, analyzer)
    moment = local(record.occurred)
    dated = times_of(record.text, moment, language)
    flags, days = marks_of(record.text, moment, language, dated)
    if not facts or record.kind not in STATING:
        return pack_analysis(units, flags, days)
    statements = read_facts(record.text, said=moment, language=language, dated=dated)
    return pack_analysis(units, flags, days, pack_statements(statements) if statements else b"")


def _pack_words(record: Record, vector: bytes | None, width: int, analyzer: Analyzer) -> list[bytes]:
    """Returns the packed words of each unit of a text, one unit per vector."""
    count = how_many(vector, record.level, width)
    if count == 1 and record.text:
        return [analyzer.pack_text(_add_speaker(record, record.text))]
    units = units_of(record.text)
    if len(units) != count:
        units = [record.text, *[""] * (count - 1)]
    return [analyzer.pack_text(_add_speaker(record, unit)) if unit else b"" for unit in units]


def _add_speaker(record: Record, unit: str) -> str:
    """Returns the text to index, with the speaker in front."""
    return f"{record.who}: {unit}" if record.who else unit


# Checks of records from a file, beyond the types of their fields.


def fits_embedder(manifest: Mapping[str, Any], embedder: Embedder) -> bool:
    """Returns whether an embedder of this name and width made a file's vectors."""
    named = manifest.get("embedder") == embedder.name
    return named and manifest.get("width") in (None, embedder.width)


def check_arrival(record: Record, embedder: Embedder | None, *, analysed: bool) -> None:
    """Raises `Corrupt` or `BadInput` if a record could not be read, restored or compared after storing.

    With an `embedder`, the record's vectors are kept and must fit it; if `analysed`, its words must be valid.
    """
    if record.sealed is not None:
        raise Corrupt("it is sealed, but the file does not say by which keys")
    if record.original is not None:
        kept = decode_original(record.original)
        if kept.text is not None:
            clean_text(kept.text, "its original")
        if kept.data is not None:
            clean_json(kept.data[0], "its original")
        if kept.vector is not None:
            _check_numbers(kept.vector)
    if embedder is not None and record.vector:
        _check_vector(record.vector, record.level, embedder)
    if analysed:
        decode_analysis(record.terms)


def _check_vector(vector: bytes, level: int, embedder: Embedder) -> None:
    rows = dequantise(vector, level, embedder.width)
    if len(rows) % (4 * embedder.width):
        raise BadInput(
            f"its vector is not of {embedder.width} numbers, as the embedder {embedder.name!r} makes them: "
            "the file was made by another embedder of that name. Open this memory with the one of the "
            "file, or give yours a name of its own, and vectors are made anew"
        )
    _check_numbers(rows)


def _check_numbers(rows: bytes) -> None:
    if not are_finite(rows):
        raise Corrupt("its vector holds something that is no finite number")


# Recomputing vectors or terms of stored records, in batches, with progress.

T = TypeVar("T")
Progress = Callable[[int, int], None]  # done, of how many


def reanalyse(
    store: Store, analyzer: Analyzer, width: int, progress: Progress | None, *, facts: bool = True
) -> int:
    """Analyses every record again with another analyzer. Returns how many."""
    total, done = verbs.count(store, Where()), 0
    for batch in batches(verbs.scan(store, Where()), 1000):
        terms = (analyse_record(one, one.vector, width, analyzer, facts=facts) for one in batch)
        pairs = zip(batch, terms, strict=True)
        verbs.replace_derived(store, [Derived(one.seq, one.vector, made) for one, made in pairs])
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return done


def reembed(store: Store, embedder: Embedder, progress: Progress | None) -> int:
    """Computes vectors of every record with another embedder, then switches atomically. Returns how many.

    Writers may go on meanwhile: records that they add are embedded before the switch.
    """
    total = verbs.count(store, Where())
    for _ in range(100):
        done = _stage(store, embedder, total, progress)
        names = {"embedder": embedder.name, "width": str(embedder.width)}
        if verbs.switch_vectors(store, embedder.name, names) == 0:
            return done
    raise Conflict("the store is written faster than it can be re-embedded; pause the writers")


def _stage(store: Store, embedder: Embedder, total: int, progress: Progress | None) -> int:
    since = verbs.read_staged(store, embedder.name)
    done = sum(1 for seq in store.match(Where()) if seq <= since)
    for batch in batches(verbs.scan(store, Where(), after=since), 256):
        rows = embed_units(embedder, [record.whole.text for record in batch])
        kept = [(r.seq, quantise(row, r.level, embedder.width)) for r, row in zip(batch, rows, strict=True)]
        verbs.stage_vectors(store, embedder.name, kept, of=batch)
        done += len(batch)
        if progress is not None:
            progress(done, max(total, done))
    return done


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    walk = iter(items)
    while batch := list(islice(walk, size)):
        yield batch
