"""The log as a file: entries, the chain through restarts and other writers, torn and lost ends."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eidet import BadInput, Misconfigured, Refused, Unavailable, acting
from eidet.trust.audit import Audit, AuditHead, audit_of
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.verify import entries, verify

KEY = "a key of many letters"
NOW = 1_700_000_000.0


def opened(path: Path, **how: Any) -> AuditLog:
    return AuditLog(Audit(path=path, **how), clock=lambda: NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def verbs(path: Path) -> list[str]:
    return [entry.verb for entry in entries(path)]


def test_an_entry_says_what_when_who_from_where_and_why(path: Path) -> None:
    log = opened(path)
    with acting(by="ann", source="10.0.0.7", why="ticket 812"):
        assert log.note("put", scope="acme/ann", ids=["x"], count=1) == 2
    begin, entry = entries(path)
    assert (begin.n, begin.verb, begin.details["format"]) == (1, "begin", 1)
    assert (entry.n, entry.verb, entry.scope, entry.ids, entry.count) == (2, "put", "acme/ann", ("x",), 1)
    assert (entry.by, entry.source, entry.why) == ("ann", "10.0.0.7", "ticket 812")
    assert entry.at == "2023-11-14T22:13:20.000000+00:00"


def test_without_a_source_the_process_is_named(path: Path) -> None:
    log = opened(path)
    log.note("put")
    assert str(list(entries(path))[-1].source).endswith(f":{os.getpid()}")


def test_who_is_named_wins_and_who_asked_is_kept(path: Path) -> None:
    log = opened(path)
    with acting(by="ann"):
        log.note("put", by="upkeep")
        log.note("put", by="ann")
    _, first, second = entries(path)
    assert (first.by, first.details) == ("upkeep", {"asked_by": "ann"})
    assert (second.by, second.details) == ("ann", {})


def test_the_chain_goes_on_after_a_restart(path: Path) -> None:
    for turn in range(3):
        log = opened(path, key=KEY)
        log.note("put", ids=[str(turn)])
    assert [entry.n for entry in entries(path)] == [1, 2, 3, 4]
    found = verify(path, key=KEY)
    assert found.ok
    assert (found.entries, found.notes, found.head.count) == (4, (), 4)


def test_many_threads_write_whole_lines(path: Path) -> None:
    logs = [opened(path), opened(path)]

    def work(log: AuditLog) -> None:
        for _ in range(50):
            log.append([{"verb": "put", "text": "x" * 500}, {"verb": "put"}])

    threads = [threading.Thread(target=work, args=(logs[n % 2],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = verify(path)
    assert found.ok
    assert found.entries == 1 + 8 * 50 * 2


def test_the_child_of_a_fork_waits_its_turn_too(path: Path) -> None:
    log = opened(path)
    log.note("put")
    child = os.fork()
    if not child:
        for _ in range(200):
            log.note("child")
        os._exit(0)
    for _ in range(200):
        log.note("parent")
    assert os.waitpid(child, 0)[1] == 0
    found = verify(path)
    assert found.ok
    assert (found.entries, found.notes) == (402, ())


def test_what_is_noted_first_and_fails_then_is_said_to_have_failed(path: Path) -> None:
    log = opened(path)
    with pytest.raises(Refused), log.about([{"verb": "put"}]):
        raise Refused("a secret reason")
    with pytest.raises(KeyboardInterrupt), log.about([{"verb": "put"}, {"verb": "put"}]):
        raise KeyboardInterrupt
    failed = [entry for entry in entries(path) if entry.verb == "failed"]
    assert [entry.details for entry in failed] == [
        {"of": [2], "error": "Refused"},
        {"of": [4, 5], "error": "KeyboardInterrupt"},
    ]
    assert "secret" not in path.read_text()


def test_odd_texts_are_kept_on_one_line(path: Path) -> None:
    odd = "né\u2028\r\n\0\udc80 🙂"
    log = opened(path)
    log.note("put", ids=[odd], scope=odd)
    log.note("put", ids=["after"])
    assert len(path.read_bytes().splitlines()) >= 3
    assert path.read_bytes().count(b"\n") == 3
    assert list(entries(path))[1].ids == (odd,)
    assert verify(path).ok


def test_a_huge_entry_is_found_again_at_the_end(path: Path) -> None:
    log = opened(path)
    log.note("put", ids=[f"{n:026d}" for n in range(20_000)])
    log = opened(path)
    log.note("put")
    assert verify(path).ok
    assert [entry.n for entry in entries(path)] == [1, 2, 3]


# Ends that are not whole.


def head_of(path: Path) -> Path:
    return path.with_name("audit.jsonl.head")


def add(content: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with path.open("ab") as file:
            file.write(content)

    return damage


def cut(path: Path) -> None:
    """Removes the newest two entries, as somebody who hides something would."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))


def cut_with_head(path: Path) -> None:
    cut(path)
    head_of(path).unlink()


def remove(path: Path) -> None:
    path.unlink()
    head_of(path).unlink()


# What is done to a log of three entries, what it tells after one more, and what is wrong with it then.
DAMAGE: dict[str, tuple[Callable[[Path], object], list[str], str]] = {
    "torn": (add(b'{"n":4,"at":"20'), ["begin", "put", "put", "torn", "drop"], ""),
    "torn by a zero": (add(b"\0"), ["begin", "put", "put", "torn", "drop"], ""),
    "torn far on": (add(b"x" * 10_000), ["begin", "put", "put", "torn", "drop"], ""),
    "no entry": (add(b"not an entry\n"), ["begin", "put", "put", "drop"], "line 4"),
    "cut": (cut, ["begin", "lost", "drop"], "there were 3, and 1"),
    "head gone": (lambda path: head_of(path).unlink(), ["begin", "put", "put", "lost", "drop"], "line 4"),
}
WHILE_OPEN = {
    "cut with its head": (cut_with_head, ["begin", "lost", "drop"], "there were 3, and 1"),
    "removed": (remove, ["begin", "lost", "drop"], "there were 3, and 0"),
}


