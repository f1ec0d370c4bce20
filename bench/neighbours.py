"""Are the nearest neighbours of the index those of an exact float32 search? 100,000 texts."""

from __future__ import annotations

import numpy as np

from common import folder, real_texts, record
from eidet import Memory, Recipe
from eidet.models.embed import embedder_of

DENSE_ONLY = Recipe(dense=1.0, words=0.0, importance=0.0)


def main() -> None:
    corpus, real = real_texts(100_000)
    embedder = embedder_of(None)
    vectors = np.concatenate([embedder.embed(corpus[at : at + 5000]) for at in range(0, len(corpus), 5000)])
    asked = corpus[:: len(corpus) // 300][:300]
    with folder() as home, Memory(home / "near.db") as memory:
        for at in range(0, len(corpus), 10_000):
            memory.remember(corpus[at : at + 10_000], keep_duplicates=True)
        shared = 0
        for text in asked:
            query = " ".join(text.split()[:6])
            scores = vectors @ embedder.embed([query])[0]
            best = np.sort(scores)[-10]
            exact = {corpus[i] for i in np.flatnonzero(scores >= best - 1e-7)}
            shared += sum(hit.text in exact for hit in memory.recall(query, recipe=DENSE_ONLY))
    record(
        "nearest neighbours",
        {
            "texts": f"{len(corpus):,}, of which {real:,} real (one or two sentences)",
            "recall@10 against exact": shared / (10 * len(asked)),
        },
    )


if __name__ == "__main__":
    main()
