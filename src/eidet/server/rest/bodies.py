"""What requests may hold, field by field. Whatever is not named here is refused."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

KindName = Literal[
    "message", "working", "fact", "episode", "summary", "state", "action", "interaction", "document", "triple"
]
TierName = Literal["short", "middle", "long"]
SourceTrust = Literal["trusted", "user", "tool", "web", "unknown"]
TrustName = Literal["trusted", "user", "tool", "web", "unknown", "quarantined"]
OrderName = Annotated[
    str,
    Field(
        max_length=1_000,
        pattern=r"^-?(occurred|created|importance|step|uses|(data|meta)\..+)$",
        description="A field, or a path such as data.price; a leading - reverses.",
    ),
]
FieldName = Literal[
    "data", "kind", "tier", "who", "agent", "session", "step", "place", "importance", "occurred", "expires",
    "ttl", "pinned", "source", "meta", "vector", "derived_from", "trust",
]  # fmt: skip

EARLIEST, LATEST = -62_000_000_000.0, 253_000_000_000.0
LONGEST_STEP = 2**53
Label = Annotated[str, Field(min_length=1, max_length=1000)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Seconds = Annotated[float, Field(ge=EARLIEST, le=LATEST)]
IsoTime = Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
Time = Annotated[
    Seconds | IsoTime, Field(description="Seconds since 1970, or ISO 8601 such as 2026-05-04T10:00:00Z.")
]
Coordinates = Annotated[
    list[Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]],
    Field(min_length=2, max_length=3, description="Two or three coordinates."),
]
Vector = Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=1, max_length=65_536)]
Labels = Annotated[dict[str, Any], Field(description="Your own labels; filters reach them as meta.NAME.")]
FilterBody = Annotated[
    dict[str, Any], Field(description='Such as {"data.health": {"$gt": 0.5}} or {"kind": "fact"}.')
]


class RequestBody(BaseModel):
    """A body that is exactly what it says."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class Descriptions(RequestBody):
    """What can be said of a memory beside its text."""

    data: Any = Field(None, description="Structured content: any JSON.")
    kind: KindName | None = None
    tier: TierName | None = None
    who: Label | None = Field(None, description="Who said or wrote it.")
    agent: Label | None = Field(None, description="The agent that stores it.")
    session: Label | None = Field(None, description="The conversation or run it belongs to.")
    step: Annotated[int, Field(ge=-LONGEST_STEP, le=LONGEST_STEP)] | None = None
    place: Coordinates | None = None
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    occurred: Time | None = Field(None, description="When it happened; now if you give none.")
    expires: Time | None = Field(None, description="When Eidet drops it.")
    expires_in: Annotated[float, Field(gt=0, le=1e9)] | None = Field(
        None, description="The same, in seconds."
    )
    ttl: Annotated[float, Field(gt=0, le=1e9)] | None = Field(
        None, description="Seconds it lives after it was made or last read."
    )
    pinned: bool | None = Field(None, description="Upkeep leaves it alone, and it does not expire.")
    source: Label | None = Field(None, description="Where it comes from: a file, a URL, a tool.")
    meta: Labels | None = None
    vector: Vector | None = Field(None, description="An embedding of your own.")
    derived_from: Annotated[list[Id], Field(max_length=10_000)] | None = None
    trust: SourceTrust | None = None


class NewMemory(Descriptions):
    """A memory to be. It needs a text, or data."""

    text: str | None = Field(
        None, description="What Eidet searches and shows; made from data if you give none."
    )
    id: Id | None = Field(None, description="Your own id; the same id again makes its next version.")
    key: str | None = Field(None, max_length=10_000, description="Any text of yours in place of an id.")


class NewMessage(RequestBody):
    """One turn of a conversation, as agent frameworks write it."""

    role: Label
    content: str | None = Field(None, validation_alias=AliasChoices("content", "text"))
    timestamp: Time | None = None
    name: Label | None = None
    session: Label | None = None
    agent: Label | None = None
    metadata: Labels | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


