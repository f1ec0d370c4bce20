"""Stores that outlive the process (file, database, cache, archive), and their choice by environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Unpack

from ...core.errors import BadInput, Misconfigured, Refused
from ...core.validate import Moment, moment
from ...memory import Memory
from ...store import verbs
from ...trust.seal.archives import archive_for
from ...upkeep.archive import OWNER, Archive, archive_of, name_owner, note_archive
from ..opening import check_positive, open_memory
from .base import BaseMemoryStore, Beside, FairLock, Kept
from .limits import InMemoryMemoryStore
from .message import Message, message_as_json, message_of_record

_SPARE: Final = 0.1  # share of its TTL by which the expiry of a message is extended in advance
PAGE: Final = 64


class FileMemoryStore(InMemoryMemoryStore):
    """Messages in a file, for one machine without a server, with the limits of the store in RAM."""

    def __init__(self, path: str | Path, **limits_and_where: Any) -> None:
        super().__init__(**{"memory": path} | limits_and_where)
        self.path: Path = Path(path)


class _OnServer(InMemoryMemoryStore):
    """A store on a server, opened by `initialize` or on first use."""

    def __init__(self, url: str, **limits_and_where: Any) -> None:
        if not isinstance(url, str) or "://" not in url:
            raise BadInput(f"{type(self).__name__} takes a URL such as {self.example}, not {url!r:.40}")
        super().__init__(**{"memory": url} | limits_and_where)

    example = "…://host"


class PostgresMemoryStore(_OnServer):
    """Messages in PostgreSQL. `pool` is the memory on it, once it is open."""

    example = "postgresql://user@host/name"

    def __init__(self, connection_string: str, **where: Unpack[Kept]) -> None:
        super().__init__(connection_string.replace("postgres://", "postgresql://", 1), **where)
        self.conn_string = connection_string

    @property
    def pool(self) -> Memory | None:
        return self._memory


class RedisMemoryStore(_OnServer):
    """Messages in Redis: the newest `max_messages`, deleted once nothing was added for `ttl_hours`."""

    example = "redis://host:6379"

    def __init__(
        self, redis_url: str, ttl_hours: float = 24, max_messages: int | None = 1000, **where: Unpack[Kept]
    ) -> None:
        super().__init__(redis_url, max_messages=max_messages, **where)
        self.redis_url = redis_url
        self.ttl: timedelta = timedelta(hours=check_positive(ttl_hours, "ttl_hours"))
        self._put_off = 0.0  # time when the expiry of all messages was last extended

    @property
    def client(self) -> Memory | None:
        return self._memory

    def _before(self) -> None:
        """Deletes the session, except protected messages, once the newest is older than the TTL."""
        with self.turn:
            newest = self.conversation.records(limit=1)
            if newest and newest[0].created + self.ttl.total_seconds() <= self.memory.parts.clock():
                self.drop(
                    [record.id for record in self.conversation.records() if not record.state.is_protected]
                )

    def _after(self) -> None:
        """Sets the expiry of all messages a little beyond the TTL, so that an unused session is deleted."""
        super()._after()
        memory, seconds = self.memory, self.ttl.total_seconds()
        now, page = memory.parts.clock(), self.conversation.records(limit=PAGE)
        if now >= self._put_off + _SPARE * seconds or (len(page) == PAGE and page[0].expires is None):
            page, self._put_off = self.conversation.records(), now
        due = [r for r in page if (r.expires or 0.0) < now + seconds and not r.state.is_protected]
        end = now + (1 + _SPARE) * seconds
        store = memory.parts.store  # a verb would make a new version of each message
        verbs.rewrite_form(store, [(record, record.but(expires=end)) for record in due], now=now)


class ArchiveMemoryStore(BaseMemoryStore):
    """Messages in an archive, which only grows: a folder, or an `Archive` of `eidet.upkeep.archive`.

    Each call writes one piece before it returns. The archive is read once, when the store is opened; its
    other sessions and scopes are left alone.
    """

    def __init__(self, archive: Archive | str | Path, **where: Unpack[Kept]) -> None:
        super().__init__(**where)
        self._given = archive

    def archive(self) -> Archive:
        """Returns the archive of the messages, sealed if the memory of this store is."""
        return _archive_in(self.memory, self._given)

    def append(self, messages: Sequence[Message]) -> None:
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            memory = self.memory
            records = self.conversation.extend(drafts)
            if not records:
                return
            try:
                now = memory.parts.clock()
                said = memory.parts.manifest(now) | {OWNER: name_owner(memory.parts.store)}
                self.archive().keep(records, said, now=now)
            except BaseException:
                super().drop([record.id for record in records])
                raise

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        self.drop(ids)
        self.append(messages)

    def drop(self, ids: Sequence[str]) -> None:
        if ids:
            raise Refused("an archive is append-only: delete its files or objects where they are stored")

    def drop_all(self) -> None:
        self.drop([record.id for record in self.conversation.records(limit=1)])

    def _open(self) -> Memory:
        memory = open_memory(self._place)
        memory.upkeep.unarchive(self._given, scope=self.scope)  # opens sealed pieces itself
        memory.upkeep.claim_archive(self._given)  # a memory in RAM is a new one each time
        return memory


class S3MemoryStore(ArchiveMemoryStore):
    """Messages in a bucket, for the long term: each call writes one compressed, checksummed object.

    `bucket_name` may have a prefix (`bucket/chats`) or be an address (`s3://bucket/chats?endpoint=…`);
    `endpoint` names a server other than Amazon's. Credentials are found as boto3 finds them.
    """

    def __init__(
        self,
        bucket_name: str,
        *,
        endpoint: str | None = None,
        archive: Archive | str | Path | None = None,
        **where: Unpack[Kept],
    ) -> None:
        url = bucket_name if bucket_name.startswith("s3:") else f"s3://{bucket_name}"
        super().__init__(archive or (f"{url}?endpoint={endpoint}" if endpoint else url), **where)
        self.bucket_name = bucket_name


def _archive_in(memory: Memory, place: Archive | str | Path) -> Archive:
    """Returns the archive for a memory, sealed if the memory is, and registers it for later erasures."""
    store, archive = memory.parts.store, archive_of(place)
    if archive is None:
        raise Misconfigured("an archive must be a folder, or an Archive of eidet.upkeep.archive")
    note_archive(store, archive)
    return archive_for(store, archive)


_SHORT = {"dev": "development", "test": "development", "local": "file", "prod": "production"}
_ENVIRONMENTS: dict[str, tuple[Callable[..., BaseMemoryStore], str]] = {  # and the variable with the place
    "file": (FileMemoryStore, "EIDET_PATH"),
    "production": (PostgresMemoryStore, "DATABASE_URL"),
    "cache": (RedisMemoryStore, "REDIS_URL"),
    "archive": (S3MemoryStore, "S3_BUCKET"),
}


def default_store(
    environment: str = "development",
    where: str | Path | None = None,
    *,
    variables: Mapping[str, str] = os.environ,
    **options: Any,
) -> BaseMemoryStore:
    """Returns the store for an environment: development (RAM), file, production, cache or archive.

    `where` is the path, the URL or the bucket, by default that of EIDET_PATH, DATABASE_URL, REDIS_URL or
    S3_BUCKET.
    """
    name = str(environment).lower()
    kind = _SHORT.get(name, name)
    if kind == "development":
        return InMemoryMemoryStore(**{"max_messages": 100} | options)
    if kind not in _ENVIRONMENTS:
        known = ", ".join((*_SHORT, "development", *_ENVIRONMENTS))
        raise BadInput(f"there is no environment {environment!r}; there are {known}")
    make, variable = _ENVIRONMENTS[kind]
    place = where or variables.get(variable)
    if not place:
        raise Misconfigured(f"default_store({kind!r}, …) needs an address, there or in {variable}")
    return make(place, **options)


class AutoCleanupMemory(BaseMemoryStore):
    """A store whose `cleanup` archives important old messages, then deletes all old ones.

    Messages older than `max_age_days` are old, and those with `metadata["important"]` important.
    `archive_to` is a store, a folder or an `Archive`; by default they are archived in the same memory, as
    the session `<session_id>:archive`. In a folder or an `Archive` they are sealed if the memory is; your
    own store seals its messages itself. Pinned messages and those under a legal hold stay.
    Override `archive` for another place: when it raises, nothing is deleted.
    """

    def __init__(
        self,
        *,
        max_age_days: float = 30,
        archive_to: BaseMemoryStore | Archive | str | Path | None = None,
        **where: Unpack[Kept],
    ) -> None:
        super().__init__(**where)
        self.max_age: timedelta = timedelta(days=check_positive(max_age_days, "max_age_days"))
        self._archive_to = archive_to
        self._turns = FairLock()

    @property
    def archive_store(self) -> BaseMemoryStore:
        """The store that gets the important messages."""
        chosen = self._archive_to
        if chosen is None:
            return Beside(self, scope=self.scope, session_id=f"{self.session_id}:archive")
        if not isinstance(chosen, BaseMemoryStore):
            sealed = _archive_in(self.memory, chosen)
            chosen = ArchiveMemoryStore(sealed, scope=self.scope, session_id=self.session_id)
            self._archive_to = chosen
        return chosen

    async def archive(self, messages: Sequence[Message]) -> None:
        """Stores messages elsewhere before they are deleted here."""
        await self.archive_store.add_messages(messages)

    async def cleanup(self, now: Moment | None = None) -> int:
        """Archives important old messages, then deletes all old ones. Returns how many were deleted."""
        async with self._turns:
            old = await self._run(self._old, now)
            if important := [message for message in old if message.metadata.get("important", False)]:
                await self.archive(important)
            await self._run(self.drop, [message.record_id for message in old if message.record_id])
            return len(old)

    def _old(self, now: Moment | None) -> list[Message]:
        today = self.memory.parts.clock() if now is None else moment(now, "now")
        records = self.conversation.records(until=today - self.max_age.total_seconds())
        return [message_of_record(record) for record in records if not record.state.is_protected]
