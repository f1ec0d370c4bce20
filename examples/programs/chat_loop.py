"""A chat loop that remembers, with any model server that speaks OpenAI's protocol.

    python examples/programs/chat_loop.py                               # a stand-in model, no server needed
    python examples/programs/chat_loop.py --url http://127.0.0.1:11434/v1 --model llama3.2 --at chat.db

The second line talks to Ollama; vLLM, LM Studio, llama.cpp and OpenAI itself work alike (the key is taken
from OPENAI_API_KEY). Type a message a line; the next run with the same `--at` still knows what you said.

For your own use: keep `answer`, which is the whole loop. Change `BUDGET` to what your model can read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from eidet import Memory

BUDGET = 300  # tokens of memory in each prompt
INSTRUCTIONS = "You are a helpful assistant. What you remember of this user:\n"
MONDAY = ("My sister Clara flies to Oslo on 3 June.", "My cat is called Tofu.")
FRIDAY = ("When does Clara fly to Oslo?", "What is the name of my cat?")


class ChatModel:
    """A model behind a URL, asked with a system prompt and a message."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = f"{url.rstrip('/')}/chat/completions", name

    def ask(self, system: str, message: str) -> str:
        turns = [{"role": "system", "content": system}, {"role": "user", "content": message}]
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({"model": self._name, "messages": turns}).encode()
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310  # the user names the server
        with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310
            return str(json.load(response)["choices"][0]["message"]["content"])


def answer(memory: Memory, model: ChatModel, message: str, *, user: str, session: str) -> str:
    """One turn: ask the memory, ask the model, remember both sides."""
    known = memory.context(message, scope=user, budget=BUDGET)
    reply = model.ask(f"{INSTRUCTIONS}{known}", message)
    turns = [{"role": "user", "content": message}, {"role": "assistant", "content": reply}]
    memory.remember(turns, scope=user, session=session)
    return reply


def chat(at: Path | str, model: ChatModel, messages: Iterable[str], *, user: str, session: str) -> None:
    with Memory(at) as memory:
        for message in messages:
            print(f"{user}: {message}")
            print(f"  model: {answer(memory, model, message, user=user, session=session)}")


class StandIn(BaseHTTPRequestHandler):
    """Stands in for a model: repeats the remembered line that shares most words with the question."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        system, message = (turn["content"] for turn in asked["messages"])
        reply = _pick_line(system, message) if message.endswith("?") else "Noted."
        content = json.dumps({"choices": [{"message": {"role": "assistant", "content": reply}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


def _pick_line(system: str, question: str) -> str:
    wanted = set(re.findall(r"\w+", question.lower()))
    lines = [line.partition("user: ")[2] for line in system.splitlines() if "] user: " in line]
    best = max(lines, key=lambda line: len(wanted & set(re.findall(r"\w+", line.lower()))), default="")
    return f"You told me: {best}" if best else "I do not know that yet."


@contextmanager
def start_stand_in() -> Iterator[str]:
    """The URL of a stand-in for a model server, which ends with the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def show(folder: Path) -> None:
    """Two conversations with a restart in between."""
    with start_stand_in() as url:
        model, at = ChatModel(url, "stand-in"), folder / "chat.db"
        chat(at, model, MONDAY, user="ann", session="monday")
        print("--- the program ends, and starts again on Friday ---")
        chat(at, model, FRIDAY, user="ann", session="friday")
        print("--- another user ---")
        chat(at, model, FRIDAY[-1:], user="bob", session="friday")


def main() -> None:
    reader = argparse.ArgumentParser(description="A chat loop that remembers.")
    reader.add_argument("--url", help="base URL of a model server, such as http://127.0.0.1:11434/v1")
    reader.add_argument("--model", default="llama3.2", help="name of the model on that server")
    reader.add_argument("--at", default="chat.db", help="file or URL of the memory")
    reader.add_argument("--user", default="ann", help="whose memory it is")
    options = reader.parse_args()
    if options.url:
        messages = (line.strip() for line in sys.stdin)
        chat(options.at, ChatModel(options.url, options.model), messages, user=options.user, session="chat")
        return
    with tempfile.TemporaryDirectory() as folder:
        show(Path(folder))


if __name__ == "__main__":
    main()
