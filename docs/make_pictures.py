"""Draws the pictures of the concepts from text: `python docs/make_pictures.py` writes docs/images/*.svg.

A picture is a title and lines. `box NAME X Y WIDTH HEIGHT TONE | heading | line …` is a box, `arrow A side
B side | label` leads from one side of a box to one of another (t, r, b, l: the middle of the side), `note X Y
| text` is a text, `bar X Y WIDTH TONE | text` a bar of a timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FOLDER = Path(__file__).with_name("images")
FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"
TONES = {
    "blue": "#e8f1fb",
    "sand": "#fdf3e3",
    "green": "#e9f6ec",
    "grey": "#f3f6fa",
    "rose": "#fbeaea",
    "violet": "#f1ecfb",
}
LINE, INK, SOFT = "#44546a", "#1f2a37", "#44546a"

PICTURES = {
    "record.svg": """
A record has what you said, labels, something of yours, and what Eidet keeps of it
size 760 340
box record 20 20 720 300 grey | one record
box said 40 70 330 100 blue | what it says | text: “Ann lives in Lisbon.” | data: any JSON; kind: fact
box labels 390 70 330 100 green | labels | scope, agent, who, session, step | place, occurred, source, trust
box yours 40 190 330 100 sand | yours alone | meta: any JSON, returned | exactly as you gave it
box kept 390 190 330 100 violet | what Eidet keeps | id, version, created, tier | state: pins, holds, links
""",
    "scope.svg": """
Scopes are a tree; a question sees one scope, or one and everything below it
size 760 330
box acme 280 20 200 56 blue | acme | the tenant
box ann 60 140 200 76 blue | acme/ann | prefers tea
box bob 280 140 200 76 blue | acme/bob | prefers coffee
box globex 520 20 200 56 rose | globex | another tenant
box cleo 520 140 200 76 rose | globex/cleo | prefers juice
arrow acme b ann t
arrow acme b bob t
arrow globex b cleo t
note 160 250 | scope="acme/ann"
note 160 272 | sees tea
note 380 250 | scope="acme/**"
note 380 272 | sees tea and coffee
note 620 250 | never seen from acme
note 380 310 | nothing crosses a scope unless you ask for it
""",
    "kind.svg": """
What you pass decides the kind; upkeep makes episodes, summaries and facts of it
size 760 350
box text 20 20 200 60 grey | a text | “The kettle is blue.”
box chat 20 105 200 60 grey | a message | role and content
box dict 20 190 200 60 grey | a dict | health: 0.9
box hook 20 275 200 60 grey | what an agent does | by hooks
box fact 290 20 180 60 blue | fact | kept once
box message 290 105 180 60 blue | message | in the order of a session
box state 290 190 180 60 blue | state | at a step, in a place
box action 290 275 180 60 blue | action | reward, changes
box triple 560 20 180 60 green | triple | who, what, since when
box episode 560 105 180 60 green | episode, summary | what a session said
arrow text r fact l
arrow chat r message l
arrow dict r state l
arrow hook r action l
arrow fact r triple l | read
arrow message r episode l | upkeep
arrow episode t triple b
""",
    "tier.svg": """
Short, middle and long: what each tier shows, and what moves a record
size 760 270
box short 20 70 200 110 blue | short | whole text | vector of float32
box middle 280 70 200 110 sand | middle | whole text | vector of int8
box long 540 70 200 110 green | long | a gist, rounded numbers | vector of bits
arrow short r middle l | unused
arrow middle r long l | unused
note 250 46 | use promotes a record again
note 640 46 | restore brings it back
note 380 216 | one recall searches all tiers; the original is kept and comes back exactly
note 380 244 | nothing moves on its own: you call maintain(), or start a worker
""",
    "score.svg": """
Signals add up to a rank; calibration makes a probability of it
size 760 330
box question 20 115 150 80 grey | the question | “When is it open?”
box dense 215 20 180 52 blue | meaning | vectors
box words 215 84 180 52 blue | words | stems, similar words
box names 215 148 180 52 blue | names, codes | and dates asked for
box turns 215 212 180 52 blue | context | neighbouring turns
box sum 440 115 130 80 sand | a sum | ranks the hits
box score 620 115 120 80 green | 0.98 | the score
arrow question r dense l
arrow question r words l
arrow question r names l
arrow question r turns l
arrow dense r sum l
arrow words r sum l
arrow names r sum l
arrow turns r sum l
arrow sum r score l
note 600 235 | calibrated: of a hundred hits with .9
note 600 255 | about ninety were right
note 380 306 | if even the best hit is far from an answer, recall returns nothing
""",
    "facts.svg": """
