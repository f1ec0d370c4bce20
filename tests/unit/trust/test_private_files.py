"""Files are for their owner alone; keys that others may touch are refused; links are not followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell

from eidet import Memory, Misconfigured, Settings
from eidet.compat.api import AgentMemoryAPI
from eidet.core.settings import Upkeep
from eidet.net.url import read_secret
from eidet.trust.audit import Audit, check_key
from eidet.trust.privacy.fields import key_of
from eidet.trust.seal.service import new_key, service_of

KEY = "ab" * 32


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """As a careless machine has it: files are for all unless somebody says otherwise."""
    old = os.umask(0)
    yield
    os.umask(old)


def open_at(folder: Path, **how: object) -> Memory:
    settings = Settings(flush_uses=1, sidecar_from=5, **how)  # type: ignore[arg-type]
    return Memory(folder / "memory.db", embedder="hashing:16", settings=settings)


def write_database(folder: Path) -> None:
    with open_at(folder) as memory:
        memory.remember("x")
        assert (folder / "memory.db-wal").exists()
        check_private(folder)


def write_cache(folder: Path) -> None:
    with open_at(folder) as memory:
        memory.remember([f"note {n}" for n in range(20)])
        memory.recall("note")
    assert list(folder.rglob("*.eix"))


def write_export(folder: Path) -> None:
    with open_at(folder) as memory:
        memory.remember("x")
        memory.export(folder / "all.jsonl")


def write_archive(folder: Path) -> None:
    with open_at(folder) as memory:
        memory.remember("x")
        upkeep = Upkeep(forget_below=1.0, archive_above=0.0)
        archive = folder / "archive"
        memory.upkeep.maintain(
            only="forget", settings=upkeep, archive=archive, now=memory.parts.clock() + 9e7
        )
    assert list(archive.iterdir())


def write_receipt(folder: Path) -> None:
    with open_at(folder) as memory:
        receipt = memory.forget(memory.remember("x").id).receipt
        assert receipt is not None
        receipt.save(folder / "receipt.json")


def write_audit(folder: Path) -> None:
    log = folder / "audit.jsonl"
    with Memory(folder / "memory.db", embedder="hashing:16", audit=Audit(path=log)) as memory:
        memory.remember("x")
    with log.open("ab") as file:
        file.write(b'{"half": ')
    with Memory(folder / "memory.db", embedder="hashing:16", audit=Audit(path=log)) as memory:
        memory.remember("y")


def write_door(folder: Path) -> None:
    with open_at(folder) as memory:
        api = AgentMemoryAPI(memory=memory)
        api.store_agent_state("a", {"health": 1}, 1)
        api.save(folder / "door.json")
        api.save(folder / "door.jsonl")


def write_key(folder: Path) -> None:
    assert Shell(folder)("keys", "master", str(folder / "master.key")).code == 0


WRITERS: list[Callable[[Path], None]] = [
    write_database, write_cache, write_export, write_archive, write_receipt, write_audit,
    write_door, write_key,
]  # fmt: skip


def check_private(folder: Path) -> None:
    made = [path for path in folder.rglob("*") if path.is_file()]
    assert made
    for path in made:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_every_file_is_for_its_owner_alone(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    check_private(tmp_path)


READERS: dict[str, Callable[[Path], object]] = {
    "seal": lambda path: service_of(f"file:{path}"),
    "guard": lambda path: key_of(f"file:{path}"),
    "audit": lambda path: check_key(f"file:{path}"),
    "server": lambda path: read_secret(f"file:{path}", {}, "the server"),
}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666])
@pytest.mark.parametrize("reader", READERS)
def test_a_key_file_that_others_may_read_or_change_is_refused(tmp_path: Path, reader: str, mode: int) -> None:
    path = tmp_path / "key"
    path.write_text(new_key())
    path.chmod(mode)
    with pytest.raises(Misconfigured, match="chmod 600"):
        READERS[reader](path)
    path.chmod(0o600)
    assert READERS[reader](path)


SAVES: dict[str, Callable[[Memory, Path], object]] = {
    "export": lambda memory, path: memory.export(path),
    "receipt": lambda memory, path: memory.forget(memory.remember("y").id).receipt.save(path),  # type: ignore[union-attr]
    "door": lambda memory, path: AgentMemoryAPI(memory=memory).save(path),
}


@pytest.mark.parametrize("planted", ["{name}", "{name}.partial"])
@pytest.mark.parametrize("save", SAVES)
def test_a_planted_link_is_not_followed(tmp_path: Path, save: str, planted: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    target = tmp_path / "out.json"
    (tmp_path / planted.format(name=target.name)).symlink_to(victim)
    with Memory(embedder="hashing:16") as memory:
        memory.remember("x")
        SAVES[save](memory, target)
    assert victim.read_text() == "precious"
    assert target.is_file()
    assert not target.is_symlink()
    check_private_file(target)


def check_private_file(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
