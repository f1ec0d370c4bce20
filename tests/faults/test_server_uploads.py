"""A server that is killed while it takes or sends a memory leaves no content in the temporary folder."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.servers.served import ServerProcess
from tests.timing import until

from eidet import Client, Memory

COUNT = 200
SECRET = "the blue heron nests at Lower Mill"


def holds_secret(folder: Path) -> bool:
    return any(SECRET.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def has_received(process: ServerProcess, folder: Path) -> bool:
    """Whether the server has written what came, under a name or not."""
    if holds_secret(folder):
        return True
    for handle in Path(f"/proc/{process.child.pid}/fd").iterdir():
        try:
            if str(folder) in str(handle.readlink()) and SECRET.encode() in handle.read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files without a name need /proc")
def test_a_server_killed_during_an_upload_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = ServerProcess(str(tmp_path / "a.db"), tmp_path, env=[f"TMPDIR={folder}"])
    process.start()
    try:
        with socket.create_connection(("127.0.0.1", process.port)) as line:
            head = "POST /v1/load HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000\r\n\r\n"
            line.sendall(head.encode() + (SECRET + "\n").encode() * 60_000)
            until(lambda: has_received(process, folder))
            process.kill()
    finally:
        process.kill()
    assert not holds_secret(folder)


def test_a_server_removes_what_one_that_was_killed_had_left(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    with Memory(tmp_path / "a.db", embedder="hashing:64") as memory:
        for number in range(COUNT):
            memory.remember(f"{SECRET} {number}", meta={"padding": "x" * 50_000})
    first = ServerProcess(str(tmp_path / "a.db"), tmp_path, env=[f"TMPDIR={folder}"])
    first.start()
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # whoever asks does not read the answer
        line.connect(("127.0.0.1", first.port))
        line.sendall(b"GET /v1/export?scope=** HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try:
            until(lambda: holds_secret(folder))
        finally:
            first.kill()
    assert holds_secret(folder)
    second = ServerProcess(str(tmp_path / "a.db"), tmp_path, env=[f"TMPDIR={folder}"])
    second.start()
    try:
        until(lambda: not holds_secret(folder))
        with Client(second.url) as client:
            assert client.export(tmp_path / "all.jsonl") == COUNT
        assert not holds_secret(folder)
    finally:
        second.stop()
