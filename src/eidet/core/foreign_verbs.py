"""Verbs of other libraries: whoever types one is told ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

PAGES: Final = "docs/coming-from"  # where the same tasks stand side by side

_OURS: Final[dict[str, str]] = {
    "remember(text)": """add add_memory add_memories add_message add_messages add_texts add_documents
        add_episode append create insert memorize put save save_context store upsert write index""",
    "recall(question)": """search query retrieve similarity_search similarity_search_with_score lookup ask
        get_relevant_documents search_memory search_memories semantic_search""",
    "context(question)": "get_context get_user_context get_memory_context load_memory_variables as_prompt",
    "find(scope=…)": "get_all all list list_memories peek get_memories get_messages scan",
    "get(id)": "fetch get_memory get_by_id get_by_ids",
    "revise(id, text=…)": "update edit modify replace set update_memory",
    "forget(id)": "delete remove delete_memory delete_memories erase pop",
    "forget(scope=…, everything=True)": "delete_all reset clear drop delete_user delete_collection truncate",
    "scopes()": "users list_users get_users namespaces list_namespaces collections list_collections",
    "count()": "size length total",
    "facts.about(name)": "about get_facts entities timeline graph",
    "admin.stats()": "stats info status describe",
    "upkeep.maintain()": "maintain optimize vacuum cleanup",
    "export(path)": "dump backup to_json",
    "load(path)": "restore from_json import_",
}
_DURABLE: Final = frozenset(("commit", "persist", "sync"))


def list_verbs(table: dict[str, str]) -> Iterable[tuple[str, str]]:
    for ours, names in table.items():
        for name in names.split():
            yield name, ours


FOREIGN: Final[dict[str, str]] = dict(list_verbs(_OURS))


class ForeignVerbs:
    """For a class with the verbs of a memory: an unknown verb of another library names the one to use."""

    if not TYPE_CHECKING:  # else type checkers would take every name for one that exists

        def __getattr__(self, name: str) -> object:
            raise AttributeError(describe_verb(type(self).__name__, name), name=name, obj=self)


def describe_verb(owner: str, name: str) -> str:
    """What to say of a name that a class has not."""
    if name in _DURABLE:
        return f"{owner!r} has no {name!r}: once a call returns, its data is durable"
    ours = FOREIGN.get(name)
    if ours is None:
        return f"{owner!r} object has no attribute {name!r}"
    return f"{owner!r} has no {name!r}: use {ours}; {PAGES} shows the verbs of other libraries beside ours"
