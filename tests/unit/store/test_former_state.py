"""Stores and files of the time when Eidet kept its state in the caller's `meta` open with it moved.

`schemas/former` holds what the code of schema 0002 wrote: a file, its export, and the keys of a Redis
server. All of them hold the same records.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine

from eidet import Condition, Memory, Record, Refused, Where
from eidet.core.former_meta import Origin, split_meta
from eidet.core.record import Trust
from eidet.core.state import MergedPart, PoisonLabel, Protection, Quarantine, Review, State
from eidet.store.sql.migrate import SCRIPTS, _upgrade
from eidet.store.sql.postgres.text import escape

FORMER = Path(__file__).parent / "schemas" / "former"
NOW = 1_700_000_000.0
DAY = 86_400.0
EPISODE = "k906ab8c075da9534515a376a"
EVERY = Where(trust=tuple(Trust))
MINE = {
    "hold": "music on hold",
    "pinned": 1,
    "ttl": "long",
    "quarantine": {"days": 14},
    "reviewed": "yes",
    "merged": [],
    "updates": "daily",
    "weighed": 3.5,
    "by": "me",
    "pii": "none",
}
PART = MergedPart(
    id="second", text="Cid has a boat in Porto!", occurred=NOW + 1, source="mail", meta={"n": 2}
)
ORDERS = PoisonLabel(score=0.85, why=("asks to set instructions aside",))
REPEATS = PoisonLabel(score=0.2, why=("repeats what was just recalled",))
WANTED: dict[str, tuple[dict[str, Any], State]] = {
    "pinned": (
        {"tag": "é\0x"},
        State(pinned=Protection(at=NOW, by="Ann", expires=NOW + 500_000_000.0)),
    ),
    "held": ({"hold music": 1}, State(hold=Protection(at=NOW, by="court"))),
    "ttl": ({"n": 1}, State(ttl=900_000_000)),
    "poisoned": ({"page": 7}, State(poison=ORDERS)),
    "aside": ({}, State(quarantine=Quarantine(at=NOW, was="web", by="ann", because="looks odd"))),
    "reviewed": ({}, State(reviewed=Review(at=NOW, digest="8d7fda8b674a04fdec76eff04d76834c", by="bob"))),
    "first": ({}, State(merged=(PART,))),
    "echo": ({}, State(echo_of="said", poison=REPEATS)),
    "moved": ({}, State(used_before_move=1)),
    EPISODE: ({}, State(worded_by="rules")),
    "mine": (MINE, State()),
    "said_pinned": ({"pinned": True}, State(pinned=Protection(at=NOW + DAY + 1))),
}


def restored(dump: str, path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FORMER / dump).read_text())
    return path


def opened(place: Any, **how: Any) -> Memory:
    return Memory(place, embedder="hashing:16", clock=lambda: NOW + 2 * DAY, **how)


def in_a_file(request: pytest.FixtureRequest, folder: Path) -> Memory:
    del request
    return opened(restored("plain.sql", folder / "memory.db"))


def loaded(request: pytest.FixtureRequest, folder: Path) -> Memory:
    del request
    memory = opened(folder / "new.db")
    memory.load(FORMER / "export.jsonl")
    return memory


def on_postgres(request: pytest.FixtureRequest, folder: Path) -> Memory:
    """The rows of the file, in tables as they were before."""
    url = request.getfixturevalue("postgres_url")
    source = restored("plain.sql", folder / "memory.db")
    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))
    with engine.begin() as wrapped:
        _upgrade(wrapped, SCRIPTS, "0002")
    engine.dispose()
    with closing(sqlite3.connect(source)) as rows, psycopg.connect(url) as target:
        target.execute("DELETE FROM settings")
        for table in ("records", "events", "settings", "tombstones"):
            found = rows.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in found.description]
            places = ", ".join(["%s"] * len(names))
            for row in found.fetchall():
                target.execute(
                    f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})".encode(), escape(row)
                )
    return opened(url)


@pytest.mark.parametrize("make", [in_a_file, loaded, on_postgres])
def test_what_was_written_before_opens_with_its_state_moved(
    make: Callable[[pytest.FixtureRequest, Path], Memory], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with make(request, tmp_path) as memory:
        there = {record.id: record for record in memory.find(EVERY, limit=100)}
        assert {id: (dict(there[id].meta), there[id].state) for id in WANTED} == WANTED
        assert {id for id, record in there.items() if record.state != State()} == WANTED.keys() - {"mine"} | {
            "said"
        }
        held = memory.find(Where(conditions=(Condition("state.hold", "exists"),)))
        assert [record.id for record in held] == ["held"]
        with pytest.raises(Refused, match="legal hold"):
            memory.forget("held")
        assert memory.revise("mine", importance=0.9).meta == MINE
        assert memory.upkeep.unpin("pinned").expires == NOW + 500_000_000.0
        assert memory.trust.approve("aside").trust == "web"
        assert memory.forget("mine")
        assert memory.admin.check() == []


# What is taken for state.

PLAIN = Origin(created=5.0, source=None, derived_from=("a",))
OF_UPKEEP = Origin(created=5.0, source="upkeep", derived_from=())


@pytest.mark.parametrize(
    ("meta", "origin", "state"),
    [
        ({"weighed": True}, PLAIN, State(weighed=True)),
        ({"pii": ["email", "phone"]}, PLAIN, State(pii=("email", "phone"))),
        ({"by": "llm"}, OF_UPKEEP, State(worded_by="llm")),
        (
            {"merged": [{"id": "x", "text": "t", "occurred": 1.0, "meta": {"weighed": True, "n": 1}}]},
            PLAIN,
            State(
                merged=(MergedPart(id="x", text="t", occurred=1.0, meta={"n": 1}, state=State(weighed=True)),)
            ),
        ),
    ],
)
def test_values_that_eidet_wrote_become_state(meta: dict[str, Any], origin: Origin, state: State) -> None:
    assert split_meta({**meta, "own": 1}, origin) == ({"own": 1}, state)


@pytest.mark.parametrize(
    "meta",
    [
        {"hold": "music on hold"},
        {"hold": {"at": "noon"}},
        {"hold": {"at": 1.0, "place": "here"}},
        {"hold": False},
        {"pinned": 1},
        {"ttl": "3600"},
        {"ttl": True},
        {"ttl": -1},
        {"poison": "ivy"},
        {"poison": {"score": 1.0}, "own": {"why": []}} | {"poison": {"why": ["x"]}},
        {"quarantine": {"days": 14}},
        {"reviewed": {"at": 1.0}},
        {"merged": [{"id": "x"}]},
        {"merged": "main"},
        {"updates": "daily"},
        {"echo_of": 7},
        {"weighed": 1},
        {"used_before_move": 0},
        {"used_before_move": True},
        {"by": "me"},
        {"pii": "none"},
        {"pii": [1]},
    ],
)
def test_other_values_stay_with_the_caller(meta: dict[str, Any]) -> None:
    assert split_meta(meta, PLAIN) == (meta, State())


def test_a_bare_true_protects_as_it_did_and_stays_the_callers() -> None:
    assert split_meta({"hold": True}, PLAIN) == ({"hold": True}, State(hold=Protection(at=5.0)))


def test_an_export_of_the_former_format_has_no_state(tmp_path: Path) -> None:
    from eidet import Corrupt
    from eidet.store.export_file import FORMER as FORMAT
    from eidet.store.export_file import as_json, record_from

    line = json.dumps(as_json(Record(id="x", scope="s", text="t", state=State(weighed=True))))
    assert record_from(line, "here").state == State(weighed=True)
    with pytest.raises(Corrupt, match="unknown fields"):
        record_from(line, "here", FORMAT)
