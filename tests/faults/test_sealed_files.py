"""Of a sealed memory, no file has a word, a vector, a term or a digest that is not sealed."""

from __future__ import annotations

import json
import os
import time
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.faults.nursery import Nursery
from tests.faults.sealed_children import KEY, LABELS, NOW, OTHER, WORDS, opened, told, turn, write

from eidet import Record, Where
from eidet.copy import copy
from eidet.core.draft import Details
from eidet.core.errors import Misconfigured
from eidet.core.record import content_digest
from eidet.core.settings import Upkeep
from eidet.models.embed.quantise import quantise
from eidet.store import verbs
from eidet.trust.seal.store import list_damage

DAY = 86_400.0
WIDTHS = (64, 96)


def lived(folder: Path, key: bytes | None) -> list[Record]:
    """A life with everything in it, in a folder; all records that there ever were."""
    path, seen = folder / "m.db", list[Record]()
    with opened(path, key) as memory:
        who, agent, session, source, by = LABELS
        said: Details = {"who": who, "agent": agent, "session": session, "source": source}
        said["data"] = {"of": {"quetzalcoatlus": 1.23456}}
        said["meta"] = {"zugzwang": ["žluťoučký"]}
        seen += memory.remember([told(n) for n in range(8)], **said)
        talk = [{"role": "user", "content": told(n)} for n in range(20, 24)]
        seen += memory.remember(talk, session=session, scope="talk")
        seen.append(memory.revise(seen[0].id, text=told(99), by=by))
        memory.recall("quetzalcoatlus and a hippogriff", explain=True)
        memory.feedback(memory.recall("zugzwang"), useful=True, by=f"{by} the judge")
        memory.forget([seen[1].id], by=by)
        memory.upkeep.end_session(session, scope="talk")
    seen += moved(folder, path, key)
    return seen


def moved(folder: Path, path: Path, key: bytes | None) -> list[Record]:
    """Lowered, archived, embedded anew and half embedded anew again."""
    with opened(path, key, NOW + 3 * DAY) as memory:
        memory.upkeep.maintain()
        upkeep = Upkeep(forget_below=1.0, archive_above=0.0)
        memory.upkeep.maintain("talk", settings=upkeep, archive=folder / "archive", now=NOW + 900 * DAY)
        memory.admin.reembed("hashing:96")
        memory.remember([told(500), told(501)])
        store = memory.parts.store
        verbs.stage_vectors(store, "another", [(r.seq, r.vector or b"") for r in verbs.scan(store, Where())])
        return list(verbs.scan(store, Where()))


