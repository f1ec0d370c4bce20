"""What every route and tool needs, and a request that it takes. A route without a row fails the tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eidet.server.access import Right

READ, WRITE, FORGET, ADMIN = Right.READ, Right.WRITE, Right.FORGET, Right.ADMIN
OWN: Final = "OwnCanary"  # in every text and label of the caller's scope
ID: Final = "home"
ASKS: Final = {"query": "where does Ann live?"}
ENTITY: Final = {"entity": "Ann"}


class Row(NamedTuple):
    """A route of the app: the rights that it needs together, and a request."""

    method: str
    path: str  # as the app has it
    rights: tuple[Right, ...] = ()
    body: Any = None  # {id} in it and in the path is the id of a memory
    params: Mapping[str, str] = {}
    scoped: bool = True  # whether it works in the scope that a request names
    keyed: bool = True  # whether it needs a key
    whole: bool = False  # whether the key must see all scopes

    def path_of(self, id: str) -> str:
        return self.path.format(id=id)

    def body_of(self, id: str) -> Any:
        return self.body if self.body is None or isinstance(self.body, bytes) else name_id(self.body, id)


def name_id(said: Any, id: str) -> Any:
    return json.loads(json.dumps(dict(said)).replace("{id}", id))


REST: Final = (
    Row("POST", "/v1/memories", (WRITE,), {"memories": [{"text": "Ann drinks tea"}]}),
    Row("POST", "/v1/memories", (WRITE,), {"memories": [{"text": "Ann drinks tea", "id": "{id}"}]}),
    Row("POST", "/v1/get", (READ,), {"ids": ["{id}"]}),
    Row("GET", "/v1/memories/{id}", (READ,)),
    Row("GET", "/v1/memories/{id}/history", (READ,)),
    Row("PATCH", "/v1/memories/{id}", (WRITE,), {"importance": 0.4}),
    Row("PUT", "/v1/memories/{id}/pin", (WRITE,)),
    Row("DELETE", "/v1/memories/{id}/pin", (WRITE,)),
    Row("PUT", "/v1/memories/{id}/hold", (ADMIN,)),
    Row("DELETE", "/v1/memories/{id}/hold", (ADMIN,)),
    Row("PUT", "/v1/memories/{id}/quarantine", (WRITE,)),
    Row("DELETE", "/v1/memories/{id}", (FORGET,)),
    Row("POST", "/v1/recall", (READ,), ASKS),
    Row("POST", "/v1/recall_all", (READ,), ASKS),
    Row("POST", "/v1/context", (READ,), ASKS),
    Row("POST", "/v1/find", (READ,), {}),
    Row("POST", "/v1/count", (READ,), {}),
    Row("POST", "/v1/promote", (READ, WRITE), {"id": "{id}", "to": "acme/team"}),
    Row("POST", "/v1/promote", (READ, WRITE, FORGET), {"id": "{id}", "to": "acme/team", "move": True}),
    Row("POST", "/v1/feedback", (WRITE,), {"useful": True, "id": "{id}"}),
    Row("POST", "/v1/forget", (FORGET,), {"ids": ["{id}"]}),
    Row("POST", "/v1/forget", (FORGET, READ), {"ids": ["{id}"], "preview": True}),
    Row("POST", "/v1/forget", (FORGET, READ), {"where": {"kind": "fact"}, "preview": True}),
    Row("POST", "/v1/review", (READ,), {}),
    Row("POST", "/v1/approve", (WRITE,), {"id": "{id}"}),
    Row("POST", "/v1/reject", (FORGET,), {"id": "{id}"}),
    Row("POST", "/v1/changes", (READ,), {"since": 0}),
    Row("GET", "/v1/watch", (READ,), params={"since": "0", "wait": "0"}),
    Row("GET", "/v1/scopes", (READ,), scoped=False),
    Row("GET", "/v1/sessions", (READ,)),
    Row("GET", "/v1/stats", (READ,)),
    Row("GET", "/v1/health", (ADMIN,), scoped=False),
    Row("GET", "/v1/export", (ADMIN, READ)),
    Row("POST", "/v1/load", (ADMIN,), b""),
    Row("GET", "/v1/health/live", scoped=False, keyed=False),
    Row("GET", "/v1/health/ready", scoped=False, keyed=False),
)
FACTS: Final = (
    *(Row("POST", f"/v1/facts/{name}", (READ,), ENTITY) for name in ("about", "timeline", "profile")),
    Row("POST", "/v1/facts/neighbours", (READ,), ENTITY),
    Row("POST", "/v1/facts/entities", (READ,)),
    Row("POST", "/v1/facts/match", (READ,), {"patterns": [["?x", "lives_in", "?y"]]}),
    Row("POST", "/v1/facts/paths", (READ,), {"start": "Ann", "goal": "Lisbon"}),
    Row("POST", "/v1/facts/contradictions", (READ,)),
    Row("POST", "/v1/facts/instructions", (READ,), {}),
    Row("POST", "/v1/facts/why", (READ,), {"id": "{id}#0"}),
    Row("POST", "/v1/facts/export", (READ,), {}),
    Row("POST", "/v1/facts/decisions", (READ,)),
    Row("POST", "/v1/facts/add", (WRITE, READ), {"subject": "Ann", "relation": "likes", "object": "tea"}),
    Row("POST", "/v1/facts/merge", (WRITE, READ), {"entity": "Ann", "others": ["Anna"]}),
    Row("POST", "/v1/facts/undo", (WRITE, READ), {"id": "{id}"}),
    Row("POST", "/v1/facts/resolve", (WRITE, READ), {"id": "{id}#0"}),
    Row("POST", "/v1/facts/retract", (WRITE, READ), {"id": "{id}#0"}),
)
PAGES: Final = (
    Row("GET", "/", scoped=False, keyed=False),
    Row("GET", "/docs", scoped=False, keyed=False),
    Row("GET", "/dashboard", scoped=False, keyed=False),
    Row("GET", "/openapi.json", scoped=False, keyed=False),
    Row("GET", "/metrics", (ADMIN,), scoped=False, whole=True),
    Row("GET", "/v1/dashboard/start", scoped=False),
    Row("GET", "/v1/dashboard/head", (READ,)),
    Row("GET", "/v1/dashboard/overview", (READ,)),
    Row("POST", "/v1/debug/why", (READ,), ASKS),
    Row("POST", "/v1/debug/why-not", (READ,), {**ASKS, "id": "{id}"}),
    Row("POST", "/v1/debug/why-not", (READ,), {**ASKS, "id": "{id}", "at": "acme/ann"}),
    Row("POST", "/v1/debug/evaluation", (ADMIN, READ), {"query": "x", "gold": ["{id}"]}),
    Row("GET", "/v1/dashboard/record", (READ,), params={"id": "{id}"}),
    Row("POST", "/v1/timeline", (READ,), {}),
    Row("GET", "/v1/quality", (READ,)),
    Row("POST", "/v1/dashboard/upkeep", (ADMIN,), {"dry_run": True}),
)
ROWS: Final = (*REST, *FACTS, *PAGES)
BESIDE: Final = ("/mcp", "/.well-known/oauth-protected-resource/mcp")  # their tools have rows of their own


class ToolRow(NamedTuple):
    """A tool of MCP: the rights that it needs together, and arguments."""

    tool: str
    rights: tuple[Right, ...]
    arguments: Mapping[str, Any]


TOOLS: Final = (
    ToolRow("remember", (WRITE,), {"text": "Ann drinks tea"}),
    ToolRow("recall", (READ,), ASKS),
    ToolRow("recall_all", (READ,), ASKS),
    ToolRow("context", (READ,), ASKS),
    ToolRow("revise", (WRITE,), {"id": ID, "importance": 0.4}),
    ToolRow("promote", (WRITE, READ), {"id": ID, "to": "acme/team"}),
    ToolRow("promote", (WRITE, READ, FORGET), {"id": ID, "to": "acme/team", "move": True}),
    ToolRow("forget", (FORGET,), {"ids": [ID]}),
    ToolRow("forget", (FORGET, READ), {"ids": [ID], "preview": True}),
    ToolRow("forget", (FORGET, READ), {"session": "s1", "preview": True}),
    ToolRow("history", (READ,), {"id": ID}),
    ToolRow("review", (ADMIN, READ), {}),
    ToolRow("approve", (ADMIN,), {"id": ID}),
    ToolRow("reject", (ADMIN,), {"id": ID}),
    ToolRow("facts", (READ,), {"about": "Ann"}),
)
RESOURCES: Final = (  # what every one of them tells is for readers
    "memory://profile",
    "memory://sessions",
    "memory://profile/acme/ann",
    "memory://sessions/acme/ann",
)
