"""The verbs of `memory.facts`, in the form of `verb_table`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from .verb_table import (
    AS_OF,
    BECAUSE,
    DETAILS,
    KNOWN_AT,
    LIMIT,
    Argument,
    Form,
    Verb,
    flag,
    label,
    share,
    time,
    whole,
)

ENTITY_KINDS: Final = ("person", "place", "organisation", "thing", "event")
_TIMES: Final = {"as_of": AS_OF, "known_at": KNOWN_AT}
_ENTITY: Final = Argument(form=Form.ENTITY, about="A person, place or thing: its name or its id.")
_NAME: Final = Argument(form=Form.NAME, about="A person, place or thing, by name.")
_RELATION: Final = label("Only facts of this relation, such as lives_in.")
_FACT: Final = Argument(form=Form.FACT, about="The id of a fact, from an answer.")
_SOURCES_OF_FACT: Final = Argument(
    form=Form.ID, about="The ids of the memories that say so.", several=True, longest=1_000
)
_EVER: Final = flag("What ever held, and not only what holds.")
_DECIDES: Final = ("write", "read")  # an answer reveals what others said

FACTS: Final[Mapping[str, Verb]] = {
    "about": Verb("What holds of an entity.", {"entity": _ENTITY, **_TIMES}, answer="facts"),
    "timeline": Verb(
        "All that ever held of an entity, the earliest first.",
        {"entity": _ENTITY, "relation": _RELATION, "known_at": KNOWN_AT},
        answer="facts",
    ),
    "entities": Verb(
        "Everybody and everything that is spoken of, most often named first; or those that a name may mean.",
        {
            "name": label("Only those that this name may mean."),
            "kind": label("Of this kind.", *ENTITY_KINDS),
        },
        answer="entities",
    ),
    "profile": Verb(
        "What holds of an entity, as a short text.",
        {"entity": _ENTITY, **_TIMES},
        answer="text",
    ),
    "match": Verb(
        "The ways in which all patterns hold together.",
        {
            "patterns": Argument(
                form=Form.PATTERN,
                about="Subject, relation and object. A part with a leading ? is a variable, null anything.",
                several=True,
                shortest=1,
                longest=8,
            ),
            **_TIMES,
            "ever": _EVER,
            "infer": flag("Add what follows by rules: inverses, parts of parts.", default=True),
            "limit": replace(LIMIT, default=100),
        },
        answer="matches",
    ),
    "neighbours": Verb("Who and what is one fact away.", {"entity": _ENTITY, **_TIMES}, answer="neighbours"),
    "paths": Verb(
        "The shortest ways between two entities, as the facts along them.",
        {"start": _ENTITY, "goal": _ENTITY, "hops": whole("How many facts at most.", 4, 1, 4), **_TIMES},
        answer="paths",
    ),
    "contradictions": Verb(
        "What cannot hold together and is not decided.",
        {"known_at": KNOWN_AT},
        answer="contradictions",
    ),
    "instructions": Verb(
        "Standing instructions and preferences that hold.",
        {"preferences": flag("False: instructions only.", default=True), **_TIMES},
        answer="facts",
    ),
    "why": Verb(
        "The sentences behind a fact, what ended it, and the rule that inferred it.",
        {"id": _FACT},
        renamed={"fact": "id"},
    ),
    "export": Verb(
        "The facts that hold, or ever held, as the lines of MCP's memory server.",
        {**_TIMES, "ever": _EVER},
        answer="text",
    ),
    "decisions": Verb("What was decided about facts and entities, the oldest first.", {}, answer="decisions"),
    "add": Verb(
        "States a fact, and tells what the memory makes of it.",
        {
            "subject": _NAME,
            "relation": Argument(form=Form.RELATION, about="Such as lives_in."),
            "object": _NAME,
            "since": time("Since when it holds. Default: when it was said."),
            "until": time("Until when it held."),
            "ended": flag("It holds no more, whenever it ended."),
            "negated": flag("It does not hold."),
            "confidence": share("0 to 1.", 1.0),
            "sources": replace(_SOURCES_OF_FACT, default=()),
            **{name: DETAILS[name] for name in ("who", "session", "agent", "occurred", "trust")},
        },
        rights=_DECIDES,
        repeatable=False,
    ),
    "merge": Verb(
        "Says that several names mean one entity.",
        {
            "entity": _ENTITY,
            "others": Argument(
                form=Form.ENTITY, about="Further names of it.", several=True, shortest=1, longest=100
            ),
            "because": BECAUSE,
        },
        rights=_DECIDES,
        repeatable=False,
    ),
    "undo": Verb(
        "Takes a decision back: a merge, a resolution or a retraction.",
        {"id": Argument(form=Form.FACT, about="The id of a decision, from an answer.")},
        rights=_DECIDES,
        renamed={"decision": "id"},
        answer="id",
        repeatable=False,
    ),
    "resolve": Verb(
        "Decides a contradiction: the fact with this id stays, its rivals never held. `undo` undoes it.",
        {"id": _FACT, "because": BECAUSE},
        rights=_DECIDES,
        renamed={"keep": "id"},
        repeatable=False,
    ),
    "retract": Verb(
        "Takes a fact back; the texts that say so stay.",
        {"id": _FACT, "because": BECAUSE},
        rights=_DECIDES,
        renamed={"fact": "id"},
        repeatable=False,
    ),
}
