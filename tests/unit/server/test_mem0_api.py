"""mem0's API under /mem0: rights, scopes, limits and errors as on every route. mem0 itself is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import rounds
from tests.servers.served import Running, serve_in_thread
from tests.unit.server.access_rows import MEM0, Row

from eidet.server.access import Right, add_key
from eidet.server.mem0.mem0_routes import NOT_OFFERED, ROUTES

ANN = {"filters": {"user_id": "ann"}}


OFFERED = MEM0[: len(ROUTES)]
each_route = pytest.mark.parametrize("route", OFFERED, ids=lambda route: f"{route.method} {route.path}")


class Keyed(NamedTuple):
    server: Running
    keys: dict[str, str]
    http: httpx.Client

    def ask(self, route: Row, who: str, kind: str = "Token", **headers: str) -> httpx.Response:
        return self.http.request(
            route.method,
            route.path_of("home"),
            json=route.body_of("home"),
            params=route.params,
            headers={"Authorization": f"{kind} {self.keys[who]}", **headers},
        )

    def restore(self) -> None:
        for scope in ("mem0/user/ann", "acme/mem0/user/ann"):
            self.server.memory.core.remember("Ann lives in Lisbon", id="home", scope=scope, again=True)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """Callers with one right each, with all of them, and with all of them somewhere else."""
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys = {right.value: add_key(file, right.value, ["mem0"], [right.value]) for right in Right}
    keys["all"] = add_key(file, "all", ["mem0"], list(Right))
    keys["acme"] = add_key(file, "acme", ["acme"], list(Right))
    keys["bob"] = add_key(file, "bob", ["mem0/user/bob"], list(Right))
    file.write_text(file.read_text().replace("[[key]]\n", "[[key]]\nrequests_per_second = 10000\n"))
    with serve_in_thread(keys=file) as server, server.http() as http:
        yield Keyed(server, keys, http)


def test_every_route_is_in_the_table() -> None:
    named = [(route.method, route.path.removeprefix("/mem0")) for route in OFFERED]
    assert named == [(method, path) for method, path, _ in ROUTES]


@each_route
def test_without_a_key_there_is_nothing(keyed: Keyed, route: Row) -> None:
    for said in (None, "Token eidet_wrong", "Token", "Bearer eidet_wrong", f"Basic {keyed.keys['all']}"):
        headers = {} if said is None else {"Authorization": said}
        answer = keyed.http.request(route.method, route.path_of("home"), json=route.body, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (401, "unauthorized")
        assert "needs a key" in answer.json()["detail"]


@each_route
def test_both_ways_to_send_a_key_are_the_same(keyed: Keyed, route: Row) -> None:
    for kind in ("Token", "Bearer", "token"):
        keyed.restore()
        assert keyed.ask(route, "all", kind).status_code == 200


@each_route
def test_a_key_reaches_its_own_scope_and_no_other(keyed: Keyed, route: Row) -> None:
    """A key for another scope works there; a key for another user finds nothing of this one."""
    keyed.restore()
    core = keyed.server.memory.core
    before = core.get("home", scope="mem0/user/ann")
    assert before is not None
    assert keyed.ask(route, "acme").status_code == 200
    foreign = keyed.ask(route, "bob")
    about_ann = "{id}" in route.path or "ann" in str((route.body, route.params)) or "{id}" in str(route.body)
    if about_ann or "{name}" in route.path:
        assert foreign.status_code == 404
        assert "Lisbon" not in foreign.text
    else:
        assert foreign.status_code == 200
        assert "ann" not in foreign.text
    assert keyed.ask(route, "acme", **{"Eidet-Scope": "mem0"}).status_code == 404
    after = core.get("home", scope="mem0/user/ann")
    assert after is not None
    assert (after.text, after.version, after.seq) == (before.text, before.version, before.seq)


def test_a_request_may_name_the_scope(keyed: Keyed) -> None:
    add, listing = OFFERED[1], OFFERED[3]
    keyed.ask(add, "all", **{"Eidet-Scope": "mem0/tenants/acme"})
    found = keyed.ask(listing, "all", **{"Eidet-Scope": "mem0/tenants/acme"}).json()
    assert [one["memory"] for one in found["results"]] == ["Ann drinks tea"]
    assert keyed.server.memory.core.count(scope="mem0/tenants/acme/user/ann") == 1
    wide = keyed.ask(listing, "all", **{"Eidet-Scope": "mem0/**"})
    assert wide.status_code == 422


def test_the_history_says_which_key_acted(keyed: Keyed) -> None:
    keyed.restore()
    assert keyed.ask(OFFERED[6], "all").status_code == 200
    assert keyed.server.memory.core.history("home", scope="mem0/user/ann")[-1].by == "all"


@pytest.fixture
def http(server: Running) -> httpx.Client:
    server.memory.core.forget(everything=True, scope="mem0/**", for_good=False)
    return server.shared


def add(http: httpx.Client, text: str, **more: Any) -> str:
    answer = http.post("/mem0/v3/memories/add/", json={"messages": text, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["results"][0]["id"])


def test_the_routes_are_not_in_the_schema(http: httpx.Client) -> None:
    """mem0 defines this API, not Eidet; docs/integrations/mem0.md says which part of it there is."""
    assert not [path for path in http.get("/openapi.json").json()["paths"] if "mem0" in path]


def test_fields_that_nobody_knows_are_let_pass(http: httpx.Client) -> None:
    id = add(http, "hello", user_id="ann", async_mode=True, output_format="v1.1", version="v9")
    answer = http.post("/mem0/v3/memories/search/", json={"query": "hello", "keyword_search": True, **ANN})
    assert [one["id"] for one in answer.json()["results"]] == [id]


def test_ids_and_names_may_have_any_character(http: httpx.Client, server: Running) -> None:
    name = "ann/ **%2F?#é"
    add(http, "hello", user_id=name)
    server.memory.core.remember("by hand", id="a/b c%", scope="mem0/user/bob")
    assert http.get("/mem0/v1/memories/a%2Fb%20c%25/").json()["memory"] == "by hand"
    assert len(http.get("/mem0/v1/memories/a%2Fb%20c%25/history/").json()) == 1
    quoted = "ann%2F%20%2A%2A%252F%3F%23%C3%A9"
    assert http.delete(f"/mem0/v2/entities/user/{quoted}/").status_code == 200
    assert server.memory.core.scopes("mem0") == {"mem0/user/bob": 1}


def test_a_star_deletes_all_of_a_type(http: httpx.Client) -> None:
    def left() -> list[str]:
        body = {"filters": {"OR": [{"user_id": "*"}, {"agent_id": "*"}, {"run_id": "*"}]}}
        return sorted(one["memory"] for one in http.post("/mem0/v3/memories/", json=body).json()["results"])

    add(http, "a", user_id="ann", agent_id="x")
    add(http, "b", user_id="bob")
    add(http, "c", agent_id="x", run_id="r")
    add(http, "d", run_id="r")
    for params in ({}, {"filters": "7"}, {"filters": "{"}, {"user_id": "ann", "agent_id": "*"}):
        assert http.delete("/mem0/v1/memories/", params=params).status_code == 422
    assert left() == ["a", "b", "c", "d"]
    http.delete("/mem0/v1/memories/", params={"agent_id": "*", "run_id": "*"})
    assert left() == ["a", "b", "d"]
    http.delete("/mem0/v1/memories/", params={"filters": '{"user_id": "*"}'})
    assert left() == ["d"]


def test_pages_are_as_large_as_asked(http: httpx.Client) -> None:
    for number in range(3):
        add(http, f"note {number}", user_id="ann")
    page = http.post("/mem0/v3/memories/", params={"page": 2, "page_size": 2}, json=ANN).json()
    assert (page["count"], page["next"], len(page["results"])) == (3, None, 1)
    assert page["previous"].endswith("/mem0/v3/memories/?page=1&page_size=2")


def test_what_a_memory_superseded_can_be_left_out(http: httpx.Client) -> None:
    add(http, "I live in Lisbon.", user_id="ann", timestamp=1_700_000_000)
    add(http, "I moved from Lisbon to Porto, where I live now.", user_id="ann", timestamp=1_760_000_000)
    asked = {"query": "Where does Ann live?", "threshold": 0, **ANN}
    every = http.post("/mem0/v3/memories/search/", json=asked).json()["results"]
    latest = http.post("/mem0/v3/memories/search/", json={**asked, "latest_only": True}).json()["results"]
    assert len(every) == 2
    assert {one["id"] for one in latest} <= {one["id"] for one in every}
    assert "Porto" in latest[0]["memory"]


BAD: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/v3/memories/add/", {"messages": "x"}),
    ("POST", "/v3/memories/add/", {"user_id": "ann"}),
    ("POST", "/v3/memories/add/", {"messages": 7, "user_id": "ann"}),
    ("POST", "/v3/memories/add/", {"messages": "x", "user_id": {"a": 1}}),
    ("POST", "/v3/memories/add/", {"messages": "x", "filters": {"user_id": {"eq": "ann"}}}),
    ("POST", "/v3/memories/add/", {"messages": "x", "user_id": "a" * 300}),
    ("POST", "/v3/memories/add/", {"messages": "x", "user_id": "ann", "expiration_date": "soon"}),
    ("POST", "/v3/memories/add/", {"messages": "x", "user_id": "ann", "timestamp": 1e300}),
    ("POST", "/v3/memories/search/", {"query": " ", **ANN}),
    ("POST", "/v3/memories/search/", {"query": "x", "top_k": 0, **ANN}),
    ("POST", "/v3/memories/search/", {"query": "x", "threshold": 7, **ANN}),
    ("POST", "/v3/memories/search/", {"query": "x", "filters": {"n": 1}}),
    ("POST", "/v3/memories/", {}),
    ("POST", "/v3/memories/?page=0", ANN),
    ("POST", "/v3/memories/", {"filters": {"user_id": "ann", "n": {"like": 1}}}),
    ("POST", "/v3/memories/", {"start_date": "soon", **ANN}),
    ("PUT", "/v1/memories/home/", {}),
    ("PUT", "/v1/memories/home/", {"text": ""}),
    ("PUT", "/v1/batch/", {"memories": []}),
    ("DELETE", "/v1/batch/", {"memories": [{}]}),
    ("DELETE", "/v2/entities/thing/ann/", None),
    ("POST", "/v1/feedback/", {"memory_id": "home", "feedback": "GREAT"}),
)


@pytest.mark.parametrize(("method", "path", "body"), BAD)
def test_a_wrong_request_says_what_is_wrong_with_it(
    http: httpx.Client, method: str, path: str, body: Any
) -> None:
    answer = http.request(method, f"/mem0{path}", json=body)
    assert (answer.status_code, answer.json()["type"]) == (422, "bad_input"), answer.text
    assert answer.json()["detail"] == answer.json()["message"]


@pytest.mark.parametrize("path", NOT_OFFERED)
def test_what_is_not_offered_says_so(http: httpx.Client, path: str) -> None:
    concrete = path.replace("{rest:path}", "x/").replace("{type}", "user").replace("{name}", "a%2Fb")
    answer = http.get(f"/mem0{concrete}")
    assert (answer.status_code, answer.json()["type"]) == (501, "not_offered")


def test_other_paths_and_methods_are_refused_as_everywhere(http: httpx.Client) -> None:
    wrong = http.patch("/mem0/v1/memories/home/", json={})
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "DELETE, GET, PUT")
    assert http.post("/mem0/v1/nothing/", json={}).status_code in (404, 405)
    assert http.get("/mem0/v1/memories/nope/").json()["detail"] == "Memory with id nope not found"
    for content in (
        b"{",
        b'{"messages": "x\\ud800", "user_id": "ann"}',
        b'{"messages": "x", "user_id": "\\ud800"}',
    ):
        broken = http.post(
            "/mem0/v3/memories/add/", content=content, headers={"Content-Type": "application/json"}
        )
        assert broken.status_code == 422


def test_one_call_takes_no_more_than_a_key_may(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    key = add_key(file, "small", ["**"], list(Right))
    limits = "[[key]]\nrecords_per_call = 2\nbody_bytes = 2000\n"
    file.write_text(file.read_text().replace("[[key]]\n", limits))
    turn = {"role": "user", "content": "hello"}
    batch = [{"memory_id": "home", "text": "x"}] * 3
    with serve_in_thread(keys=file) as server, server.http(key) as http:
        for method, path, body in (
            ("POST", "/v3/memories/add/", {"messages": [turn] * 3, "user_id": "ann"}),
            ("POST", "/v3/memories/search/", {"query": "x", "top_k": 3, **ANN}),
            ("POST", "/v3/memories/?page_size=3", ANN),
            ("PUT", "/v1/batch/", {"memories": batch}),
            ("DELETE", "/v1/batch/", {"memories": batch}),
        ):
            answer = http.request(method, f"/mem0{path}", json=body)
            assert (answer.status_code, answer.json()["type"]) == (422, "too_many_records")
        large = http.post("/mem0/v3/memories/add/", json={"messages": "x" * 3000, "user_id": "ann"})
        assert large.status_code == 413
        assert "2,000 bytes" in large.json()["detail"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.just("*"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["AND", "OR", "NOT", "eq", "ne", "in", "gt", "contains", "k"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
KEYS = [
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "filters",
    "metadata",
    "messages",
    "query",
    "timestamp",
    "text",
]
MORE = [
    "created_at",
    "categories",
    "memory_ids",
    "AND",
    "OR",
    "NOT",
    "expiration_date",
    "fields",
    "memories",
    "k",
]
BODIES = st.dictionaries(
    st.sampled_from(KEYS), VALUES | st.dictionaries(st.sampled_from(KEYS + MORE), VALUES)
)


@settings(
    max_examples=rounds(60, 600), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    route=st.sampled_from([route for route in OFFERED if route.body is not None]),
    body=BODIES,
)
def test_no_request_makes_the_server_fail(server: Running, route: Row, body: dict[str, Any]) -> None:
    asked = {**route.body, **body} if isinstance(route.body, dict) else body
    answer = server.shared.request(route.method, route.path_of("home"), json=asked)
    assert answer.status_code < 500, answer.text
