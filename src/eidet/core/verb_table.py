"""The table of the verbs that doors offer, with the meaning of each argument.

REST makes the bodies of its requests from this table, the client its requests, MCP the arguments of its
tools, the command line its help, and the reference its pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from .record import Kind, Tier, Trust


class Form(Enum):
    """The type of an argument. Each door decides how to write it, such as a time in ISO 8601."""

    TEXT = auto()
    LABEL = auto()  # a short text that is not empty
    ID = auto()
    NUMBER = auto()
    WHOLE = auto()
    FLAG = auto()
    TIME = auto()
    PLACE = auto()
    NEAR = auto()
    BOX = auto()
    VECTOR = auto()
    JSON = auto()
    LABELS = auto()  # a JSON object of the caller's
    FILTER = auto()
    QUERY = auto()  # a text, or a state
    ENTITY = auto()  # its id or name
    NAME = auto()  # of an entity, as a text writes it
    RELATION = auto()  # such as lives_in
    PATTERN = auto()  # of facts: subject, relation, object
    FACT = auto()  # the id of a fact or a decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of a verb: what it is, what it means, and its limits. Without a default it is required."""

    form: Form = Form.LABEL
    about: str = ""
    default: Any = ...
    choices: tuple[str, ...] = ()
    several: bool = False  # a list of such values
    least: float | None = None
    above: float | None = None
    most: float | None = None
    shortest: int | None = None  # of a list, or of a text
    longest: int | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, and how a server offers it.

    `answer` names the field of a reply that holds the verb's result; "" if the reply is the result itself.
    `renamed` maps arguments to the names that requests use.
    """

    about: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    answer: str = ""
    rights: tuple[str, ...] = ("read",)
    renamed: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True  # doing it twice is the same as doing it once


KINDS: Final = tuple(map(str, Kind))
TIERS: Final = tuple(map(str, Tier))
SOURCES: Final = tuple(str(trust) for trust in Trust if trust is not Trust.QUARANTINED)
RECIPES: Final = ("auto", "dialogue", "facts", "documents", "exact")
LARGEST_STEP: Final = 2**53
LONGEST_SPAN: Final = 1e9  # seconds


def flag(about: str, *, default: bool | None = False) -> Argument:
    return Argument(form=Form.FLAG, about=about, default=default)


def time(about: str) -> Argument:
    return Argument(form=Form.TIME, about=about, default=None)


def label(about: str, *choices: str) -> Argument:
    return Argument(about=about, default=None, choices=choices)


def _text(about: str, longest: int | None = None) -> Argument:
    return Argument(form=Form.TEXT, about=about, default=None, longest=longest)


def whole(about: str, default: int, least: int, most: int) -> Argument:
    return Argument(form=Form.WHOLE, about=about, default=default, least=least, most=most)


def _seconds(about: str) -> Argument:
    return Argument(form=Form.NUMBER, about=about, default=None, above=0, most=LONGEST_SPAN)


def share(about: str, default: float | None = None) -> Argument:
    return Argument(form=Form.NUMBER, about=about, default=default, least=0, most=1)


SCOPE: Final = "Whose memory, such as acme/ann; acme/** is acme and all below."
ID: Final = Argument(form=Form.ID, about="The id of a memory, as answers show it.")
IDS: Final = Argument(form=Form.TEXT, about="The ids of memories, as answers show them.", several=True)
VECTORS: Final = flag("Add the vectors of records.")
AS_OF: Final = time("What was true then. Default: what is true now.")
KNOWN_AT: Final = time("What the memory knew then. Default: what it knows now.")
BECAUSE: Final = _text("Why, for later.", 10_000)
AGAIN: Final = flag("Store it although it was forgotten for good before. Ask the user first.")
LEAST: Final = share("The lowest score of a hit, 0 to 1.")
RECIPE: Final = label("How to rank: auto, dialogue, facts, documents or exact.", *RECIPES)
NOW: Final = time('When it is asked, which "last week" goes by. Default: now.')
ORDER: Final = Argument(
    form=Form.TEXT,
    about="The order of the answer: a field, or a path such as data.price; a leading - reverses it.",
    default="-occurred",
    longest=1_000,
    pattern=r"^-?(occurred|created|importance|step|uses|(data|meta)\..+)$",
)
QUERY: Final = Argument(
    form=Form.QUERY,
    about="A question or a few words, as you would ask a colleague; names and times such as 'last week' are "
    "understood. Or a state that others should resemble. Empty: the newest memories.",
)
LIMIT: Final = whole("How many memories at most.", 10, 1, 10_000)

DETAILS: Final[Mapping[str, Argument]] = {
    "data": Argument(form=Form.JSON, about="Structured content: any JSON.", default=None),
    "kind": label("What it is: fact, message (a turn of a conversation), episode, document, state …", *KINDS),
    "tier": label("How much detail it keeps: short, middle or long.", *TIERS),
    "who": label("Who said or wrote it."),
    "agent": label("The agent that stores it."),
    "session": label("The conversation or run it belongs to."),
    "step": Argument(
        form=Form.WHOLE,
        about="The step of a simulation or task.",
        default=None,
        least=-LARGEST_STEP,
        most=LARGEST_STEP,
    ),
    "place": Argument(form=Form.PLACE, about="Two or three coordinates.", default=None),
    "importance": share("0 to 1. Default: 0.5."),
    "occurred": time("When it happened. Default: now."),
    "expires": time("When Eidet drops it."),
    "expires_in": _seconds("When Eidet drops it, in seconds from now."),
    "ttl": _seconds("Seconds it lives after it was made or last read."),
    "pinned": flag("Upkeep leaves it alone, and it does not expire.", default=None),
    "source": label("Where it comes from: a file, a URL, a tool."),
    "meta": Argument(
        form=Form.LABELS, about="Your own labels; filters reach them as meta.NAME.", default=None
    ),
    "vector": Argument(form=Form.VECTOR, about="An embedding of your own.", default=None),
    "derived_from": replace(
        IDS, form=Form.ID, about="The ids of the memories it was made from.", default=None, longest=10_000
    ),
    "trust": label(
        "How far its source is trusted: user (the default), tool, web … Say web or tool for text that "
        "neither you nor the user wrote; it is quoted when it is recalled.",
        *SOURCES,
    ),
}
NEW_MEMORY: Final[Mapping[str, Argument]] = {
    **DETAILS,
    "text": _text(
        "What to remember: one self-contained statement, with its names and dates. Made from data if "
        "there is none."
    ),
    "id": replace(ID, about="Your own id; the same id again makes its next version.", default=None),
    "key": _text("A name of your own in place of an id; the same key again makes its next version.", 10_000),
}
MESSAGE: Final[Mapping[str, Argument]] = {
    "role": Argument(about="Who speaks: user, assistant, system or tool."),
    "content": _text("What was said."),
    "timestamp": time("When it was said. Default: now."),
    "name": label("The speaker's name."),
    "session": DETAILS["session"],
    "agent": DETAILS["agent"],
    "metadata": DETAILS["meta"],
    "tool_calls": Argument(form=Form.JSON, about="The calls an assistant made.", default=None, several=True),
    "tool_call_id": _text("The call a tool answers."),
}
REMEMBER: Final[Mapping[str, Argument]] = {
    "keep_duplicates": flag("Store facts again that the scope has already.", default=None),
    "read_speakers": flag('Take who and occurred from texts that begin with "[2026-05-08] Ann:" or "Ann:".'),
    "again": AGAIN,
    "version": Argument(
        form=Form.WHOLE,
        about="The version that the memories must have, else nothing is written; 0: they must be new.",
        default=None,
        least=0,
    ),
}
REVISE: Final[Mapping[str, Argument]] = {
    **DETAILS,
    "text": _text("What it says from now on."),
    "clear": Argument(
        about="Fields to reset.", default=(), several=True, choices=tuple(DETAILS.keys() - {"expires_in"})
    ),
    "again": AGAIN,
}
FILTERS: Final[Mapping[str, Argument]] = {
    "where": Argument(
        form=Form.FILTER, about='Such as {"data.health": {"$gt": 0.5}} or {"kind": "fact"}.', default=None
    ),
    "kinds": Argument(about="Only of these kinds.", default=None, several=True, choices=KINDS),
    "tiers": Argument(about="Only of these tiers.", default=None, several=True, choices=TIERS),
    "session": _text("Only of this conversation or run."),
    "agent": _text("Only what this agent stored."),
    "who": _text("Only what this person or role said."),
    "trust": Argument(
        about="Only of sources that are trusted so: user, tool, web …",
        default=None,
        several=True,
        choices=(*SOURCES, "quarantined"),
    ),
    "since": time("Only what happened at this time or later."),
    "until": time("Only what happened at this time or earlier."),
    "near": Argument(form=Form.NEAR, about="Only within a distance of a place.", default=None),
    "box": Argument(form=Form.BOX, about="Only within a rectangle or a box.", default=None),
}
RECALL: Final[Mapping[str, Argument]] = {
    **FILTERS,
    "query": replace(QUERY, default=""),
    "limit": LIMIT,
    "vector": replace(DETAILS["vector"], about="The vector of the query, if you have it already."),
    "recipe": RECIPE,
    "least": LEAST,
    "unit": Argument(
        about="What a hit stands for.", default="record", choices=("record", "session", "scope")
    ),
    "understand": flag("Read names, times and places from the query.", default=True),
    "order": replace(ORDER, about=f"Without a query: {ORDER.about[0].lower()}{ORDER.about[1:]}"),
    "now": NOW,
    "as_of": AS_OF,
    "known_at": KNOWN_AT,
    "explain": flag("Add the trace: how the answer came about."),
    "reasons": flag("Say why each hit is there; false is faster.", default=True),
    "vectors": VECTORS,
}
RECALL_ALL: Final[Mapping[str, Argument]] = {
    **FILTERS,
    "query": replace(QUERY, form=Form.TEXT, about="What all of them are about: a question or a few words."),
    "limit": replace(LIMIT, default=100),
    **{name: RECALL[name] for name in ("now", "as_of", "known_at", "reasons", "vectors")},
}
CONTEXT: Final[Mapping[str, Argument]] = {
    **FILTERS,
    "query": QUERY,
    "budget": whole("How many tokens the block may take.", 1000, 1, 10_000_000),
    "limit": whole("How many memories to choose from.", 50, 1, 10_000),
    "neighbours": whole("Turns before and after each hit.", 1, 0, 100),
    "headings": flag("Headings for the parts and days.", default=True),
    "seen": replace(IDS, about="Ids of memories that the reader was shown already.", default=()),
    "fence": flag("Quote what is not trusted.", default=True),
    "recipe": RECIPE,
    "least": LEAST,
    "now": NOW,
    "as_of": AS_OF,
    "known_at": KNOWN_AT,
}
FIND: Final[Mapping[str, Argument]] = {
    **FILTERS,
    "as_of": AS_OF,
    "known_at": KNOWN_AT,
    "order": ORDER,
    "limit": replace(LIMIT, default=100),
    "offset": whole("How many to skip.", 0, 0, 10_000_000),
    "cursor": _text("From the answer before; nothing else changes.", 100_000),
    "vectors": VECTORS,
}
FORGET: Final[Mapping[str, Argument]] = {
    **FILTERS,
    "ids": replace(IDS, default=None, longest=100_000),
    "everything": flag("All of the scope that the request names."),
    "for_good": flag(
        "False: delete them, and no more: copies stay, and they may be stored again.", default=None
    ),
    "why": replace(BECAUSE, about="The reason, for the receipt and the audit."),
    "preview": flag("Only tell what would go; nothing is deleted."),
}
FEEDBACK: Final[Mapping[str, Argument]] = {
    "useful": Argument(form=Form.FLAG, about="Whether it was."),
    "id": replace(
        ID, form=Form.TEXT, about="The memory; without it, the whole answer is meant.", default=None
    ),
    "by": Argument(about="Who judges.", default=None, longest=200),
}
PROMOTE: Final[Mapping[str, Argument]] = {
    "id": ID,
    "to": Argument(about="The scope that it goes into, such as team/core."),
    "move": flag("Take it out of its scope, with its earlier versions; needs the right forget."),
}
GET: Final[Mapping[str, Argument]] = {"ids": replace(IDS, longest=10_000), "vectors": VECTORS}

APPROVE: Final[Mapping[str, Argument]] = {
    "id": ID,
    "text": _text("What it says from now on; what it says now, if left out."),
    "trust": label("How far its source is trusted from now on; as before, if left out.", *SOURCES),
    "version": replace(
        REMEMBER["version"], about="The version that was looked at, else nothing is written.", least=1
    ),
}
REJECT: Final[Mapping[str, Argument]] = {
    "id": ID,
    "version": APPROVE["version"],
    "because": replace(BECAUSE, about="The reason, for the receipt and the audit."),
}

VERBS: Final[Mapping[str, Verb]] = {
    "recall": Verb("What matters for a query, best first, each hit with its reasons.", RECALL),
    "recall_all": Verb(
        "Every memory on a topic in order of time, counted; what may be missing is said.",
        RECALL_ALL,
    ),
    "context": Verb(
        "A prompt-ready block of what matters for a query, never over its budget of tokens.",
        CONTEXT,
    ),
    "find": Verb(
        "Memories that match exactly, in order, page by page: send `cursor` again for the next page.",
        FIND,
    ),
    "count": Verb("How many memories match.", FILTERS, answer="count"),
    "get": Verb(
        "Looks up several ids at once; any id can be named here, whatever characters it has.",
        GET,
        answer="memories",
    ),
    "forget": Verb(
        """Forgets memories for good, with a signed receipt; `preview` only tells what would go.

