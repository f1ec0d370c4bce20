"""Readers of data exports of ChatGPT and Claude: a zip, its folder, or a single `conversations.json`.

A conversation of ChatGPT is a tree, because answers can be regenerated and questions edited. Only the
branch that the user saw last is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from .source_files import parse_document, read_members
from .source_items import (
    Dropped,
    ImportOptions,
    Items,
    LeftOut,
    SourceItem,
    keep_present,
    make_labels,
    make_message,
    parse_time,
    with_origin,
)

_THOUGHTS: Final = frozenset(("thoughts", "reasoning_recap"))
_HIDDEN: Final = "is_visually_hidden_from_conversation"
_BETWEEN: Final = 1e-6  # seconds between messages without a time in the export
_ROLES: Final = {"human": "user"}


def read_chatgpt(source: str, _: ImportOptions) -> Items:
    for where, found in _read_conversations(source, "ChatGPT", "mapping"):
        yield from _parse_tree(found, where)


def _read_conversations(source: str, program: str, needed: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the conversations of a data export with their places; large exports have several files."""
    is_empty = True
    for name, text in read_members(source, "conversations*.json"):
        is_empty, found = False, parse_document(text, name)
        if not isinstance(found, list):
            raise BadInput(f"{name} is no export of {program}: it is not a list of conversations")
        for number, one in enumerate(found, 1):
            where = f"{name}, conversation {number:,}"
            if not isinstance(one, dict) or needed not in one:
                raise BadInput(f"{where} is not of {program}: it has no {needed}")
            yield where, one
    if is_empty:
        raise BadInput(f"{source} holds no conversations.json: it is no export of {program}")


def _parse_tree(found: Mapping[str, Any], where: str) -> Items:
    nodes = found["mapping"]
    shown = _list_branch(nodes, found.get("current_node"))
    session = str(found.get("conversation_id") or found.get("id") or where)
    last = parse_time(found.get("create_time"), f"{where}: create_time") or 0.0
    for id in shown:
        message = nodes[id].get("message")
        if message is None:
            continue
        place = f"{where}, message {id}"
        text = _find_text(message.get("content") or {})
        author, metadata = message.get("author") or {}, message.get("metadata") or {}
        role = str(author.get("role") or "user")
        hidden = metadata.get(_HIDDEN) or role == "system"
        yield from _list_files(message.get("content") or {}, metadata)
        if why := _find_objection(message, text, hidden):
            yield LeftOut(place, why)
            continue
        last = parse_time(message.get("create_time"), f"{place}: create_time") or last + _BETWEEN
        recipient = message.get("recipient")
        yield make_message(
            place,
            f"chatgpt {session} {id}",
            text,
            role=role,
            name=author.get("name"),
            session=session,
            occurred=last,
            source="chatgpt",
            origin=keep_present(
                message=id,
                title=found.get("title"),
                model=metadata.get("model_slug"),
                gpt=found.get("gizmo_id"),
                recipient=None if recipient == "all" else recipient,
            ),
            labels=make_labels(session=session),
        )
    for id, node in nodes.items():
        if id not in shown and node.get("message") is not None:
            yield LeftOut(f"{where}, message {id}", "is on a branch that was left")


def _list_branch(nodes: Mapping[str, Any], leaf: Any) -> dict[str, None]:
    """Returns the ids from the root to the leaf; all ids if the export names no leaf."""
    if leaf not in nodes:
        return dict.fromkeys(nodes)
    branch: dict[str, None] = {}
    while leaf in nodes and leaf not in branch:
        branch[leaf] = None
        leaf = nodes[leaf].get("parent")
    return dict.fromkeys(reversed(branch))


def _find_objection(message: Mapping[str, Any], text: str, hidden: bool) -> str | None:
    """Returns why a message is not stored; None if it is."""
    if hidden:
        return "is hidden from the conversation"
    if (message.get("content") or {}).get("content_type") in _THOUGHTS:
        return "is reasoning, which is not said to anybody"
    return None if text.strip() else "has no text"


