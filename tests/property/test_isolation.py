"""Isolation as laws: whatever scopes are called and whatever is asked, each answers for itself alone."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet import BadInput, Memory, Scope, Where

LABELS = st.one_of(
    st.sampled_from(
        ["a", "A", "ab", "a_", "a%", "..", "' OR 1=1", "é", "e\u0301", "ß", "ss", "İ", "i", "a*"]
    ),
    st.text(min_size=1, max_size=8).filter(
        lambda text: (
            text.isprintable() and text == text.strip() and "/" not in text and text not in ("*", "**")
        )
    ),
)
SCOPES = st.lists(LABELS, min_size=1, max_size=3).map("/".join)


def secret(number: int) -> str:
    return f"secretword{'abcdefgh'[number]}x"


def filled(memory: Memory, scopes: list[str]) -> None:
    for number, scope in enumerate(scopes):
        text = f"{secret(number)} about the garden"
        memory.remember(text, scope=scope, id="shared", who=f"Jo{number}", session="s")


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(SCOPES, min_size=2, max_size=6, unique=True))
def test_each_scope_answers_with_its_own_and_a_prefix_with_what_is_below(scopes: list[str]) -> None:
    memory = Memory(embedder="hashing:16")
    filled(memory, scopes)
    for number, scope in enumerate(scopes):
        below = {secret(n) for n, path in enumerate(scopes) if path == scope or path.startswith(scope + "/")}
        answers = (
            [hit.text for hit in memory.recall("the garden", scope=scope)],
            [record.text for record in memory.find(scope=scope)],
            [record.text for record in [memory.get("shared", scope=scope)] if record],
            [record.text for record in memory.context("the garden", scope=scope).records],
        )
        assert all(texts == [f"{secret(number)} about the garden"] for texts in answers)
        assert memory.count(scope=scope) == 1
        found = memory.recall("the garden", scope=Scope.under(scope), limit=100)
        assert {hit.text.split()[0] for hit in found} == below
        assert memory.count(scope=Scope.under(scope)) == len(below)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(SCOPES, min_size=2, max_size=5, unique=True), st.data())
def test_forgetting_one_scope_leaves_the_others_in_a_file_too(scopes: list[str], data: st.DataObject) -> None:
    doomed = data.draw(st.sampled_from(scopes))
    with TemporaryDirectory() as folder, Memory(Path(folder) / "m.db", embedder="hashing:16") as memory:
        filled(memory, scopes)
        assert memory.forget(where=Where(who="nobody"), scope=doomed) == 0
        assert memory.forget(scope=doomed, everything=True) == 1
        assert memory.scopes() == {scope: 1 for scope in scopes if scope != doomed}
        assert all(memory.recall("garden", scope=scope) for scope in scopes if scope != doomed)
        assert not memory.recall("garden", scope=doomed)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=30))
def test_a_scope_is_taken_as_it_is_or_refused(scope: str) -> None:
    memory = Memory(embedder="hashing:16")
    try:
        kept = memory.remember("something", scope=scope)
    except BadInput:
        assert memory.scopes() == {}
    else:
        assert kept.scope == scope
        assert memory.scopes() == {scope: 1}
