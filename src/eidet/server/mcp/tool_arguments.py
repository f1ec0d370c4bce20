"""The arguments of tools: their types, their limits, and what a model reads about them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

MOST_HITS: Final = 100
MOST_TEXTS: Final = 100
MOST_IDS: Final = 1000
MOST_TOKENS: Final = 32_000

ScopeName = Annotated[
    str | None,
    Field(description="Whose memory, such as 'acme/ann'. Leave it out for the usual one."),
]
NewText = Annotated[
    str, Field(description="What to remember: one self-contained statement, with its names and dates.")
]
MoreTexts = Annotated[
    list[str] | None,
    Field(
        max_length=MOST_TEXTS - 1,
        description="Further texts with the same details. All are stored, or none.",
    ),
]
RevisedText = Annotated[str | None, Field(description="What it says from now on.")]
PreviewOnly = Annotated[bool, Field(description="True: only say what would go; nothing is deleted.")]
Question = Annotated[
    str,
    Field(
        description="A question or a few words, as you would ask a colleague. Names and times such as "
        "'last week' are understood. Empty: the newest memories."
    ),
]
MemoryKind = Literal["fact", "message", "episode", "summary", "document", "state", "action", "interaction"]
KindOfText = Annotated[
    MemoryKind | None,
    Field(description="fact (the default), message (a turn of a conversation), episode, document …"),
]
Kinds = Annotated[list[MemoryKind] | None, Field(description="Only memories of these kinds.")]
Who = Annotated[str | None, Field(description="Who said it.")]
Session = Annotated[str | None, Field(description="The conversation or run it belongs to.")]
Since = Annotated[str | None, Field(description="Only what happened at this time or later: ISO 8601.")]
Until = Annotated[str | None, Field(description="Only what happened at this time or earlier: ISO 8601.")]
Occurred = Annotated[str | None, Field(description="When it happened, in ISO 8601. Default: now.")]
Importance = Annotated[float | None, Field(ge=0, le=1, description="0 to 1; default 0.5.")]
Source = Annotated[str | None, Field(description="Where it comes from: a file, a URL, a tool.")]
SourceTrust = Annotated[
    Literal["user", "tool", "web", "unknown"] | None,
    Field(
        description="Where the text comes from: user (the default), tool, web. Say 'web' or 'tool' for text "
        "that neither you nor the user wrote; it is quoted when it is recalled."
    ),
]
Key = Annotated[
    str | None,
    Field(description="A name of your own for it. Storing under the same key replaces what is there."),
]
Again = Annotated[
    bool, Field(description="True: store it although it was forgotten for good before. Ask the user first.")
]
Limit = Annotated[int, Field(ge=1, le=MOST_HITS, description="How many memories at most.")]
Budget = Annotated[int, Field(ge=1, le=MOST_TOKENS, description="How many tokens the block may take.")]
RecordId = Annotated[str, Field(description="The id of the memory, as recall shows it.")]
RecordIds = Annotated[
    list[str] | None, Field(max_length=MOST_IDS, description="The ids of the memories, as recall shows them.")
]
ExpectedVersion = Annotated[
    int | None,
    Field(ge=1, description="The version you have seen. If somebody changed it since, nothing is written."),
]
About = Annotated[str | None, Field(description="A person, place or thing, by name: all that holds of it.")]
Subject = Annotated[str | None, Field(description="Only facts whose subject this is.")]
Relation = Annotated[
    str | None, Field(description="Only facts of this relation, such as lives_in, works_at.")
]
Object = Annotated[str | None, Field(description="Only facts whose object this is.")]
AsOf = Annotated[str | None, Field(description="What was true then: ISO 8601. Default: what is true now.")]
KnownAt = Annotated[
    str | None, Field(description="What the memory knew then: ISO 8601. Default: what it knows now.")
]
EverHeld = Annotated[bool, Field(description="True: what ever held, earliest first, with its times.")]
