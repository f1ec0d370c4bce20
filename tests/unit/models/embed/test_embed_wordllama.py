from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from eidet.core.errors import BadInput, Misconfigured
from eidet.models.contract import ODD, TEXTS
from eidet.models.embed import wordllama
from eidet.models.embed.wordllama import WordLlama

# Of the rows of three texts, every 64th number, as every version of Eidet has them.
KEPT = [
    [0.03438580, 0.02208554, 0.03009911, -0.04689021],
    [0.03271873, -0.04540789, -0.14201799, -0.04755443],
    [-0.11098593, -0.00013430, -0.02013108, -0.01251298],
]
PACKAGE = Path(str(find_spec("wordllama").origin)).parent  # type: ignore[union-attr]


def test_rows_are_the_normalised_sums_of_the_token_vectors_in_the_package() -> None:
    texts = [*TEXTS, *(text for text in ODD if text), "a  b", " a", "a ", "x <s> y", "a▁b", "word " * 3000]
    tokenizer = Tokenizer.from_file(str(PACKAGE / wordllama.TOKENIZER.path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    weights = load_file(PACKAGE / wordllama.WEIGHTS.path)["embedding.weight"].astype(np.float64)
    tokens = [tokenizer.encode(text.lower(), add_special_tokens=False).ids for text in texts]
    sums = np.array([weights[ids].sum(axis=0) for ids in tokens])
    embedder = WordLlama()
    cold, warm = embedder.embed(texts), embedder.embed(texts)
    np.testing.assert_allclose(cold, sums / np.linalg.norm(sums, axis=1, keepdims=True), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(cold, warm)


def test_rows_are_those_that_memories_were_filled_with() -> None:
    rows = WordLlama().embed(["Ann lives in Lisbon", "The workshop opens at nine.", "日本 naïve 4821-B"])
    np.testing.assert_allclose(rows[:, ::64], KEPT, rtol=0, atol=1e-6)


def test_rows_are_of_length_one_and_a_text_without_tokens_is_zero() -> None:
    rows = WordLlama().embed(["Ann lives in Lisbon", ""])
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-6)
    assert not rows[1].any()


def test_meaning_is_near() -> None:
    rows = WordLlama().embed(["a cat sat on a mat", "the kitten is lying on the rug", "quarterly tax filing"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1


@pytest.mark.parametrize("text", ["lorem ipsum dolor " * 60_000, "x" * 1_000_000], ids=["words", "one word"])
def test_a_text_of_a_million_characters_is_embedded(text: str) -> None:
    [row] = WordLlama().embed([text])
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_a_lone_surrogate_is_bad_input_and_says_where() -> None:
    with pytest.raises(BadInput, match="lone surrogate at character 2"):
        WordLlama().embed(["ab\ud800"])
    with pytest.raises(BadInput, match="needs a string, not int"):
        WordLlama().embed([5])  # type: ignore[list-item]


def test_the_wordllama_package_is_never_imported() -> None:
    code = (
        "import sys, logging; from eidet.models.embed import embedder_of;"
        "default = embedder_of(); assert not {'tokenizers', 'safetensors'} & set(sys.modules);"
        "default.embed(['hello there']);"
        "assert 'wordllama' not in sys.modules and not logging.getLogger().handlers"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_embedded_with_altered_weights(tmp_path: Path) -> None:
    package = tmp_path / "wordllama"
    for part in (wordllama.WEIGHTS, wordllama.TOKENIZER):
        (package / part.path).parent.mkdir(parents=True)
        (package / part.path).write_bytes(part.read() + b" ")
    (package / "__init__.py").touch()
    code = "from eidet.models.embed.wordllama import WordLlama; WordLlama().embed(['a text'])"
    where = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, env=where, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Corrupt" in done.stderr


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert find_spec("wordllama") is not None
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    with pytest.raises(Misconfigured, match=f"pip install {wordllama.RELEASE}"):
        wordllama.WEIGHTS.folder()


def test_a_copy_of_the_embedder_does_not_carry_its_model() -> None:
    embedder = WordLlama()
    row = embedder.embed(["Ann lives in Porto"])
    packed = pickle.dumps(embedder)
    assert len(packed) < 1_000
    np.testing.assert_array_equal(pickle.loads(packed).embed(["Ann lives in Porto"]), row)


def test_a_text_has_the_same_row_alone_and_among_more_than_are_summed_at_once() -> None:
    texts = [f"note {n} of <s> Ann" if n % 7 else f"note  {n}, and word{n}" for n in range(600)]
    together = WordLlama().embed(texts)
    for n in (0, 255, 256, 511, 512, 599):
        np.testing.assert_array_equal(together[n], WordLlama().embed([texts[n]])[0])


def test_the_vocabulary_has_each_whole_word_once_in_small_letters() -> None:
    words = dict(WordLlama().vocabulary())
    assert {"the", "music", "water"} <= words.keys()
    assert all(word.islower() or not word.isascii() for word in words)
    row = WordLlama().embed(["music"])[0]
    assert words["music"] @ row / np.linalg.norm(words["music"]) == pytest.approx(1, abs=1e-3)
