"""Whatever is done to a log by somebody else is found, and at which line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet import BadInput, NotFound
from eidet.trust.audit import Audit
from eidet.trust.audit.chain import Tail, chain_events, hash_line, parse_entry
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.verify import entries, verify

KEY = b"a key of many letters"
SIZE = 6  # the beginning and five more


def written(folder: Path, key: bytes | None) -> tuple[Path, list[bytes]]:
    path = folder / "audit.jsonl"
    log = AuditLog(Audit(path=path, key=key), clock=lambda: 1.7e9)
    for n in range(1, SIZE):
        log.note("put", scope="a", ids=[f"id{n}"], count=1, kinds={"fact": 1}, by="ann")
    return path, path.read_bytes().splitlines(keepends=True)


places = st.integers(0, SIZE - 1)


class Replaced:
    """A log whose bytes are changed in place."""

    def __init__(self, folder: Path, key: bytes | None) -> None:
        self.key = key
        self.path, self.lines = written(folder, key)

    def faults(self, lines: list[bytes]) -> list[int]:
        self.path.write_bytes(b"".join(lines))
        return [fault.line for fault in verify(self.path, key=self.key).faults]


@pytest.fixture(scope="module", params=[None, KEY], ids=["hash", "mac"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Replaced:
    return Replaced(tmp_path_factory.mktemp("log"), request.param)


def test_an_untouched_log_is_as_it_was_written(log: Replaced) -> None:
    assert log.faults(log.lines) == []


@given(place=places, offset=st.integers(0, 10_000), flip=st.integers(1, 255))
@settings(max_examples=examples(150), deadline=None)
def test_any_changed_byte_is_found_at_its_line(log: Replaced, place: int, offset: int, flip: int) -> None:
    line = bytearray(log.lines[place])
    line[offset % len(line)] ^= flip
    found = log.faults([*log.lines[:place], bytes(line), *log.lines[place + 1 :]])
    assert found
    assert min(found) in (place + 1, place + 2)


@given(order=st.lists(places, max_size=SIZE + 2))
@settings(max_examples=examples(100), deadline=None)
def test_lines_that_were_removed_doubled_or_moved_are_found_where_they_were(
    log: Replaced, order: list[int]
) -> None:
    right = next((at for at, place in enumerate(order) if place != at), len(order))
    assume(order != list(range(SIZE)))
    found = log.faults([log.lines[place] for place in order])
    assert right < min(found) <= right + 2


@given(size=st.integers(0, 10_000))
@settings(max_examples=examples(60), deadline=None)
def test_any_truncation_is_found(log: Replaced, size: int) -> None:
    whole = b"".join(log.lines)
    kept = whole[: size % len(whole)]
    assert log.faults([kept])[0] == max(kept.count(b"\n") + 1, 1)


@given(place=places, text=st.binary(max_size=40))
@settings(max_examples=examples(40), deadline=None)
def test_any_inserted_line_is_found(log: Replaced, place: int, text: bytes) -> None:
    fresh = text.replace(b"\n", b"") + b"\n"
    found = log.faults([*log.lines[: place + 1], fresh, *log.lines[place + 1 :]])
    assert place + 2 in found


def rehashed(line: bytes, before: str, key: bytes | None) -> bytes:
    """The line as somebody would forge it who knows how hashes are made."""
    forged = line[:-1].replace(b'"by":"ann"', b'"by":"eve"')
    return forged[:-66] + hash_line(forged, before, key).encode() + b'"}\n'


def hash_of(line: bytes) -> str:
    entry = parse_entry(line[:-1])
    assert entry is not None
    return entry.hash


@pytest.mark.parametrize("place", range(1, SIZE))
def test_an_entry_that_was_altered_and_hashed_anew_breaks_the_next(log: Replaced, place: int) -> None:
    forged = rehashed(log.lines[place], hash_of(log.lines[place - 1]), None)
    found = log.faults([*log.lines[:place], forged, *log.lines[place + 1 :]])
    assert found
    assert min(found) == place + (1 if log.key or place == SIZE - 1 else 2)


def test_a_chain_made_anew_from_an_entry_on_is_found_by_the_head(log: Replaced) -> None:
    changed = list(log.lines)
    for place in range(2, SIZE):
        changed[place] = rehashed(changed[place], hash_of(changed[place - 1]), None)
    assert log.faults(changed)


def test_entries_cannot_be_added_without_the_key(tmp_path: Path) -> None:
    log = Replaced(tmp_path, KEY)
    tail = Tail(SIZE, hash_of(log.lines[-1]), 0)
    fresh, _ = chain_events([{"verb": "put", "by": "eve"}], tail, 1.7e9, None)
    assert log.faults([*log.lines, fresh]) == [SIZE + 1]


def forge_head(log: Replaced, count: int, mac: str = "-" * 64) -> None:
    """The newest entries removed, and the head made to fit."""
    log.path.write_bytes(b"".join(log.lines[:count]))
    head = f"{count:020d}:{hash_of(log.lines[count - 1])}:{mac}\n"
    log.path.with_name("audit.jsonl.head").write_text(head)


@pytest.mark.parametrize("mac", ["-" * 64, "a" * 64])
def test_a_head_cannot_be_made_anew_without_the_key(tmp_path: Path, mac: str) -> None:
    log = Replaced(tmp_path, KEY)
    forge_head(log, SIZE - 2, mac)
    faults = verify(log.path, key=KEY).faults
    assert "was not written with this key" in str(faults[0])
    writer = AuditLog(Audit(path=log.path, key=KEY))
    writer.note("put")
    assert [entry.verb for entry in entries(log.path)][-2:] == ["lost", "put"]
    assert not verify(log.path, key=KEY).ok, "writing on does not hide it"


def test_an_empty_log_has_lost_everything(tmp_path: Path) -> None:
    path, _ = written(tmp_path, None)
    path.write_bytes(b"")
    assert "empty" in str(verify(path).faults[0])
    assert list(entries(path)) == []


def test_a_log_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no audit log"):
        verify(tmp_path / "none.jsonl")
    with pytest.raises(BadInput, match="is a folder"):
        verify(tmp_path)