Two times of a fact: when it was true, and when the memory knew it
size 760 300
note 90 58 | true in the world
bar 190 40 250 blue | Ann lives in Lisbon
bar 440 40 300 green | Ann lives in Porto
note 90 138 | known to the memory
bar 230 120 290 blue | Lisbon, said in January
bar 520 120 220 green | Porto, said in July
tick 190 200 | January
tick 440 200 | June
tick 520 200 | July
tick 720 200 | today
note 380 262 | about("Ann", as_of="March") is Lisbon; known_at="June" still says Lisbon
note 380 284 | a new value closes the old one from its own time on, whenever it is said
""",
}


@dataclass(slots=True)
class Drawing:
    """The parts of a picture as they are read, and the boxes that arrows refer to."""

    title: str
    size: tuple[int, int] = (760, 320)
    boxes: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)


def pictures() -> dict[str, str]:
    """Each picture by its file name."""
    return {name: draw(text) for name, text in PICTURES.items()}


def draw(text: str) -> str:
    title, *lines = text.strip().splitlines()
    drawing = Drawing(title)
    for line in lines:
        head, *texts = [part.strip() for part in line.split(" | ")]
        word, *given = head.split()
        WAYS[word](drawing, given, texts)
    return "\n".join(_frame(drawing))


def _frame(drawing: Drawing) -> Iterator[str]:
    width, height = drawing.size
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="{FONT}" '
        'font-size="13" role="img" aria-labelledby="t">'
    )
    yield f'  <title id="t">{escape(drawing.title)}</title>'
    yield (
        '  <defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M0,0 L10,5 L0,10 z" fill="{LINE}"/></marker></defs>'
    )
    yield f'  <rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>'
    yield from drawing.parts
    yield "</svg>\n"


def _read_size(drawing: Drawing, given: list[str], _texts: list[str]) -> None:
    drawing.size = (int(given[0]), int(given[1]))


def _add_box(drawing: Drawing, given: list[str], texts: list[str]) -> None:
    name, tone = given[0], given[5]
    x, y, width, height = map(int, given[1:5])
    drawing.boxes[name] = (x, y, width, height)
    drawing.parts.append(
        f'  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{TONES[tone]}" '
        f'stroke="{LINE}" stroke-width="1.3"/>'
    )
    row = y + 24
    if height < 240:  # a box that holds boxes has its heading at the top
        row = y + height // 2 - 10 * len(texts) + 15
    for number, text in enumerate(texts):
        style = f'fill="{SOFT}"'
        if number == 0:
            style = f'fill="{INK}" font-weight="bold" font-size="15"'
        drawing.parts.append(_text(x + width // 2, row + 20 * number, text, style))


def _add_arrow(drawing: Drawing, given: list[str], texts: list[str]) -> None:
    (x1, y1), (x2, y2) = _side(drawing, given[0], given[1]), _side(drawing, given[2], given[3])
    path = f"M{x1},{y1} L{x2},{y2}"
    if given[1] in "tb" and x1 != x2:
        middle = (y1 + y2) // 2
        path = f"M{x1},{y1} V{middle} H{x2} V{y2}"
    elif given[1] in "lr" and y1 != y2:
        middle = (x1 + x2) // 2
        path = f"M{x1},{y1} H{middle} V{y2} H{x2}"
    drawing.parts.append(
        f'  <path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.5" marker-end="url(#arrow)"/>'
    )
    for text in texts:
        drawing.parts.append(_text((x1 + x2) // 2, (y1 + y2) // 2 - 8, text, f'fill="{SOFT}" font-size="12"'))


def _side(drawing: Drawing, name: str, side: str) -> tuple[int, int]:
    x, y, width, height = drawing.boxes[name]
    sides = {
        "t": (x + width // 2, y),
        "r": (x + width, y + height // 2),
        "b": (x + width // 2, y + height),
        "l": (x, y + height // 2),
    }
    return sides[side]


def _add_note(drawing: Drawing, given: list[str], texts: list[str]) -> None:
    drawing.parts.append(_text(int(given[0]), int(given[1]), texts[0], f'fill="{SOFT}"'))


def _add_bar(drawing: Drawing, given: list[str], texts: list[str]) -> None:
    x, y, width = map(int, given[:3])
    drawing.parts.append(
        f'  <rect x="{x}" y="{y}" width="{width - 4}" height="30" rx="4" fill="{TONES[given[3]]}" '
        f'stroke="{LINE}" stroke-width="1.2"/>'
    )
    drawing.parts.append(_text(x + width // 2 - 2, y + 20, texts[0], f'fill="{INK}"'))


def _add_tick(drawing: Drawing, given: list[str], texts: list[str]) -> None:
    x, y = map(int, given[:2])
    drawing.parts.append(
        f'  <path d="M{x},20 V{y}" stroke="{LINE}" stroke-width="1" stroke-dasharray="4 4"/>'
    )
    drawing.parts.append(_text(x, y + 20, texts[0], f'fill="{SOFT}"'))


def _text(x: int, y: int, text: str, style: str) -> str:
    return f'  <text x="{x}" y="{y}" text-anchor="middle" {style}>{escape(text)}</text>'


WAYS: dict[str, Callable[[Drawing, list[str], list[str]], None]] = {
    "size": _read_size,
    "box": _add_box,
    "arrow": _add_arrow,
    "note": _add_note,
    "bar": _add_bar,
    "tick": _add_tick,
}

if __name__ == "__main__":
    for name, drawing in pictures().items():
        (FOLDER / name).write_text(drawing, encoding="utf-8")
