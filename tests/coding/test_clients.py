"""The agents themselves read what `eidet integrate` wrote; that needs no account."""

from __future__ import annotations

import json
import subprocess

import pytest
from tests.coding.agents import User
from tests.needs import CLIENTS


@pytest.mark.parametrize("client", [pytest.param(name, marks=pytest.mark.needs(name)) for name in CLIENTS])
def test_the_client_finds_our_server(client: str, user: User) -> None:
    assert user.eidet("integrate", client, "--yes").code == 0
    listed = subprocess.run(
        [client, "mcp", "list"],
        capture_output=True,
        text=True,
        env=user.environment,
        cwd=user.project,
        timeout=120,
        check=False,
    )
    assert f"mcp --at {user.at}" in listed.stdout + listed.stderr


PLUGIN = """
const {{ Eidet }} = await import({plugin})
const messages = [
  {{ info: {{ id: "m1", role: "user" }}, parts: [{{ id: "p1", type: "text", text: "Hello" }}] }},
  {{ info: {{ id: "m2", role: "assistant" }}, parts: [{{ id: "p2", type: "text", text: "Port 8080." }}] }},
]
const client = {{ session: {{ messages: async () => ({{ data: messages }}) }} }}
const hooks = await Eidet({{ client, directory: {project} }})
const output = {{ system: ["be good"], parts: [{{ type: "text", text: "How is the cache cleared?" }}] }}
await hooks["chat.message"]({{ sessionID: "s1" }}, output)
await hooks["experimental.chat.system.transform"]({{ sessionID: "s1" }}, output)
await hooks.event({{ event: {{ type: "session.idle", properties: {{ sessionID: "s1" }} }} }})
console.log(JSON.stringify(output.system))
process.exit(0)
"""


@pytest.mark.needs("node")
def test_the_plugin_of_opencode_recalls_into_the_system_prompt_and_captures(user: User) -> None:
    user.remember("The cache of the shop is cleared by a nightly job.")
    user.eidet("integrate", "opencode", "--yes")
    plugin = user.home / ".config" / "opencode" / "plugins" / "eidet.js"
    plugin.write_text(plugin.read_text().replace("LIMIT_MS = 300", "LIMIT_MS = 30000"))  # the machine is busy
    (plugin.parent / "package.json").write_text('{"type": "module"}')
    user.check()
    code = PLUGIN.format(plugin=json.dumps(str(plugin)), project=json.dumps(str(user.project)))
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", code],
        capture_output=True,
        text=True,
        env=user.environment,
        timeout=120,
        check=True,
    )
    good, context = json.loads(ran.stdout)
    assert good == "be good"
    assert "nightly job" in context
    user.wait_for("Port 8080.")
