"""Forgetting for good: it goes everywhere, it stays gone, and both can be proved."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eidet import BadInput, Corrupt, Kind, Memory, Misconfigured, Refused, Scope, Settings, Unavailable, Where
from eidet.core.settings import Upkeep
from eidet.core.state import NO_STATE, MergedPart, State
from eidet.store import verbs
from eidet.store.rules import Entombed
from eidet.store.tombstones import folded
from eidet.trust.erase import Forgotten
from eidet.trust.erase.receipt import Receipt
from eidet.write.put import put_records

NOW = 1_700_000_000.0
SECRET = "the safe in the cellar opens with 4711-0815"
OTHER = "the cat sleeps on the warm windowsill"


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture(params=["ram", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = None if request.param == "ram" else tmp_path / "memory.db"
    with Memory(place, embedder="hashing:32", clock=Clock()) as opened:
        yield opened


def on_file(tmp_path: Path, **settings: Any) -> Memory:
    chosen = Settings(**settings)
    return Memory(tmp_path / "memory.db", embedder="hashing:32", clock=Clock(), settings=chosen)


def bytes_beside(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def texts(memory: Memory, scope: str = "default") -> list[str]:
    return [record.text for record in memory.find(scope=scope, order="created")]


# It stays gone.


def test_forget_answers_a_number_with_a_receipt(memory: Memory) -> None:
    gone = memory.forget(memory.remember(SECRET).id, by="ann", why="she asked")
    assert gone == 1
    assert isinstance(gone, Forgotten)
    assert gone.receipt is not None
    assert (gone.receipt.by, gone.receipt.why) == ("ann", "she asked")
    copy = pickle.loads(pickle.dumps(gone))
    assert (copy, copy.receipt) == (gone, gone.receipt)


@pytest.mark.parametrize(
    "said",
    [SECRET, SECRET.upper(), f"  {SECRET}.", SECRET.replace(" ", "\n\t "), SECRET.replace(" ", "\u00a0")],
)
def test_what_was_forgotten_is_refused_however_it_is_spaced(memory: Memory, said: str) -> None:
    memory.forget(memory.remember(SECRET).id)
    with pytest.raises(Refused, match=r"record 0 .*'default' on 2023-11-14 .*again=True"):
        memory.remember(said)
    assert memory.count() == 0


def test_one_forgotten_value_refuses_the_whole_list(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    with pytest.raises(Entombed, match="record 1 of this call") as error:
        memory.remember([OTHER, SECRET])
    assert list(error.value.found) == [1]
    assert memory.count() == 0


def test_it_may_be_said_again_by_who_says_so(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    memory.remember(SECRET, again=True)
    memory.forget(memory.find()[0].id, for_good=False)
    assert memory.remember(SECRET).text == SECRET


def test_a_record_cannot_be_revised_into_what_was_forgotten(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    other = memory.remember(OTHER)
    with pytest.raises(Refused, match="forgotten for good"):
        memory.revise(other.id, text=SECRET)
    assert memory.revise(other.id, importance=0.9).text == OTHER
    assert memory.revise(other.id, text=SECRET, again=True).text == SECRET


def test_another_value_under_the_same_key_is_fine(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon, in the old town", key="home")
    memory.forget(memory.find()[0].id)
    assert memory.remember("Ann lives in Porto now", key="home").version == 1


def test_what_a_record_said_earlier_is_refused_too(memory: Memory) -> None:
    record = memory.remember(SECRET)
    memory.revise(record.id, text=OTHER)
    memory.forget(record.id)
    for said in (SECRET, OTHER):
        with pytest.raises(Refused):
            memory.remember(said)


def test_other_scopes_may_say_it(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    assert memory.remember(SECRET, scope="other").text == SECRET


def test_data_is_a_value_too(memory: Memory) -> None:
    memory.forget(memory.remember({"card": "4111 1111", "code": 7}).id)
    with pytest.raises(Refused):
        memory.remember({"code": 7, "card": "4111  1111"})
    assert memory.remember({"code": 8, "card": "4111 1111"}).id


@pytest.mark.parametrize("said", ["ok", "thank you", "yes, do it"[:9], "好的"])
def test_everyday_messages_may_be_said_again(memory: Memory, said: str) -> None:
    memory.remember({"role": "user", "content": said}, session="s")
    memory.forget(where=Where(session="s"))
    assert memory.remember({"role": "user", "content": said}).text == said


def test_a_longer_message_may_not(memory: Memory) -> None:
    said = [{"role": "user", "content": text} for text in (SECRET, "我住在里斯本的阿尔法玛区的一座老房子里")]
    memory.remember(said)
    memory.forget(where=Where(kinds=(Kind.MESSAGE,)))
    for message in said:
        with pytest.raises(Refused):
            memory.remember(message)


def test_copies_go_with_what_is_forgotten(memory: Memory) -> None:
    said = {"role": "user", "content": SECRET}
    one, _, _ = memory.remember([said, said, said])
    memory.remember([{"role": "user", "content": "ok"}] * 2)
    gone = memory.forget(one.id)
    assert (gone, gone.receipt and gone.receipt.counts["copies"]) == (1, 2)
    assert texts(memory) == ["ok", "ok"]


def test_housekeeping_forbids_nothing(memory: Memory) -> None:
    record = memory.remember(SECRET)
    made = memory.remember("a summary of it", derived_from=[record.id])
    gone = memory.forget(record.id, for_good=False)
    assert (gone, gone.receipt) == (1, None)
    assert memory.remember(SECRET).text == SECRET
    assert memory.get(made.id) == made


def test_a_whole_scope_may_be_told_anew_but_not_loaded(memory: Memory, tmp_path: Path) -> None:
    memory.remember([SECRET, OTHER], scope="ann")
    memory.export(tmp_path / "e.jsonl", scope="ann")
    assert memory.forget(everything=True, scope="ann") == 2
    assert memory.load(tmp_path / "e.jsonl") == 0
    assert memory.remember(SECRET, scope="ann").text == SECRET
    assert texts(memory, "ann") == [SECRET]


def test_a_whole_scope_can_be_forgotten_for_good(memory: Memory) -> None:
    memory.remember([SECRET, OTHER], scope="ann")
    memory.forget(everything=True, scope="ann", for_good=True)
    with pytest.raises(Refused):
        memory.remember(OTHER, scope="ann")


def test_all_below_a_scope_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    for scope in ("acme", "acme/ann", "acmes"):
        memory.remember(SECRET, scope=scope)
    memory.export(tmp_path / "e.jsonl", scope=None)
    assert memory.forget(everything=True, scope=Scope.under("acme")) == 2
    assert memory.load(tmp_path / "e.jsonl") == 1
    assert memory.scopes() == {"acmes": 1}


def test_a_load_leaves_out_what_was_forgotten(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, _ = memory.remember([SECRET, OTHER])
    short = memory.remember({"role": "user", "content": "ok"})
    memory.export(tmp_path / "e.jsonl")
    memory.forget([one.id, short.id])
    with caplog.at_level("INFO", "eidet"):
        assert memory.load(tmp_path / "e.jsonl") == 1
    assert "2 records were forgotten for good" in caplog.text
    assert texts(memory) == [OTHER]
    with Memory(embedder="hashing:32", clock=Clock()) as elsewhere:
        assert elsewhere.load(tmp_path / "e.jsonl") == 3


def test_an_older_version_does_not_come_back_from_a_file(memory: Memory, tmp_path: Path) -> None:
    record = memory.remember(SECRET)
    memory.export(tmp_path / "e.jsonl")
    memory.revise(record.id, text=OTHER)
    memory.forget(record.id)
    assert memory.load(tmp_path / "e.jsonl") == 0


# What was made of it.


def talk(memory: Memory, *said: str, session: str = "s1") -> list[str]:
    turns = [{"role": "user", "content": text} for text in said]
    return [record.id for record in memory.remember(turns, session=session)]


TALK = (
    "My sister Eva has moved to Bergen in Norway last month",
    "The code of my alarm system is seven three nine two one",
    "We bought tickets for the opera in Milan for the third of May",
    "I have decided to learn the cello with a teacher in town",
)


def test_an_episode_is_told_anew_without_what_was_forgotten(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    episode = memory.upkeep.end_session("s1")
    assert "alarm" in episode.text
    gone = memory.forget(ids[1])
    assert gone.receipt is not None
    assert gone.receipt.counts["derived_anew"] == 1
    told = memory.get(episode.id)
    assert told is not None
    assert "alarm" not in told.text
    assert "Bergen" in told.text
    assert set(told.derived_from) == {ids[0], ids[2], ids[3]}
    assert isinstance(told.data, dict)
    assert told.data["messages"] == 3
    assert all(event.before is None for event in memory.history(episode.id))
    assert memory.recall("the opera in Milan")
    assert memory.admin.check() == []
    assert memory.trust.verify_forgotten(TALK[1])


def test_an_episode_of_nothing_goes(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    memory.upkeep.end_session("s1")
    gone = memory.forget(ids)
    assert gone.receipt is not None
    assert gone.receipt.counts["derived_dropped"] == 1
    assert memory.count() == 0


def test_an_old_episode_does_not_come_back_from_a_file(memory: Memory, tmp_path: Path) -> None:
    ids = talk(memory, *TALK)
    memory.upkeep.end_session("s1")
    memory.export(tmp_path / "e.jsonl")
    memory.forget(ids[1])
    memory.load(tmp_path / "e.jsonl")
    assert memory.trust.verify_forgotten(TALK[1])
    assert not any("alarm" in text for text in texts(memory))


def test_an_episode_that_was_forgotten_can_be_told_again(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    memory.upkeep.end_session("s1")
    memory.forget(ids[1])
    memory.remember({"role": "user", "content": "and the dog has a new collar now"}, session="s1")
    assert "alarm" not in memory.upkeep.end_session("s1").text


def test_what_somebody_derived_goes_and_all_that_follows(memory: Memory) -> None:
    one = memory.remember(SECRET)
    two = memory.remember("a note on the safe", derived_from=[one.id])
    memory.remember("a note on that note", derived_from=[two.id])
    memory.remember(OTHER, derived_from=["unknown"])
    gone = memory.forget(one.id)
    assert (gone, gone.receipt and gone.receipt.counts["derived_dropped"]) == (1, 2)
    assert texts(memory) == [OTHER]


def test_a_legal_hold_on_what_was_made_of_it_refuses_all(memory: Memory) -> None:
    one = memory.remember(SECRET)
    made = memory.remember("a note on the safe", derived_from=[one.id])
    memory.upkeep.hold(made.id)
    with pytest.raises(Refused, match="legal hold"):
        memory.forget(one.id)
    assert memory.count() == 2
    memory.upkeep.release(made.id)
    assert memory.forget(one.id) == 1


def test_a_hold_anywhere_in_a_large_scope_refuses_all(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eidet.trust.erase.WHOLESALE", 2)
    held = memory.remember([SECRET, OTHER, "a third thing"], scope="ann")[1]
    memory.upkeep.hold(held.id, scope="ann")
    with pytest.raises(Refused, match="legal hold"):
        memory.forget(everything=True, scope="ann")
    memory.upkeep.release(held.id, scope="ann")
    assert memory.forget(everything=True, scope="ann") == 3
    assert memory.trust.verify_forgotten(OTHER, scope="ann")


MERGED = ("Ann keeps her spare key under the blue pot", "Ann keeps her spare key under a blue pot")


def merged(memory: Memory) -> tuple[str, str]:
    """Two facts that upkeep made one: the id that stayed, and the one that became part of it."""
    one, two = (memory.remember(text, who="Ann") for text in MERGED)
    memory.upkeep.maintain(only="merge", settings=Upkeep(alike=0.5))
    assert texts(memory) == [MERGED[0]], "the two should have been merged"
    return one.id, two.id


def test_a_part_of_a_merged_record_is_taken_out(memory: Memory) -> None:
    one, two = merged(memory)
    gone = memory.forget(two)
    assert gone.receipt is not None
    assert gone.receipt.counts["derived_anew"] == 1
    left = memory.get(one)
    assert left is not None
    assert "merged" not in left.meta
    assert left.derived_from == ()
    assert memory.trust.verify_forgotten(MERGED[1])
    with pytest.raises(Refused):
        memory.remember(MERGED[1])


def test_a_merged_record_goes_with_its_parts(memory: Memory) -> None:
    one, _ = merged(memory)
    memory.forget(one)
    for text in MERGED:
        assert memory.trust.verify_forgotten(text)
        with pytest.raises(Refused):
            memory.remember(text)


def test_a_record_that_still_tells_the_text_of_its_part_goes_too(memory: Memory) -> None:
    told = State(merged=(MergedPart(id="part", text=SECRET, occurred=NOW),))
    one = memory.remember(f"Well, {SECRET.upper()}, he said", derived_from=["part"])
    two = memory.remember(OTHER, derived_from=["part"])
    put_records(memory.parts, [one.but(state=told), two.but(state=told)], now=NOW)
    gone = memory.forget("part")
    assert gone.receipt is not None
    assert (gone.receipt.counts["derived_dropped"], gone.receipt.counts["derived_anew"]) == (1, 1)
    assert texts(memory) == [OTHER]
    assert memory.trust.verify_forgotten(SECRET)


def test_the_newer_fact_stays_when_the_older_is_forgotten(memory: Memory) -> None:
    old = memory.remember("Ann lives in Lisbon", who="Ann", occurred=NOW - 100)
    new = memory.remember("Ann lives in Porto", who="Ann", derived_from=[old.id])
    put_records(memory.parts, [new.but(state=State(updates=old.id))], now=NOW)
    memory.forget(old.id)
    left = memory.get(new.id)
    assert left is not None
    assert (left.text, left.derived_from, left.state) == ("Ann lives in Porto", (), NO_STATE)


def test_a_consolidated_fact_stays_while_two_episodes_still_say_it(memory: Memory) -> None:
    said = "Eva plays the cello in the city orchestra every Friday evening"
    for session in ("a", "b", "c"):
        talk(memory, said, f"The weather in {session} was very fine all day long today", session=session)
        memory.upkeep.end_session(session)
    memory.upkeep.maintain(only="consolidate")
    facts = memory.find(kinds="fact")
    assert len(facts) == 1, "the episodes should have made a fact"
    weather = memory.find(where=Where(session="a", kinds=(Kind.MESSAGE,)))
    memory.forget(next(record.id for record in weather if "weather" in record.text))
    assert memory.find(kinds="fact")[0].text == facts[0].text
    cello = memory.find(where=Where(session="b", kinds=(Kind.MESSAGE,)))
    memory.forget(next(record.id for record in cello if "cello" in record.text))
    assert memory.find(kinds="fact") == []
    assert memory.trust.verify_forgotten(said)


def test_an_episode_that_was_being_written_is_not_made_of_what_was_forgotten(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    keeping = memory.upkeep.keeping
    asked = keeping._episode("default", "s1", "a test", NOW)
    worded = keeping._write_text(asked, settings=Upkeep(), llm=None).record
    memory.forget(ids[1])
    with pytest.raises(Entombed):
        keeping._write([worded], now=NOW)
    assert memory.find(kinds="episode") == []


def test_upkeep_passes_over_what_was_forgotten_while_it_planned(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    idle = Upkeep(session_idle_hours=0.0)
    keeping = memory.upkeep.keeping
    word = keeping._write_text

    def forgetful(*args: Any, **how: Any) -> Any:
        made = word(*args, **how)
        memory.forget(ids[1])
        return made

    keeping._write_text = forgetful  # type: ignore[method-assign]
    done = memory.upkeep.maintain(only="summarise", settings=idle)
    assert (done.skipped, done.failed, dict(done.counts)) == (1, (), {})
    keeping._write_text = word  # type: ignore[method-assign]
    done = memory.upkeep.maintain(only="summarise", settings=idle)
    assert dict(done.counts) == {"summarise": 1}
    assert "alarm" not in memory.find(kinds="episode")[0].text


# A look before.


def test_a_preview_names_everything_and_changes_nothing(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    episode = memory.upkeep.end_session("s1")
    note = memory.remember("a note", derived_from=[ids[1]])
    before = memory.find()
    found = memory.trust.preview_forget(ids[1])
    assert ([r.id for r in found.asked], [r.id for r in found.dropped]) == ([ids[1]], [note.id])
    assert [r.id for r in found.anew] == [episode.id]
    assert memory.find() == before
    assert memory.trust.preview_forget(everything=True, scope="default").count == 6


# Proof.


def test_a_receipt_is_true_until_anything_of_it_changes(memory: Memory, tmp_path: Path) -> None:
    receipt = memory.forget(memory.remember(SECRET).id, by="ann").receipt
    assert receipt is not None
    receipt.save(tmp_path / "r.json")
    loaded = Receipt.load(tmp_path / "r.json")
    assert loaded == receipt
    assert SECRET not in (tmp_path / "r.json").read_text()
    assert memory.trust.verify_receipt(loaded)
    changes: dict[str, Any] = {
        "store": "x", "scope": "x", "ids": ("x",), "marks": (), "counts": {"records": 2}, "by": "bob",
        "at": 1.0, "why": "x", "pending": ("x",), "method": "ed25519", "key": "00", "signature": "00",
    }  # fmt: skip
    for name, value in changes.items():
        assert not memory.trust.verify_receipt(replace(receipt, **{name: value})), name
    with Memory(embedder="hashing:32") as elsewhere:
        assert not elsewhere.trust.verify_receipt(receipt)


def test_a_file_that_is_no_receipt_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot be read"):
        Receipt.load(tmp_path / "none.json")
    for text in ("{", "[]", "{}", '{"eidet":"receipt","format":1}'):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(Corrupt):
            Receipt.load(tmp_path / "r.json")


def test_a_key_of_the_owner_signs_receipts(memory: Memory, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    receipt = memory.forget(memory.remember(SECRET).id, key=b"k" * 32).receipt
    assert receipt is not None
    assert receipt.method == "ed25519"
    assert memory.trust.verify_receipt(receipt)
    assert not memory.trust.verify_receipt(replace(receipt, by="bob"))
    forged = Memory(embedder="hashing:32").forget("x", key=b"f" * 32).receipt
    assert forged is not None
    assert not memory.trust.verify_receipt(replace(forged, store=receipt.store))
    with pytest.raises(Misconfigured, match="cannot be read"):
        memory.forget("x", key=str(tmp_path / "none.pem"))
    with pytest.raises(BadInput, match="32 bytes"):
        memory.forget("x", key=5)


def test_absence_is_told_place_by_place(memory: Memory) -> None:
    record = memory.remember(SECRET)
    found = memory.trust.verify_forgotten(SECRET)
    assert not found
    assert {p.name for p in found.places if p.found} >= {
        "records, by words in them",
        "records, by what they say",
    }
    assert not memory.trust.verify_forgotten(record.id)
    receipt = memory.forget(record.id).receipt
    assert receipt is not None
    for what in (SECRET, record.id, receipt):
        absence = memory.trust.verify_forgotten(what)
        assert absence, str(absence)
        assert len(absence.places) >= 10
    memory.remember(f"he said: {SECRET.upper()} and left", again=True)
    assert not memory.trust.verify_forgotten(SECRET)
    assert memory.trust.verify_forgotten(receipt)


def test_a_value_is_looked_for_in_data(memory: Memory) -> None:
    record = memory.remember({"card": "4111", "pin": [1, 2]})
    assert not memory.trust.verify_forgotten({"card": "4111", "pin": [1, 2]})
    memory.forget(record.id)
    assert memory.trust.verify_forgotten({"card": "4111", "pin": [1, 2]})


@pytest.mark.parametrize("what", ["", "  ", None, "\ud800", {1: 2}, object()])
def test_one_must_say_what_was_forgotten(memory: Memory, what: object) -> None:
    with pytest.raises(BadInput):
        memory.trust.verify_forgotten(what)


@pytest.mark.parametrize("how", [{"for_good": "yes"}, {"for_good": 1}, {"why": 5}, {"by": "\ud800"}])
def test_bad_wishes_change_nothing(memory: Memory, how: dict[str, Any]) -> None:
    record = memory.remember(SECRET)
    with pytest.raises(BadInput):
        memory.forget(record.id, **how)
    assert memory.count() == 1


# Caches, archives and files.


def test_an_archive_is_cleaned_and_does_not_bring_it_back(tmp_path: Path) -> None:
    upkeep = Upkeep(forget_below=1.0, archive_above=0.0)
    with on_file(tmp_path) as memory:
        one, two, three = memory.remember([SECRET, OTHER, "the third note is about nothing at all"])
        memory.export(tmp_path / "all.jsonl")
        memory.upkeep.maintain(only="forget", settings=upkeep, archive=tmp_path / "archive", now=NOW + 9e7)
        assert memory.count() == 0
        gone = memory.forget([one.id, "no such id"])
        assert gone.receipt is not None
        assert (gone, gone.receipt.counts["archived"]) == (0, 1)
        assert memory.trust.verify_forgotten(SECRET)
        assert SECRET.encode() not in bytes_beside(tmp_path / "archive")
        assert memory.load(tmp_path / "all.jsonl") == 2
        memory.forget([two.id, three.id], for_good=False)
        assert memory.upkeep.unarchive(tmp_path / "archive") == 2
        assert {record.id for record in memory.find()} == {two.id, three.id}
        memory.forget(where=Where(ids=(two.id,)))
        assert OTHER.encode() not in bytes_beside(tmp_path / "archive")


def test_no_file_keeps_a_word_of_it(tmp_path: Path) -> None:
    copy = tmp_path / "memory.db.schema-0001"
    with on_file(tmp_path, sidecar_from=20, echo_guard=True) as memory:
        memory.remember([f"note number {n} about thing {n % 7}" for n in range(60)])
        record = memory.remember(SECRET)
        memory.revise(record.id, text=f"{SECRET} or so")
        memory.recall("the safe")
        memory.admin.rebuild()
        copy.write_bytes(b"SQLite format 3\0" + SECRET.encode())
        gone = memory.forget(record.id)
        assert gone.receipt is not None
        assert gone.receipt.pending == ()
        assert gone.receipt.counts["schema_copies"] == 1
        assert gone.receipt.counts["history"] == 1
        assert SECRET.encode() not in bytes_beside(tmp_path)
        assert memory.trust.verify_forgotten(SECRET)
        assert memory.admin.check() == []
    assert SECRET.encode() not in bytes_beside(tmp_path)
    assert not copy.exists()


def test_lowered_records_are_gone_with_their_originals(memory: Memory) -> None:
    long = " ".join(f"Ann told on day {n} of house number {n * 7} that she saw." for n in range(60))
    record = memory.remember(long)
    lowering = Upkeep(short_age_days=1, middle_age_days=1, gist_tokens=8)
    memory.upkeep.maintain(only="move", settings=lowering, now=NOW + 9e6)
    assert memory.find()[0].level == 2
    memory.forget(record.id)
    assert memory.trust.verify_forgotten(long)
    with pytest.raises(Refused):
        memory.remember(long)


def test_a_reader_delays_the_cleaning_and_the_receipt_says_so(tmp_path: Path) -> None:
    import sqlite3

    with on_file(tmp_path) as memory:
        record = memory.remember(SECRET)
        memory.remember(OTHER)
        reader = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        gone = memory.forget(record.id)
        assert gone.receipt is not None
        assert "memory.db-wal" in gone.receipt.pending[0]
        assert memory.find()[0].text == OTHER
        reader.execute("COMMIT")
        reader.close()
        memory.upkeep.maintain()
        assert SECRET.encode() not in bytes_beside(tmp_path)
        assert memory.trust.verify_forgotten(SECRET)


def test_files_that_cannot_be_cleaned_now_are_told_and_cleaned_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Unavailable("the disk is full")

    with on_file(tmp_path) as memory:
        record = memory.remember(SECRET)
        with monkeypatch.context() as patch:
            patch.setattr("eidet.store.sql.sqlite.SqliteDriver.scrub", full)
            gone = memory.forget(record.id)
            assert gone.receipt is not None
            assert gone.receipt.pending == ("files could not be cleaned: the disk is full",)
            with on_file(tmp_path) as other:
                assert other.count() == 0, "a memory that cannot be cleaned can still be opened"
        memory.upkeep.maintain()
        assert not verbs.get_setting(memory.parts.store, "unclean")
        assert SECRET.encode() not in bytes_beside(tmp_path)


def test_the_cache_of_an_embedder_forgets(tmp_path: Path) -> None:
    from eidet.models.embed import embedder_of
    from eidet.models.embed.vector_cache import Cached

    cached = Cached(embedder_of("hashing:32"), path=tmp_path / "vectors.db")
    with Memory(embedder=cached, clock=Clock()) as memory:
        record = memory.remember(SECRET)
        memory.remember(OTHER)
        row = cached.embed([SECRET])[0].tobytes()
        assert row in bytes_beside(tmp_path)
        memory.forget(record.id)
        assert row not in bytes_beside(tmp_path)
        assert len(cached._rows) == 1
    cached.close()


def test_echoes_of_it_go_too(memory: Memory) -> None:
    with Memory(embedder="hashing:32", clock=Clock(), settings=Settings(echo_guard=True)) as guarded:
        record = guarded.remember(SECRET)
        guarded.recall("the safe")
        guarded.remember(f"I remember that {SECRET}")
        assert guarded.count(Where(conditions=(("state.echo_of", "=", record.id),))) == 1  # type: ignore[arg-type]
        guarded.forget(record.id)
        assert guarded.count() == 0


# Races.


def test_a_racing_writer_ends_erased_or_refused(tmp_path: Path) -> None:
    with on_file(tmp_path) as memory:
        first = memory.remember({"role": "user", "content": SECRET})
        done, refused = threading.Event(), 0

        def write() -> None:
            nonlocal refused
            while not done.is_set():
                try:
                    memory.remember({"role": "user", "content": SECRET})
                except Refused:
                    refused += 1

        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        memory.forget(first.id)
        done.set()
        for thread in threads:
            thread.join()
        assert memory.trust.verify_forgotten(SECRET)
        with pytest.raises(Refused):
            memory.remember(SECRET)


def test_two_who_forget_the_same_at_once_both_end_well(tmp_path: Path) -> None:
    with on_file(tmp_path) as memory:
        records = memory.remember([f"{SECRET} number {n}" for n in range(20)])
        found: list[int] = []

        def forget() -> None:
            found.append(int(memory.forget([record.id for record in records])))

        threads = [threading.Thread(target=forget) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [0, 0, 0, 20]
        assert verbs.get_setting(memory.parts.store, "unclean") == ""
        assert SECRET.encode() not in bytes_beside(tmp_path)


def test_another_process_sees_tombstones_at_once(tmp_path: Path) -> None:
    with on_file(tmp_path) as one, on_file(tmp_path) as other:
        record = one.remember(SECRET)
        other.remember(OTHER)
        one.forget(record.id)
        with pytest.raises(Refused):
            other.remember(SECRET)
        other.remember(SECRET, again=True)
        assert one.remember(SECRET).text == SECRET


def test_folding_joins_what_is_the_same_and_nothing_else() -> None:
    assert folded(" Foo\u200b  BAR.") == folded("foo bar")
    assert folded("caf\u00e9") == folded("cafe\u0301")
    assert folded("foo bar?") != folded("foo bar")
    assert folded("") == folded("  ")
