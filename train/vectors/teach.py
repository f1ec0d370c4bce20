"""Asks the teacher, all-MiniLM-L6-v2, for the vectors of the English texts and of single words.

    python train/vectors/teach.py WORK 112000

Writes WORK/words.npy and WORK/texts-*.npy (float16, one row each); about fifteen minutes on one core.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from eidet.models.embed.minilm import TOKENIZER, WEIGHTS

LONGEST = 256
PART = 8_000  # texts that are encoded and saved together
TOKENS = 4_096  # of a batch
Rows = NDArray[np.float16]


def encode(texts: list[str], threads: int = 1) -> Rows:
    """The normalised mean of each text's token states, in the order given."""
    tokenizer = Tokenizer.from_str(TOKENIZER.read().decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(WEIGHTS.read(), options, providers=["CPUExecutionProvider"])
    ids = [encoded.ids for encoded in tokenizer.encode_batch(texts)]
    order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
    rows = np.zeros((len(texts), 384), np.float16)
    began, start = time.monotonic(), 0
    while start < len(order):
        size = max(1, TOKENS // len(ids[order[min(start + 200, len(order) - 1)]]))
        batch = order[start : start + size]
        longest = len(ids[batch[-1]])
        tokens = np.array([ids[at] + [0] * (longest - len(ids[at])) for at in batch], np.int64)
        mask = np.array([[1] * len(ids[at]) + [0] * (longest - len(ids[at])) for at in batch], np.int64)
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        [states] = session.run(None, given)
        means = (states * mask[:, :, None]).sum(axis=1)
        rows[batch] = means / np.linalg.norm(means, axis=1, keepdims=True)
        start += size
        if start // 5_000 != (start - size) // 5_000:
            print(f"{start} of {len(order)} texts in {time.monotonic() - began:.0f} s", flush=True)
    return rows


if __name__ == "__main__":
    work = Path(sys.argv[1])
    words = json.loads((work / "vocabulary.json").read_text())
    english = json.loads((work / "frequencies.json").read_text())["english"]
    np.save(work / "words.npy", encode(words[:english]))
    texts = json.loads((work / "english.json").read_text())[: int(sys.argv[2])]
    for start in range(0, len(texts), PART):
        np.save(work / f"texts-{start:06}.npy", encode(texts[start : start + PART]))
