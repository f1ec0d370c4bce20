"""Terms as bytes."""

from __future__ import annotations

import pytest

from eidet.core.errors import Corrupt
from eidet.text import pack, term_id, unpack


def test_a_term_id_is_the_crc_of_its_utf8_bytes() -> None:
    assert term_id("123456789") == 0xCBF43926  # the check value published for CRC-32
    assert term_id("") == 0


def test_no_terms_are_no_bytes() -> None:
    assert pack([]) == b""
    assert unpack(b"") == {}


def test_counts_stop_at_255() -> None:
    assert unpack(pack(["ann"] * 300)) == {term_id("ann"): 255}


def test_bytes_of_an_impossible_length_are_corrupt() -> None:
    with pytest.raises(Corrupt, match="7 bytes"):
        unpack(b"1234567")
