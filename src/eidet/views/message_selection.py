"""What a caller may ask of a log, checked, and which messages are meant by it."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.draft import Message
from ..core.errors import BadInput
from ..core.validate import clean_text
from ..core.where import Condition, Where
from ..text.tokens import TokenCounter
from .log_order import MOST
from .messages import tokens_of


def check_session(session: str) -> str:
    if not clean_text(session, "session").strip():
        raise BadInput("a session name must have at least one character; None starts a new one")
    return session


def how_many(limit: int | None) -> int | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MOST:
        raise BadInput(f"the count must be a whole number from 0 to {MOST:,}, not {limit!r}")
    return limit


def check_tokens(most: int) -> int:
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise BadInput(f"max_tokens must be a whole number from 0 up, not {most!r}")
    return most


def filter_by_roles(roles: str | Sequence[str] | None) -> Where | None:
    """By the role of the message, or by who said it where a record tells no role."""
    if roles is None:
        return None
    names = [roles] if isinstance(roles, str) else list(roles)
    unsaid = Condition("data.role", "exists", False)
    in_data = Where(conditions=(Condition("data.role", "in", names),))
    return Where(some=(in_data, *(Where(who=name, conditions=(unsaid,)) for name in names)))


def that_fit(messages: Sequence[Message], max_tokens: int, counter: TokenCounter) -> list[Message]:
    spent, kept = 0, 0
    for message in reversed(messages):
        spent += tokens_of(message, counter)
        if spent > max_tokens and kept:
            break
        kept += 1
    return list(messages[len(messages) - kept :])


def has(message: Message, wanted: str) -> bool:
    return wanted in (message.content or "").casefold()