class NewMemories(RequestBody):
    """One or many memories: all are stored, or none."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"memories": [{"text": "Ann lives in Lisbon", "who": "Ann"}]}}
    )

    memories: Annotated[list[NewMemory | NewMessage], Field(min_length=1)]
    keep_duplicates: bool | None = Field(None, description="Store facts again that the scope has already.")
    again: bool = Field(False, description="Store even what was forgotten for good.")
    version: int | None = Field(
        None, ge=0, description="The version that the memories must have, else 409; 0: they must be new."
    )

    @model_validator(mode="before")
    @classmethod
    def explain_one(cls, given: Any) -> Any:
        """Whoever sends a memory by itself is told how."""
        if isinstance(given, dict) and "memories" not in given and "text" in given:
            raise ValueError('one memory is a list of one: {"memories": [{"text": "…"}]}')
        return given


class ChangesBody(Descriptions):
    """What a memory shall say from now on; what is left out stays. null resets a field."""

    text: str | None = None
    clear: list[FieldName] = Field(default_factory=list, description="Fields to reset.")
    again: bool = Field(False, description="Allow words that were forgotten for good.")


class NearBody(RequestBody):
    """Within a distance of a place."""

    place: Coordinates
    radius: Annotated[float, Field(ge=0, le=1e9)]


class BoxBody(RequestBody):
    """Within a rectangle or a box."""

    low: Coordinates
    high: Coordinates


class Filters(RequestBody):
    """Which memories are meant; every part given must hold."""

    where: FilterBody | None = None
    kinds: list[KindName] | None = None
    tiers: list[TierName] | None = None
    session: str | None = None
    agent: str | None = None
    who: str | None = None
    trust: list[TrustName] | None = None
    since: Time | None = None
    until: Time | None = None
    near: NearBody | None = None
    box: BoxBody | None = None


class RecallBody(Filters):
    """A question, and how to answer it."""

    model_config = ConfigDict(json_schema_extra={"example": {"query": "where does Ann live?", "limit": 5}})

    query: str | dict[str, Any] = Field("", description="A text, or a state that others should resemble.")
    limit: Annotated[int, Field(ge=1, le=10_000)] = 10
    vector: Vector | None = None
    recipe: Literal["auto", "dialogue", "facts", "documents", "exact"] | None = None
    least: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="The lowest score of a hit.")
    unit: Literal["record", "session", "scope"] = "record"
    understand: bool = Field(True, description="Read names, times and places from the query.")
    order: OrderName = Field("-occurred", description="Without a query: the order of the answer.")
    now: Time | None = Field(None, description='When it is asked, which "last week" goes by.')
    as_of: Time | None = Field(None, description="What was true then.")
    known_at: Time | None = Field(None, description="What the memory knew then.")
    explain: bool = Field(False, description="Add the trace: how the answer came about.")
    reasons: bool = Field(True, description="Say why each hit is there; false is faster.")
    vectors: bool = Field(False, description="Add the vectors of records.")


class ContextBody(Filters):
    """A question whose answer goes into a prompt."""

    query: str | dict[str, Any]
    budget: Annotated[int, Field(ge=1, le=10_000_000)] = Field(1000, description="Tokens it may have.")
    limit: Annotated[int, Field(ge=1, le=10_000)] = 50
    neighbours: Annotated[int, Field(ge=0, le=100)] = 1
    headings: bool = True
    fence: bool = Field(True, description="Quote what is not trusted.")
    reveal: bool = Field(False, description="Turn pseudonyms back; needs the right admin.")
    recipe: Literal["auto", "dialogue", "facts", "documents", "exact"] | None = None
    least: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="The lowest score of a hit.")
    now: Time | None = None
    as_of: Time | None = Field(None, description="What was true then.")
    known_at: Time | None = Field(None, description="What the memory knew then.")


class FindBody(Filters):
    """Which memories to list, and which page of them."""

    as_of: Time | None = Field(None, description="What was true then.")
    known_at: Time | None = Field(None, description="What the memory knew then.")
    order: OrderName = "-occurred"
    limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    cursor: str | None = Field(
        None, max_length=100_000, description="From the answer before; nothing else changes."
    )
    vectors: bool = False


class GetBody(RequestBody):
    """Ids to look up."""

    ids: Annotated[list[str], Field(max_length=10_000)]
    vectors: bool = False


class ForgetBody(Filters):
    """What to forget: ids, or a filter, or everything in the scope that the request names."""

    ids: Annotated[list[str], Field(max_length=100_000)] | None = None
    everything: bool = False
    for_good: bool | None = None
    why: str | None = Field(None, max_length=10_000, description="The reason, for the receipt and the audit.")
    preview: bool = Field(False, description="Only tell what would go; change nothing.")


class FeedbackBody(RequestBody):
    """Whether a memory, or the whole answer where no id is given, was useful."""

    useful: bool
    id: str | None = None
    by: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(None, description="Who judges.")
