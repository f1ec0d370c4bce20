"""Which embedders can fetch rows ahead."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeGuard

from . import Embedder, WarmableEmbedder


def is_warmable(embedder: Embedder) -> TypeGuard[WarmableEmbedder]:
    """The same as `isinstance`, which takes long for protocols; every verb for asyncio asks this."""
    return _is_warmable_kind(type(embedder))


@lru_cache(maxsize=64)
def _is_warmable_kind(kind: type) -> bool:
    return issubclass(kind, WarmableEmbedder)
