"""Eidet as a search model of MTEB (`mteb.models.SearchProtocol`): a memory for each set of candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import eidet


class EidetSearch:
    """Stores the corpus as plain texts and answers by `recall`; no field but the text is given.

    Where a text begins with a time and a speaker in a form that `read_speakers` knows, Eidet takes them.

    Tasks of LMEB name the candidates of each query: the conversation it is asked about. Each such
    conversation is a scope of its own.
    """

    def __init__(self, embedder: str = "wordllama") -> None:
        self._embedder = embedder
        self._texts: dict[str, str] = {}
        self._memory = eidet.Memory(embedder=embedder)
        self._scopes: dict[frozenset[str], str] = {}

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: object) -> None:
        self._texts = {row["id"]: _join(row) for row in corpus}
        self._memory.close()
        self._memory = eidet.Memory(embedder=self._embedder)
        self._scopes.clear()

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **_: object,
    ) -> dict[str, dict[str, float]]:
        every, found = frozenset(self._texts), {}
        for query in queries:
            among = every if top_ranked is None else frozenset(top_ranked.get(query["id"], every))
            hits = self._memory.recall(query["text"], scope=self._fill(among), limit=top_k, least=0)
            # ranks, not scores: equal scores would be put in order by id
            found[query["id"]] = {hit.record.meta["doc"]: 1 / rank for rank, hit in enumerate(hits, 1)}
        return found

    def _fill(self, ids: frozenset[str]) -> str:
        """The scope that holds these documents and no others; filled when it is first asked."""
        if ids not in self._scopes:
            self._scopes[ids] = f"corpus-{len(self._scopes)}"
            drafts = [eidet.Draft(text=self._texts[id], meta={"doc": id}) for id in sorted(ids)]
            self._memory.remember(drafts, scope=self._scopes[ids], keep_duplicates=True, read_speakers=True)
        return self._scopes[ids]

    @property
    def mteb_model_meta(self) -> Any:
        from mteb.models import ModelMeta

        name, version = f"eidet/{self._embedder}", eidet.__version__
        known = {"name": name, "revision": version, "license": "mit", "open_weights": True}
        return ModelMeta.create_empty(overwrites=known)


def _join(row: Mapping[str, Any]) -> str:
    return "\n".join(filter(None, (row.get("title"), row["text"])))
