"""`eidet bench`: how fast a memory is on this machine, each number beside its floor.

The floor is the least that the same job can cost here: a bare SQLite insert of the same bytes, or a
numpy scan of the same vectors. Both are measured in the same run; the ratio is what counts.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import BadInput
from .configuration import read_choices_here
from .json_output import emit
from .panels import MEASURE
from .show import console, table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..memory import Memory
    from ..models.embed import Embedder

ASKED: Final = 200
VOCABULARY: Final = 20_000
_SYLLABLES: Final = list(map("".join, product("bdfgklmnprstvz", ("a", "e", "i", "o", "u", "an", "or"))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One line of the table, in milliseconds."""

    what: str
    ours: float
    floor: float
    floor_is: str

    @property
    def ratio(self) -> float:
        return self.ours / self.floor


def add_to(app: typer.Typer) -> None:
    app.command(rich_help_panel=MEASURE)(bench)


def bench(
    size: Annotated[int, typer.Option(help="How many texts in bulk; a tenth of that one by one.")] = 5000,
    embedder: Annotated[
        str | None, typer.Option(envvar="EIDET_EMBEDDER", help="Default: as eidet.toml says, or wordllama.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure this machine: remember and recall, each next to its floor. Leaves nothing behind."""
    if not 100 <= size <= 1_000_000:
        raise BadInput(f"--size must be from 100 to 1,000,000, not {size:,}")
    measures = list(measure(size, embedder or read_choices_here().get("embedder")))
    if json:
        emit({"size": size, "measures": [asdict(m) | {"ratio": m.ratio} for m in measures]})
    else:
        tell(measures, size)


def measure(size: int, spec: str | None) -> Iterator[Measure]:
    from ..memory import Memory
    from ..models.embed import embedder_of

    one_by_one, bulk, questions = texts(size // 10, 1), texts(size, 2), texts(ASKED, 3)
    embedder = embedder_of(spec)
    embedder.embed(questions)  # loads the model
    with (
        tempfile.TemporaryDirectory(prefix="eidet-bench-") as folder,
        Memory(Path(folder, "bench.db"), embedder=embedder) as memory,
        closing(bare_table(Path(folder, "bare.db"))) as bare,
    ):
        yield from writing(memory, bare, one_by_one, bulk)
        yield from reading(memory, embedder, one_by_one + bulk, questions)


def writing(
    memory: Memory, bare: sqlite3.Connection, one_by_one: list[str], bulk: list[str]
) -> Iterator[Measure]:
    memory.remember("The first write also makes the tables known.")
    ours = [milliseconds_of(partial(memory.remember, text)) for text in one_by_one]
    rows = read_stored_bytes(memory, len(one_by_one))
    floor = [milliseconds_of(partial(insert, bare, [row])) for row in rows]
    for name, at in (("p50", 49), ("p95", 94)):
        yield Measure(
            what=f"remember one, {name}",
            ours=quantiles(ours, n=100)[at],
            floor=quantiles(floor, n=100)[at],
            floor_is="SQLite insert, commit",
        )
    whole = milliseconds_of(lambda: memory.remember(bulk))
    rows = read_stored_bytes(memory, len(bulk))
    yield Measure(
        what=f"remember {len(bulk):,} at once, each",
        ours=whole / len(bulk),
        floor=milliseconds_of(lambda: insert(bare, rows)) / len(bulk),
        floor_is="SQLite insert, one commit",
    )


def reading(
    memory: Memory, embedder: Embedder, kept: Sequence[str], questions: Sequence[str]
) -> Iterator[Measure]:
    matrix, asked = embedder.embed(kept), embedder.embed(questions)
    memory.recall(questions[0])  # loads the scope
    ours = [milliseconds_of(partial(memory.recall, text)) for text in questions]
    floor = [milliseconds_of(partial(nearest, matrix, row)) for row in asked]
    for name, at in (("p50", 49), ("p95", 94)):
        yield Measure(
            what=f"recall 10 of {len(kept):,}, {name}",
            ours=quantiles(ours, n=100)[at],
            floor=quantiles(floor, n=100)[at],
            floor_is="numpy float32 scan",
        )


def milliseconds_of(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return (time.perf_counter() - start) * 1000


def read_stored_bytes(memory: Memory, count: int) -> list[tuple[str, bytes]]:
    """What the last records came to, as a row of two columns."""
    records = memory.find(order="-seq", limit=count)
    return [(record.text, (record.vector or b"") + record.terms) for record in records]


def bare_table(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)")
    return database


def insert(database: sqlite3.Connection, rows: Sequence[tuple[str, bytes]]) -> None:
    database.execute("BEGIN IMMEDIATE")
    database.executemany("INSERT INTO kept (text, bytes) VALUES (?, ?)", rows)
    database.execute("COMMIT")


def nearest(matrix: NDArray[np.float32], row: NDArray[np.float32]) -> NDArray[np.intp]:
    import numpy as np

    scores = matrix @ row
    best = np.argpartition(-scores, 10)[:10]
    return best[np.argsort(-scores[best])]


def texts(count: int, seed: int) -> list[str]:
    """Texts of 6 to 30 made-up words; the n-th word is as common as 1/n. The same on every machine."""
    chance = random.Random(0)  # noqa: S311
    words = ["".join(chance.choices(_SYLLABLES, k=2 + at % 3)) for at in range(VOCABULARY)]
    weights = [1 / (at + 1) for at in range(VOCABULARY)]
    chance.seed(seed)
    lengths = [chance.randint(6, 30) for _ in range(count)]
    stream = iter(chance.choices(words, weights, k=sum(lengths)))
    result = []
    for length in lengths:
        result.append(" ".join(next(stream) for _ in range(length)))
    return result


def tell(measures: Sequence[Measure], size: int) -> None:
    made = table("what")
    for name in ("ms", "floor ms", "ratio"):
        made.add_column(name, justify="right")
    made.add_column("the floor is", style="dim")
    for m in measures:
        made.add_row(m.what, f"{m.ours:.3f}", f"{m.floor:.3f}", f"{m.ratio:.1f}", m.floor_is)
    console().print(made)
    console().print(f"{size:,} texts, in a temporary file, now deleted.", style="dim")
