"""What a record keeps of its text: bytes there and back, and an error for bytes that are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.errors import Corrupt
from eidet.text import pack, pack_ids, term_id, unpack
from eidet.text.analysis import DAYS_KEPT, NOTHING, Analysis, decode_analysis, pack_analysis, terms_in

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
ids = st.lists(st.integers(0, 2**32 - 1), max_size=20)
days = st.tuples(st.integers(1, 3_652_059), st.integers(1, 3_652_059))


@often
@given(st.lists(ids, max_size=6), st.integers(0, 255), st.lists(days, max_size=DAYS_KEPT))
def test_what_was_packed_is_read_back(
    units: list[list[int]], flags: int, when: list[tuple[int, int]]
) -> None:
    packed = [pack_ids(unit) for unit in units]
    assert decode_analysis(pack_analysis(packed, flags, when)) == Analysis(flags, tuple(when), tuple(packed))
    assert terms_in(pack_analysis(packed, flags, when)) == {id for unit in units for id in unit}


@often
@given(st.lists(ids, max_size=3), st.lists(days, max_size=3), st.data())
def test_bytes_that_lack_some_or_have_too_many_are_corrupt(
    units: list[list[int]], when: list[tuple[int, int]], data: st.DataObject
) -> None:
    blob = pack_analysis([pack_ids(unit) for unit in units], 1, when)
    cut = data.draw(st.integers(1, len(blob) - 1))
    for damaged in (blob[:cut], blob + b"x"):
        with pytest.raises(Corrupt):
            decode_analysis(damaged)


def test_no_bytes_mean_that_nothing_was_analysed() -> None:
    assert decode_analysis(b"") == NOTHING == Analysis(0, (), ())
    assert terms_in(b"") == set()


def test_only_so_many_days_are_kept() -> None:
    when = [(day, day) for day in range(1, 100)]
    assert decode_analysis(pack_analysis([b""], 0, when)).days == tuple(when[:DAYS_KEPT])


def test_terms_are_packed_by_the_crc_of_their_utf8_bytes_and_counts_stop_at_255() -> None:
    assert term_id("123456789") == 0xCBF43926  # the check value published for CRC-32
    assert unpack(pack(["ann"] * 300)) == {term_id("ann"): 255}
    with pytest.raises(Corrupt, match="7 bytes"):
        unpack(b"1234567")


def test_a_unit_without_words_is_still_a_unit() -> None:
    units = (pack(["cat"]), b"", pack(["dog", "cat"]))
    assert decode_analysis(pack_analysis(units)).units == units
    assert terms_in(pack_analysis(units)) == {term_id("cat"), term_id("dog")}
