"""What to do instead of a verb that no server offers, by verb."""

from __future__ import annotations

from typing import Final

_ON_HOST: Final = "where its store can be opened, `eidet {command} --at …` does it"


def _run(command: str) -> str:
    return _ON_HOST.format(command=command)


OPEN_STORE: Final = "open the store itself with Memory(…), by its file or its own URL"

FACTS: Final[dict[str, str]] = {
    "read": "a model reads records beside the store, so " + OPEN_STORE,
    "networkx": 'facts.export("json-ld") gives the same as text',
    "load": _run("import mcp FILE"),
}
UPKEEP: Final[dict[str, str]] = {
    "maintain": _run("maintain") + ", and so does Health in the dashboard",
    "background": "upkeep runs beside the store; " + _run("maintain"),
    "retention": _run("maintain --policies"),
    "end_session": "summaries are written beside the store, so " + OPEN_STORE,
    "unarchive": _run("load FOLDER"),
    "claim_archive": _run("load FOLDER --claim"),
    "fit": "it reads uses beside the store, so " + OPEN_STORE,
    "detail": _run("show ID --detail"),
    "restore": _run("mark ID --restore") + ", and so does a record in the dashboard",
}
TRUST: Final[dict[str, str]] = {
    "quarantine": _run("mark ID --quarantine") + ", and so does a record in the dashboard",
    "approve": _run("mark ID --approve") + ", and so does a record in the dashboard",
    "reveal": "context(…, reveal=True) asks the server for it; " + _run("show ID --reveal"),
    "forget_value": "the vault stays with the server; " + _run("forget --value VALUE"),
    "verify_forgotten": "it reads the files of the memory; " + _run("verify-forgotten"),
    "verify_receipt": "it needs the secret of the memory; " + _run("verify-forgotten --receipt FILE"),
}
KEYS: Final[dict[str, str]] = {
    "rotate": "master keys never leave their host; " + _run("keys rotate"),
    "shred": "master keys never leave their host; " + _run("keys shred SCOPE"),
}
ADMIN: Final[dict[str, str]] = {
    "metrics": "its page /metrics has them for Prometheus",
    "check": _run("doctor"),
    "flush": "the server writes counts down by itself",
    "rebuild": _run("rebuild"),
    "reembed": _run("rebuild --reembed --embedder NAME"),
    "phrase_query": "recall(…, explain=True).trace says what was understood",
    "explain": "recall(…, explain=True) has the trace, and Why? in the dashboard shows it",
}
