from __future__ import annotations

import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from eidet.core.errors import BadInput, Corrupt, Misconfigured
from eidet.models.embed import static_model
from eidet.models.embed.contract import ODD, TEXTS
from eidet.models.embed.weights import PackagedFile
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
    tokenizer = Tokenizer.from_file(str(PACKAGE / static_model.TOKENIZER.path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    weights = load_file(PACKAGE / static_model.WEIGHTS.path)["embedding.weight"].astype(np.float64)
    tokens = [tokenizer.encode(text.lower(), add_special_tokens=False).ids for text in texts]
    sums = np.array([weights[ids].sum(axis=0) for ids in tokens])
    embedder = WordLlama()
    cold, warm = embedder.embed(texts), embedder.embed(texts)
    np.testing.assert_allclose(cold, sums / np.linalg.norm(sums, axis=1, keepdims=True), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(cold, warm)


def test_rows_are_those_that_memories_were_filled_with() -> None:
    rows = WordLlama().embed(["Ann lives in Lisbon", "The workshop opens at nine.", "日本 naïve 4821-B"])
    np.testing.assert_allclose(rows[:, ::64], KEPT, rtol=0, atol=1e-6)


words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
pieces = st.one_of(
    words, st.sampled_from(["the", "Lisbon,", " ", "<s>", "</s>", "<unk>", "▁", "\n", "a\nb", "x" * 40])
)


@given(st.lists(pieces, max_size=12), st.sampled_from([" ", "  ", ""]))
@settings(deadline=None)
def test_words_met_before_give_the_tokens_of_the_tokenizer(parts: list[str], between: str) -> None:
    text = between.join(parts)
    model = static_model.load_model()
    expected = model.tokenizer.encode(text, add_special_tokens=False).ids
    assert model.tokens(text).tolist() == expected
    assert model.tokens(text).tolist() == expected


def test_words_split_one_by_one_have_the_tokens_of_the_tokenizer() -> None:
    model = static_model.load_model()
    pick = Random(8)
    letters = [chr(code) for code in range(0x21, 0x3000) if chr(code).isprintable()] + list("日本語😀🇵🇹")
    made = ["".join(pick.choices(letters, k=pick.randint(1, 24))) for _ in range(4_000)]
    assert model.tokenizer
    for word in [*made, "naïve", "Łódź,", "4821-B", "e.g.", "don't", "C++", "áb"]:
        if splits(word):
            model.known.clear()
            assert model.tokens(word).tolist() == model.tokenise(word), word


def splits(word: str) -> bool:
    return static_model.splits_at_spaces(word) and " " not in word


def test_pieces_are_the_vocabulary_of_the_tokenizer_in_its_order() -> None:
    model = static_model.load_model()
    assert model.pieces == model.tokenizer.get_vocab()
    assert list(model.pieces.values()) == list(range(len(model.pieces)))


def test_vectors_are_those_of_the_file_however_many_are_asked_for() -> None:
    half = np.arange(12_000, dtype=np.float16).reshape(4_000, 3)
    vectors = static_model.TokenVectors(half)
    vectors.prepare([3, 5, 3])
    np.testing.assert_array_equal(vectors.rows[[3, 5]], half[[3, 5]].astype(np.float32))
    assert not vectors.rows[4].any()
    vectors.prepare(range(static_model.FEW_ROWS + 1))
    np.testing.assert_array_equal(vectors.rows, half.astype(np.float32))


def test_no_token_has_a_space_after_its_first_letter() -> None:
    vocabulary = static_model.load_model().tokenizer.get_vocab()
    assert not [token for token in vocabulary if static_model.SPACE in token.lstrip(static_model.SPACE)]


def test_remembered_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_model, "KNOWN_WORDS", 100)
    model = static_model.load_model()
    before = WordLlama().embed(["the first text"])
    for start in range(0, 1000, 10):
        WordLlama().embed([" ".join(f"word{number}" for number in range(start, start + 10))])
        assert len(model.known) <= 120
    np.testing.assert_array_equal(WordLlama().embed(["the first text"]), before)


def test_rows_are_of_length_one_and_a_text_without_tokens_is_zero() -> None:
    rows = WordLlama().embed(["Ann lives in Lisbon", ""])
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-6)
    assert not rows[1].any()


def test_a_row_is_the_same_to_the_bit_alone_and_in_company() -> None:
    embedder = WordLlama()
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    np.testing.assert_array_equal(embedder.embed(TEXTS), alone)


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


def test_something_that_is_not_a_text_is_bad_input() -> None:
    with pytest.raises(BadInput, match="needs a string, not int"):
        WordLlama().embed([5])  # type: ignore[list-item]


def test_the_wordllama_package_is_never_imported() -> None:
    code = (
        "import sys, logging; from eidet.models.embed import embedder_of;"
        "embedder_of().embed(['hello there']);"
        "assert 'wordllama' not in sys.modules and not logging.getLogger().handlers"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_making_one_loads_nothing() -> None:
    code = (
        "import sys; from eidet.models.embed.wordllama import WordLlama; WordLlama();"
        "assert 'tokenizers' not in sys.modules and 'safetensors' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("part", [static_model.WEIGHTS, static_model.TOKENIZER], ids=["weights", "tokenizer"])
def test_a_file_that_is_missing_or_altered_is_named_with_the_command_that_mends_it(
    part: PackagedFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = part.read()
    monkeypatch.setattr(PackagedFile, "folder", lambda self: tmp_path)
    with pytest.raises(Misconfigured, match=rf"lacks {part.path}.*--force-reinstall wordllama=="):
        part.read()
    path = tmp_path / part.path
    path.parent.mkdir()
    path.write_bytes(whole)
    assert part.read() == whole
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(Corrupt, match=r"damaged or of an unknown version.*--force-reinstall wordllama=="):
        part.read()


def test_nothing_is_embedded_with_altered_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (static_model.WEIGHTS, static_model.TOKENIZER):
        (tmp_path / part.path).parent.mkdir()
        (tmp_path / part.path).write_bytes(part.read() + b" ")
    monkeypatch.setattr(PackagedFile, "folder", lambda self: tmp_path)
    static_model._load.cache_clear()
    try:
        with pytest.raises(Corrupt, match="damaged"):
            WordLlama().embed(["a text"])
    finally:
        static_model._load.cache_clear()


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert find_spec("wordllama") is not None
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    with pytest.raises(Misconfigured, match=f"pip install {static_model.RELEASE}"):
        static_model.WEIGHTS.folder()


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6))
def test_a_word_at_the_end_of_a_sentence_has_its_tokens_and_that_of_the_sign(word: str) -> None:
    model = static_model.load_model()
    for sign in model.ends:
        model.known.clear()
        said = [word, word + sign, f"{word}{sign}{sign}", f"{word}a{sign}"]
        assert model.tokens(f"{word} {word}{sign}").tolist() == model.tokenise(f"{word} {word}{sign}")
        for one in said:
            assert model.tokens(f"the {one}").tolist() == model.tokenise(f"the {one}")


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