def _find_text(content: Mapping[str, Any]) -> str:
    """Returns the text of a message: its parts that are text, code, or a transcript."""
    if content.get("content_type") == "user_editable_context":
        return "\n".join(filter(None, (content.get("user_profile"), content.get("user_instructions"))))
    parts = content.get("parts")
    if parts is None:
        whole = content.get("text") or content.get("result") or ""
        return whole if isinstance(whole, str) else ""
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _list_files(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Dropped]:
    """Yields what a message of ChatGPT has besides its text."""
    for part in content.get("parts") or []:
        if not isinstance(part.get("text") if isinstance(part, dict) else part, str):
            kind = part.get("content_type") if isinstance(part, dict) else None
            yield Dropped("part of a message", f"is not text ({kind or 'unknown'})")
    for file in metadata.get("attachments") or []:
        yield Dropped("attachment", f"files stay in the export ({file.get('mime_type') or 'file'})")


def read_claude(source: str, _: ImportOptions) -> Items:
    for where, found in _read_conversations(source, "Claude", "chat_messages"):
        yield from _parse_chat(found, where)
    yield from _read_memories(source)


def _parse_chat(found: Mapping[str, Any], where: str) -> Items:
    if found.get("summary"):
        yield Dropped("summary of a conversation", "Eidet makes its own")
    session, account = str(found.get("uuid") or where), (found.get("account") or {}).get("uuid")
    for number, message in enumerate(found["chat_messages"], 1):
        place = f"{where}, message {number:,}"
        if not isinstance(message, dict) or "sender" not in message:
            raise BadInput(f"{place} has no sender")
        yield from _list_unsaid(message)
        text = "\n\n".join((*_list_attachments(message), _find_said(message))).strip()
        calls = [
            {name: part.get(name) for name in ("name", "input", "id")}
            for part in message.get("content") or []
            if part.get("type") == "tool_use"
        ]
        if not text and not calls:
            yield LeftOut(place, "has no text")
            continue
        id, sender = message.get("uuid"), str(message["sender"])
        yield make_message(
            place,
            f"claude {session} {id or place}",
            text,
            role=_ROLES.get(sender, sender),
            calls=calls,
            session=session,
            occurred=parse_time(message.get("created_at"), f"{place}: created_at"),
            source="claude",
            origin=keep_present(message=id, title=found.get("name") or None, account=account),
            labels=make_labels(session=session, user=account),
        )


def _find_said(message: Mapping[str, Any]) -> str:
    """Returns the texts of a message, without reasoning. Older exports have only a `text`."""
    if not message.get("content"):
        return str(message.get("text") or "")
    said = (str(part.get("text") or "") for part in message["content"] if part.get("type") == "text")
    return "\n".join(filter(None, said))


def _list_unsaid(message: Mapping[str, Any]) -> Iterator[Dropped]:
    """Yields what a message of Claude has besides its texts and the tools that it calls."""
    for part in message.get("content") or []:
        if part.get("type") not in ("text", "tool_use"):
            yield Dropped(f"content of type {part.get('type')}", "is not said to anybody")
    yield from (Dropped("file", "the export names it only") for _ in message.get("files") or [])
    for attachment in message.get("attachments") or []:
        if not attachment.get("extracted_content"):
            yield Dropped("attachment", "the export names it only")


def _list_attachments(message: Mapping[str, Any]) -> Iterator[str]:
    """Yields texts that Claude read from files; the files themselves are not in an export."""
    for attachment in message.get("attachments") or []:
        if attachment.get("extracted_content"):
            yield f"{attachment.get('file_name') or 'attachment'}:\n{attachment['extracted_content']}"


def _read_memories(source: str) -> Iterator[SourceItem]:
    """Reads Claude's memories of a user and of each project."""
    for name, content in read_members(source, "memories*.json", single=False):
        found = parse_document(content, name)
        for entry in found if isinstance(found, list) else [found]:
            account = entry.get("account_uuid")
            texts = {None: entry.get("conversations_memory"), **(entry.get("project_memories") or {})}
            for project, text in texts.items():
                if text:
                    key = f"claude memory {account}" + (f" {project}" if project else "")
                    meta = with_origin({}, "claude", keep_present(project=project))
                    draft = Draft(key=key, kind="summary", text=text, source="claude", meta=meta)
                    yield SourceItem(where=f"{name}, {key}", labels=make_labels(user=account), draft=draft)
