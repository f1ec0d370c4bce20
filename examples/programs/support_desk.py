"""A support desk: tickets with personal data, kept as long as the law allows, with proof of everything.

    python examples/programs/support_desk.py

Card numbers never reach the disk. Chats are deleted after 30 days, solutions are kept. A dispute puts a
legal hold on a ticket. A customer asks to be erased and gets a receipt. Every change is in an audit trail,
which is verified.

For your own use: change `POLICIES` and `GUARD`, drop the clock, and call `memory.upkeep.maintain()` once a
day (or run `eidet maintain`).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from eidet import Audit, Memory, Refused, Retention, Settings, acting
from eidet.trust.audit.verify import entries, verify

DAY = 86_400.0
START = 1_780_000_000.0  # 28 May 2026
GUARD = "card=redact,email=mask,label"
POLICIES = (
    Retention(scope="desk/**", kinds=("message",), then="delete", days=30, name="chats"),
    Retention(scope="desk/solutions", then="keep", name="solutions"),
)
TICKETS = {
    "ann": ("My card 4111 1111 1111 1111 was charged twice.", "Write to ann.lee@example.com, please."),
    "bob": ("The parcel arrived broken, I want my money back.", "I will go to court over this."),
    "eve": ("The app crashes when I open the map.",),
}

SOLUTION = "The app crashes on the map: update to 4.2, it is fixed there."


@dataclass
class Clock:
    """Time that a program can turn forward."""

    now: float = START

    def read(self) -> float:
        return self.now

    def turn_days(self, days: float) -> None:
        self.now += days * DAY


def take_tickets(memory: Memory) -> None:
    for customer, texts in TICKETS.items():
        with acting(by="desk", source="web form"):
            turns = [{"role": "user", "content": text} for text in texts]
            memory.remember(turns, scope=f"desk/{customer}", session="ticket")
    memory.remember(SOLUTION, scope="desk/solutions", agent="mara")
    for customer in TICKETS:
        for record in memory.find(scope=f"desk/{customer}", order="seq"):
            print(f"  {customer}: {record.text} {' '.join(record.state.pii)}".rstrip())


def answer(memory: Memory, question: str) -> None:
    """Looks for a solution; customers' tickets are other scopes, and stay out of it."""
    for hit in memory.recall(question, scope="desk/solutions", limit=1):
        print(f"  {question} -> {hit.text} ({hit.score:.2f})")


def hold_dispute(memory: Memory) -> None:
    with acting(by="legal", why="dispute 17"):
        for record in memory.find(scope="desk/bob"):
            memory.upkeep.hold(record.id, scope="desk/bob")
    try:
        memory.forget(everything=True, scope="desk/bob", by="bob")
    except Refused as refused:
        print(f"  refused: {str(refused).partition(':')[0]}")


def erase_customer(memory: Memory) -> None:
    said = memory.find(scope="desk/eve")[0].text
    gone = memory.forget(everything=True, scope="desk/eve", by="eve", why="request 812", for_good=True)
    assert gone.receipt is not None
    valid = memory.trust.verify_receipt(gone.receipt)
    absent = not memory.recall(said, scope="desk/eve")
    print(f"  {int(gone)} record erased; receipt valid: {valid}; gone: {absent}")


def show_trail(log: Path) -> None:
    for entry in entries(log):
        if entry.by in ("legal", "eve") and entry.scope is not None:
            print(f"  #{entry.n} {entry.verb} {entry.scope} by {entry.by}: {entry.why}")
    checked = verify(log)
    print(f"  chain of {checked.entries} entries intact: {checked.ok}")


def show(folder: Path) -> None:
    clock, log = Clock(), folder / "audit.jsonl"
    settings = Settings(retention=POLICIES, guard=GUARD)
    with Memory(folder / "desk.db", settings=settings, audit=Audit(path=log), clock=clock.read) as memory:
        print("tickets as they are stored:")
        take_tickets(memory)
        print("\nan answer from the solutions:")
        answer(memory, "Why does the map crash?")
        print("\na legal hold:")
        hold_dispute(memory)
        print("\na customer asks to be erased:")
        erase_customer(memory)
        clock.turn_days(31)
        print("\n31 days later, upkeep says why:")
        changes = memory.upkeep.maintain(only="retain").changes
        for reason, count in Counter(f"{change.what}: {change.because}" for change in changes).items():
            print(f"  {count} x {reason}")
        print(f"  left: {memory.scopes()}")
    print("\nthe audit trail:")
    show_trail(log)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        show(Path(folder))


if __name__ == "__main__":
    main()
