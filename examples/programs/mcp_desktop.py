"""Gives a desktop agent a memory over MCP, and shows what the agent sees by being its client for a moment.

    pip install 'eidet[mcp]'
    python examples/programs/mcp_desktop.py                    # be a desktop agent for a moment
    python examples/programs/mcp_desktop.py --at ~/agent.db    # print the configuration to paste

The first starts the server as a desktop agent would, talks to it over stdin and stdout, starts it once
more, and asks again: the memory is in the file, not in the process.

For your own use: paste the configuration; nothing else is needed. `--scope ann` keeps an agent to one user.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

TOLD = (
    {"text": "Ann's passport expires in March 2027.", "importance": 0.9},
    {"text": "Ann works at Acme.", "occurred": "2025-02-01"},
    {"text": "Ann works at Initech.", "occurred": "2026-09-01"},
)


def make_configuration(at: Path) -> dict[str, Any]:
    """What desktop agents read; `eidet mcp --print-config` prints the same for the installed command."""
    command = {"command": sys.executable, "args": ["-m", "eidet.cli", "mcp", "--at", str(at)]}
    return {"mcpServers": {"eidet": command}}


class DesktopAgent:
    """Starts the server that a configuration names, and calls its tools."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        server = configuration["mcpServers"]["eidet"]
        self._server = StdioServerParameters(command=server["command"], args=server["args"])

    async def tell(self) -> None:
        async with Client(stdio_client(self._server)) as agent:
            tools = await agent.list_tools()
            print("tools:", ", ".join(sorted(tool.name for tool in tools.tools)))
            for told in TOLD:
                await agent.call_tool("remember", dict(told))
            print(f"remembered {len(TOLD)} things; the server ends")

    async def ask(self) -> None:
        async with Client(stdio_client(self._server)) as agent:
            print("a new server process:")
            found = await self._call(agent, "recall", {"query": "When does the passport expire?", "limit": 1})
            for hit in found["memories"]:
                print(f"  recall: {hit['text']} ({hit['why']})")
            known = await self._call(agent, "facts", {"about": "Ann"})
            for fact in known["facts"]:
                print(f"  fact: {fact['text']}")

    async def _call(self, agent: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await agent.call_tool(tool, arguments)
        content: dict[str, Any] = answer.structured_content or {}
        return content


async def show(at: Path) -> None:
    configuration = make_configuration(at)
    agent = DesktopAgent(configuration)
    await agent.tell()
    await agent.ask()


def main() -> None:
    reader = argparse.ArgumentParser(description="A memory for a desktop agent.")
    reader.add_argument("--at", type=Path, help="file of the memory; prints the configuration for it")
    options = reader.parse_args()
    if options.at is not None:
        print(json.dumps(make_configuration(options.at.expanduser().absolute()), indent=2))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(show(Path(folder) / "agent.db"))


if __name__ == "__main__":
    main()
