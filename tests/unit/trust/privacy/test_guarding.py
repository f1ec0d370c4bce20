"""Personal data on the way into a memory: nothing of it is kept, embedded, logged, told or quoted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.property.test_tenants import strings

from eidet import (
    AsyncMemory,
    BadInput,
    Condition,
    Draft,
    Memory,
    Message,
    Misconfigured,
    Settings,
    Upkeep,
    Where,
)
from eidet.core.errors import NotFound
from eidet.core.settings import read_settings
from eidet.core.state import NO_STATE
from eidet.models.embed import Vectors
from eidet.models.embed.hashing import Hashing
from eidet.trust.privacy import Forbidden, Pattern, Policy

KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
NOW = 1_700_000_000.0
MAIL, PHONE, CARD = "ann.lee@example.com", "+44 20 7946 0958", "4242 4242 4242 4242"
VALUES = (MAIL, PHONE, CARD)


class Listening(Hashing):
    """An embedder that keeps what it was given."""

    def __init__(self) -> None:
        super().__init__(64)
        self.heard: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.heard += texts
        return super().embed(texts)


class Slow:
    """The same for asyncio, which is worth caching."""

    name, width, costly = "slow", 64, True

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.heard += texts
        return Hashing(64).embed(texts)


HASHING = Settings(guard_key=KEY)


def holds(folder: Path, *values: str) -> list[str]:
    """The files that hold a value, as it is or without spaces."""
    found = []
    for file in (file for file in folder.rglob("*") if file.is_file()):
        raw = file.read_bytes().lower()
        found += [f"{file.name}: {v}" for v in values if v.encode().lower() in raw or v.encode()[:11] in raw]
    return found


@pytest.mark.parametrize("action", ["redact", "mask", "hash"])
def test_no_value_reaches_a_file_an_embedder_a_log_or_an_answer(
    action: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ear = Listening()
    told: list[object] = []
    how = replace(HASHING, flush_uses=1)
    with Memory(tmp_path / "m.db", embedder=ear, guard=action, settings=how) as memory:
        one = memory.remember(f"Write to {MAIL} or call {PHONE}", who=MAIL, source=f"mailto:{MAIL}")
        told += [one, memory.remember({"card": CARD, PHONE: ["x", MAIL]}, meta={MAIL: CARD, "n": [PHONE]})]
        turn = Message(role="user", content=f"my card is {CARD}", name=MAIL, metadata={"from": MAIL},
                       tool_calls=[{"arguments": {"to": MAIL}}])  # fmt: skip
        told += memory.remember([turn, {"role": "assistant", "content": [{"text": f"noted {PHONE}"}]}],
                                session="s")  # fmt: skip
        told.append(memory.revise(one.id, text=f"Now it is {CARD}", meta={"old": MAIL}, who=PHONE))
        told.append(memory.recall(f"who has {PHONE} or {MAIL}?", explain=True))
        told.append(memory.context(f"{MAIL} {CARD}"))
        told += [memory.find(who=MAIL), memory.find(Where(source=f"mailto:{MAIL}")), memory.history(one.id)]
        told += [memory.admin.stats(), memory.upkeep.end_session("s"), memory.upkeep.maintain(now=NOW * 2)]
        memory.export(tmp_path / "all.jsonl")
    said = "\n".join((*strings(told), *ear.heard, caplog.text)).lower()
    assert [value for value in VALUES if value in said] == []
    assert holds(tmp_path, *VALUES) == []
    assert len(ear.heard) > 5


def test_findings_are_labelled_by_class_and_nothing_else_is_touched() -> None:
    memory = Memory(embedder="hashing", guard="label")
    kept = memory.remember(f"Ann: {MAIL}", meta={"n": 1})
    assert (kept.text, kept.meta, kept.state.pii) == (f"Ann: {MAIL}", {"n": 1}, ("email",))
    assert memory.remember("Order 12-34 of version 1.2.3").state is NO_STATE
    assert memory.find(Where(conditions=(Condition("state.pii", "contains", "email"),))) == [kept]


def test_what_only_several_keys_together_say_is_found() -> None:
    memory = Memory(embedder="hashing", guard="redact")
    kept = memory.remember({"born": {"date": "1.2.1970"}})
    assert (kept.data, kept.text) == ({"born": {"date": "[BIRTH]"}}, "born date: [BIRTH]")
    told = memory.remember({"date": ["of birth", "1.2.1970"]})  # together it is a date of birth
    assert told.text == "date: of birth, [BIRTH]"


def test_it_is_off_unless_asked_for() -> None:
    memory = Memory(embedder="hashing")
    assert memory.remember(f"Ann: {MAIL}").text == f"Ann: {MAIL}"
    assert Memory(embedder="hashing", guard="off").remember(MAIL).state is NO_STATE


def test_classes_may_have_actions_of_their_own() -> None:
    by_words = Memory(embedder="hashing", guard="email=mask, card=keep,redact")
    kept = by_words.remember(f"{MAIL}, {CARD}, {PHONE}")
    assert kept.text == f"a…@e….com, {CARD}, [PHONE]"
    assert (kept.state.pii, kept.meta) == (("email", "phone"), {})
    staff = Pattern(name="staff", regex="E-[0-9]{6}", action="redact")
    own = Memory(embedder="hashing", guard=Policy(patterns=(staff,), default="keep"))
    assert own.remember("Ask E-123456").text == "Ask [STAFF]"
    assert Memory(embedder="hashing", guard={"email": "label"}).remember(CARD).text == "[CARD]"


@pytest.mark.parametrize("guard", ["shred", "email=shred", "mail=redact", {"mail": "mask"}, 7])
def test_a_guard_that_nobody_knows_is_refused_before_anything_is_opened(guard: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"unknown action|a guard has no class|a guard must be"):
        Memory(tmp_path / "m.db", guard=guard)
    assert not list(tmp_path.iterdir())


def test_settings_come_from_the_environment_and_from_a_file(tmp_path: Path) -> None:
    told = read_settings({"EIDET_GUARD": "email=mask,label", "EIDET_QUARANTINE_ABOVE": "0.8"})
    memory = Memory(embedder="hashing", settings=told)
    assert memory.remember(MAIL).text == "a…@e….com"
    file = tmp_path / "eidet.toml"
    file.write_text('[eidet]\nquarantine_above = 0.7\n[eidet.guard]\nemail = "redact"\ndefault = "keep"\n')
    read = read_settings({}, file)
    assert Memory(embedder="hashing", settings=read).remember(f"{MAIL} {CARD}").text == f"[EMAIL] {CARD}"
    assert KEY not in repr(Settings(guard_key=KEY))


def test_what_is_refused_is_named_by_class_and_nothing_is_written() -> None:
    ear = Listening()
    memory = Memory(embedder=ear, guard=Policy(card="refuse", default="hash"), settings=HASHING)
    with pytest.raises(Forbidden, match="the policy refuses card") as refusal:
        memory.remember([f"mail {MAIL}", f"pay with {CARD}"])
    assert not any(part in str(refusal.value) for part in ("4242", MAIL))
    with pytest.raises(Forbidden, match=r"data\.pay"):
        memory.remember({"pay": CARD})
    kept = memory.remember("fine")
    with pytest.raises(Forbidden):
        memory.revise(kept.id, text=CARD)
    assert memory.count() == 1
    assert ear.heard == ["fine"]
    assert "4242 4242" not in str(memory.recall(f"who has {CARD}?", explain=True).trace)
    memory.close()


def test_a_hashed_value_is_found_by_a_question_that_names_it() -> None:
    with Memory(embedder="hashing", guard="hash", settings=HASHING) as memory:
        memory.remember(f"Ann's number is {PHONE}", who="Ann")
        memory.remember("Bob's number is +44 20 7946 0001", who="Bob")
        hits = memory.recall("who has the number +442079460958?", limit=1)
        assert hits[0].text.startswith("Ann's number is phone:")
        assert PHONE not in memory.context("Ann's number").text
        assert memory.find(Where(conditions=(Condition("state.pii", "contains", "phone"),), who="Ann"))


def test_hashes_of_who_data_and_meta_are_filtered_by_their_value() -> None:
    with Memory(embedder="hashing", guard="hash", settings=HASHING) as memory:
        kept = memory.remember({"mail": MAIL, MAIL: [1]}, who=MAIL, meta={"by": MAIL}, source=MAIL)
        assert kept.who is not None
        assert kept.who.startswith("email:")
        assert MAIL not in str(kept)
        same = [
            memory.find(who=MAIL.upper()),
            memory.find(Where(conditions=(Condition("meta.by", "=", MAIL),))),
            memory.find(Where(conditions=(Condition("data.mail", "in", [MAIL, "x"]),))),
            memory.find(Where(some=(Where(who=MAIL), Where(who="nobody")))),
            [hit.record for hit in memory.recall("mail", who=MAIL)],
        ]
        assert same == [[kept]] * 5
        assert memory.count(Where(who=MAIL)) == 1
        assert memory.forget(where=Where(who=MAIL)) == 1


def test_hashes_need_a_key_before_anything_is_opened(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    with pytest.raises(Misconfigured, match="need a key: Settings"):
        Memory(place, guard="hash")
    assert not place.exists()


@pytest.mark.parametrize("key", ["short", b"short", "zz!" * 20, "file:/does/not/exist", "ab" * 65])
def test_a_bad_key_is_refused_without_being_quoted(key: Any) -> None:
    with pytest.raises((BadInput, Misconfigured)) as refusal:
        Memory(guard="hash", settings=Settings(guard_key=key))
    assert str(key).removeprefix("file:") not in str(refusal.value) or str(key).startswith("file:")


def test_a_key_may_be_base64_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    (tmp_path / "key").chmod(0o600)
    spelt = ["ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=", f"file:{tmp_path / 'key'}", bytes.fromhex(KEY)]
    texts = {
        Memory(embedder="hashing", guard="hash", settings=Settings(guard_key=key)).remember(MAIL).text
        for key in (KEY, *spelt)
    }
    assert len(texts) == 1


def test_a_vector_that_was_made_of_the_value_is_not_kept() -> None:
    memory = Memory(embedder=Hashing(64), guard="redact")
    vector = Hashing(64).embed([MAIL])[0]
    kept = memory.remember(MAIL, vector=vector)
    assert kept.vector == memory.remember("[EMAIL]", keep_duplicates=True).vector != vector.tobytes()
    plain = memory.remember("tea", vector=vector)
    assert plain.vector == vector.tobytes()
    changed = memory.revise(plain.id, text=MAIL, vector=vector)
    assert changed.vector == kept.vector


def test_a_loaded_or_unarchived_record_is_guarded_too(tmp_path: Path) -> None:
    clock = [NOW]
    upkeep = Upkeep(forget_below=0.9, archive=str(tmp_path / "old"), archive_above=0.1)
    with Memory(embedder="hashing:64", settings=Settings(upkeep=upkeep), clock=lambda: clock[0]) as open_:
        long = f"Ann: {MAIL}. " + "the ship came back to Porto. " * 60
        open_.remember([long, "tea", f"Bob: {PHONE}"], importance=0.3)
        open_.upkeep.maintain(now=NOW + 1000 * 86_400, only="move")
        open_.export(tmp_path / "all.jsonl")
        open_.upkeep.maintain(now=NOW + 100_000 * 86_400, only="forget")
    ear, home = Listening(), tmp_path / "new"
    home.mkdir()
    with Memory(home / "m.db", embedder=ear, guard="redact", clock=lambda: NOW) as memory:
        assert memory.load(tmp_path / "all.jsonl") == 3
        first = memory.recall("Ann Porto ship", limit=1)[0].record
        assert memory.upkeep.detail(first.id).text == first.text == long.replace(MAIL, "[EMAIL]")
        assert (first.level, first.original) == (0, None)
        assert first.state.pii == ("email",)
        assert memory.admin.check() == []
        memory.forget(scope="default", everything=True, for_good=False)
        assert memory.upkeep.unarchive(tmp_path / "old") == 3
        assert memory.recall("[PHONE] Bob", limit=1)[0].text == "Bob: [PHONE]"
    assert [value for value in VALUES for heard in ear.heard if value in heard] == []
    assert holds(home, *VALUES) == []


def test_labels_of_a_revised_record_add_up() -> None:
    memory = Memory(embedder="hashing", guard="redact")
    kept = memory.remember(MAIL)
    assert memory.revise(kept.id, data={"n": PHONE}).state.pii == ("email", "phone")
    changed = memory.revise(kept.id, meta={"x": 1})
    assert (changed.meta, changed.state.pii) == ({"x": 1}, ("email", "phone"))
    assert memory.revise(kept.id, text="tea").state.pii == ("email", "phone")
    assert memory.revise(memory.remember("milk").id, text="oat milk").state is NO_STATE


def test_guarding_hides_no_bad_input() -> None:
    memory = Memory(embedder="hashing", guard="redact")
    for bad in ({"text": 7}, {"data": {1: object()}}, {"meta": "x"}, {"who": 5}):
        with pytest.raises(BadInput):
            memory.remember(**bad)
    with pytest.raises(BadInput, match="a filter must be a Where"):
        memory.find([("who", MAIL)])  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        memory.revise("none", text=MAIL)
    with pytest.raises(BadInput, match="cannot revise"):
        memory.revise(memory.remember("x").id, colour=MAIL)


def test_an_asynchronous_embedder_hears_no_value() -> None:
    ear = Slow()

    async def story() -> None:
        async with AsyncMemory(embedder=ear, guard="hash", settings=HASHING) as memory:
            kept = await memory.remember(f"Ann: {MAIL}")
            await memory.remember(Draft(text=f"Bob: {PHONE}"))
            await memory.remember(data={"Bob": PHONE}, scope="other", keep_duplicates=True, again=True)
            await memory.remember([{"card": CARD}, {"role": "user", "content": f"hi {MAIL}"}])
            await memory.revise(kept.id, text=f"Ann: {CARD}")
            await memory.recall(f"who is {MAIL}?", understand=False)
            await memory.context(f"who is {MAIL}?")
            quarantined = await memory.trust.quarantine(kept.id)
            assert await memory.trust.review() == [quarantined]
            assert (await memory.trust.approve(kept.id)).trust == "user"

    asyncio.run(story())
    assert len(ear.heard) >= 6
    assert [value for value in VALUES if value in "\n".join(ear.heard)] == []
