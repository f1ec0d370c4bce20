"""Large bodies and answers, piece by piece: the same JSON as in one go, and the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi: pip install 'eidet[server]'")

from hypothesis import given
from hypothesis import strategies as st
from tests.servers.served import Running

from eidet import Client, Draft
from eidet.core.remembered import RememberedList
from eidet.models.embed import embedder_of
from eidet.models.embed.vector_cache import Cached
from eidet.server.calm_process import ShortCollections, calm_process
from eidet.server.rest.large_json import LARGE, dump_pieces, dump_small, parse_pieces
from eidet.server.serving import waits

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
BAD = (
    b"",
    b"{",
    b"[1",
    b'{"a"',
    b'{"a":',
    b'{"a":1',
    b'{"a":1,',
    b'{"a":1,}',
    b'{"a":[1,]}',
    b'{"a":[1 2]}',
    b'{"a":[1}',
    b"{1:2}",
    b'{"a":1}x',
    b'{"a":"\x01"}',
    b"\xff\xfe\xff",
    b'{"a":"\xff"}',
)


@given(VALUES, st.sampled_from([None, 2]))
def test_a_body_in_pieces_is_the_body(value: Any, indent: int | None) -> None:
    for body in (value, {"memories": value, "": [value, value]}):
        for encoding in ("utf-8", "utf-16"):
            text = json.dumps(body, indent=indent, ensure_ascii=encoding == "utf-8")
            assert parse_pieces(text.encode(encoding, "surrogatepass")) == body


@pytest.mark.parametrize("body", BAD)
def test_a_damaged_body_fails_as_it_does_in_one_go(body: bytes) -> None:
    failures = []
    readers: tuple[Callable[[bytes], Any], ...] = (json.loads, parse_pieces)
    for read in readers:
        with pytest.raises(ValueError) as failed:  # both kinds of it are compared
            read(body)
        failures.append((type(failed.value), str(failed.value)))
    assert failures[0] == failures[1]


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_an_answer_in_pieces_is_the_answer(value: dict[str, Any]) -> None:
    assert dump_pieces(value) == dump_small(value)
    assert json.loads(dump_pieces(value)) == value


def test_a_large_request_is_stored_and_a_wrong_one_is_told(running: Running) -> None:
    items: list[Any] = []
    for number in range(200):
        items.append({"text": f"note {number} " + "word " * 200, "data": {"n": number}})
    assert len(json.dumps(items)) > LARGE
    with Client(running.url) as client:
        stored = client.remember([Draft(**item) for item in items])
        found = client.find(limit=200, order="created")
    assert isinstance(stored, RememberedList)
    assert [record.data for record in stored] == [item["data"] for item in items]
    assert {record.text for record in found} == {item["text"] for item in items}
    for damage in ("{}", "x"):
        body = json.dumps({"memories": items})[:-1] + damage
        answer = running.shared.post(
            "/v1/memories", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422
        assert answer.json()["field"].startswith("body")


@pytest.mark.parametrize(
    ("longest", "generation", "freezes"), [(0.0, 2, True), (0.0, 1, False), (60.0, 2, False)]
)
def test_what_was_there_at_a_long_collection_is_exempt_from_the_next(
    longest: float, generation: int, freezes: bool
) -> None:
    watcher = ShortCollections(longest)
    try:
        for phase in ("start", "stop"):
            watcher(phase, {"generation": generation})
        assert (gc.get_freeze_count() > 0) is freezes
    finally:
        gc.unfreeze()


def test_a_process_is_as_it_was_after_serving() -> None:
    async def serve() -> None:
        async with calm_process():
            assert gc.get_freeze_count() > 0
            assert sys.getswitchinterval() < before

    before, watchers = sys.getswitchinterval(), list(gc.callbacks)
    asyncio.run(serve())
    assert gc.get_freeze_count() == 0
    assert sys.getswitchinterval() == before
    assert gc.callbacks == watchers


def test_only_embedders_that_wait_let_more_searches_run_at_once() -> None:
    words = embedder_of("hashing:64")
    assert not waits(words)
    assert waits(Cached(words))
