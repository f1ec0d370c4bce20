"""Writes server.json, by which the MCP registry lists Eidet: make_server_json.py OWNER > server.json

OWNER has the repository on GitHub. Name, description and version are those of the package, so they cannot
drift. `list_links` makes the links of docs/guides/mcp.md that install the server with one click.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PLACE = "~/eidet.db"  # of the memory, unless somebody names another
VERSION = re.compile(r'^__version__ = "([^"]+)"', re.MULTILINE)


def make_server(owner: str) -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    package, place = project["project"], project["tool"]["hatch"]["version"]["path"]
    [version] = VERSION.findall((ROOT / place).read_text(encoding="utf-8"))
    name = package["name"]
    return {
        "$schema": SCHEMA,
        "name": f"io.github.{owner}/{name}",
        "title": name.capitalize(),
        "description": package["description"],
        "version": version,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": name,
                "version": version,
                "runtimeHint": "uvx",
                "runtimeArguments": [{"type": "named", "name": "--with", "value": f"{name}[mcp]=={version}"}],
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "environmentVariables": [
                    {
                        "name": "EIDET_MEMORY",
                        "description": "The memory: a file, or the URL of a store or a server.",
                        "default": PLACE,
                    }
                ],
                "transport": {"type": "stdio"},
            }
        ],
    }


def list_links() -> dict[str, str]:
    """The address that installs the server, by the program it is installed in."""
    server = {"command": "uvx", "args": ["--from", "eidet[mcp]", "eidet", "mcp", "--at", PLACE]}
    config = json.dumps(server, separators=(",", ":"))
    encoded = quote(b64encode(config.encode()), safe="")
    return {
        "Cursor": f"https://cursor.com/en/install-mcp?name=eidet&config={encoded}",
        "VS Code": f"https://vscode.dev/redirect/mcp/install?name=eidet&config={quote(config, safe='')}",
    }


def main(owner: str) -> None:
    server = make_server(owner)
    print(json.dumps(server, indent=2))
    mark = f"mcp-name: {server['name']}"
    if mark not in (ROOT / "README.md").read_text(encoding="utf-8"):
        print(f"the registry takes it once README.md has the line <!-- {mark} -->", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
