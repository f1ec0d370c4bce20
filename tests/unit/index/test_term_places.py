"""Places of terms, against a plain dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.index.embedded.term_places import FIRST_ROOM, ROOM, TermPlaces

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
# few low bits, so that many ids fall into one slot
crowded = st.builds(lambda high, low: high * 2**20 + low, st.integers(0, 4_000), st.integers(0, 3))
pages = st.lists(st.lists(crowded, max_size=20, unique=True), max_size=6)


@often
@given(pages, st.lists(crowded, max_size=20))
def test_places_are_those_of_a_dictionary(given_pages: list[list[int]], asked: list[int]) -> None:
    places, plain = TermPlaces(), dict[int, int]()
    for page in given_pages:
        fresh = [id for id in page if id not in plain]
        places.add(fresh)
        plain |= dict(zip(fresh, range(len(plain) + 1, len(plain) + len(fresh) + 1), strict=True))
        wanted = [*asked, *plain]
        assert places.find(np.array(wanted, np.uint32)).tolist() == [plain.get(id, 0) for id in wanted]
    assert len(places) == len(plain)


def test_many_ids_make_more_room_and_stay_where_they_are() -> None:
    ids = np.random.default_rng(1).permutation(2**20)[: FIRST_ROOM // ROOM + 5_000].astype(np.uint32)
    places = TermPlaces()
    for page in np.array_split(ids, 7):
        places.add(page.tolist())
    assert np.array_equal(places.find(ids), np.arange(1, len(ids) + 1))
    assert not places.find(ids + np.uint32(2**21)).any()


def test_the_id_zero_is_one_as_any_other() -> None:
    places = TermPlaces()
    assert places.find(np.zeros(1, np.uint32)).tolist() == [0]
    places.add([0])
    assert places.find(np.zeros(1, np.uint32)).tolist() == [1]
