"""ChatGPT: the conversations of a data export (`conversations.json`, its folder or its zip archive).

A conversation is a tree, because answers can be regenerated and questions edited. The branch that the user
saw last is read; the others only if everything is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.errors import BadInput
from .foreign_messages import ForeignMessage
from .foreign_values import read_time
from .format_guess import check_array, make_foreign
from .json_source import SourceFiles, find_source, open_members, read_array
from .source_items import Notes, ReadOptions, SourceItem, keep_present, make_labels

FILES: Final = "conversations*.json"  # large exports come in several files
THOUGHTS: Final = frozenset(("thoughts", "reasoning_recap"))
HIDDEN: Final = "is_visually_hidden_from_conversation"
BETWEEN: Final = 1e-6  # seconds between messages of which the export tells no time


def read_chatgpt(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_members(find_source(source)) as members:
        names = members.list_names() if members.is_single else members.find(FILES)
        if not names:
            raise BadInput(f"{source} holds no conversations.json: it is not a ChatGPT export")
        _note_others(members, notes)
        for name in names:
            with members.open(name) as file:
                check_array(file, name, "chatgpt")
                for number, found in enumerate(read_array(file, name), 1):
                    yield from _read_conversation(found, f"{name}, conversation {number:,}", options, notes)


def _note_others(members: SourceFiles, notes: Notes) -> None:
    for pattern in ("message_feedback.json", "shared_conversations.json", "model_comparisons.json"):
        for name in members.find(pattern):
            notes.drop(name, "says nothing that was not said in a conversation")


def _read_conversation(found: Any, where: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    nodes = found.get("mapping") if isinstance(found, dict) else None
    if not isinstance(nodes, dict):
        raise make_foreign("chatgpt", where, "it has no mapping", found)
    last = read_time(found.get("create_time"), f"{where}: create_time") or 0.0
    for id, message in _list_messages(nodes, found.get("current_node"), where, options, notes):
        place = f"{where}, message {id}"
        text = _read_text(message.get("content") or {}, notes)
        why = _find_objection(message, text, options)
        if why is not None:
            notes.skip(place, why)
            continue
        last = read_time(message.get("create_time"), f"{place}: create_time") or last + BETWEEN
        yield _make_item(found, id, message, text, last, place, notes)


def _list_messages(
    nodes: Mapping[str, Any], leaf: Any, where: str, options: ReadOptions, notes: Notes
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The messages of the branch that is shown, then the others, if they are asked for."""
    branch = _list_branch(nodes, leaf)
    shown = frozenset(branch)
    for id in (*branch, *(id for id in nodes if id not in shown)):
        message = nodes[id].get("message")
        if message is None:
            continue
        if id in shown or options.everything:
            yield id, message
        else:
            notes.skip(f"{where}, message {id}", "is on a branch that was left")


def _list_branch(nodes: Mapping[str, Any], leaf: Any) -> list[str]:
    """The ids from the root to the leaf; all ids, where the export names no leaf."""
    if leaf not in nodes:
        return list(nodes)
    branch: dict[str, None] = {}
    at = leaf
    while at in nodes and at not in branch:
        branch[at] = None
        at = nodes[at].get("parent")
    return list(reversed(branch))


def _find_objection(message: Mapping[str, Any], text: str, options: ReadOptions) -> str | None:
    """Why a message is not stored; None if it is."""
    hidden = (message.get("metadata") or {}).get(HIDDEN) or _role_of(message) == "system"
    if hidden and not options.everything:
        return "is hidden from the conversation"
    if (message.get("content") or {}).get("content_type") in THOUGHTS:
        return "is reasoning, which is not said to anybody"
    if not text.strip():
        return "has no text"
    return None


def _role_of(message: Mapping[str, Any]) -> str:
    return str((message.get("author") or {}).get("role") or "user")


def _make_item(
    found: Mapping[str, Any],
    id: str,
    message: Mapping[str, Any],
    text: str,
    occurred: float,
    where: str,
    notes: Notes,
) -> SourceItem:
    session = str(found.get("conversation_id") or found.get("id") or where)
    return ForeignMessage(
        where=where,
        key=f"chatgpt {session} {id}",
        source="chatgpt",
        role=_role_of(message),
        name=(message.get("author") or {}).get("name"),
        text=text,
        session=session,
        occurred=occurred,
        origin=_list_origin(found, id, message, notes),
        labels=make_labels(session=session),
    ).make_item()


def _list_origin(
    found: Mapping[str, Any], id: str, message: Mapping[str, Any], notes: Notes
) -> dict[str, Any]:
    """What else the export says of a message."""
    metadata, recipient = message.get("metadata") or {}, message.get("recipient")
    for attachment in metadata.get("attachments") or []:
        notes.drop("attachment", f"files stay in the export ({attachment.get('mime_type') or 'file'})")
    own = keep_present(
        message=id, title=found.get("title"), model=metadata.get("model_slug"), gpt=found.get("gizmo_id")
    )
    if recipient not in (None, "all"):
        own["recipient"] = recipient
    return own


def _read_text(content: Mapping[str, Any], notes: Notes) -> str:
    """What was said: the parts that are text, code, or a transcript."""
    if content.get("content_type") == "user_editable_context":
        given = (content.get("user_profile"), content.get("user_instructions"))
        return "\n".join(part for part in given if part)
    parts = content.get("parts")
    if parts is None:
        whole = content.get("text") or content.get("result") or ""
        return whole if isinstance(whole, str) else ""
    return "\n".join(_list_texts(parts, notes))


def _list_texts(parts: list[Any], notes: Notes) -> Iterator[str]:
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str):
            notes.drop("part of a message", f"is not text ({_name_part(part)})")
        elif text:
            yield text


def _name_part(part: Any) -> str:
    if isinstance(part, dict):
        return str(part.get("content_type") or "unknown")
    return "unknown"
