"""A process that opens a small file and asks one question loads what it needs, and no more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eidet import Memory

HEAVY = (
    *("sqlalchemy", "alembic", "safetensors", "typer", "rich", "pydantic", "asyncio"),
    *("importlib.metadata", "http.client", "ssl", "socket", "tomllib", "numpy.ma", "email"),
    *("eidet.trust.privacy.scan", "eidet.trust.privacy.injection_claims", "eidet.trust.audit.log"),
    *("eidet.trust.seal.boxes", "eidet.models.llm", "eidet.text.facts.fact_reader", "eidet.recall.pack"),
    *("eidet.write.ingest", "eidet.memory.facts", "eidet.memory.admin"),
    *("eidet.text.dates.phrases", "eidet.store.ram", "regex"),
)
RECALL = """
import json, sys
from eidet import Memory
memory = Memory(sys.argv[1])
hits = memory.recall("where does Ann live?", scope="ann")
print(json.dumps({"found": [hit.text for hit in hits], "loaded": list(sys.modules)}))
"""
REMEMBER = """
import json, sys
from eidet import Memory
memory = Memory(sys.argv[1])
kept = memory.remember("Ann lives in Lisbon", scope="ann")
print(json.dumps({"kept": [kept.text], "loaded": list(sys.modules)}))
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start") / "small.db"
    with Memory(path) as memory:
        memory.remember(["Ann lives in Lisbon and restores furniture.", "The oak table is due."], scope="ann")
    return path


def run(code: str, *words: str) -> dict[str, list[str]]:
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    answer: dict[str, list[str]] = json.loads(done.stdout)
    return answer


def test_a_first_recall_loads_nothing_that_it_does_not_need(small: Path) -> None:
    told = run(RECALL, str(small))
    assert told["found"][0].startswith("Ann lives in Lisbon")
    assert sorted(set(HEAVY) & set(told["loaded"])) == []


def test_a_process_that_only_writes_loads_nothing_of_recall(tmp_path: Path) -> None:
    told = run(REMEMBER, str(tmp_path / "new.db"))
    assert told["kept"] == ["Ann lives in Lisbon"]
    assert [name for name in told["loaded"] if name.startswith("eidet.recall")] == []


def test_a_new_file_is_made_without_alembic(tmp_path: Path) -> None:
    told = run(RECALL, str(tmp_path / "new.db"))
    assert told["found"] == []
    assert not {"alembic", "sqlalchemy"} & set(told["loaded"])


def test_importing_the_package_loads_none_of_it() -> None:
    told = run("import json, sys, eidet; print(json.dumps({'loaded': list(sys.modules)}))")
    assert [name for name in told["loaded"] if name.startswith("eidet.") or name == "numpy"] == []


COMMAND = """
import json, os, sys
from eidet.cli import main
sys.argv = ["eidet", "recall", "where does Ann live?", "--json", "--scope", "ann", "--at", sys.argv[1]]
try:
    main()
finally:
    told = {"loaded": list(sys.modules), "threads": os.listdir("/proc/self/task")}
    print(json.dumps(told), file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_a_command_that_asks_once_starts_no_threads(small: Path) -> None:
    command = [sys.executable, "-c", COMMAND, str(small)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Ann lives in Lisbon" in done.stdout
    told = json.loads(done.stderr.splitlines()[-1])
    assert len(told["threads"]) == 1
    assert not {"rich", "sqlalchemy"} & set(told["loaded"])
