"""`checked` and `embedder_of`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eidet.core.errors import BadInput, Misconfigured, MissingExtra
from eidet.models.adapt import CalledEmbedder, adapt_embedder
from eidet.models.embed import BUILT_IN, Vectors, embed_checked, embedder_of
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.vector_cache import Cached
from eidet.models.embed.wordllama import WordLlama
from eidet.models.http import HttpEmbedder
from eidet.models.rerank import reranker_of


class Fixed:
    """Gives the same answer to everything."""

    name = "fixed"

    def __init__(self, answer: object, width: int = 3) -> None:
        self.answer = answer
        self.width = width

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.answer  # type: ignore[return-value]


class Lazy:
    name = "lazy"

    @property
    def width(self) -> int:
        raise AssertionError("asked for the width")

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("asked for rows")


def test_checked_gives_float32_rows() -> None:
    rows = embed_checked(Fixed([[1, 2, 3]]), ["a"])
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("answer", "texts", "words"),
    [
        ([[1, 2]], ["a"], r"'fixed'.*\(1, 2\).*promised \(1, 3\)"),
        ([[1, 2, 3]], ["a", "b"], r"\(1, 3\) for 2 texts; it promised \(2, 3\)"),
    ],
)
def test_a_wrong_shape_says_what_came_and_what_was_promised(
    answer: object, texts: list[str], words: str
) -> None:
    with pytest.raises(Misconfigured, match=words):
        embed_checked(Fixed(answer), texts)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused_and_names_the_text(bad: float) -> None:
    with pytest.raises(Misconfigured, match="NaN or infinity for text 1: 'second'"):
        embed_checked(Fixed([[1, 2, 3], [1, bad, 3]]), ["first", "second"])


def test_numbers_whose_squares_are_too_large_are_finite_all_the_same() -> None:
    assert embed_checked(Fixed([[3e38, -3e38, 1]]), ["a"]).tolist()[0][2] == 1


@pytest.mark.parametrize("answer", [[[1, 2, 3], [1]], "rows", [["a", "b", "c"]]])
def test_an_answer_that_is_not_rows_of_numbers_is_refused(answer: object) -> None:
    with pytest.raises(Misconfigured, match="not rows of numbers"):
        embed_checked(Fixed(answer), ["a", "b"])


def test_a_single_text_is_not_taken_for_a_list_of_letters() -> None:
    with pytest.raises(BadInput, match="list of texts"):
        embed_checked(Hashing(), "text")


def test_an_embedder_is_itself_and_is_not_asked_anything() -> None:
    mine = Lazy()
    assert embedder_of(mine) is mine


def test_a_name_may_carry_a_setting() -> None:
    assert embedder_of("hashing").width == 256
    assert embedder_of("hashing:128").name == "hashing:128"


def test_local_and_quick_embedders_are_not_cached() -> None:
    for spec in (None, "wordllama"):
        assert isinstance(embedder_of(spec), WordLlama)
    assert isinstance(embedder_of("hashing"), Hashing)


def test_http_embedders_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    found = embedder_of("openai:text-embedding-3-large")
    assert isinstance(found, Cached)
    assert found.name == "openai:text-embedding-3-large"
    assert isinstance(embedder_of(HttpEmbedder(url="http://localhost:1")), Cached)


def test_a_cached_embedder_is_not_cached_twice() -> None:
    cached = Cached(Hashing())
    assert embedder_of(cached) is cached


def test_callables_are_adapted_and_asynchronous_ones_cached() -> None:
    async def slow(texts: list[str]) -> list[list[float]]:
        return [[1.0, 2.0] for _ in texts]

    assert isinstance(embedder_of(lambda texts: [[1.0] for _ in texts]), CalledEmbedder)
    assert isinstance(embedder_of(slow), Cached)
    assert isinstance(embedder_of(adapt_embedder(slow)), Cached)


def test_an_embedder_whose_embed_is_a_coroutine_is_adapted_under_its_name() -> None:
    class Remote:
        name, width = "remote", 2

        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return [[1.0, 2.0] for _ in texts]

    found = embedder_of(Remote())
    assert (found.name, found.width) == ("remote", 2)
    assert embed_checked(found, ["a", "b"]).tolist() == [[1, 2], [1, 2]]


def test_a_class_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(Misconfigured, match=r"give an instance: Hashing\(\)"):
        embedder_of(Hashing)


def test_something_that_cannot_embed_is_refused() -> None:
    with pytest.raises(Misconfigured, match="an object of type int cannot embed"):
        embedder_of(5)


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(Misconfigured, match=r"'nonsense'; there are .*hashing.*wordllama"):
        embedder_of("nonsense:5")


def test_other_packages_add_embedders_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[eidet.embedders]\ntheirs = eidet.models.embed.hashing:Hashing\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert embedder_of("theirs:12").width == 12


@pytest.mark.parametrize("name", ["sentence-transformers", "fastembed"])
def test_an_absent_package_is_named_with_the_command_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, name.replace("-", "_"), raising=False)
    sys.path_importer_cache.clear()
    for make in (embedder_of, reranker_of):
        with pytest.raises(MissingExtra, match=rf"pip install 'eidet\[{name}\]'") as caught:
            make(f"{name}:some-model")
        assert caught.value.extra == name


def test_entry_points_of_this_package_are_the_built_in_names() -> None:
    from importlib.metadata import entry_points

    assert {entry.name for entry in entry_points(group="eidet.embedders")} == set(BUILT_IN)


def test_importing_the_port_imports_nothing_heavy() -> None:
    heavy = ["tokenizers", "safetensors", "asyncio", "sqlite3", "http.client", "importlib.metadata"]
    code = (
        "import sys, numpy; old = set(sys.modules); import eidet.models.embed;"
        f"print(set({heavy}) & (set(sys.modules) - old))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
