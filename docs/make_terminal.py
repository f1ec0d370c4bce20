"""Draws docs/images/terminal.svg: what `eidet` prints for a question, in the colours of a terminal.

python docs/make_terminal.py
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

PICTURE = Path(__file__).with_name("images") / "terminal.svg"
COLUMNS = 92
QUESTION = "When does the night train leave?"
FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'


def draw() -> str:
    screen = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "demo.db")
        _run("demo", "--at", file)
        screen.print(
            Text.assemble(("$ ", "bold green"), f'eidet recall "{QUESTION}" --scope demo/tilda -n 2')
        )
        printed = _run("recall", QUESTION, "-n", "2", "--at", file, "--scope", "demo/tilda")
        screen.print(Text.from_ansi(printed.rstrip()), "", sep="\n")
    drawing = screen.export_svg(title="eidet recall", theme=DIMMED_MONOKAI, unique_id="terminal")
    return _without_hosts(drawing)


def _run(*words: str) -> str:
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "eidet.cli", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout  # noqa: S603


def _without_hosts(drawing: str) -> str:
    """The same with fonts of the machine: none is fetched from elsewhere."""
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r"\s*<!--.*?-->", "", drawing, flags=re.DOTALL)
    return drawing.replace("Fira Code, monospace", FONT.replace('"', ""))


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
