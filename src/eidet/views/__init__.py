"""Views: a memory as working memory, as a conversation, as facts, or as experiences.

A view is a thin object over a `Memory`; several views and agents may share one. The other views and
the verbs find the records that a view writes.
"""

from __future__ import annotations

from .conversation import Conversation
from .kinds import Episodic, Semantic
from .messages import message_of
from .working import Working

__all__ = [
    "Conversation",
    "Episodic",
    "Semantic",
    "Working",
    "message_of",
]
