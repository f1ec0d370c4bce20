"""What `eidet demo` remembers: three conversations of an invented person who is planning a spring."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from ..core.draft import Draft, Message
from ..core.record import Kind

SCOPE: Final = "demo/tilda"

SESSIONS: Final = {
    "shed": (
        datetime(2026, 3, 2, 18, 5, tzinfo=UTC),
        """
        Tilda: I finally want to turn the old shed behind the house into a pottery studio.
        assistant: Nice. What does the shed have today: power, water, a floor that carries a kiln?
        Tilda: Power yes, water no. The floor is concrete, but the roof leaks above the window.
        assistant: Then the roof comes first. A kiln of 60 litres also wants its own 16 ampere line.
        Tilda: The electrician, Mr. Brandt, can come on the 24th of March. He asks 640 euros for the line.
        assistant: Noted. Who will look at the roof?
        Tilda: My neighbour Osei is a roofer. He does it for a set of six soup bowls, glazed in blue.
        assistant: A fair trade. Shall I remind you of the bowls once the kiln is running?
        Tilda: Please do. And I must not spend more than 2,500 euros on the whole thing.
        """,
    ),
    "walk": (
        datetime(2026, 3, 19, 20, 40, tzinfo=UTC),
        """
        Tilda: My father turns seventy in May and wishes for a walk along the coast, five days, just us two.
        assistant: How far does he like to walk in a day?
        Tilda: Twelve kilometres at most, since his knee operation. And no ladders or steep stairs.
        assistant: Then take the northern half of the coast path: it is flat, with many inns.
        Tilda: Good. He cannot eat walnuts, they make his throat swell. The inns have to know that.
        assistant: I will put it into every booking. By train or by car?
        Tilda: By the night train on the 14th of May, it leaves at 22:10. He loves sleeping cars.
        assistant: And who looks after the cat meanwhile?
        Tilda: Our cat Pepper stays with Osei. She gets half a tablet for her thyroid every morning.
        """,
    ),
    "news": (
        datetime(2026, 4, 11, 9, 15, tzinfo=UTC),
        """
        Tilda: The roof is done and dry! But Mr. Brandt has found that the fuse box is too old for the kiln.
        assistant: What does a new one cost?
        Tilda: Another 900 euros. With the kiln at 1,150 I would be over my limit.
        assistant: A used kiln would bring you back under it. The adult school sells two of theirs in June.
        Tilda: Then the studio waits until June. The walk with my father matters more to me anyway.
        assistant: Understood: studio in June, coast path in May.
        Tilda: One more thing, the second inn wrote that they are full. We sleep at the lighthouse instead.
        """,
    ),
}

FACTS: Final = (
    Draft(text="Tilda wants short answers without exclamation marks.", importance=0.9),
    Draft(text="Tilda's mother tongue is Norwegian; she writes English with the assistant.", importance=0.6),
)

QUESTIONS: Final = (
    "When does the night train leave?",
    "What is owed to the roofer?",
    "Why is the studio delayed?",
    "What kind of answers does Tilda want?",
)
PROMPT: Final = "What do the inns on the coast have to know about Tilda's father?"


def messages(session: str) -> list[Message]:
    start, text = SESSIONS[session]
    turns = [line.strip().partition(": ") for line in text.strip().splitlines()]
    result = []
    for number, (who, _, words) in enumerate(turns):
        result.append(
            Message(
                role="assistant" if who == "assistant" else "user",
                name=who,
                content=words,
                timestamp=start + timedelta(minutes=number),
            )
        )
    return result


def facts() -> list[Draft]:
    start, _ = SESSIONS["shed"]
    return [
        Draft(text=fact.text, importance=fact.importance, kind=Kind.FACT, occurred=start) for fact in FACTS
    ]
