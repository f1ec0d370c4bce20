"""Claude: the conversations, memories and project documents of a data export (folder, zip or single file)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from .foreign_messages import ForeignMessage
from .foreign_values import read_time, with_origin
from .format_guess import check_array, make_foreign
from .json_source import SourceFiles, find_source, open_members, read_array, read_document
from .source_items import Notes, ReadOptions, SourceItem, keep_present, make_labels

FILES: Final = "conversations*.json"
ROLES: Final = {"human": "user", "assistant": "assistant"}


def read_claude(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_members(find_source(source)) as members:
        names = members.list_names() if members.is_single else members.find(FILES)
        if not names:
            raise BadInput(f"{source} holds no conversations.json: it is not a Claude export")
        for name in names:
            with members.open(name) as file:
                check_array(file, name, "claude")
                for number, found in enumerate(read_array(file, name), 1):
                    yield from _read_conversation(found, f"{name}, conversation {number:,}", options, notes)
        if not members.is_single:
            yield from _read_memories(members)
            yield from _read_projects(members, notes)


def _read_conversation(found: Any, where: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    messages = found.get("chat_messages") if isinstance(found, dict) else None
    if not isinstance(messages, list):
        raise make_foreign("claude", where, "it has no chat_messages", found)
    if found.get("summary"):
        notes.drop("summary of a conversation", "Eidet makes its own")
    for number, message in enumerate(messages, 1):
        yield from _read_message(found, message, f"{where}, message {number:,}", options, notes)


def _read_message(
    found: Mapping[str, Any], message: Any, where: str, options: ReadOptions, notes: Notes
) -> Iterator[SourceItem]:
    if not isinstance(message, dict) or "sender" not in message:
        raise BadInput(f"{where} has no sender")
    text, calls = _read_content(message, options, notes)
    text = "\n\n".join((*_list_attachments(message, notes), text)).strip()
    if text or calls:
        yield _make_item(found, message, text, calls, where)
    else:
        notes.skip(where, "has no text")


def _make_item(
    found: Mapping[str, Any], message: Mapping[str, Any], text: str, calls: list[Any], where: str
) -> SourceItem:
    session, account = str(found.get("uuid") or where), (found.get("account") or {}).get("uuid")
    return ForeignMessage(
        where=where,
        key=f"claude {session} {message.get('uuid') or where}",
        source="claude",
        role=ROLES.get(str(message["sender"]), str(message["sender"])),
        text=text,
        calls=calls,
        session=session,
        occurred=read_time(message.get("created_at"), f"{where}: created_at"),
        origin=keep_present(message=message.get("uuid"), title=found.get("name") or None, account=account),
        labels=make_labels(session=session, user=account),
    ).make_item()


def _read_content(
    message: Mapping[str, Any], options: ReadOptions, notes: Notes
) -> tuple[str, list[dict[str, Any]]]:
    """What was said, and the tools that were called. Former exports have a `text` only."""
    parts = message.get("content")
    if not parts:
        return str(message.get("text") or ""), []
    calls: list[dict[str, Any]] = []
    for part in parts:
        if part.get("type") == "tool_use":
            calls.append({"name": part.get("name"), "input": part.get("input"), "id": part.get("id")})
    return "\n".join(_list_texts(parts, options, notes)), calls


def _list_texts(parts: list[Any], options: ReadOptions, notes: Notes) -> Iterator[str]:
    for part in parts:
        kind, text = part.get("type"), ""
        if kind == "text":
            text = str(part.get("text") or "")
        elif kind == "tool_result" and options.everything:
            text = _read_result(part)
        elif kind != "tool_use":
            notes.drop(f"content of type {kind}", "is not said to anybody")
        if text:
            yield text


def _read_result(part: Mapping[str, Any]) -> str:
    content = part.get("content")
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for piece in content or []:
        if isinstance(piece, dict) and isinstance(piece.get("text"), str):
            texts.append(piece["text"])
    return "\n".join(texts)


def _list_attachments(message: Mapping[str, Any], notes: Notes) -> Iterator[str]:
    """Texts that Claude read from files; the files themselves are not in an export."""
    for file in message.get("files") or []:
        notes.drop("file", "the export names it only")
        del file
    for attachment in message.get("attachments") or []:
        if attachment.get("extracted_content"):
            yield f"{attachment.get('file_name') or 'attachment'}:\n{attachment['extracted_content']}"
        else:
            notes.drop("attachment", "the export names it only")


def _read_memories(members: SourceFiles) -> Iterator[SourceItem]:
    """What Claude remembers of a user, and of each project."""
    for name in members.find("memories*.json"):
        with members.open(name) as file:
            found = read_document(file, name)
        for entry in found if isinstance(found, list) else [found]:
            account = entry.get("account_uuid")
            labels = make_labels(user=account)
            if entry.get("conversations_memory"):
                yield _make_memory(
                    f"claude memory {account}", entry["conversations_memory"], name, labels, {}
                )
            for project, text in (entry.get("project_memories") or {}).items():
                if text:
                    key = f"claude memory {account} {project}"
                    yield _make_memory(key, text, name, labels, {"project": project})


def _make_memory(
    key: str, text: str, where: str, labels: Mapping[str, str], own: Mapping[str, Any]
) -> SourceItem:
    draft = Draft(key=key, kind="summary", text=text, source="claude", meta=with_origin({}, "claude", own))
    return SourceItem(where=f"{where}, {key}", labels=labels, draft=draft)


def _read_projects(members: SourceFiles, notes: Notes) -> Iterator[SourceItem]:
    """The documents of projects, which lie in one file or in a folder."""
    names = members.find("projects*.json")
    for name in members.list_names():
        if "projects/" in name and name.endswith(".json"):
            names.append(name)
    for name in names:
        with members.open(name) as file:
            found = read_document(file, name)
        for project in found if isinstance(found, list) else [found]:
            yield from _read_documents(project, name, notes)


def _read_documents(project: Mapping[str, Any], where: str, notes: Notes) -> Iterator[SourceItem]:
    if project.get("prompt_template"):
        notes.drop("prompt of a project", "is a setting")
    own = keep_present(project=project.get("uuid"), title=project.get("name"))
    for document in project.get("docs") or []:
        name = str(document.get("filename") or document.get("uuid"))
        if document.get("content"):
            yield SourceItem(where=f"{where}, {name}", draft=_draft_document(document, name, own))
        else:
            notes.skip(f"{where}, {name}", "has no text")


def _draft_document(document: Mapping[str, Any], name: str, own: Mapping[str, Any]) -> Draft:
    return Draft(
        key=f"claude document {document.get('uuid') or name}",
        kind="document",
        text=document["content"],
        source=name[:1000],
        occurred=read_time(document.get("created_at"), f"{name}: created_at"),
        meta=with_origin({}, "claude", own),
    )
