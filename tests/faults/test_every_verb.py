"""Every verb on every backend, while its line is slow, silent, refused or cut in the middle of a reply.

Each either does what it should or raises `Unavailable` in time; made again when the line is back, it does it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.faults.verbs import LAST, SEALED, VERBS, Case, Verb
from tests.servers.http import JsonServer
from tests.servers.pinecone import Pinecone
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.servers.s3 import S3
from tests.servers.valkey import Valkey
from tests.servers.weaviate import Weaviate

from eidet.core.errors import EidetError, NotFound, Unavailable
from eidet.core.settings import Settings, Upkeep
from eidet.memory import Memory
from eidet.memory.admin import AdminNamespace
from eidet.memory.facts import FactsNamespace
from eidet.memory.keys import KeysNamespace
from eidet.memory.trust import TrustNamespace
from eidet.memory.upkeep import UpkeepNamespace
from eidet.models.embed import Embedder
from eidet.models.embed.hashing import Hashing
from eidet.models.http import HttpEmbedder, HttpLLM
from eidet.net import http as wire
from eidet.net.retry import Retrier, RetryPolicy
from eidet.store import Store
from eidet.store.contract import NOW, fact
from eidet.store.redis import RedisStore
from eidet.store.sql.postgres import PostgresStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore
from eidet.upkeep.archive import archive_of

T = TypeVar("T")

WIDTH = 16
DEADLINE = 0.3
SLACK = 2.5  # for verbs that ask twice, and a driver that waits for two seconds at least
ATTEMPTS = 6  # to be in time: a machine that does other things as well does not do so each time
PAUSES = (0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 4.0, 8.0)  # until so short a deadline is kept, now that all is well
KEY = "00112233445566778899aabbccddeeff"
QUICK = RetryPolicy(deadline_seconds=DEADLINE, break_after=10_000)


class Models(JsonServer):
    """An embedder and a language model, as their protocols say."""

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        del method, query
        if path.endswith("/embeddings"):
            rows = Hashing(WIDTH).embed(body["input"]).tolist()
            return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}
        message = {"role": "assistant", "content": "Ann talked about notes today."}
        return {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}


@dataclass(slots=True)
class Backend:
    """A memory behind a proxy, and what has to happen for it to notice that the line is back."""

    proxy: Proxy
    case: Case
    remake: Callable[[], Backend] = field(init=False)
    lines: list[Retrier] = field(default_factory=list)
    ticks: list[float] = field(default_factory=lambda: [0.0])

    def heal(self) -> None:
        self.proxy.heal()
        self.proxy.cut()
        self.ticks[0] += 100
        index: Any = self.case.memory.parts.open_index  # some verbs open the index anew
        database = getattr(index, "_database", None)
        for line in self.lines if database is None else [database.retrier]:
            line._opens = 0.0  # its rest is over


Make = Callable[["Place", Path, ExitStack], Backend]


@dataclass(frozen=True, slots=True)
class Place:
    """The servers there are, started when they are asked for."""

    request: pytest.FixtureRequest

    def behind(self, port: int, rest: ExitStack) -> Proxy:
        proxy = Proxy(port)
        rest.callback(proxy.stop)
        return proxy

    def redis(self, rest: ExitStack) -> tuple[Proxy, RedisStore]:
        valkey: Valkey = self.request.getfixturevalue("valkey")
        valkey.ask("FLUSHALL")
        proxy = self.behind(valkey.port, rest)
        return proxy, RedisStore(f"redis://127.0.0.1:{proxy.port}/0", retry_policy=QUICK)

    def postgres(self, rest: ExitStack) -> tuple[Proxy, PostgresStore]:
        server: Postgres = self.request.getfixturevalue("postgres")
        name: str = self.request.getfixturevalue("postgres_database")
        proxy = self.behind(server.port, rest)
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}"
        return proxy, PostgresStore(url, retry_policy=QUICK)


def case_of(store: Store | None, folder: Path, settings: Settings | None = None, **how: Any) -> Case:
    guarded = replace(settings or Settings(), guard="hash", guard_key=KEY)
    embedder: Embedder = how.pop("embedder", Hashing(WIDTH))
    memory = Memory(store, embedder=embedder, settings=guarded)
    return Case(memory=memory, folder=folder, embedder=embedder, how=how)


def on_postgres(place: Place, folder: Path, rest: ExitStack) -> Backend:
    proxy, store = place.postgres(rest)
    return Backend(proxy, case_of(store, folder))


def on_pgvector(place: Place, folder: Path, rest: ExitStack) -> Backend:
    proxy, store = place.postgres(rest)
    return Backend(proxy, case_of(store, folder, Settings(index="pgvector")))


def on_redis(place: Place, folder: Path, rest: ExitStack) -> Backend:
    proxy, store = place.redis(rest)
    return Backend(proxy, case_of(store, folder))


def tiered(place: Place, folder: Path, rest: ExitStack) -> Backend:
    proxy, short = place.redis(rest)
    ticks = [0.0]
    store = TieredStore(short, SqliteStore(folder / "long.db"), ticks=lambda: ticks[0])
    case = case_of(store, folder)
    case.memory.remember("the note of long ago", tier="long")
    return Backend(proxy, case, ticks=ticks)


def with_vectors_on(kind: str) -> Make:
    def made(place: Place, folder: Path, rest: ExitStack) -> Backend:
        server: JsonServer = Weaviate() if kind == "weaviate" else Pinecone(WIDTH)
        rest.callback(server.stop)
        proxy = place.behind(server.port, rest)
        how = f"small=0&ship_rows=1&background=no&settle=0&deadline={DEADLINE}"
        url = f"{kind}+http://127.0.0.1:{proxy.port}?key={getattr(server, 'key', None) or 'k'}&{how}"
        case = case_of(None, folder, Settings(index=url))
        return Backend(proxy, case)

    return made


def archived_in_s3(place: Place, folder: Path, rest: ExitStack) -> Backend:
    server: S3 = place.request.getfixturevalue("s3")
    bucket = server.bucket()
    proxy = place.behind(server.port, rest)
    url = f"{server.url(bucket, port=proxy.port)}&deadline={2 * DEADLINE}"
    archive: Any = archive_of(url)
    archive.keep([fact("archived", scope="default")], {}, now=NOW)
    case = case_of(None, folder, Settings(upkeep=Upkeep(archive=url)), archive=url)
    return Backend(proxy, case, [archive._retrier])


def asking_models(place: Place, folder: Path, rest: ExitStack) -> Backend:
    """Embedder and language model are behind the line."""
    server = Models()
    rest.callback(server.stop)
    proxy = place.behind(server.port, rest)
    url = f"http://127.0.0.1:{proxy.port}/v1"
    embedder = HttpEmbedder("e", url=url, timeout=DEADLINE)
    llm = HttpLLM("m", url=url, key="k", timeout=DEADLINE)
    asking: dict[str, Any] = {"maintain": {"llm": llm}, "end_session": {"llm": llm}}
    case = case_of(None, folder, embedder=embedder, **asking)
    return Backend(proxy, case, [one._http.retrier for one in (embedder, llm)])


BACKENDS: dict[str, Make] = {
    "postgres": on_postgres,
    "pgvector": on_pgvector,
    "redis": on_redis,
    "tiered": tiered,
    "weaviate": with_vectors_on("weaviate"),
    "pinecone": with_vectors_on("pinecone"),
    "s3": archived_in_s3,
    "models": asking_models,
}


def _slow(proxy: Proxy) -> None:
    proxy.delay = 0.001


def _silent(proxy: Proxy) -> None:
    proxy.silent = True


def _cut(proxy: Proxy) -> None:
    """In the middle of the next reply, and of the first on each new line."""
    proxy.cut_after = 30
    proxy.cut()


FAULTS: dict[str, Callable[[Proxy], None]] = {"silent": _silent, "refused": Proxy.refuse, "cut": _cut}


@dataclass(frozen=True, slots=True)
class Outcome:
    seconds: float
    error: BaseException | None

    @property
    def is_late(self) -> bool:
        return self.seconds >= DEADLINE + SLACK

    @property
    def fits(self) -> bool:
        return not self.is_late and (self.error is None or isinstance(self.error, Unavailable))


def asked(case: Case, name: str, verb: Verb) -> Outcome:
    started = time.monotonic()
    try:
        verb(case, name)
    except (EidetError, OSError, RuntimeError, ValueError, TypeError, LookupError) as error:
        return Outcome(time.monotonic() - started, error)
    return Outcome(time.monotonic() - started, None)


def asked_until_in_time(case: Case, name: str, verb: Verb, first: Outcome) -> Outcome:
    """Alone, while the fault lasts: what is late because of the verb is late however often it is asked."""
    seconds = first.seconds
    for _ in range(ATTEMPTS):
        if not replace(first, seconds=seconds).is_late:
            break
        seconds = asked(case, name, verb).seconds
    return replace(first, seconds=seconds)


def patiently(do: Callable[[], T]) -> T:
    """What can be made again, on a healthy line; a busy machine may be too slow for so short a deadline."""
    for pause in PAUSES:
        time.sleep(pause)
        with suppress(Unavailable):
            return do()
    return do()


@pytest.fixture
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    request.getfixturevalue("monkeypatch").setattr(wire, "FIRST_PAUSE", 0.02)
    with ExitStack() as rest:

        def make() -> Backend:
            return patiently(lambda: BACKENDS[request.param](Place(request), tmp_path, rest))

        made = make()
        made.remake = make
        patiently(made.case.prepare)
        yield made
        made.heal()
        made.case.memory.close()


def test_no_verb_is_left_out() -> None:
    kinds = (Memory, UpkeepNamespace, TrustNamespace, KeysNamespace, AdminNamespace)
    found = [(name, verb) for kind in kinds for name, verb in vars(kind).items()]
    found += [(f"facts.{name}", verb) for name, verb in vars(FactsNamespace).items() if name[0] != "_"]
    verbs = [name for name, verb in found if inspect.isfunction(verb) and name[0] != "_"]
    assert sorted(verbs) == sorted([*VERBS, *SEALED, *LAST])


def under(fault: str, backend: Backend) -> dict[str, Outcome]:
    """All verbs at once, as the threads of a program would."""
    FAULTS[fault](backend.proxy)
    with ThreadPoolExecutor(len(VERBS)) as pool:
        waiting = {name: pool.submit(asked, backend.case, name, verb) for name, verb in VERBS.items()}
        told = {name: one.result() for name, one in waiting.items()}
    for name, one in told.items():
        told[name] = asked_until_in_time(backend.case, name, VERBS[name], one)
    backend.heal()
    return told


def _asked_again(case: Case, name: str, verb: Verb) -> BaseException | None:
    for pause in PAUSES:
        time.sleep(pause)
        error = asked(case, name, verb).error
        if not isinstance(error, Unavailable):
            return error
    return Unavailable("still")


def again(case: Case, names: Iterable[str]) -> dict[str, BaseException | None]:
    """Once more, now that the line is back."""
    return {name: _asked_again(case, name, VERBS[name]) for name in names}


def seconds_to_close(backend: Backend) -> float:
    """While the line is silent."""
    _silent(backend.proxy)
    started = time.monotonic()
    backend.case.memory.close()
    return time.monotonic() - started


def is_closed_in_time(backend: Backend) -> bool:
    for _ in range(ATTEMPTS):
        if seconds_to_close(backend) < 3 * DEADLINE + SLACK:
            return True
        backend = backend.remake()
    return False


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_every_verb_ends_in_time_and_can_be_made_again(backend: Backend) -> None:
    for fault in FAULTS:
        told = under(fault, backend)
        assert {name: one for name, one in told.items() if not one.fits} == {}, fault
        failed = [name for name, one in told.items() if one.error is not None]
        assert dict.fromkeys(failed) == again(backend.case, failed), fault
        patiently(backend.case.renew)
    _slow(backend.proxy)
    assert dict.fromkeys(VERBS) == again(backend.case, VERBS), "a slow line is only slow"
    assert is_closed_in_time(backend)


@pytest.mark.parametrize(("kind", "fault"), [("postgres", "silent"), *(("redis", fault) for fault in FAULTS)])
def test_keys_are_turned_in_time_or_later(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, fault: str
) -> None:
    pytest.importorskip("cryptography", reason="needs pip install 'eidet[seal]'")
    with ExitStack() as rest:
        proxy, store = getattr(Place(request), kind)(rest)
        memory = rest.enter_context(closing(Memory(store, embedder=Hashing(WIDTH), key=bytes(range(32)))))
        patiently(lambda: memory.remember("a secret", id="x"))
        patiently(lambda: memory.remember("another secret", scope="other"))
        case = Case(memory=memory, folder=tmp_path, embedder=Hashing(WIDTH))
        FAULTS[fault](proxy)
        told = {name: asked(case, name, verb) for name, verb in SEALED.items()}
        for name, one in told.items():
            told[name] = asked_until_in_time(case, name, SEALED[name], one)
        assert {name: one for name, one in told.items() if not one.fits} == {}
        proxy.heal()
        proxy.cut()
        for name, verb in SEALED.items():
            error = _asked_again(case, name, verb)
            assert error is None or isinstance(error, NotFound)  # shredded before
        assert patiently(lambda: memory.get("x")).text == "a secret"  # type: ignore[union-attr]