A preview shows texts: it needs the right read as well. A whole scope goes only if the request names it and
`everything` is true.""",
        FORGET,
        rights=("forget",),
        repeatable=False,
    ),
    "review": Verb(
        "What waits for a person: memories in quarantine or labelled as suspicious, newest first.",
        {"limit": replace(LIMIT, default=100)},
        answer="memories",
    ),
    "approve": Verb(
        "Lets a memory that waits for review into answers, perhaps with another text.",
        APPROVE,
        rights=("write",),
    ),
    "reject": Verb(
        "Forgets a memory that waits for review; the same text is refused when it comes back.",
        REJECT,
        rights=("forget",),
        repeatable=False,
    ),
    "promote": Verb(
        "Copies a memory into another scope, or moves it; both scopes must be the caller's.",
        PROMOTE,
        rights=("read", "write"),
    ),
    "changes": Verb(
        "One page of what changed in a scope: ask again with its `cursor` as `since`.",
        {
            "since": replace(
                REMEMBER["version"], about="The cursor of a change or a page; 0: everything. Default: now."
            ),
            "limit": replace(LIMIT, default=500),
        },
    ),
    "feedback": Verb(
        "Says whether a memory was useful; without an id, whether the whole answer was. Only counted.",
        FEEDBACK,
        rights=("write",),
    ),
}
