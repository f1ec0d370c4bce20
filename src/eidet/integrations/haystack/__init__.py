"""Haystack over a memory: a document store, a memory store, and hooks for an `Agent`.

document_store.py  `EidetDocumentStore`, `EidetDocumentRetriever`
chat_memory.py     `EidetChatMemoryStore`, `EidetRecallHook`, `EidetRememberHook`
metadata_filters.py  filters, and what is known of the metadata of documents
"""

from .chat_memory import EidetChatMemoryStore, EidetRecallHook, EidetRememberHook
from .document_store import EidetDocumentRetriever, EidetDocumentStore

__all__ = [
    "EidetChatMemoryStore",
    "EidetDocumentRetriever",
    "EidetDocumentStore",
    "EidetRecallHook",
    "EidetRememberHook",
]
