"""How others list Eidet: server.json of the MCP registry, install links, llms.txt and the skill about it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.reference import DOCS, ROOT, list_pages, load_script
from tests.unit.test_docs import LINK, SNIPPET
from tests.unit.test_release import load_script as load_ci_script

import eidet
from eidet.exchange.front_matter import split_front_matter

LISTING = load_ci_script("make_server_json.py")
MODELS = load_script("make_llms")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_registry_gets_the_name_and_the_version_of_the_package() -> None:
    server = LISTING.make_server("someone")
    [package] = server["packages"]
    assert server["name"] == f"io.github.someone/{PROJECT['name']}"
    assert (package["registryType"], package["identifier"]) == ("pypi", PROJECT["name"])
    assert server["version"] == package["version"] == eidet.__version__
    assert package["runtimeArguments"][0]["value"] == f"eidet[mcp]=={eidet.__version__}"
    assert "mcp" in PROJECT["optional-dependencies"]


def test_server_json_keeps_the_rules_of_its_schema() -> None:
    """Those of version 2025-12-11: what is required, lengths and forms."""
    server = LISTING.make_server("some-one")
    assert server["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 3 <= len(server["name"]) <= 200
    assert 1 <= len(server["description"]) <= 100
    assert 1 <= len(server["title"]) <= 100
    assert re.fullmatch(r"\d+\.\d+\.\d+", server["version"])
    for package in server["packages"]:
        assert package.keys() >= {"registryType", "identifier", "transport", "runtimeHint"}
        assert package["transport"] == {"type": "stdio"}
        for argument in [*package["runtimeArguments"], *package["packageArguments"]]:
            assert (
                argument.keys()
                == {"named": {"type", "name", "value"}, "positional": {"type", "value"}}[argument["type"]]
            )
        assert all(re.fullmatch(r"[A-Z_]+", one["name"]) for one in package["environmentVariables"])


def decode_link(link: str) -> dict[str, Any]:
    [config] = parse_qs(urlsplit(link).query)["config"]
    decoded: dict[str, Any] = json.loads(config if config.startswith("{") else b64decode(config))
    return decoded


@pytest.mark.parametrize("program", LISTING.list_links())
def test_an_install_link_starts_the_server(program: str, tmp_path: Path) -> None:
    link = LISTING.list_links()[program]
    page = (DOCS / "guides" / "mcp.md").read_text(encoding="utf-8")
    assert f"[install in {program}]({link})" in page
    server = decode_link(link)
    runner, package, command, *args = server["args"]
    assert (server["command"], runner, package, command) == ("uvx", "--from", "eidet[mcp]", "eidet")
    run = [sys.executable, "-m", "eidet.cli", *args, "--print-config"]
    env = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=env, cwd=tmp_path)
    assert "mcpServers" in json.loads(done.stdout)


def test_llms_txt_lists_every_page_once_and_tells_of_most() -> None:
    text = MODELS.make_llms()
    assert text.startswith("# Eidet\n\n> Eidet is a memory for AI agents")
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)(?:: (.+\.))?$", text, re.MULTILINE)
    pages = [page.relative_to(DOCS).as_posix() for page in list_pages()]
    made = [page for page, _ in listed if not (DOCS / page).exists() or page not in pages]
    assert sorted(page for page, _ in listed if page not in made) == pages
    assert [page for page in made if not page.startswith("reference/")] == []
    assert text.count("\n- ") == len(listed)
    assert sum(bool(said) for _, said in listed) > 0.8 * len(listed)


def test_the_site_holds_what_the_lists_link_to(tmp_path: Path) -> None:
    MODELS.write(tmp_path)
    skill = tmp_path / "skills" / "eidet" / "SKILL.md"
    for file in (tmp_path / "llms.txt", skill):
        for target, _ in LINK.findall(file.read_text(encoding="utf-8")):
            local = target and not target.startswith(("http://", "https://"))
            assert not local or "reference/" in target or (file.parent / target).exists(), target


def test_the_skill_is_one_that_agents_read_and_says_only_what_the_pages_say() -> None:
    text = MODELS.make_skill()
    front, _body, _line = split_front_matter(text, "SKILL.md")
    assert (front["name"], bool(front["description"])) == ("eidet", True)
    assert text.count("\n") < 500
    pages = "".join(page.read_text(encoding="utf-8") for page in list_pages())
    assert all(code in pages for code, _ in SNIPPET.findall(text))
    assert len(SNIPPET.findall(text)) > 5
