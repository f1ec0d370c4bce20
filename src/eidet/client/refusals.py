"""What to do instead of a verb that no server offers, by verb."""

from __future__ import annotations

from typing import Final

_ON_HOST: Final = "where its store can be opened, `eidet {command} --at …` does it"


def _run(command: str) -> str:
    return _ON_HOST.format(command=command)


OPEN_STORE: Final = "open the store itself with Memory(…), by its file or its own URL"

FACTS: Final[dict[str, str]] = {
    "read": "a model reads records beside the store, so " + OPEN_STORE,
    "networkx": 'facts.export("graphml") gives a text that networkx reads',
    "load": _run("facts load FILE"),
}
UPKEEP: Final[dict[str, str]] = {
    "maintain": _run("maintain") + ", and so does Health in the dashboard",
    "background": "upkeep runs beside the store; " + _run("maintain"),
    "retention": _run("retention show"),
    "end_session": _run("end-session SESSION"),
    "unarchive": _run("unarchive FOLDER"),
    "claim_archive": _run("unarchive FOLDER --claim"),
    "fit": _run("fit"),
    "detail": _run("detail ID"),
    "restore": _run("restore ID") + ", and so does a record in the dashboard",
}
TRUST: Final[dict[str, str]] = {
    "quarantine": _run("quarantine ID") + ", and so does a record in the dashboard",
    "approve": _run("approve ID") + ", and so does a record in the dashboard",
    "reveal": "context(…, reveal=True) asks the server for it; " + _run("reveal ID"),
    "forget_value": "the vault stays with the server; " + _run("forget-value VALUE"),
    "verify_forgotten": "it reads the files of the memory; " + _run("verify-forgotten"),
    "verify_receipt": "it needs the secret of the memory; " + _run("verify-receipt FILE"),
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
    "reembed": _run("reembed --embedder NAME"),
    "phrase_query": "recall(…, explain=True).trace says what was understood",
    "explain": "recall(…, explain=True) has the trace, and Why? in the dashboard shows it",
}
