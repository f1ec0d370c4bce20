"""Webhooks: the changes that `watch` yields, posted to a URL: signed, in order per scope, at least once.

A webhook is a table [[webhook]] of eidet.toml. The store keeps the progress of each one, and advances it only
after the receiver accepted the changes: however a server ends, the next one resumes from there. A receiver
that fails or hangs is retried with growing pauses, and delays no other. Of several workers and hosts, the one
that holds the lease of a webhook sends.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import ipaddress
import os
import socket
import ssl
import time
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import httpx
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ..aio import AsyncMemory
from ..core.errors import EidetError, Misconfigured, Refused, Unavailable
from ..core.scope import ALL, Scope
from ..memory.feed import ChangePage, Progress, list_progress, save_progress
from ..net.http import translate_errors
from ..net.url import read_secret
from ..store import Store, verbs
from .rest.replies import to_wire
from .rest.routing import dump
from .server_settings import is_loopback
from .serving import Serving

T = TypeVar("T")
_PAUSE: Final = 0.5  # seconds between two checks of the store
_LONGEST_PAUSE: Final = 300.0  # seconds before a receiver that fails is retried
_CHANGES: Final = 100  # in one message
_SECRET: Final = "whsec_"  # noqa: S105  # how secrets of Standard Webhooks begin
_SECRET_BYTES: Final = 24


class Webhook(BaseModel):
    """A receiver of the changes of a scope, or of it and all below (`acme/**`)."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    url: str
    secret: str = Field(repr=False)  # whsec_…, env:NAME or file:PATH
    scope: str = "default"
    private: bool = False  # lets it reach addresses of private networks, and http beyond this machine
    seconds: float = Field(10.0, gt=0, le=60)  # within which its receiver must answer

    def check(self) -> None:
        """Raises `Misconfigured` for a webhook that could never be delivered, or would go unencrypted."""
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise Misconfigured(f"webhook {self.name}: {self.url!r} is no address: {error}") from None
        safe = url.scheme == "https" or self.private or is_loopback(url.host)
        if not url.host or url.scheme not in ("https", "http") or not safe:
            raise Misconfigured(
                f"webhook {self.name}: its url begins with https://; http:// is for this machine, "
                "or for those who say private = true"
            )
        if url.userinfo:
            raise Misconfigured(f"webhook {self.name}: leave user and password out of its url")
        Scope.of(self.scope)
        self.load_key()

    def load_key(self) -> bytes:
        """Reads the secret from where it is kept, and decodes it."""
        secret = read_secret(self.secret, os.environ, f"webhook {self.name}")
        try:
            key = base64.b64decode(secret.removeprefix(_SECRET), validate=True)
        except ValueError:
            key = b""
        if not secret.startswith(_SECRET) or len(key) < _SECRET_BYTES:
            raise Misconfigured(
                f"webhook {self.name}: its secret is {_SECRET} and at least {_SECRET_BYTES} random bytes in "
                'base64; `echo "whsec_$(openssl rand -base64 32)"` makes one'
            )
        return key


def read_webhooks(file: Path) -> tuple[Webhook, ...]:
    """Reads and checks the webhooks of a settings file."""
    tables = tomllib.loads(file.read_text(encoding="utf-8")).get("webhook", [])
    try:
        hooks = TypeAdapter(list[Webhook]).validate_python(tables)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"]))
        raise Misconfigured(f"{file}: [[webhook]] {place}: {wrong['msg']}") from None
    for hook in hooks:
        hook.check()
    if len({hook.name for hook in hooks}) < len(hooks):
        raise Misconfigured(f"{file}: two webhooks have the same name")
    return tuple(hooks)


def add_webhooks(_app: FastAPI, serving: Serving) -> None:
    if serving.settings.webhooks:
        serving.lifespans.append(lambda: _deliver(serving))


