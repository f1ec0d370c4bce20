from __future__ import annotations

import time

from tests.unit.cli.shell import Shell

from eidet.memory import Memory

DAY = 86_400.0


def old_memory(eidet: Shell, days: float = 100) -> list[str]:
    """A memory whose records were made so many days ago."""
    texts = ["Ann lives in Lisbon", "and " + "the ship came back to Porto. " * 60]
    with Memory(eidet.file, embedder="hashing", clock=lambda: time.time() - days * DAY) as memory:
        return [record.id for record in memory.remember(texts, importance=0.2)]


def test_a_dry_run_tells_why_and_changes_nothing(eidet: Shell) -> None:
    ids = old_memory(eidet)
    said = eidet("maintain", "--dry-run", COLUMNS="200")
    assert said.code == 0
    assert ids[0] in said.out
    assert " default " in said.out
    assert "not used for 100.0 days at importance 0.20" in said.out
    assert "would move 2 (2 examined)" in said.out
    assert eidet("stats", "--json").json["tiers"] == {"short": 2}


def test_maintain_moves_and_says_so_in_json(eidet: Shell) -> None:
    old_memory(eidet, 1000)
    done = eidet("maintain", "--json", "--only", "move", "--only", "expire").json
    assert done["counts"] == {"move": 2}
    assert {change["what"] for change in done["changes"]} == {"move"}
    assert eidet("stats", "--json").json["tiers"] == {"long": 2}
    assert eidet("maintain").out == "nothing to do (2 examined)\n"


def test_detail_and_restore_show_the_whole(eidet: Shell) -> None:
    _, long = old_memory(eidet, 1000)
    eidet("maintain")
    assert len(eidet("show", long, "--json").json["text"]) < 600
    assert len(eidet("show", long, "--detail", "--json").json["text"]) > 1500
    assert eidet("mark", long, "restore", "--json").json["tier"] == "middle"
    assert eidet("show", "none", "--detail").code == 1


ARCHIVING = "[eidet.upkeep]\narchive_above = 0.1\nforget_below = 0.1\n"


def test_the_forgotten_come_back_from_the_archive(eidet: Shell) -> None:
    old_memory(eidet, 100_000)
    folder = str(eidet.folder / "archive")
    config = eidet.folder / "eidet.toml"
    config.write_text(ARCHIVING + f'archive = "{folder}"\n')
    done = eidet("maintain", "--config", str(config), "--json")
    assert done.json["counts"] == {"forget": 2}
    assert done.json["archived"] == 2
    assert eidet("load", folder, "--json").json == {"unarchived": 2}
    assert eidet("stats", "--json").json["records"] == 2


def test_some_of_an_archive_in_a_bucket_comes_back(eidet: Shell, s3_url: str) -> None:
    one, two = old_memory(eidet, 100_000)
    config = eidet.folder / "eidet.toml"
    config.write_text(ARCHIVING + f'archive = "{s3_url}"\n')
    eidet("maintain", "--config", str(config))
    assert eidet("load", s3_url, "--since", "2031-01-01", "--json").json == {"unarchived": 0}
    assert eidet("load", s3_url, "--id", two, "--json").json == {"unarchived": 1}
    assert eidet("show", two).code == 0
    assert eidet("show", one).code == 1


def test_pins_and_holds_are_set_and_taken_away(eidet: Shell) -> None:
    one, two = old_memory(eidet)
    assert "pinned" in eidet("mark", one, "pin", "--by", "Ann", "--json").json["state"]
    eidet("mark", two, "hold")
    assert eidet("maintain", "--json").json["counts"] == {}
    said = eidet("forget", two, "--yes")
    assert said.code == 2
    assert "legal hold" in said.err
    assert "pinned" not in eidet("mark", one, "unpin", "--json").json["state"]
    eidet("mark", two, "release")
    assert eidet("forget", two, "--yes").code == 0


def test_a_pin_and_a_time_to_live_can_be_said_at_once(eidet: Shell) -> None:
    id = eidet("remember", "keep this", "--pinned", "--ttl", "3600", "--meta", "hold=music").out.strip()
    kept = eidet("show", id, "--json").json
    assert (kept["meta"], kept["state"]["ttl"], kept["expires"]) == ({"hold": "music"}, 3600.0, None)
    assert "expires" in kept["state"]["pinned"]


def test_one_thing_is_marked_at_a_time(eidet: Shell) -> None:
    one, _ = old_memory(eidet)
    for words in (
        (),
        ("pin", "hold"),
        ("pin", "--because", "x"),
        ("quarantine", "--trust", "user"),
        ("promote",),
    ):
        said = eidet("mark", one, *words)
        assert (said.code, said.out) == (2, "")
    assert eidet("load", str(eidet.file), "--claim").code == 2
