"""The default embedder: static word vectors shipped in the `wordllama` wheel. Offline, no torch."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from math import sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import Misconfigured
from ...core.validate import clean_text
from ..packaged import PackagedFile
from . import Vectors

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

WIDTH: Final = 256
MODEL: Final = "l2-supercat-256"
RELEASE: Final = "wordllama==0.2.2.post0"  # one wheel for every machine; later ones exist for few platforms
_MEND: Final = f"reinstall it: pip install --force-reinstall {RELEASE}"
_AT_ONCE: Final = 256  # texts that are tokenised together
_SEVERAL: Final = 8  # texts from which on several threads are used
_SUM_BLOCK: Final = 4_096  # token rows gathered at once: 4 MB
_SPACE: Final = "\u2581"  # how the tokenizer writes a space

_absent = functools.partial(
    Misconfigured,
    f"the default embedder needs the wordllama package: pip install {RELEASE}, "
    "or choose another, such as embedder='hashing'",
)
TOKENIZER: Final = PackagedFile(
    "wordllama",
    "tokenizers/l2_supercat_tokenizer_config.json",
    "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
    _MEND,
    _absent,
)
WEIGHTS: Final = PackagedFile(
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    _MEND,
    _absent,
)


class WordLlama:
    """The normalised sum of a text's token vectors; a text without tokens gives a zero row.

    Construction is instant: the first `embed` loads the model, once per process (about 0.1 s, 50 MB).
    A chat turn then takes some 50 µs. Case makes no difference: the vectors are those that
    `wordllama.WordLlama.load().embed(norm=True)` gives the text in small letters.
    """

    width = WIDTH
    repeats = True  # the same text gives the same bytes each time

    def __init__(self, model: str = MODEL) -> None:
        if model != MODEL:
            raise Misconfigured(f"the wordllama package carries the model {MODEL!r}, not {model!r}")
        self.name = f"wordllama:{model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        model, texts = _load_model(), [clean_text(text, "a text to embed").lower() for text in texts]
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            for at, encoding in enumerate(model.tokenise(texts[start : start + _AT_ONCE]), start):
                rows[at] = _normalise(_sum_vectors(model.vectors, encoding.ids))
        return rows

    def vocabulary(self) -> Iterator[tuple[str, Vectors]]:
        model, listed = _load_model(), set()
        pieces = sorted(model.tokenizer.get_vocab().items(), key=itemgetter(1))
        for piece, token in pieces:
            word = piece[1:].lower()
            if piece[0] == _SPACE and len(piece) > 2 and piece[1:].isalpha() and word not in listed:
                listed.add(word)
                yield word, model.vectors[token]


class _Model(NamedTuple):
    tokenizer: Tokenizer
    vectors: Vectors  # of the tokens

    def tokenise(self, texts: list[str]) -> list[Encoding]:
        """Tokenises texts; a few one by one, because a batch would start threads for little gain."""
        if len(texts) < _SEVERAL:
            return [self.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)


def _sum_vectors(vectors: Vectors, tokens: Sequence[int]) -> Vectors:
    parts = [
        vectors.take(tokens[start : start + _SUM_BLOCK], 0).sum(axis=0)
        for start in range(0, len(tokens), _SUM_BLOCK)
    ]
    return np.sum(parts, axis=0) if parts else np.zeros(WIDTH, np.float32)


def _normalise(row: Vectors) -> Vectors:
    """Scales a row to length one; leaves zeros as they are."""
    length = sqrt(row.dot(row))
    return row / np.float32(length) if length else row


@functools.cache
def _load_model() -> _Model:
    # The package itself is not imported: that sets up logging for the whole process and takes 150 ms.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(TOKENIZER.read())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(tokenizer, _parse_weights(WEIGHTS.read()).astype(np.float32))


def _parse_weights(content: bytes) -> NDArray[np.float16]:
    """Returns the one table of the file: eight bytes of length, a description in JSON, then the numbers."""
    size = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + size])["embedding.weight"]
    start, end = table["data_offsets"]
    numbers = np.frombuffer(content, "<f2", (end - start) // 2, 8 + size + start)
    return numbers.reshape(table["shape"])
