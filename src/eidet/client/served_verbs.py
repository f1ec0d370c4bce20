"""Which verbs of a memory a server answers, by which requests, and what to do instead of the others."""

from __future__ import annotations

from functools import partial
from typing import Final

from ..core.fact_verb_table import FACTS as FACT_VERBS
from ..recall.pack import Context
from . import requests_of
from .remote_verbs import ServedVerbs
from .requests_of import ask, ask_facts, mark
from .unpacking import unpack, unpack_forgotten, unpack_hits, unpack_preview

_ON_HOST: Final = "where its store can be opened, `eidet {command} --at …` does it"


def _run(command: str) -> str:
    return _ON_HOST.format(command=command)


_OPEN_STORE: Final = "open the store itself with Memory(…), by its file or its own URL"

_FACTS: Final = {
    "read": "a model reads records beside the store, so " + _OPEN_STORE,
    "networkx": 'facts.export("json-ld") gives the same as text',
    "load": _run("import mcp FILE"),
}
_UPKEEP: Final = {
    "maintain": _run("maintain") + ", and so does Health in the dashboard",
    "background": "upkeep runs beside the store; " + _run("maintain"),
    "retention": _run("maintain --policies"),
    "end_session": "summaries are written beside the store, so " + _OPEN_STORE,
    "unarchive": _run("load FOLDER"),
    "claim_archive": _run("load FOLDER --claim"),
    "fit": "it reads uses beside the store, so " + _OPEN_STORE,
    "detail": _run("show ID --detail"),
    "restore": _run("mark ID --restore") + ", and so does a record in the dashboard",
}
_TRUST: Final = {
    "quarantine": _run("mark ID --quarantine") + ", and so does a record in the dashboard",
    "approve": _run("mark ID --approve") + ", and so does a record in the dashboard",
    "reveal": "context(…, reveal=True) asks the server for it; " + _run("show ID --reveal"),
    "forget_value": "the vault stays with the server; " + _run("forget --value VALUE"),
    "verify_forgotten": "it reads the files of the memory; " + _run("verify-forgotten"),
    "verify_receipt": "it needs the secret of the memory; " + _run("verify-forgotten --receipt FILE"),
}
_KEYS: Final = {
    "rotate": "master keys never leave their host; " + _run("keys rotate"),
    "shred": "master keys never leave their host; " + _run("keys shred SCOPE"),
}
_ADMIN: Final = {
    "metrics": "its page /metrics has them for Prometheus",
    "check": _run("doctor"),
    "flush": "the server writes counts down by itself",
    "rebuild": _run("rebuild"),
    "reembed": _run("rebuild --reembed --embedder NAME"),
    "phrase_query": "recall(…, explain=True).trace says what was understood",
    "explain": "recall(…, explain=True) has the trace, and Why? in the dashboard shows it",
}

MEMORY: Final = ServedVerbs(
    answered={
        "remember": requests_of.remember,
        "get": requests_of.get,
        "recall": ask("recall", unpack_hits),
        "context": ask("context", partial(unpack, Context)),
        "feedback": requests_of.feedback,
        "find": requests_of.find,
        "count": ask("count", int),
        "revise": requests_of.revise,
        "forget": ask("forget", unpack_forgotten),
        "history": requests_of.history,
        "scopes": requests_of.scopes,
        "export": requests_of.export,
        "load": requests_of.load,
    },
    absent={"parts": ("the store", _OPEN_STORE), "audit": ("the audit log", "`eidet audit` reads its file")},
)
FACTS: Final = ServedVerbs(answered={name: ask_facts(name) for name in FACT_VERBS}, refused=_FACTS)
UPKEEP: Final = ServedVerbs(
    answered={
        "pin": mark("PUT", "pin"),
        "unpin": mark("DELETE", "pin"),
        "hold": mark("PUT", "hold"),
        "release": mark("DELETE", "hold"),
    },
    refused=_UPKEEP,
    absent={"keeping": ("upkeep.keeping", _OPEN_STORE)},
)
TRUST: Final = ServedVerbs(
    answered={"preview_forget": ask("forget", unpack_preview, preview=True), "review": requests_of.review},
    refused=_TRUST,
    absent={"guarding": ("trust.guarding", _OPEN_STORE)},
)
KEYS: Final = ServedVerbs(refused=_KEYS)
ADMIN: Final = ServedVerbs(
    answered={
        "stats": requests_of.stats,
        "health": requests_of.health,
        "sessions": requests_of.sessions,
    },
    refused=_ADMIN,
)
