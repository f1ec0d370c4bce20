"""A box opens where it belongs, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.errors import Corrupt
from eidet.trust.seal.boxes import LASTING, OtherKey, ScopeKeys, number_of, pack_parts

SECRETS = {1: bytes(range(64)), 2: bytes(range(64, 96)) + bytes(range(32, 64))}
KEYS = ScopeKeys("here", "ann", SECRETS)
OWNER = KEYS.owner(b"x")


@settings(max_examples=examples(50), deadline=None)
@given(st.binary(max_size=200), st.sampled_from((None, 1, 2, LASTING)))
def test_what_was_sealed_is_opened(plain: bytes, number: int | None) -> None:
    box = KEYS.seal("terms", OWNER, plain, number)
    assert KEYS.open("terms", box) == KEYS.open("terms", box, OWNER) == plain
    assert number_of(box) == (2 if number is None else number)
    assert box == KEYS.seal("terms", OWNER, plain, number), "the same is sealed the same"
    assert len(plain) < 8 or plain not in box


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_no_bit_of_a_box_can_be_changed(data: st.DataObject) -> None:
    box = bytearray(KEYS.seal("terms", OWNER, b"some terms"))
    box[data.draw(st.integers(0, len(box) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Corrupt):
        KEYS.open("terms", bytes(box), OWNER)


def test_a_box_belongs_to_its_store_scope_field_and_record() -> None:
    box = KEYS.seal("terms", OWNER, b"some terms")
    for keys in (ScopeKeys("there", "ann", SECRETS), ScopeKeys("here", "bob", SECRETS)):
        with pytest.raises(Corrupt):
            keys.open("terms", box)
    for field, owner in (("vector", OWNER), ("terms", KEYS.owner(b"y"))):
        with pytest.raises(Corrupt):
            KEYS.open(field, box, owner)
    forged = box[:4] + KEYS.owner(b"y") + box[16:]
    with pytest.raises(Corrupt):
        KEYS.open("terms", forged, KEYS.owner(b"y"))
    renumbered = b"\0\0\0\1" + box[4:]
    with pytest.raises(Corrupt):
        KEYS.open("terms", renumbered, OWNER)


def test_a_key_that_is_not_there_is_told_apart() -> None:
    with pytest.raises(OtherKey):
        ScopeKeys("here", "ann", {2: SECRETS[2]}).open("terms", KEYS.seal("terms", OWNER, b"", 1))


@pytest.mark.parametrize("box", [b"", b"\0", b"\0\0\0\2", b"\0\0\0\2" + bytes(12), bytes(100)])
def test_what_is_no_box_is_corrupt(box: bytes) -> None:
    with pytest.raises(Corrupt):
        KEYS.open("terms", box)


@settings(max_examples=examples(50), deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_labels_are_the_same_for_the_same_and_come_back(label: str) -> None:
    token = KEYS.label("who", label)
    assert KEYS.open_label("who", token) == label
    assert ScopeKeys("here", "ann", {2: SECRETS[2]}).label("who", label) == token, "another key changes none"
    assert KEYS.label("agent", label) != token != KEYS.label("who", label + "x")
    assert ScopeKeys("here", "bob", SECRETS).label("who", label) != token
    with pytest.raises(Corrupt):
        KEYS.open_label("agent", token)


@pytest.mark.parametrize("token", ["", "-", "ann", "!", "é", "A" * 50])
def test_what_is_no_token_is_corrupt(token: str) -> None:
    with pytest.raises(Corrupt):
        KEYS.open_label("who", token)


def test_marks_differ_by_content_and_scope_but_not_by_key() -> None:
    other = ScopeKeys("here", "ann", {1: SECRETS[1]})
    assert KEYS.mark(b"x") == other.mark(b"x") != KEYS.mark(b"y")


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.binary(max_size=5), max_size=4), st.lists(st.binary(max_size=5), max_size=4))
def test_parts_cannot_be_taken_for_others(one: list[bytes], other: list[bytes]) -> None:
    assert (pack_parts(*one) == pack_parts(*other)) == (one == other)
