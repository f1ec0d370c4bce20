"""What every route promises: ETags, keys that are used once, pages, gzip, request ids, one error shape."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers.served import Running, serve_in_thread

from eidet.server.rest.once import DAY, PREFIX
from eidet.store import SETTINGS, verbs

ONE = {"memories": [{"text": "Ann lives in Lisbon", "id": "home"}]}


@pytest.fixture
def http(server: Running) -> httpx.Client:
    server.memory.core.forget(everything=True, scope="default", for_good=False)
    return server.shared


def store(http: httpx.Client, *texts: str, **more: Any) -> list[dict[str, Any]]:
    body = {"memories": [{"text": text, **more} for text in texts], "again": True}
    answer = http.post("/v1/memories", json=body)
    assert answer.status_code == 201, answer.text
    found: list[dict[str, Any]] = answer.json()["memories"]
    return found


def test_an_etag_guards_a_change(http: httpx.Client) -> None:
    (one,) = store(http, "Ann lives in Lisbon", id="home")
    read = http.get("/v1/memories/home")
    tag = read.headers["etag"]
    assert tag == one["etag"] == read.json()["etag"]
    changed = http.patch("/v1/memories/home", json={"text": "Ann lives in Porto"}, headers={"If-Match": tag})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    for method, body in (("PATCH", {"text": "Ann lives in Rome"}), ("DELETE", None)):
        late = http.request(method, "/v1/memories/home", json=body, headers={"If-Match": tag})
        assert (late.status_code, late.json()["type"]) == (412, "changed")
    assert http.get("/v1/memories/home").json()["text"] == "Ann lives in Porto"
    some = f'"0-0", {changed.headers["etag"]}'
    assert http.patch("/v1/memories/home", json={"who": "ann"}, headers={"If-Match": some}).status_code == 200
    assert http.delete("/v1/memories/home", headers={"If-Match": "*"}).json()["count"] == 1
    assert http.delete("/v1/memories/home", headers={"If-Match": "*"}).status_code == 404


def test_an_etag_is_not_that_of_a_record_that_came_back(http: httpx.Client) -> None:
    (old,) = store(http, "Ann lives in Lisbon", id="home")
    http.delete("/v1/memories/home", params={"for_good": False})
    (new,) = store(http, "Ann lives in Lisbon", id="home")
    assert old["version"] == new["version"]
    for method in ("PATCH", "DELETE"):
        body = {"text": "x"} if method == "PATCH" else None
        late = http.request(method, "/v1/memories/home", json=body, headers={"If-Match": old["etag"]})
        assert late.status_code == 412


def test_of_many_who_change_one_version_one_succeeds(http: httpx.Client) -> None:
    (one,) = store(http, "zero", id="home")
    guarded = {"If-Match": one["etag"]}

    def change(number: int) -> int:
        if number % 2:
            return http.delete("/v1/memories/home", headers=guarded).status_code
        return http.patch("/v1/memories/home", json={"text": f"{number}"}, headers=guarded).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(change, range(16)))
    assert answers.count(200) == 1
    assert set(answers) <= {200, 404, 412}


def test_null_resets_a_field_and_absence_leaves_it(http: httpx.Client) -> None:
    store(http, "x", id="home", who="ann", importance=0.9, meta={"floor": 3}, session="s")
    changed = http.patch("/v1/memories/home", json={"who": None, "clear": ["importance"]}).json()
    assert (changed["who"], changed["importance"], changed["meta"], changed["session"]) == (
        None,
        0.5,
        {"floor": 3},
        "s",
    )


def test_a_list_is_stored_as_a_whole_or_not_at_all(http: httpx.Client) -> None:
    bad = http.post("/v1/memories", json={"memories": [{"text": "good"}, {"text": " "}]})
    assert (bad.status_code, bad.json()["type"]) == (422, "bad_input")
    assert http.post("/v1/count", json={}).json()["count"] == 0
    mixed = [{"text": "a fact"}, {"role": "user", "content": "hello", "session": "s1"}, {"data": {"x": 1}}]
    stored = http.post("/v1/memories", json={"memories": mixed})
    assert [one["kind"] for one in stored.json()["memories"]] == ["fact", "message", "fact"]


ONCE: dict[str, dict[str, Any]] = {
    "a fact": {"memories": [{"text": "Bob likes tea"}]},
    "a message": {"memories": [{"role": "user", "content": "hello"}]},
    "a list": {"memories": [{"text": "one"}, {"role": "user", "content": "two"}, {"text": "one"}]},
    "an id": {"memories": [{"text": "Bob likes tea", "id": "tea"}]},
    "a key": {"memories": [{"text": "Bob likes tea", "key": "the tea of Bob"}]},
    "with a time to live": {"memories": [{"text": "soon gone", "ttl": 1000, "importance": 0.2}]},
    "that expires": {"memories": [{"text": "gone in an hour", "expires_in": 3600}]},
}


@pytest.mark.parametrize("what", ONCE)
def test_a_retry_never_doubles(http: httpx.Client, server: Running, what: str) -> None:
    key = {"Idempotency-Key": f"retry of {what}"}
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: http.post("/v1/memories", json=ONCE[what], headers=key), range(6)))
    assert {answer.status_code for answer in answers} == {201}
    told = {
        json.dumps([(one["id"], one["version"]) for one in answer.json()["memories"]]) for answer in answers
    }
    assert len(told) == 1
    records = server.memory.core.find(limit=100)
    assert len(records) == len({one["text"] for one in answers[0].json()["memories"]})
    assert {record.version for record in records} == {1}
    assert http.post("/v1/memories", json=ONCE[what], headers=key).headers["idempotent-replayed"] == "true"


def test_a_retry_does_not_undo_what_came_after(http: httpx.Client) -> None:
    for id in ("home", None):
        key = {"Idempotency-Key": f"before a change {id}"}
        body = {
            "memories": [{"text": f"Ann lives in Lisbon {id}"} | ({"id": id} if id else {})],
            "again": True,
        }
        first = http.post("/v1/memories", json=body, headers=key).json()["memories"][0]
        http.patch(f"/v1/memories/{first['id']}", json={"text": "Ann lives in Porto", "again": True})
        again = http.post("/v1/memories", json=body, headers=key).json()["memories"][0]
        assert (again["id"], again["version"], again["text"]) == (first["id"], 2, "Ann lives in Porto")
        http.delete(f"/v1/memories/{first['id']}", params={"for_good": False})
        gone = http.post("/v1/memories", json=body, headers=key)
        assert (gone.status_code, gone.json()["type"]) == (410, "gone")
        assert http.get(f"/v1/memories/{first['id']}").status_code == 404


def test_a_key_stands_for_one_request(http: httpx.Client) -> None:
    key = {"Idempotency-Key": "one request"}
    assert http.post("/v1/memories", json=ONE, headers=key).status_code == 201
    other = http.post("/v1/memories", json={"memories": [{"text": "else"}]}, headers=key)
    assert (other.status_code, other.json()["type"]) == (422, "key_reused")
    elsewhere = http.post("/v1/memories", json=ONE, headers=key, params={"scope": "elsewhere"})
    assert elsewhere.status_code == 422


def test_feedback_is_counted_once(http: httpx.Client, server: Running) -> None:
    store(http, "Bob likes tea", id="tea")
    for _ in range(3):
        body = {"useful": True, "id": "tea", "by": "once"}
        assert http.post("/v1/feedback", json=body, headers={"Idempotency-Key": "f"}).status_code == 204
    judged = server.memory.core.admin.stats()["retrieval"]["judged_by"]["once"]
    assert sum(value for value in judged.values() if isinstance(value, int)) == 1


def pages(http: httpx.Client, body: dict[str, Any], between: Any = None) -> list[str]:
    found, cursor = [], None
    while True:
        answer = http.post("/v1/find", json=body | ({} if cursor is None else {"cursor": cursor}))
        assert answer.status_code == 200, answer.text
        found += [one["id"] for one in answer.json()["memories"]]
        cursor = answer.json()["cursor"]
        if cursor is None:
            return found
        if between is not None:
            between(len(found))


@pytest.mark.parametrize(
    "order", ["occurred", "-occurred", "created", "-importance", "importance", "uses", "-step"]
)
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_pages_hold_each_record_once_in_order(
    http: httpx.Client, server: Running, order: str, limit: int
) -> None:
    for number in range(14):
        server.memory.core.remember(
            f"note {number}",
            id=f"{number}",
            occurred=1000 + number // 4,
            importance=number % 3 / 2,
            step=number % 5,
        )
    whole = [record.id for record in server.memory.core.find(order=order, limit=100)]
    assert pages(http, {"order": order, "limit": limit}) == whole


@pytest.mark.parametrize("order", ["-occurred", "occurred", "-created", "importance"])
def test_pages_stay_in_step_while_others_write(http: httpx.Client, server: Running, order: str) -> None:
    """What is there all along comes exactly once, whatever comes and goes meanwhile."""
    core = server.memory.core
    for number in range(20):
        core.remember(
            f"note {number}", id=f"{number:02}", occurred=1000 + number // 3, importance=number // 5 / 4
        )
    gone: set[str] = set()

    def disturb(seen: int) -> None:
        core.remember(f"new {seen}", id=f"new {seen}", occurred=2000 + seen, importance=0.3)
        core.remember(f"old {seen}", id=f"old {seen}", occurred=seen, importance=0.9)
        core.remember(f"same {seen}", id=f"same {seen}", occurred=1003, importance=0.5)
        gone.add(f"{seen % 20:02}")
        core.forget(f"{seen % 20:02}", for_good=False)

    found = pages(http, {"order": order, "limit": 3}, disturb)
    lasting = {f"{number:02}" for number in range(20)} - gone
    assert len(found) == len(set(found))
    assert lasting <= set(found)


def test_very_many_with_one_time_come_once_each(http: httpx.Client, server: Running) -> None:
    server.memory.core.remember([f"note {number}" for number in range(1300)], occurred=1000)
    found = pages(http, {"limit": 300})
    assert len(found) == len(set(found)) == 1300


def test_a_cursor_belongs_to_its_question(http: httpx.Client) -> None:
    store(http, "one", "two", "three")
    cursor = http.post("/v1/find", json={"limit": 1}).json()["cursor"]
    for body in ({"kinds": ["fact"]}, {"order": "created"}, {"where": {"who": "x"}}):
        assert http.post("/v1/find", json=body | {"cursor": cursor, "limit": 1}).status_code == 422
    assert http.post("/v1/find", json={"cursor": cursor}, params={"scope": "x"}).status_code == 422
    for bad in ("", "x", "W10=", "bnVsbA==", cursor[:-4], "[]"):
        assert http.post("/v1/find", json={"cursor": bad}).status_code == 422


def test_scopes_come_in_pages(http: httpx.Client, server: Running) -> None:
    for number in range(5):
        server.memory.core.remember("x", scope=f"page/{number}")
    names, cursor = [], None
    while True:
        params: dict[str, Any] = {"under": "page", "limit": 2} | (
            {} if cursor is None else {"cursor": cursor}
        )
        answer = http.get("/v1/scopes", params=params).json()
        names += [one["scope"] for one in answer["scopes"]]
        cursor = answer["cursor"]
        if cursor is None:
            break
    assert names == [f"page/{number}" for number in range(5)]


def test_a_preview_changes_nothing_and_forgetting_gives_a_receipt(http: httpx.Client) -> None:
    store(http, "the code is 1234", id="a")
    store(http, "tea is green", id="b")
    preview = http.post("/v1/forget", json={"ids": ["a"], "preview": True}).json()
    assert (preview["count"], [one["id"] for one in preview["preview"]["asked"]]) == (1, ["a"])
    assert preview["receipt"] is None
    assert http.post("/v1/count", json={}).json()["count"] == 2
    gone = http.post("/v1/forget", json={"where": {"id": "a"}, "why": "she asked"}).json()
    assert (gone["count"], gone["receipt"]["why"], gone["receipt"]["ids"]) == (1, "she asked", ["a"])
    refused = http.post("/v1/memories", json={"memories": [{"text": "the code is 1234"}]})
    assert (refused.status_code, refused.json()["type"]) == (403, "refused")
    whole = http.post("/v1/forget", json={"everything": True})
    assert (whole.status_code, whole.json()["type"]) == (403, "refused")
    assert (
        http.post("/v1/forget", json={"everything": True}, params={"scope": "default"}).json()["count"] == 1
    )


def test_large_answers_are_packed_for_those_who_take_it(http: httpx.Client, tmp_path: Path) -> None:
    store(http, *[f"a note of some length about the number {number}" for number in range(300)])
    plain = http.post("/v1/find", json={"limit": 300}, headers={"Accept-Encoding": "identity"})
    address, takes = http.base_url.join("/v1/find"), {"Accept-Encoding": "gzip"}
    with httpx.stream("POST", address, json={"limit": 300}, headers=takes) as packed:
        raw = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(raw) == plain.content
    assert len(raw) * 3 < len(plain.content)
    exports = [http.get("/v1/export", headers={"Accept-Encoding": how}) for how in ("gzip", "identity")]
    assert exports[0].headers["content-encoding"] == "gzip"
    lines = [answer.text.splitlines()[1:-1] for answer in exports]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 300


def test_every_answer_has_a_request_id(http: httpx.Client) -> None:
    for path in ("/v1/health/live", "/v1/memories/none", "/none"):
        assert len(http.get(path).headers["x-request-id"]) >= 8
    assert http.get("/v1/stats", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    forged = http.get("/v1/stats", headers={"X-Request-Id": "a b" * 50}).headers["x-request-id"]
    assert forged != "a b" * 50


@pytest.mark.parametrize(
    ("method", "path", "how", "status", "type", "field"),
    [
        ("POST", "/v1/recall", {"json": {"query": 3}}, 422, "bad_input", "body.query.str"),
        ("POST", "/v1/recall", {"json": {"quary": "x"}}, 422, "bad_input", "body.quary"),
        ("POST", "/v1/recall", {"content": b"{"}, 422, "bad_input", "body.1"),
        ("POST", "/v1/recall", {"content": b"\xff"}, 422, "bad_input", "body"),
        ("POST", "/v1/recall", {"json": {"where": {"nonsense": 1}}}, 422, "bad_input", None),
        (
            "POST",
            "/v1/recall",
            {"json": {"where": {"conditions": [["x", "="]]}}},
            422,
            "bad_input",
            None,
        ),
        ("POST", "/v1/recall", {"json": {}, "params": {"scope": "a//b"}}, 422, "bad_input", None),
        ("POST", "/v1/memories", {"json": {"memories": []}}, 422, "bad_input", "body.memories"),
        ("POST", "/v1/memories", {"json": ONE, "params": {"scope": "a/**"}}, 422, "bad_input", None),
        ("GET", "/v1/memories/none", {}, 404, "not_found", None),
        ("GET", "/v1/memories/none/history", {}, 404, "not_found", None),
        ("PATCH", "/v1/memories/none", {"json": {"text": "x"}}, 404, "not_found", None),
        ("DELETE", "/v1/memories/none", {}, 404, "not_found", None),
        ("POST", "/v1/load", {"content": b"hello"}, 422, "damaged_export", "body"),
        ("GET", "/none", {}, 404, "not_found", None),
        ("PUT", "/v1/memories/x", {}, 405, "method_not_allowed", None),
    ],
)
def test_errors_have_one_shape(
    http: httpx.Client, method: str, path: str, how: dict[str, Any], status: int, type: str, field: str | None
) -> None:
    if "content" in how:
        how = how | {"headers": {"Content-Type": "application/json"}}
    answer = http.request(method, path, **how)
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"type", "message", "hint", "field"}
    assert (answer.json()["type"], answer.json()["field"]) == (type, field)
    if status == 405:
        assert answer.headers["allow"] == "DELETE, GET, PATCH"


def test_a_field_that_is_not_there_is_named_with_a_hint(http: httpx.Client) -> None:
    body = http.post("/v1/recall", json={"query": "x", "scope": "ann"}).json()
    assert (body["field"], body["message"]) == ("body.scope", "there is no field body.scope")
    assert "?scope=" in body["hint"]
    assert "/docs" in http.post("/v1/recall", json={"query": "x", "top_k": 3}).json()["hint"]


def test_the_longest_reason_that_an_address_may_have_arrives(http: httpx.Client, server: Running) -> None:
    record = server.memory.core.remember("to be gone")
    longest = http.delete(f"/v1/memories/{record.id}", params={"why": "\U0001f60d" * 1_000})
    assert longest.status_code == 200
    assert http.delete("/v1/memories/other", params={"why": "x" * 1_001}).status_code == 422


def test_one_memory_needs_no_list(running: Running) -> None:
    answer = running.shared.post(
        "/v1/memories", json={"text": "Bea lives in Lyon", "id": "bea", "again": True}
    )
    assert answer.status_code == 201
    assert running.memory.core.get("bea").text == "Bea lives in Lyon"  # type: ignore[union-attr]
    both = running.shared.post("/v1/memories", json={"text": "one", "memories": [{"text": "two"}]})
    assert (both.status_code, both.json()["type"]) == (422, "bad_input")


def test_pages_answer_head(running: Running) -> None:
    for page in ("/", "/docs"):
        answer = running.shared.head(page)
        assert (answer.status_code, answer.content) == (200, b"")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/recall", "/v1/find", "/v1/forget", "/v1/facts/about"])
@pytest.mark.parametrize(
    "said", ["application/x-www-form-urlencoded", "text/plain", None], ids=["form", "text", "none"]
)
def test_a_body_that_is_not_marked_as_json_is_told_how(
    http: httpx.Client, path: str, said: str | None
) -> None:
    headers = {} if said is None else {"Content-Type": said}
    answer = http.post(path, content=json.dumps(ONE).encode(), headers=headers)
    assert answer.status_code == 422
    assert answer.json() == {
        "type": "bad_input",
        "message": "the body must be a JSON object",
        "hint": "send the header Content-Type: application/json",
        "field": "body",
    }
    listed = http.post(path, json=[1])
    assert "Content-Type" not in listed.json()["hint"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl: apt-get install curl")
def test_the_lines_for_curl_in_the_guide_work(server: Running) -> None:
    page = (Path(__file__).parents[3] / "docs" / "operate" / "server.md").read_text()
    block = page.partition("## REST\n\n```sh\n")[2].partition("```")[0]
    answers = []
    for line in block.splitlines():
        words = shlex.split(line.replace("http://127.0.0.1:8765", server.url))
        done = subprocess.run(words, capture_output=True, check=True, timeout=30)
        answers.append(json.loads(done.stdout))
    ready, stored, recalled, sessions = answers
    assert ready == {"status": "ok"}
    assert stored["memories"][0]["text"] == recalled["hits"][0]["record"]["text"] == "Ann lives in Lisbon"
    assert sessions == {"sessions": []}


@pytest.mark.parametrize("named", [{}, {"key": "the tea of Eve"}, {"id": "tea of Eve"}])
def test_a_retry_does_not_bring_back_what_was_forgotten(
    http: httpx.Client, server: Running, named: dict[str, str]
) -> None:
    """The mark of what was asked goes with its record; the key stays used."""
    headers, memory = {"Idempotency-Key": f"forgotten {named}"}, server.memory.core
    body = {"memories": [{"text": f"Eve likes tea, as told by {named}", **named}]}
    (stored,) = http.post("/v1/memories", json=body, headers=headers).json()["memories"]
    memory.forget(stored["id"])
    held = memory.parts.store.values(SETTINGS, prefix="lease:once:").values()
    assert [one.partition(" ")[2].partition(".")[0] for one in held] == [""] * len(held)
    again = http.post("/v1/memories", json=body, headers=headers)
    assert (again.status_code, again.json()["type"]) == (410, "gone")
    assert memory.get(stored["id"]) is None


def test_a_new_key_clears_old_ones(tmp_path: Path) -> None:
    with serve_in_thread(tmp_path / "agent.db") as running:
        parts = running.memory.parts
        marks = ((f"key {n}", parts.key_ids.mark(f"\0key {n}".encode())) for n in count())
        key, own = next(found for found in marks if found[1].startswith("000"))
        now = parts.clock()
        for name, until in (("00old", now - 1), ("00young", now + DAY), ("11old", now - 1)):
            assert verbs.take_lease(parts.store, PREFIX + name, "x", now=now - DAY, until=until)
        body = {"memories": [{"text": "Ann drinks tea"}]}
        answer = running.shared.post("/v1/memories", json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 201
        left = verbs.get_settings(parts.store, f"lease:{PREFIX}")
        assert {name.rpartition(":")[2] for name in left} == {own, "00young", "11old"}