@asynccontextmanager
async def _deliver(serving: Serving) -> AsyncIterator[None]:
    """Registers new webhooks before the first request is answered; delivers until the server stops."""
    deliveries = [_Delivery(hook, serving.memory) for hook in serving.settings.webhooks]
    for one in deliveries:
        await one.register()
    tasks = [asyncio.create_task(one.run()) for one in deliveries]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Delivery:
    """Sends changes to one webhook."""

    def __init__(self, hook: Webhook, memory: AsyncMemory) -> None:
        self._hook, self._memory, self._key = hook, memory, hook.load_key()
        self._owner = os.urandom(8).hex()
        self._told_up_to: object = None

    async def _run(self, call: Callable[[Store], T]) -> T:
        return await self._memory.threads.run(lambda: call(self._memory.parts.store))

    async def register(self) -> None:
        """Starts a new webhook at the newest change, so that it gets only later ones."""
        head = await self._run(lambda store: store.head())
        await self._save(Progress(start=head.seq), fresh=True)

    async def _save(self, progress: Progress, *, fresh: bool = False) -> None:
        await self._run(lambda store: save_progress(store, self._hook.name, progress, fresh=fresh))

    async def run(self) -> None:
        pause = _PAUSE
        while True:
            try:
                await self._catch_up()
                pause = _PAUSE
            except (EidetError, OSError):  # noted as the last error of this webhook
                pause = min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _catch_up(self) -> None:
        """Sends all new changes; returns at once if there are none, or if another process sends."""
        head = await self._run(lambda store: store.head())
        if head == self._told_up_to or not await self._lease(self._hook.seconds + _PAUSE):
            return
        progress = (await self._run(list_progress))[self._hook.name]
        try:
            for scope in await self._list_scopes(progress):
                if not await self._send_scope(scope, progress):
                    return
            if progress.failures:
                progress.failures = 0
                await self._save(progress)
            self._told_up_to = head
        except (EidetError, OSError) as error:
            progress.failures, progress.last_error = progress.failures + 1, str(error) or "it took too long"
            await self._save(progress)
            raise
        finally:
            await self._lease(0.0)

    async def _lease(self, seconds: float) -> bool:
        now, name = time.time(), f"webhook:{self._hook.name}"
        until = now + seconds if seconds else 0.0
        return await self._run(lambda store: verbs.take_lease(store, name, self._owner, now=now, until=until))

    async def _list_scopes(self, progress: Progress) -> list[str]:
        scope = Scope.of(self._hook.scope)
        if scope.is_one:
            return [scope.path]
        found = await self._memory.scopes(None if self._hook.scope == ALL else scope.path)
        return sorted({*found, *progress.cursors})

    async def _send_scope(self, scope: str, progress: Progress) -> bool:
        """Sends the new changes of a scope; returns whether the lease is still ours."""
        more = True
        while more:
            since = progress.cursors.get(scope, progress.start)
            page = await self._memory.admin.changes(scope=scope, since=since, limit=_CHANGES)
            if page.changes:
                if not await self._lease(self._hook.seconds + _PAUSE):
                    return False
                async with asyncio.timeout(self._hook.seconds):
                    await self._post(scope, page)
            progress.cursors[scope], more = page.cursor, page.more
            if page.changes:
                await self._save(progress)
        return True

    async def _post(self, scope: str, page: ChangePage) -> None:
        """Sends one message; its id depends on its content alone, so a resent message keeps its id."""
        told = {"scope": scope, "changes": to_wire(page.changes), "cursor": page.cursor}
        body = dump({"type": "changes", "data": told})
        url = httpx.URL(self._hook.url)
        headers = {"Host": url.netloc.decode(), "Content-Type": "application/json", "User-Agent": "eidet"}
        headers |= sign(self._key, f"msg_{blake2b(body, digest_size=16).hexdigest()}", int(time.time()), body)
        address = await find_address(url, private=self._hook.private)
        request: dict[str, Any] = {"extensions": {"sni_hostname": url.host}, "headers": headers}
        with translate_errors(f"webhook {self._hook.name}"):
            async with (
                httpx.AsyncClient(verify=ssl.create_default_context(), trust_env=False) as client,
                client.stream("POST", url.copy_with(host=address), content=body, **request) as reply,
            ):
                if not reply.is_success:
                    raise Unavailable(f"its receiver answered {reply.status_code}")


def sign(key: bytes, id: str, at: int, body: bytes) -> dict[str, str]:
    """Signs a message; returns the headers of Standard Webhooks."""
    signature = base64.b64encode(hmac.digest(key, f"{id}.{at}.".encode() + body, "sha256")).decode()
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": f"v1,{signature}"}


async def find_address(url: httpx.URL, *, private: bool) -> str:
    """Returns the address to connect to; raises `Refused` for one that is neither public nor allowed.

    The name is resolved once, so that a second answer of DNS cannot lead elsewhere.
    """
    loop, port = asyncio.get_running_loop(), url.port or (443 if url.scheme == "https" else 80)
    found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    address = str(found[0][4][0]).partition("%")[0]
    ip = ipaddress.ip_address(address)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    named = is_loopback(url.host) and ip.is_loopback
    if not (private or named or (ip.is_global and not ip.is_multicast)):
        raise Refused(f"{url.host} is {address}, no address of the internet: say private = true to allow it")
    return address