def readable(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file, and what zlib makes of every place where it could have begun."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            yield path, content
            at = content.find(b"\x78\x9c")
            while at >= 0:
                yield path, _inflated(content[at : at + 100_000])
                at = content.find(b"\x78\x9c", at + 1)


def _inflated(content: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(content)
    except zlib.error:
        return b""


def spellings(word: str) -> Iterator[bytes]:
    plain = word.encode()
    yield from (plain, word.encode("utf-16-le"), word.encode("utf-16-be"), plain.hex().encode())
    yield json.dumps(word).strip('"').encode()
    for before in range(3):
        yield b64encode(bytes(before) + plain)[4 * (before > 0) : -4]


def leaks(folder: Path, records: list[Record]) -> set[str]:
    """In words, what can be read."""
    wanted: dict[bytes, str] = {s: word for word in (*WORDS, *LABELS) for s in spellings(word)}
    wanted |= {piece: what for record in records for what, piece in pieces(record)}
    wanted = {piece: what for piece, what in wanted.items() if len(piece) >= 8}
    return {what for _, content in readable(folder) for piece, what in wanted.items() if piece in content}


def pieces(record: Record) -> Iterator[tuple[str, bytes]]:
    """Of what is derived: 16 bytes of vectors in every form, pairs of terms, digests."""
    width = next((w for w in WIDTHS if record.vector and len(record.vector) == 4 * w), None)
    if width is not None and record.vector is not None:
        start = 4 * int(np.flatnonzero(np.frombuffer(record.vector, "<f4"))[0])
        yield "vector", record.vector[start : start + 16]
        codes = quantise(record.vector, 1, width)[5:]
        for at in range(len(codes) - 16):
            if np.count_nonzero(np.frombuffer(codes[at : at + 16], np.int8)) > 8:
                yield "codes", codes[at : at + 16]
                break
    if len(record.terms) > 40:
        yield "terms", record.terms[16:32]  # of ids: they come first
    digest = content_digest(record.whole.text, record.whole.data)
    yield from (("digest", digest), ("digest", digest.hex().encode()), ("digest", b64encode(digest)[:-3]))


def test_without_a_key_all_of_it_is_found(tmp_path: Path) -> None:
    found = leaks(tmp_path, lived(tmp_path, None))
    assert found >= {*WORDS, *LABELS, "vector", "codes", "terms"}
    assert "digest" not in found, "exact keys are hashed with a secret of the store"


def test_with_a_key_nothing_is_found(tmp_path: Path) -> None:
    records = lived(tmp_path, KEY)
    assert {path.name for path in tmp_path.iterdir()} == {"m.db", "archive"}
    assert list((tmp_path / "archive").iterdir())
    assert leaks(tmp_path, records) == set()


def test_nothing_is_found_while_it_is_open(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        records = memory.remember([told(n) for n in range(30)], who=LABELS[0])
        memory.revise(records[3].id, text="zugzwang")
        memory.recall("hippogriff")
        assert (tmp_path / "m.db-wal").stat().st_size > 0
        assert leaks(tmp_path, records) == set()
        memory.keys.rotate(OTHER)
        memory.forget([record.id for record in records[:20]])
        assert leaks(tmp_path, records) == set()


def test_a_killed_writer_leaves_everything_and_nothing_to_read(tmp_path: Path, start: Nursery) -> None:
    child = start(write, tmp_path / "m.db", 0)
    heard = [child.hear() for _ in range(30)]
    child.kill()
    with opened(tmp_path / "m.db") as memory:
        kept = memory.get([id for id, _ in heard])
        assert [r.text.removesuffix(" revised") if r else None for r in kept] == [text for _, text in heard]
        assert leaks(tmp_path, [r for r in kept if r]) == set()


def test_a_sealed_copy_of_a_plain_memory_has_nothing_to_read(tmp_path: Path) -> None:
    plain, folder = tmp_path / "plain", tmp_path / "sealed"
    plain.mkdir()
    folder.mkdir()
    records = lived(plain, None)
    with (
        opened(plain / "m.db", None, embedder="hashing:96") as source,
        opened(folder / "m.db", embedder="hashing:96") as target,
    ):
        assert copy(source, target).ok
        for record in verbs.scan(source.parts.store, Where()):
            told = [event.before for event in source.history(record.id, scope=record.scope)]
            assert [e.before for e in target.history(record.id, scope=record.scope)] == told
    assert leaks(folder, records) == set()


# Another master key, while others write.


@pytest.mark.skipif(os.name != "posix", reason="there is no kill -9")
def test_a_change_of_the_master_key_that_was_killed_loses_nothing(tmp_path: Path, start: Nursery) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        for n in range(40):
            memory.remember(told(n), scope=f"scope{n}")
    writer = start(write, path, 1000)
    heard = [writer.hear()]
    for pause in (0.0, 0.02, 0.05):
        turner = start(turn, path)
        turner.hear()
        time.sleep(pause)  # somewhere in the next change
        turner.kill()
        heard += [writer.hear() for _ in range(5)]
        key = _find_key(path)
        with opened(path, key) as memory:
            assert len(memory.scopes()) == 41
            assert list_damage(memory.parts.store) == []
    writer.kill()
    with opened(path, _find_key(path)) as memory:
        found = memory.get([id for id, _ in heard])
        assert [r and r.text.removesuffix(" revised") for r in found] == [text for _, text in heard]


def _find_key(path: Path) -> bytes:
    """The only master key of the two that opens a memory."""
    keys = []
    for key in (KEY, OTHER):
        with suppress(Misconfigured), opened(path, key):
            keys.append(key)
    (key,) = keys
    return key
