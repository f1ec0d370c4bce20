"""How long questions to the graph take: 100,000 facts about 20,000 entities in one scope.

    python bench/facts.py                  # a store in RAM
    python bench/facts.py --place FILE.db  # a file

Facts are told, five to a subject, and spread over thirty relations of the catalogue. Each question is asked
of many entities, once each, so that no answer comes from a cache; the median and the 95th percentile count.
Times are of the processor, so that they do not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from eidet.core.record import Kind, Record
from eidet.core.scope import Scope
from eidet.graph import Graphs
from eidet.graph.asking import Asking
from eidet.graph.inference import parse_patterns
from eidet.graph.scope_graph import View
from eidet.store import Store, verbs
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.text.analysis import pack_analysis
from eidet.text.facts.statement import Mention, Statement, pack_statements

RELATIONS = (
    *(("friend", "person"), ("colleague", "person"), ("sibling", "person"), ("child", "person")),
    *(("lives_in", "place"), ("works_at", "organisation"), ("likes", "thing"), ("owns", "thing")),
    *(("married_to", "person"), ("member_of", "organisation"), ("plays", "thing"), ("from", "place")),
)
NOW = 1_700_000_000.0
SCOPE = Scope("bench")


def make_names(count: int, seed: random.Random) -> list[str]:
    """Names as people have them: some hundred first names, many surnames."""
    letters = "bdfgklmnprstvz"
    vowels = "aeiou"

    def word(length: int) -> str:
        said = ""
        for _ in range(length):
            said += seed.choice(letters) + seed.choice(vowels)
        return said.capitalize()

    firsts = [word(2) for _ in range(300)]
    names: dict[str, None] = {}
    while len(names) < count:
        names[f"{seed.choice(firsts)} {word(3)}"] = None
    return list(names)


def fill(store: Store, facts: int, entities: int) -> list[str]:
    """Records with one statement each; the names of the people."""
    seed = random.Random(17)
    people = make_names(entities * 3 // 4, seed)
    things = {
        kind: [f"{kind} {n}" for n in range(entities // 12)] for kind in ("place", "organisation", "thing")
    }
    records = []
    for number in range(facts):
        relation, kind = seed.choice(RELATIONS)
        thing = seed.choice(people if kind == "person" else things[kind])
        said = Statement(
            subject=Mention(name=seed.choice(people), kind="person"),
            relation=relation,
            object=Mention(name=thing, kind=kind),
        )
        occurred = NOW - seed.random() * 1e8
        terms = pack_analysis([b""], 0, (), pack_statements([said]))
        records.append(
            Record(
                id=f"r{number}",
                scope=SCOPE.path,
                text=f"{said.subject.name} {relation} {thing}",
                kind=Kind.FACT,
                occurred=occurred,
                created=occurred,
                session=f"s{number // 20}",
                terms=terms,
            )
        )
    for start in range(0, facts, 5_000):
        verbs.put(store, records[start : start + 5_000], now=NOW, unique=False)
    return people


def measure(name: str, ask: Callable[[str], object], asked: list[str], goal: float) -> None:
    spent = []
    for one in asked:
        start = time.process_time()
        ask(one)
        spent.append((time.process_time() - start) * 1e3)
    slow = quantiles(spent, n=20)[-1]
    print(f"{name:34}{median(spent):9.3f} ms   p95 {slow:9.3f} ms   goal {goal:g} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--place", type=Path, help="a file; without one, RAM")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--entities", type=int, default=20_000)
    given = parser.parse_args()
    store: Store = RamStore() if given.place is None else SqliteStore(given.place)
    people = fill(store, given.facts, given.entities)
    graphs = Graphs(store, memory_mb=1024)
    asking, view = Asking(graphs), View(now=NOW, at=NOW)
    start = time.process_time()
    size = graphs.ask(SCOPE.path, lambda graph: (graph.index.size, graph.nbytes))
    print(f"loads {size[0]:,} facts in {time.process_time() - start:.2f} s, about {size[1] / 2**20:.0f} MB")
    seed = random.Random(3)
    some = seed.sample(people, 1000)
    measure("about", lambda who: asking.about(SCOPE, who, view), some, 0.5)
    some = seed.sample(people, 1000)
    measure("timeline", lambda who: asking.timeline(SCOPE, who, view), some, 1.0)
    two = ("?x", "works_at", "?o")

    def match(who: str) -> object:
        patterns = parse_patterns([(who, "friend", "?x"), two])
        return asking.match(SCOPE, patterns, view, infer=True, limit=100)

    measure("match, two patterns from a person", match, seed.sample(people, 300), 5.0)

    def match_place(number: str) -> object:
        patterns = parse_patterns([("?x", "lives_in", f"place {number}"), two])
        return asking.match(SCOPE, patterns, view, infer=True, limit=100)

    measure("match, two patterns from a place", match_place, [str(n) for n in range(200)], 5.0)

    def match_open(_: str) -> object:
        patterns = parse_patterns([("?x", "sibling", "?y"), ("?y", "lives_in", "?z")])
        return asking.match(SCOPE, patterns, view, infer=True, limit=100)

    measure("match, two open patterns", match_open, ["", ""] * 3, 5.0)
    goals = iter(seed.sample(people, 400))
    measure(
        "path of up to three hops",
        lambda who: asking.paths(SCOPE, who, next(goals), view, 3),
        seed.sample(people, 300),
        20.0,
    )
    record = Record(id="new", scope=SCOPE.path, text="", occurred=NOW, created=NOW)
    said = Statement(
        subject=Mention(name=people[0], kind="person"),
        relation="likes",
        object=Mention(name="tea", kind="thing"),
    )
    terms = pack_analysis([b""], 0, (), pack_statements([said]))
    spent = []
    for number in range(200):
        verbs.put(store, [record.but(id=f"n{number}", terms=terms)], now=NOW, unique=False)
        start = time.process_time()
        graphs.ask(SCOPE.path, lambda graph: graph.index.size)
        spent.append((time.process_time() - start) * 1e3)
    print(f"{'follows one new record':34}{median(spent):9.3f} ms")
    store.close()


if __name__ == "__main__":
    main()
