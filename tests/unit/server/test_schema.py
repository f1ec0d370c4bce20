"""Schemathesis makes requests from the schema, and finds nothing: no 5xx, no status that is not declared."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.making import rounds
from tests.servers.served import serve_in_thread

from eidet import AsyncMemory
from eidet.server.access import add_key
from eidet.server.serve import create_app

ROOT = Path(__file__).parents[3]


# The rest takes a minute each: it is for those who ask for full rounds.
HOW = rounds(
    ["--phases", "fuzzing", "-n", "1"], ["--phases", "examples,coverage,fuzzing,stateful", "-n", "30"]
)


@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None, reason="needs schemathesis: pip install schemathesis"
)
@pytest.mark.parametrize("keyed", rounds([True], [False, True]))
def test_schemathesis_finds_nothing(tmp_path: Path, keyed: bool) -> None:
    file = tmp_path / "keys.toml"
    key = add_key(file, "fuzz", ["**"], ["read", "write", "forget", "admin"])
    file.write_text(file.read_text().replace("[[key]]\n", "[[key]]\nrequests_per_second = 100000\n"))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", ROOT / ".ci" / "schemathesis.toml"]
    with serve_in_thread(keys=file if keyed else None) as server:
        options = [*HOW, "--generation-deterministic", "--no-color"]
        options += ["-H", f"Authorization: Bearer {key}"] if keyed else []
        ran = subprocess.run(
            [*map(str, command), "run", f"{server.url}/openapi.json", *options],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=400,
        )
    assert ran.returncode == 0, ran.stdout[-4000:]


def test_the_schema_names_the_scope_and_the_body_of_a_route() -> None:
    routes = create_app(AsyncMemory("ram://")).openapi()["paths"]

    def names(path: str, method: str) -> set[str]:
        return {one["name"] for one in routes[path][method]["parameters"]}

    for path, method in (("/v1/recall", "post"), ("/v1/memories/{id}", "get"), ("/v1/load", "post")):
        assert "scope" in names(path, method)
    assert "scope" not in names("/v1/scopes", "get")
    assert routes["/v1/load"]["post"]["requestBody"]["required"]
