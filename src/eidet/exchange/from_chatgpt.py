"""ChatGPT: the conversations of a data export (`conversations.json`, its folder or its zip archive).

A conversation is a tree, because answers can be regenerated and questions edited. The branch that the user
saw last is read; the others only if everything is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from .foreign_values import read_time, with_origin
from .json_source import Members, find_source, open_members, read_array
from .source_items import Notes, ReadOptions, SourceItem, keep_present, make_labels

FILES: Final = "conversations*.json"  # large exports come in several files
THOUGHTS: Final = frozenset(("thoughts", "reasoning_recap"))
HIDDEN: Final = "is_visually_hidden_from_conversation"
BETWEEN: Final = 1e-6  # seconds between messages of which the export tells no time


def read_chatgpt(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_members(find_source(source)) as members:
        names = members.list_names() if members.is_single else members.find(FILES)
        if not names:
            raise BadInput(f"{source} holds no conversations.json: it is not an export of ChatGPT")
        _note_others(members, notes)
        for name in names:
            with members.open(name) as file:
                for number, found in enumerate(read_array(file, name), 1):
                    yield from _read_conversation(found, f"{name}, conversation {number:,}", options, notes)


def _note_others(members: Members, notes: Notes) -> None:
    for pattern in ("message_feedback.json", "shared_conversations.json", "model_comparisons.json"):
        for name in members.find(pattern):
            notes.drop(name, "says nothing that was not said in a conversation")


def _read_conversation(found: Any, where: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    nodes = found.get("mapping") if isinstance(found, dict) else None
    if not isinstance(nodes, dict):
        raise BadInput(f"{where} is not a conversation of ChatGPT: it has no mapping")
    branch = _list_branch(nodes, found.get("current_node"))
    shown = frozenset(branch)
    last = read_time(found.get("create_time"), f"{where}: create_time") or 0.0
    for id in (*branch, *(id for id in nodes if id not in shown)):
        message = nodes[id].get("message")
        if message is None:
            continue
        place = f"{where}, message {id}"
        if id not in shown and not options.everything:
            notes.skip(place, "is on a branch that was left")
            continue
        item = _make_item(found, id, message, last, place, options, notes)
        if item is not None:
            last = float(item.draft.occurred)  # type: ignore[arg-type]  # a number, set by `_make_item`
            yield item


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


def _make_item(
    found: Mapping[str, Any],
    id: str,
    message: Mapping[str, Any],
    last: float,
    where: str,
    options: ReadOptions,
    notes: Notes,
) -> SourceItem | None:
    said, author = message.get("metadata") or {}, message.get("author") or {}
    content = message.get("content") or {}
    role = str(author.get("role") or "user")
    if not options.everything and (said.get(HIDDEN) or role == "system"):
        notes.skip(where, "is hidden from the conversation")
        return None
    if content.get("content_type") in THOUGHTS:
        notes.skip(where, "is reasoning, which is not said to anybody")
        return None
    text = _read_text(content, notes)
    if not text.strip():
        notes.skip(where, "has no text")
        return None
    session = str(found.get("conversation_id") or found.get("id") or where)
    for attachment in said.get("attachments") or []:
        notes.drop("attachment", f"files stay in the export ({attachment.get('mime_type') or 'file'})")
    own = keep_present(
        message=id, title=found.get("title"), model=said.get("model_slug"), gpt=found.get("gizmo_id")
    )
    recipient = message.get("recipient")
    if recipient not in (None, "all"):
        own["recipient"] = recipient
    occurred = read_time(message.get("create_time"), f"{where}: create_time")
    return SourceItem(
        where=where,
        labels=make_labels(session=session),
        draft=Draft(
            key=f"chatgpt {session} {id}",
            kind="message",
            text=text,
            data={"role": role} | keep_present(name=author.get("name")),
            who=author.get("name") or role,
            session=session,
            trust="tool" if role == "tool" else None,
            source="chatgpt",
            occurred=occurred or last + BETWEEN,
            meta=with_origin({}, "chatgpt", own),
        ),
    )


def _read_text(content: Mapping[str, Any], notes: Notes) -> str:
    """What was said: the parts that are text, code, or a transcript."""
    kind = content.get("content_type")
    if kind == "user_editable_context":
        given = (content.get("user_profile"), content.get("user_instructions"))
        return "\n".join(part for part in given if part)
    parts = content.get("parts")
    if parts is None:
        whole = content.get("text") or content.get("result") or ""
        return whole if isinstance(whole, str) else ""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            notes.drop("part of a message", f"is not text ({_name_part(part)})")
    return "\n".join(text for text in texts if text)


def _name_part(part: Any) -> str:
    if isinstance(part, dict):
        return str(part.get("content_type") or "unknown")
    return type(part).__name__
