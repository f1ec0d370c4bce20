"""Who may do what: rights and scopes on every route, keys that come and go, hosts and origins, limits."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.servers.served import Running, serve_in_thread

from eidet import Client, Misconfigured, NotFound, Refused
from eidet.server.access import KeyRing, Right, add_key, list_keys, remove_key
from eidet.server.server_settings import ServerSettings

BODY = {"memories": [{"text": "Ann lives in Lisbon"}]}


class Keyed(NamedTuple):
    server: Running
    file: Path
    all: str  # a key with all rights in acme
    root: str  # one with all rights everywhere

    def post_count(self, key: str) -> httpx.Response:
        with self.server.http(key) as http:
            return http.post("/v1/count", json={}, params={"scope": "acme"})


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys = [add_key(file, name, [scope], list(Right)) for name, scope in (("all", "acme"), ("root", "**"))]
    with serve_in_thread(keys=file) as server:
        yield Keyed(server, file, *keys)


def test_a_whole_scope_must_be_named_to_go(keyed: Keyed) -> None:
    for key in (keyed.all, keyed.root):
        with keyed.server.http(key) as http:
            answer = http.post("/v1/forget", json={"everything": True})
        assert (answer.status_code, answer.json()["type"]) == (403, "refused")


def test_the_history_says_which_key_acted(keyed: Keyed) -> None:
    with Client(keyed.server.url, key=keyed.all) as client:
        record: Any = client.remember("written by a key", scope="acme")
        client.revise(record.id, text="changed by a key", scope="acme")
        assert client.history(record.id, scope="acme")[-1].by == "all"
        assert client.forget(record.id, scope="acme").receipt.by == "all"  # type: ignore[union-attr]


def test_keys_come_and_go_without_a_restart(keyed: Keyed) -> None:
    guest = add_key(keyed.file, "guest", ["acme"], ["read"])
    assert keyed.post_count(guest).status_code == 200
    remove_key(keyed.file, "guest")
    assert keyed.post_count(guest).status_code == 401
    assert keyed.post_count(keyed.all).status_code == 200


class RevokedMeanwhile(type(Path())):  # type: ignore[misc]
    """A keys file that somebody changes right after it was read for the first time."""

    def read_text(self, *given: Any, **named: Any) -> str:
        text = super().read_text(*given, **named)
        self.write_text("")
        return str(text)


def test_a_key_that_is_revoked_while_the_server_starts_is_not_valid(tmp_path: Path) -> None:
    file = RevokedMeanwhile(tmp_path / "keys.toml")
    file.write_text("")
    secret = add_key(Path(file), "guest", ["acme"], ["read"])
    ring = KeyRing(file)
    assert ring.find(secret) is None


def test_a_damaged_keys_file_lets_nobody_in_until_it_is_mended(keyed: Keyed) -> None:
    good = keyed.file.read_text()
    keyed.file.write_text(good + "\n[[key]\n")
    try:
        answer = keyed.post_count(keyed.all)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert str(keyed.file) not in answer.text
    finally:
        keyed.file.write_text(good)
    assert keyed.post_count(keyed.all).status_code == 200


def test_a_keys_file_keeps_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    secret = add_key(file, 'b"o\\b', ["a b", "**"], ["read"])
    assert secret not in file.read_text()
    assert hashlib.sha256(secret.encode()).hexdigest() in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("# ours\n\n" + file.read_text() + "\n# the second\n[[key]]\nname='plain'\nscopes=['x']\n"
                    "rights=['admin']\nkey='trial-key'\ncontext_tokens = 7\n")  # fmt: skip
    assert [key.caller.name for key in list_keys(file)] == ['b"o\\b', "plain"]
    ring = KeyRing(file)
    found, plain = ring.find(secret), ring.find("trial-key")
    assert found is not None
    assert found.sees_all
    assert plain is not None
    assert plain.limits.context_tokens == 7
    assert ring.find(secret[:-1]) is None
    with pytest.raises(Refused):
        add_key(file, "plain", ["x"], ["read"])
    remove_key(file, 'b"o\\b')
    assert ring.find(secret) is None
    assert [key.caller.name for key in list_keys(file)] == ["plain"]
    assert file.read_text().startswith("# ours")
    with pytest.raises(NotFound):
        remove_key(file, "nobody")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("key = 3", "key: .* list"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']", "either hash or key"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']\nkey='12345678'\nhash='sha256:00'", "either hash"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']\nkey='short'", "at least 8"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']\nhash='md5:00'", "64 hexadecimal"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['fly']\nkey='12345678'", "rights.0: .*read"),
        ("[[key]]\nname='a'\nscopes=['x//y']\nrights=['read']\nkey='12345678'", "scope"),
        ("[[key]]\nname='a'\nscopes='x'\nrights=['read']\nkey='12345678'", "scopes"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']\nkey='12345678'\npace=1", "pace: .*not permitted"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']\nkey='12345678'\nbody_bytes=0", "greater than 0"),
        ("[[key]]\nname=''\nscopes=['x']\nrights=['read']\nkey='12345678'", "name"),
        ("[[key]]\nname='a'\nscopes=['x']\nrights=['read']\nkey='12345678'\n" * 2, "two keys"),
        ("[[", "not TOML"),
    ],
)
def test_a_wrong_keys_file_says_what_is_wrong(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(text)
    with pytest.raises(Misconfigured, match=why) as raised:
        list_keys(file)
    assert "12345678" not in str(raised.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_machines_come_in_with_keys_only(host: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="--keys"):
        ServerSettings(host=host).check()
    ServerSettings(host=host, keys=tmp_path / "keys.toml").check()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.8"])
def test_this_machine_needs_none(host: str) -> None:
    ServerSettings(host=host).check()


HOSTS = {
    "127.0.0.1": True,
    "localhost:99": True,
    "[::1]:80": True,
    "evil.example": False,
    "localhost.evil.example": False,
    "127.0.0.1.evil.example": False,
    "10.0.0.1": False,
    "box.local:8765": True,  # allowed by name
}


@pytest.fixture(scope="module")
def named() -> Iterator[Running]:
    with serve_in_thread(allow_hosts=("box.local",), cors_origins=("https://app.example",)) as server:
        yield server


@pytest.mark.parametrize("host", HOSTS)
def test_only_its_own_names_reach_it(named: Running, host: str) -> None:
    answer = named.shared.post("/v1/count", json={}, headers={"Host": host})
    assert answer.status_code == (200 if HOSTS[host] else 421)


MALFORMED = (
    *("[::1]evil.example", "[::1", "::1", "localhost:", "localhost:99x", "a b"),
    *("localhost/x", "evil@localhost", ""),
)


@pytest.mark.parametrize("host", MALFORMED)
def test_a_host_that_can_be_read_in_two_ways_is_refused(named: Running, host: str) -> None:
    answer = named.shared.post("/v1/count", json={}, headers={"Host": host})
    assert (answer.status_code, answer.json()["type"]) == (400, "bad_host")


@pytest.mark.parametrize("second", ["localhost", "evil.example", ""])
def test_a_second_host_is_refused(named: Running, second: str) -> None:
    for hosts in (("127.0.0.1", second), (second, "127.0.0.1")):
        with closing(HTTPConnection("127.0.0.1", named.port, timeout=20)) as asked:
            asked.putrequest("GET", "/v1/health/live", skip_host=True)
            for host in hosts:
                asked.putheader("Host", host)
            asked.endheaders()
            answer = asked.getresponse()
            assert (answer.status, json.load(answer)["type"]) == (400, "bad_host")


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        (None, True),
        ("https://app.example", True),
        ("https://evil.example", False),
        ("null", False),
        ("http://127.0.0.1:1", False),
        ("own", True),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_a_foreign_page_cannot_write(named: Running, origin: str | None, welcome: bool, kind: str) -> None:
    headers = {"Content-Type": kind}
    if origin is not None:
        headers["Origin"] = named.url if origin == "own" else origin
    before = named.memory.core.count()
    content = json.dumps(BODY | {"keep_duplicates": True})
    answer = named.shared.post("/v1/memories", content=content, headers=headers)
    if welcome and kind == "application/json":
        assert answer.status_code == 201
    else:
        assert answer.status_code == (422 if welcome else 403)
        assert named.memory.core.count() == before
    allowed = answer.headers.get("access-control-allow-origin")
    assert allowed == ("https://app.example" if origin == "https://app.example" else None)


def test_a_page_that_is_allowed_may_ask_first(named: Running) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    with named.http() as http:
        good = http.options("/v1/recall", headers=asked | {"Origin": "https://app.example"})
        bad = http.options("/v1/recall", headers=asked | {"Origin": "https://evil.example"})
    assert good.status_code == 200
    assert good.headers["access-control-allow-origin"] == "https://app.example"
    assert bad.status_code in (400, 403)
    assert "access-control-allow-origin" not in bad.headers


def write_limited(file: Path, **limits: float) -> str:
    key = add_key(file, "limited", ["**"], list(Right))
    text = "".join(f"{name} = {value}\n" for name, value in limits.items())
    file.write_text(file.read_text().replace("[[key]]\n", f"[[key]]\n{text}"))
    return key


def test_a_key_has_limits(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    key = write_limited(file, body_bytes=2000, records_per_call=3, context_tokens=100)
    with serve_in_thread(keys=file) as server, server.http(key) as http:
        large = http.post("/v1/memories", json={"memories": [{"text": "x" * 3000}]})
        assert (large.status_code, large.json()["type"]) == (413, "too_large")
        endless = http.post("/v1/memories", content=(b" " * 500 for _ in range(100)))
        assert endless.status_code == 413
        many = http.post("/v1/memories", json={"memories": [{"text": f"{n}"} for n in range(4)]})
        assert (many.status_code, many.json()["field"]) == (422, "body.memories")
        for path, body in (
            ("/v1/find", {"limit": 4}),
            ("/v1/recall", {"limit": 4}),
            ("/v1/get", {"ids": ["a"] * 4}),
        ):
            assert http.post(path, json=body).json()["type"] == "too_many_records"
        wide = http.post("/v1/context", json={"query": "x", "budget": 101, "limit": 3})
        assert (wide.status_code, wide.json()["field"]) == (422, "body.budget")
        assert http.post("/v1/context", json={"query": "x", "budget": 100, "limit": 3}).status_code == 200
        assert server.memory.core.count() == 0


def test_a_key_that_is_too_fast_is_told_when_to_go_on(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    key = write_limited(file, requests_per_second=5)
    with serve_in_thread(keys=file) as server, server.http(key) as http:
        late: list[httpx.Response] = []
        for _ in range(200):  # as many as it takes a slow machine to be too fast
            answer = http.post("/v1/count", json={})
            late += [answer] if answer.status_code == 429 else []
            if len(late) == 5:
                break
        assert len(late) == 5
        assert late[0].headers["retry-after"] == "1"
        assert http.get("/v1/health/live").status_code in (200, 429)
        time.sleep(0.5)
        with Client(server.url, key=key) as client:  # waits as it is told
            assert [client.count() for _ in range(3)] == [0, 0, 0]


def test_what_is_given_by_name_of_a_place_is_not_leaked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "keys.toml"
    key = add_key(file, "one", ["acme"], ["read"])
    with serve_in_thread(keys=file) as server, server.http(key) as http:
        told = [
            http.post("/v1/recall", params={"scope": "acme"}, json={"query": 3}),
            http.post("/v1/recall", params={"scope": "other"}, json={"query": "x"}),
            http.get("/nothing", params={"key": key}),
            http.post("/v1/load", content=b"x"),
        ]
    for answer in told:
        assert key not in answer.text
    assert key not in caplog.text
