"""What is written waits until a person approves, edits or rejects it, wherever it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock
from tests.servers.served import serve_in_thread

from eidet import BadInput, Conflict, Memory, Misconfigured, NotFound, Settings
from eidet.copy import copy
from eidet.core.errors import Refused
from eidet.core.record import Record, Trust
from eidet.store.rules import Entombed

TEXT = "Ann lives in Lisbon"
SAID = [{"role": "user", "content": f"{TEXT} since {year}"} for year in range(2001, 2010)]
KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


def open_memory(place: Any = None, review: str = "all", **how: Any) -> Memory:
    settings = Settings(review=review)
    return Memory(place, embedder="hashing:64", settings=settings, clock=Clock(tick=1.0), **how)


def waits(memory: Memory, record: Record) -> bool:
    """Whether it is nowhere but in the inbox."""
    inbox = [one.id for one in memory.trust.review()]
    asked = record.text.split()[0]
    answers = (
        [hit.id for hit in memory.recall(asked)],
        [one.id for one in memory.find()],
        [one.id for one in memory.context(asked).records],
    )
    seen = {record.id in ids for ids in answers}
    assert seen == {record.id not in inbox}
    assert memory.count() == len(memory.find())
    return record.id in inbox


@pytest.fixture
def memory() -> Iterator[Memory]:
    with closing(open_memory()) as memory:
        yield memory


@pytest.mark.parametrize(
    ("how", "waiting"),
    [
        ({}, {"all"}),
        ({"trust": "web"}, {"all", "untrusted"}),
        ({"trust": "trusted"}, {"all"}),
        ({"derived_from": ["other"]}, {"all", "derived"}),
        ({"kind": "message"}, {"all"}),
    ],
)
@pytest.mark.parametrize("review", ["off", "derived", "untrusted", "all"])
def test_the_setting_says_what_waits(review: str, how: dict[str, Any], waiting: set[str]) -> None:
    with closing(open_memory(review=review)) as memory:
        kept = memory.remember(TEXT, **how)
        assert waits(memory, kept) == (review in waiting)
        memory.trust.approve(kept.id)
        approved = memory.get(kept.id)
        assert approved is not None
        assert approved.trust == how.get("trust", "user")
        assert not waits(memory, approved)


def test_a_setting_that_means_nothing_is_refused() -> None:
    with pytest.raises(Misconfigured, match="review cannot be 'some': it must be one of off, derived"):
        Settings(review="some")


def test_an_approved_text_may_be_edited_first(memory: Memory) -> None:
    kept = memory.remember(TEXT)
    approved = memory.trust.approve(kept.id, text="Ann lives in Porto", version=kept.version, by="eve")
    assert (approved.text, approved.trust) == ("Ann lives in Porto", Trust.USER)
    assert approved.state.reviewed is not None
    assert approved.state.reviewed.by == "eve"
    assert [hit.text for hit in memory.recall("Porto")] == ["Ann lives in Porto"]
    assert memory.trust.review() == []


def test_a_person_decides_about_what_they_saw(memory: Memory) -> None:
    kept = memory.remember(TEXT)
    memory.revise(kept.id, text="Ann lives in Rome")
    for decide in (memory.trust.approve, memory.trust.reject):
        with pytest.raises(Conflict, match="at version 2, not 1"):
            decide(kept.id, version=1)
    assert [one.text for one in memory.trust.review()] == ["Ann lives in Rome"]


def test_bad_decisions_change_nothing(memory: Memory) -> None:
    kept = memory.remember(TEXT)
    decisions: list[tuple[type[Exception], Callable[[], object]]] = [
        (BadInput, lambda: memory.trust.approve(kept.id, text="", trust="web")),
        (BadInput, lambda: memory.trust.approve(kept.id, text="new", trust="quarantined")),
        (BadInput, lambda: memory.trust.approve(kept.id, text="new", trust="pal")),
        (NotFound, lambda: memory.trust.approve("nobody")),
        (NotFound, lambda: memory.trust.reject("nobody")),
        (Refused, lambda: memory.revise(kept.id, trust="user")),
    ]
    for error, decide in decisions:
        with pytest.raises(error):
            decide()
    assert memory.get(kept.id) == kept


def test_what_was_rejected_does_not_come_back(memory: Memory) -> None:
    kept = memory.remember(TEXT)
    gone = memory.trust.reject(kept.id, because="it is wrong", by="eve")
    assert gone == 1
    assert memory.get(kept.id) is None
    with pytest.raises(Entombed):
        memory.remember(TEXT)


def test_rejecting_spares_what_others_say_and_what_does_not_wait(memory: Memory) -> None:
    own = memory.trust.approve(memory.remember(TEXT).id)
    page = memory.remember(TEXT, trust="web", source="page")
    assert page.id != own.id
    assert memory.trust.reject(page.id) == 1
    assert memory.find() == [own]
    assert memory.remember(TEXT).id == own.id
    with pytest.raises(BadInput, match="does not wait for review"):
        memory.trust.reject(own.id)


# Review and everything else that writes: each case answers with a record that must wait, or must not.


def _revise(memory: Memory, _folder: Path) -> Record:
    approved = memory.trust.approve(memory.remember(TEXT).id)
    return memory.revise(approved.id, text="Ann lives in Rome")


def _revise_a_detail(memory: Memory, _folder: Path) -> Record:
    approved = memory.trust.approve(memory.remember(TEXT).id)
    return memory.revise(approved.id, importance=0.9)


def _revise_while_waiting(memory: Memory, _folder: Path) -> Record:
    return memory.revise(memory.remember(TEXT).id, text="Ann lives in Rome")


def _repeat(memory: Memory, _folder: Path) -> Record:
    approved = memory.trust.approve(memory.remember(TEXT).id)
    again = memory.remember(TEXT)
    assert again.id == approved.id
    return again


def _repeat_while_waiting(memory: Memory, _folder: Path) -> Record:
    first = memory.remember(TEXT)
    again = memory.remember(TEXT)
    assert again.id == first.id
    return again


def _repeat_a_key(memory: Memory, _folder: Path) -> Record:
    memory.trust.approve(memory.remember(TEXT, key="home").id)
    return memory.remember(TEXT, key="home")


def _change_a_key(memory: Memory, _folder: Path) -> Record:
    memory.trust.approve(memory.remember(TEXT, key="home").id)
    return memory.remember("Ann lives in Rome", key="home")


def _reload(memory: Memory, folder: Path) -> Record:
    approved = memory.trust.approve(memory.remember(TEXT).id)
    memory.export(folder / "all.jsonl", plain=True)
    memory.load(folder / "all.jsonl")
    return approved


def _load_unseen(memory: Memory, folder: Path) -> Record:
    with closing(open_memory(review="off")) as other:
        kept = other.remember(TEXT)
        other.export(folder / "all.jsonl", plain=True)
    memory.load(folder / "all.jsonl")
    return kept


def _load_approved(memory: Memory, folder: Path) -> Record:
    with closing(open_memory()) as other:
        kept = other.trust.approve(other.remember(TEXT).id)
        other.export(folder / "all.jsonl", plain=True)
    memory.load(folder / "all.jsonl")
    return kept


def _copy_waiting(memory: Memory, _folder: Path) -> Record:
    with closing(open_memory()) as other:
        kept = other.remember(TEXT)
        copy(other, memory)
        assert copy(other, memory).changed == 0
    return kept


def _copy_open(memory: Memory, _folder: Path) -> Record:
    with closing(open_memory(review="off")) as other:
        kept = other.remember(TEXT)
        copy(other, memory)
    return kept


def _merge(memory: Memory, _folder: Path) -> Record:
    """Upkeep merges what was approved, and leaves alone what waits."""
    kept = memory.trust.approve(memory.remember(TEXT).id)
    waiting = memory.remember(f"{TEXT}!")
    assert memory.upkeep.maintain(only="merge").counts == {}
    memory.trust.approve(waiting.id)
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 1}
    return kept


def _end_session(memory: Memory, _folder: Path) -> Record:
    for record in memory.remember(SAID, session="s"):
        memory.trust.approve(record.id)
    episode = memory.upkeep.end_session("s")
    assert memory.upkeep.maintain(only="summarise").counts == {}
    return episode


CASES: dict[Callable[[Memory, Path], Record], bool] = {
    _revise: True,
    _revise_a_detail: False,
    _revise_while_waiting: True,
    _repeat: False,
    _repeat_while_waiting: True,
    _repeat_a_key: False,
    _change_a_key: True,
    _reload: False,
    _load_unseen: True,
    _load_approved: False,
    _copy_waiting: True,
    _copy_open: False,
    _merge: False,
    _end_session: True,
}


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_review_with_every_way_to_write(
    case: Callable[[Memory, Path], Record], sealed: bool, tmp_path: Path
) -> None:
    with closing(open_memory(tmp_path / "m.db", key=KEY if sealed else None)) as memory:
        assert waits(memory, case(memory, tmp_path)) == CASES[case]


def test_what_upkeep_words_waits_where_derived_records_do() -> None:
    with closing(open_memory(review="derived")) as memory:
        memory.remember(SAID, session="s")
        assert memory.trust.review() == []
        assert waits(memory, memory.upkeep.end_session("s"))


def test_a_server_offers_the_inbox_and_a_retry_waits_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIDET_REVIEW", "all")
    with serve_in_thread() as server, server.http() as http:
        monkeypatch.delenv("EIDET_REVIEW")
        key = {"Idempotency-Key": "one"}
        for _ in range(2):
            assert http.post("/v1/memories", json={"text": TEXT}, headers=key).status_code == 201
        client = Memory(server.url)
        (kept,) = client.trust.review()
        approved = client.trust.approve(kept.id, text="Ann lives in Porto", version=kept.version)
        assert approved.text == "Ann lives in Porto"
        again = http.post("/v1/memories", json={"text": TEXT}, headers=key)
        assert again.json()["memories"][0]["text"] == "Ann lives in Porto"
        with pytest.raises(Conflict):
            client.trust.approve(kept.id, version=1)
        other = client.remember("Bob lives in Rome")
        assert client.trust.reject(other.id, because="no") == 1
        assert client.trust.review() == []
        client.close()
