"""The steps of `eidet tour`. The tour shows the body of each function, runs it, and shows what it prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..client import connect
from ..core.errors import Refused
from ..memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class TourStep:
    """One screen: what it is about, and the code that shows it."""

    title: str
    words: str
    run: Callable[[Memory], None]
    more: str  # a command that says more
    before: str = ""  # code that is shown only


def remember(memory: Memory) -> None:
    memory.remember("Ann restores furniture in Lisbon.", scope="ann")
    memory.remember("Her workshop opens at nine, except Mondays.", scope="ann")
    turns = [
        {"role": "user", "content": "I promised Mr. Lund a table by 12 June."},
        {"role": "assistant", "content": "Noted: a table for Mr. Lund."},
    ]
    for record in memory.remember(turns, scope="ann", session="monday"):
        print(f"{record.kind} of {record.who}: {record.text}")


def recall(memory: Memory) -> None:
    question = "When is the workshop open?"
    for hit in memory.recall(question, scope="ann", limit=2):
        print(f"{hit.score:.2f}  {hit.text}")
        print(f"      {hit.why()}")


def pack(memory: Memory) -> None:
    message = "What does Mr. Lund get, and when?"
    known = memory.context(message, scope="ann", budget=80)
    print(known)
    print(f"({known.tokens} of at most {known.budget} tokens)")


def divide(memory: Memory) -> None:
    memory.remember("Bob's workshop is closed in August.", scope="bob")
    question = "When is the workshop open?"
    for scope in ("ann", "bob"):
        hits = memory.recall(question, scope=scope, limit=1)
        print(f"{scope}: {hits[0].text}")


def change(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.", scope="ann", occurred="2026-01-10")
    memory.remember("Ann moved to Porto.", scope="ann", occurred="2026-06-03")
    for fact in memory.facts.about("Ann", scope="ann", as_of="2026-03-01"):
        print("in March:", fact.text)
    for fact in memory.facts.about("Ann", scope="ann"):
        print("now:     ", fact.text)


def forget(memory: Memory) -> None:
    code = "The safe in the cellar opens with 4711-0815."
    record = memory.remember(code, scope="ann")
    gone = memory.forget(record.id, scope="ann", why="she asked for it")
    assert gone.receipt  # there is one for all that is forgotten for good
    print("records erased: ", gone.receipt.counts["records"])
    print("receipt valid:  ", memory.trust.verify_receipt(gone.receipt))
    absence = memory.trust.verify_forgotten("4711-0815", scope="ann")
    print("gone everywhere:", bool(absence))
    try:
        memory.remember(code, scope="ann")
    except Refused:
        print("told again:      refused")


def ask_server(url: str) -> None:
    with connect(url) as client:
        hits = client.recall("What did I promise Mr. Lund?", scope="ann", limit=1)
        print(f"{hits[0].score:.2f}  {hits[0].text}")


STEPS: Final = (
    TourStep(
        title="Remember",
        words="Facts, messages, events and documents become records in one file. Once a call returns, its "
        "data survives a crash. No model is asked, nothing leaves this machine.",
        run=remember,
        before='from eidet import Memory\n\nmemory = Memory("tour.db")',
        more="eidet remember --help",
    ),
    TourStep(
        title="Recall, and why",
        words="Recall looks by meaning, words, names, dates and context. Each hit has a score from 0 to 1, "
        "and says why it is there.",
        run=recall,
        more="eidet recall --help",
    ),
    TourStep(
        title="A block for your prompt",
        words="Context packs what matters into a number of tokens. Put it in front of the user's message, "
        "and any model remembers.",
        run=pack,
        more="eidet context --help",
    ),
    TourStep(
        title="Users and scopes",
        words="A scope is whose memory it is: a user, a team, an agent. Nothing crosses scopes.",
        run=divide,
        more="eidet scopes --help",
    ),
    TourStep(
        title="Facts that change",
        words="Eidet reads facts out of sentences, by rules, and knows what was true when. Nothing is "
        "overwritten: a new statement ends the old one.",
        run=change,
        more="eidet facts --help",
    ),
    TourStep(
        title="Forget, with a receipt",
        words="Forgetting removes a memory, what was derived from it, and its traces in files. You get a "
        "receipt, and the content is refused if somebody brings it back.",
        run=forget,
        more="eidet forget --help",
    ),
)
