"""Names of OpenTelemetry's conventions for memories of generative AI; no package has them yet.

`gen_ai.memory.store.id` is the identity of the store: a random name that it keeps for life. A memory runs in
the process of its agent, so its spans are internal ones.
"""

from __future__ import annotations

from typing import Final

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
STORE_ID: Final = "gen_ai.memory.store.id"
RECORD_ID: Final = "gen_ai.memory.record.id"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
QUERY_TEXT: Final = "gen_ai.memory.query.text"  # content: only on request
RECORDS: Final = "gen_ai.memory.records"  # content: only on request
ERROR_TYPE: Final = "error.type"
VERB: Final = "eidet.verb"  # ours: tells recall, context and find apart
SEARCHED: Final = "eidet.recall.searched"  # how many rows were considered

OPERATIONS: Final = {
    "remember": "upsert_memory",  # the memory decides whether it is new, a version, or known already
    "load": "upsert_memory",
    "recall": "search_memory",
    "context": "search_memory",
    "find": "search_memory",
    "revise": "update_memory",
    "forget": "delete_memory",
}
