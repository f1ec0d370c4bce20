"""What nobody publishes: how soon a write is recalled, whether deletion holds, and what a memory costs.

    python bench/unmeasured.py [lag | deleted | bytes | tokens …]

lag      from the moment when `remember` returns until a recall shows the record, here and in another process
deleted  who still knows the made-up words of deleted messages after upkeep has gone through their sessions
bytes    of the file, for each record
tokens   told to the model for each question whose answer was among them, beside plain lists of hits
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from common import DATA, MET, folder, real_texts, record, sentences, words
from eidet import Memory
from eidet.eval import read_cases
from eidet.recall.prompt_lines import line_of
from eidet.text.tokens import counter_of

DAY = 86_400.0
WRITES = 200
SESSIONS, TURNS = 60, 12
BUDGET = 500

Finds = Callable[[str], bool]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part")
    for name in parser.parse_args().parts or PARTS:
        PARTS[name]()


def lag() -> None:
    for engine in ("SQLite", "PostgreSQL", "Redis"):
        with open_place(engine) as url, Memory(url) as memory, asker(url) as elsewhere:
            memory.remember(sentences(MET))
            figures = measure_lag(memory, "here", lambda word: finds(memory, word))
            record(f"write to recall, {engine}", figures | measure_lag(memory, "elsewhere", elsewhere))


def measure_lag(memory: Memory, where: str, ask: Finds) -> dict[str, float]:
    """Writes records one by one, and asks for each until it is found."""
    for word in words()[:20]:
        ask(word)
    spent, at_once = [], 0
    for word in words()[20 : 20 + WRITES]:
        memory.remember(f"The parcel of {word} lies in the shed, {where}.")
        began, asked = time.perf_counter(), 1
        while not ask(f"parcel of {word} {where}"):
            asked += 1
        spent.append((time.perf_counter() - began) * 1000)
        at_once += asked == 1
    return {
        f"{where}: found by the first recall, of {WRITES}": at_once,
        f"{where}: p50, ms": statistics.median(spent),
        f"{where}: worst, ms": max(spent),
    }


def finds(memory: Memory, query: str) -> bool:
    return any(
        set(query.split()) <= set(hit.text.replace(",", "").replace(".", "").split())
        for hit in memory.recall(query)
    )


@contextmanager
def asker(url: str) -> Iterator[Finds]:
    """Another process that has the memory open, and asks it."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=answer, args=(url, there))
    process.start()

    def ask(query: str) -> bool:
        here.send(query)
        return bool(here.recv())

    try:
        yield ask
    finally:
        here.send(None)
        process.join()


def answer(url: str, questions: Connection) -> None:
    with Memory(url) as memory:
        while (query := questions.recv()) is not None:
            questions.send(finds(memory, query))


@contextmanager
def open_place(engine: str) -> Iterator[str]:
    """A place for a memory, on a server of its own if it needs one."""
    with folder() as home, ExitStack() as stack:
        if engine == "SQLite":
            yield str(home / "memory.db")
            return
        if engine == "PostgreSQL":
            from tests.servers.postgres import Postgres

            server = Postgres(home).create().start()
            stack.callback(server.stop)
            yield server.url()
            return
        from tests.servers.valkey import Valkey

        redis = Valkey(home).start()
        stack.callback(redis.stop)
        yield redis.url


def deleted() -> None:
    """Deletes a turn of each summarised session; then years pass, and upkeep runs again and again."""
    now, secrets = [1.7e9], [f"{word}quist" for word in words()[:SESSIONS]]
    said = sentences(SESSIONS * TURNS)
    with folder() as home:
        path = home / "memory.db"
        with Memory(path, clock=lambda: now[0]) as memory:
            gone: list[str] = []
            for number, secret in enumerate(secrets):
                turns = said[number * TURNS :][:TURNS]
                turns[TURNS // 2] = f"The code word of the {secret} festival is {secret}, I told Ann."
                kept = [memory.remember(text, session=f"s{number}", kind="message").id for text in turns]
                gone.append(kept[TURNS // 2])
                now[0] += DAY / 24
            now[0] += DAY
            memory.upkeep.maintain()
            episodes = "\n".join(found.text for found in memory.find(kinds=["episode"], limit=1000))
            before = count_known(memory, path, secrets)
            for id in gone:
                memory.forget(id)
            after = [count_known(memory, path, secrets)]
            for _ in range(8):
                now[0] += 100 * DAY
                memory.upkeep.maintain()
                after.append(count_known(memory, path, secrets))
        with Memory(path, clock=lambda: now[0]) as memory:
            after.append(count_known(memory, path, secrets))
    record(
        "deletion that holds",
        {
            "words known before": before,
            "of them told by a summary": sum(secret in episodes for secret in secrets),
            "known right after": after[0],
            "known after eight rounds of upkeep over 800 days": after[-2],
            "known after opening again": after[-1],
        },
    )


def count_known(memory: Memory, path: Path, secrets: list[str]) -> int:
    """Counts the words that a recall, a list, an export or any file of the memory still tells."""
    told = "\n".join(hit.text for secret in secrets for hit in memory.recall(secret, least=0))
    memory.export(path.with_suffix(".jsonl"))
    told += "\n".join(file.read_bytes().decode("latin-1") for file in path.parent.iterdir())
    return sum(secret in told for secret in secrets)


def bytes_each() -> None:
    for count in (1_000, 10_000, 100_000):
        texts, _ = real_texts(count)
        with folder() as home:
            with Memory(home / "memory.db") as memory:
                for at in range(0, count, 5_000):
                    memory.remember(texts[at : at + 5_000], keep_duplicates=True)
            size = sum(file.stat().st_size for file in home.iterdir())
        letters = sum(len(text.encode()) for text in texts)
        record(f"bytes a record, {count:,}", {"of text": letters / count, "on disk": size / count})


def tokens() -> None:
    for name in ("stories-dev.jsonl", "everyday-dev.jsonl", "locomo-dev.json"):
        spent, answered, asked = {"context": 0, "ten hits": 0}, {"context": 0, "ten hits": 0}, 0
        counter = counter_of()
        for case in read_cases(DATA / name):
            with Memory() as memory:
                memory.remember(list(case.records), scope=case.scope, keep_duplicates=True)
                for question in case.questions:
                    if not question.gold:
                        continue
                    asked += 1
                    context = memory.context(
                        question.text, scope=case.scope, budget=BUDGET, now=question.asked
                    )
                    hits = memory.recall(question.text, scope=case.scope, limit=10, now=question.asked)
                    lines = "\n".join(line_of(hit.record) for hit in hits)
                    for way, cost, ids in (
                        ("context", context.tokens, {found.id for found in context.records}),
                        ("ten hits", counter.count(lines), {hit.id for hit in hits}),
                    ):
                        spent[way] += cost
                        answered[way] += not ids.isdisjoint(question.gold)
        figures = {"questions": float(asked)}
        for way, told in spent.items():
            figures |= {
                f"{way}: answered": answered[way] / asked,
                f"{way}: tokens each": told / asked,
                f"{way}: tokens for each that is answered": told / answered[way],
            }
        record(f"tokens for an answer, {name.split('-')[0]}", figures)


PARTS = {"lag": lag, "deleted": deleted, "bytes": bytes_each, "tokens": tokens}

if __name__ == "__main__":
    main()