@pytest.mark.parametrize(
    ("damage", "is_open"), [*((name, False) for name in DAMAGE), *((name, True) for name in WHILE_OPEN)]
)
def test_writing_goes_on_after_damage_and_does_not_hide_it(path: Path, damage: str, is_open: bool) -> None:
    do, told, fault = (WHILE_OPEN if is_open else DAMAGE)[damage]
    log = opened(path)
    log.note("put")
    log.note("put")
    if is_open:
        do(path)
        log.note("drop")
    if not is_open:
        do(path)
        assert verify(path).notes or verify(path).faults, "it is noticed before anything is written"
        log = opened(path)
        log.note("drop")
    assert verbs(path) == told
    found = verify(path)
    assert found.ok == (not fault)
    assert fault in "".join(map(str, found.faults))


def test_a_log_that_is_torn_in_its_first_line_begins_anew(path: Path) -> None:
    path.write_bytes(b'{"n":1,"at"')
    log = opened(path)
    log.note("put")
    assert verbs(path) == ["begin", "torn", "put"]
    assert verify(path).ok


def test_a_head_behind_the_log_is_only_told(path: Path) -> None:
    head = path.with_name("audit.jsonl.head")
    log = opened(path, key=KEY)
    log.note("put")
    earlier = head.read_bytes()
    log.note("put")
    head.write_bytes(earlier)
    found = verify(path, key=KEY)
    assert found.ok
    assert "1 behind" in found.notes[0].what


# Keys, heads and settings.


def test_with_a_key_nobody_else_can_make_the_chain_anew(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "forged.jsonl"
    for target in (opened(path, key=KEY), opened(other)):
        target.note("put")
    assert not verify(other, key=KEY).ok
    assert "another key or with none" in str(verify(other, key=KEY).faults[0])
    assert "cannot be verified without it" in str(verify(path).faults[0])
    assert not verify(path, key="some other key of letters").ok


@pytest.mark.parametrize("key", [None, "some other key of letters"])
def test_a_log_is_only_continued_with_its_own_key(path: Path, key: str | None) -> None:
    opened(path, key=KEY)
    before = path.read_bytes()
    with pytest.raises(Misconfigured, match="was written with another key"):
        opened(path, key=key)
    assert path.read_bytes() == before


def test_a_file_that_is_no_log_is_left_alone(path: Path) -> None:
    path.write_text("my diary\n")
    with pytest.raises(Misconfigured, match="is not an audit log"):
        opened(path)
    assert path.read_text() == "my diary\n"


@pytest.mark.parametrize("key", ["short", b"short", 5])
def test_a_key_that_could_be_guessed_is_refused(path: Path, key: Any) -> None:
    with pytest.raises(Misconfigured, match="key"):
        Audit(path=path, key=key)


def test_a_key_is_not_shown(path: Path) -> None:
    assert KEY not in repr(Audit(path=path, key=KEY))


def test_a_head_kept_elsewhere_shows_that_everything_was_replaced(path: Path) -> None:
    log = opened(path)
    log.note("put")
    kept = log.head
    assert verify(path, head=kept).ok
    assert verify(path, head=str(kept)).ok
    path.unlink()
    path.with_name("audit.jsonl.head").unlink()
    log = opened(path)
    log.note("put", ids=["another"])
    assert verify(path).ok
    assert "is not the one" in str(verify(path, head=kept).faults[0])
    longer = AuditHead(count=9, hash=kept.hash)
    assert "newest 7 entries are missing" in str(verify(path, head=longer).faults[0])


@pytest.mark.parametrize("text", ["", "5", "5:abc", "x:" + "0" * 64, "5:" + "g" * 64])
def test_what_is_no_head_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput, match="a head is written as"):
        AuditHead.of(text)


def test_an_audit_is_a_path_a_value_or_a_log(path: Path) -> None:
    assert audit_of(None) is None
    log = audit_of(str(path))
    assert log is not None
    assert audit_of(log) is log
    with pytest.raises(Misconfigured, match="not int"):
        audit_of(5)  # type: ignore[arg-type]
    with pytest.raises(Misconfigured, match="check must be a function"):
        Audit(path=path, check="no")  # type: ignore[arg-type]


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot be opened: No such file"):
        opened(tmp_path / "none" / "audit.jsonl")
    with pytest.raises(Misconfigured, match="cannot be opened: Is a directory"):
        opened(tmp_path)


def test_a_failed_write_gives_back_what_it_took(path: Path) -> None:
    """A limit on the size of files is met in the middle of a line."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = opened(path)
    log.note("put")
    before = path.read_bytes()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, hard))
        with pytest.raises(Unavailable, match="File too large"):
            log.note("drop")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert log.note("drop") == 3
    assert verify(path).ok
    assert verify(path).notes == ()


def test_a_key_is_read_from_where_it_is_named(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "audit.key"
    file.write_text(KEY + "\n")
    file.chmod(0o600)
    monkeypatch.setenv("AUDIT_KEY", KEY)
    for named in (f"file:{file}", "env:AUDIT_KEY"):
        assert Audit(path=path, key=named).key == KEY.encode()
    file.chmod(0o640)
    with pytest.raises(Misconfigured, match="others may read or change the key file"):
        Audit(path=path, key=f"file:{file}")
    with pytest.raises(Misconfigured, match="the variable NO_KEY is not set"):
        Audit(path=path, key="env:NO_KEY")
