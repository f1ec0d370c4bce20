"""Webhooks: signed, in order, at least once; a receiver that fails holds nobody up and is told of."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers.receiver import SECRET, Receiver
from tests.servers.served import Running, ServerProcess, serve_in_thread
from tests.timing import until

from eidet import EidetError, Memory, Misconfigured, Refused
from eidet.server.webhooks import Webhook, find_address, read_webhooks


@pytest.fixture
def receive() -> Iterator[Callable[..., Receiver]]:
    made: list[Receiver] = []

    def make(*given: Any, **named: Any) -> Receiver:
        made.append(Receiver(*given, **named))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def hook(receiver: Receiver, **more: Any) -> Webhook:
    given: dict[str, Any] = {"name": "crm", "url": receiver.url, "secret": SECRET, "seconds": 5.0}
    return Webhook(**given | more)


def remember(server: Running, *texts: str, scope: str = "default") -> None:
    memories = {"memories": [{"text": text} for text in texts]}
    assert server.shared.post("/v1/memories", params={"scope": scope}, json=memories).status_code == 201


def test_changes_arrive_signed_and_in_order(receive: Callable[..., Receiver]) -> None:
    receiver = receive()
    with serve_in_thread(webhooks=(hook(receiver),)) as server:
        for number in range(5):
            remember(server, f"note {number}")
        remember(server, "of another scope", scope="other")
        until(lambda: len(receiver.texts) >= 5)
        [first, *_] = server.shared.post("/v1/find", json={}).json()["memories"]
        server.shared.delete(f"/v1/memories/{first['id']}")
        until(lambda: receiver.messages[-1]["data"]["changes"][-1]["what"] == "gone")
    assert receiver.texts == [f"note {number}" for number in range(5)]
    assert receiver.messages[0]["type"] == "changes"
    assert {message["data"]["scope"] for message in receiver.messages} == {"default"}


def test_a_webhook_of_all_below_a_scope_hears_of_new_scopes_and_not_of_what_was_before(
    receive: Callable[..., Receiver], tmp_path: Path
) -> None:
    receiver, place = receive(), tmp_path / "m.db"
    with Memory(place, embedder="hashing:64") as memory:
        memory.remember("before", scope="acme/ann")
    with serve_in_thread(place, webhooks=(hook(receiver, scope="acme/**"),)) as server:
        remember(server, "one", scope="acme/ann")
        remember(server, "hidden", scope="other")
        remember(server, "two", scope="acme/bob")
        until(lambda: len(receiver.texts) >= 2)
        assert sorted(receiver.texts) == ["one", "two"]


def test_a_receiver_that_refuses_is_asked_again_with_the_same_id(receive: Callable[..., Receiver]) -> None:
    refusing = {status: receive(partial(refuse_first, status)) for status in (500, 404, 302, 429)}
    hooks = tuple(hook(receiver, name=f"crm-{status}") for status, receiver in refusing.items())
    with serve_in_thread(webhooks=hooks) as server:
        remember(server, "note")
        until(lambda: all(len(receiver.messages) >= 2 for receiver in refusing.values()))
    for status, receiver in refusing.items():
        assert receiver.texts == ["note", "note"], status
        assert receiver.ids[0] == receiver.ids[1], status


def refuse_first(status: int, number: int) -> int:
    return status if number == 0 else 200


def test_a_receiver_that_hangs_holds_nobody_up_and_is_told_of_until_it_answers(
    receive: Callable[..., Receiver],
) -> None:
    receiver = receive(lambda number: None if number == 0 else 204)
    with serve_in_thread(webhooks=(hook(receiver, seconds=0.5),)) as server:
        remember(server, "first")
        until(lambda: bool(receiver.messages))
        remember(server, "second")  # while the receiver hangs

        def health() -> dict[str, Any]:
            return dict(server.shared.get("/v1/health").json())

        until(lambda: health()["state"] == "degraded")
        told = health()["webhooks"]["crm"]
        assert (told["state"], told["failures"]) == ("down", 1)
        until(lambda: health()["state"] == "up")
    assert receiver.texts[0] == "first"
    assert receiver.texts[-2:] == ["first", "second"]


def test_a_receiver_that_was_away_gets_all_when_it_is_back(receive: Callable[..., Receiver]) -> None:
    receiver = receive()
    receiver.stop()
    with serve_in_thread(webhooks=(hook(receiver),)) as server:
        for number in range(3):
            remember(server, f"note {number}")
        until(lambda: server.shared.get("/v1/health").json()["state"] == "degraded")
        back = receive(port=receiver.port)
        until(lambda: len(back.texts) >= 3, 30)
    assert back.texts == ["note 0", "note 1", "note 2"]


def configure(folder: Path, receiver: Receiver, seconds: int = 1) -> Path:
    file = folder / "eidet.toml"
    lines = ("[[webhook]]", 'name = "crm"', f'url = "{receiver.url}"', f'secret = "{SECRET}"')
    file.write_text("\n".join((*lines, f"seconds = {seconds}\n")))
    return file


def post(http: httpx.Client, text: str) -> None:
    assert http.post("/v1/memories", json={"text": text}).status_code == 201


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find workers")


@needs_proc
def test_of_two_workers_one_sends_and_the_other_goes_on_for_it_when_it_is_killed(
    receive: Callable[..., Receiver], tmp_path: Path
) -> None:
    """The one that is killed waits for the answer of the receiver; the other was stopped until then."""

    def kill(_: int) -> int:
        if receiver.texts.count("first") == 1 and receiver.texts[-1] == "first":
            os.kill(sender, signal.SIGKILL)
            os.kill(other, signal.SIGCONT)
        return 204

    receiver, notes = receive(kill), [f"note {number}" for number in range(12)]
    config = configure(tmp_path, receiver, 3)
    server = ServerProcess(str(tmp_path / "m.db"), tmp_path, "--config", str(config), "--workers", "2")
    server.start()
    try:
        until(lambda: len(server.list_workers()) == 2)
        with httpx.Client(base_url=server.url, timeout=30) as http:
            for text in notes:
                post(http, text)
                time.sleep(0.1)  # so that they go out in several messages
        until(lambda: len(receiver.texts) >= len(notes), 60)
        time.sleep(2)  # several looks of the other worker
        assert receiver.texts == notes
        sender, other = server.list_workers()
        os.kill(other, signal.SIGSTOP)
        with httpx.Client(base_url=server.url, timeout=30) as http:
            post(http, "first")
        until(lambda: len(receiver.texts) >= len(notes) + 2, 60)
        with httpx.Client(base_url=server.url, timeout=30) as http:
            post(http, "second")
        until(lambda: "second" in receiver.texts, 60)
        until(lambda: len({*server.list_workers()} - {sender}) == 2, 60)
        time.sleep(2)  # several looks of both
    finally:
        server.stop()
    assert receiver.texts == [*notes, "first", "first", "second"]
    assert receiver.ids[-3] == receiver.ids[-2]


def test_a_server_that_is_killed_before_it_knows_that_its_message_arrived_sends_it_again(
    receive: Callable[..., Receiver], tmp_path: Path
) -> None:
    """The receiver kills the server while it waits for the answer; what came later follows in order."""
    place = str(tmp_path / "m.db")

    def kill(number: int) -> int:
        if number == 0:
            os.kill(process.child.pid, signal.SIGKILL)
        return 204

    receiver = receive(kill)
    process = ServerProcess(place, tmp_path, "--config", str(configure(tmp_path, receiver)))
    process.start()
    with httpx.Client(base_url=process.url) as http:
        assert http.post("/v1/memories", json={"text": "first"}).status_code == 201
    until(lambda: not process.child.running)
    process.stop()
    with Memory(place, embedder="hashing:64") as memory:
        memory.remember("second")  # while no server runs
    again = ServerProcess(place, tmp_path, "--config", str(tmp_path / "eidet.toml"))
    again.start()
    try:
        until(lambda: "second" in receiver.texts, 60)
    finally:
        again.stop()
    assert receiver.texts == ["first", "first", "second"]


def test_doctor_tells_of_a_receiver_that_fails(receive: Callable[..., Receiver], tmp_path: Path) -> None:
    from eidet.cli.doctor import examine
    from eidet.cli.memory_options import Which

    receiver, place = receive(lambda _: 500), str(tmp_path / "m.db")
    with serve_in_thread(place, webhooks=(hook(receiver),)) as server:
        remember(server, "note")
        until(lambda: server.shared.get("/v1/health").json()["state"] == "degraded")
        for at in (place, server.url):
            found = [one for one in examine(Which(at=at), thorough=False) if one.check == "webhook"]
            assert [one.level for one in found] == ["warning"]
            assert "crm is down: its receiver answered 500" in found[0].message


GOOD = f'name = "a"\nurl = "https://example.org/x"\nsecret = "{SECRET}"\n'
BAD = {
    "http to others": (GOOD.replace("https", "http"), "begins with https://"),
    "another scheme": (GOOD.replace("https", "ftp"), "begins with https://"),
    "no host": (GOOD.replace("example.org", ""), "begins with https://"),
    "a password": (GOOD.replace("example", "ann:secret@example"), "leave user and password out"),
    "a short secret": (GOOD.replace(SECRET, "whsec_c2hvcnQ="), "at least 24 random bytes"),
    "a secret in another form": (GOOD.replace("whsec_", ""), "its secret is whsec_"),
    "a variable that is not set": (GOOD.replace(SECRET, "env:NO_SUCH"), "NO_SUCH"),
    "no secret": (GOOD.rpartition("secret")[0], "secret: Field required"),
    "an unknown field": (GOOD + "sope = 'x'\n", "sope: Extra inputs"),
    "no number": (GOOD + "seconds = 'x'\n", "seconds: Input should be"),
    "too long": (GOOD + "seconds = 600\n", "less than or equal to 60"),
    "no scope": (GOOD + "scope = 'a//b'\n", "scope"),
    "the same name twice": (GOOD + "[[webhook]]\n" + GOOD, "two webhooks have the same name"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_webhook_that_cannot_work_is_told_before_the_server_starts(case: str, tmp_path: Path) -> None:
    text, told = BAD[case]
    file = tmp_path / "eidet.toml"
    file.write_text(f"[[webhook]]\n{text}")
    with pytest.raises(EidetError, match=told) as raised:
        read_webhooks(file)
    assert SECRET not in str(raised.value)


def test_good_ones_are_read_and_keep_their_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "eidet.toml"
    monkeypatch.setenv("HOOK", SECRET)
    file.write_text("[[webhook]]\n" + GOOD.replace(SECRET, "env:HOOK") + "[eidet]\nreview = 'all'\n")
    [one] = read_webhooks(file)
    assert (one.scope, one.private, one.load_key()) == ("default", False, bytes(range(32)))
    assert "HOOK" not in repr(one)
    file.write_text("webhook = 3\n")
    with pytest.raises(Misconfigured):
        read_webhooks(file)


@pytest.mark.parametrize(
    ("url", "private", "goes"),
    [
        ("https://8.8.8.8/x", False, True),
        ("http://127.0.0.1/x", False, True),
        ("http://localhost/x", False, True),
        *((f"https://{host}/x", False, False) for host in ("10.0.0.1", "192.168.1.1", "169.254.169.254")),
        *((f"https://{host}/x", False, False) for host in ("0.0.0.0", "100.64.0.1", "224.0.0.1")),
        *((f"https://[{host}]/x", False, False) for host in ("fd00::1", "fe80::1", "::ffff:10.0.0.1", "::")),
        ("https://0x7f000001/x", False, False),
        ("https://2130706433/x", False, False),
        ("http://10.0.0.1/x", True, True),
    ],
)
def test_addresses_that_are_not_of_the_internet_are_refused(url: str, private: bool, goes: bool) -> None:
    def find() -> str:
        return asyncio.run(find_address(httpx.URL(url), private=private))

    if goes:
        assert find()
    else:
        with pytest.raises(Refused, match="private = true"):
            find()
