"""`HttpReranker` against a real server on the loopback that speaks both formats and can misbehave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.scripted import Behaviour, Handler, ScriptedServer, status

from eidet.core.errors import BadInput, Misconfigured
from eidet.models.contract import RerankerContract
from eidet.models.http import HttpReranker
from eidet.models.rerank import Reranker, reranker_of, score_checked

KEY = "sk-secret-123"


def relevance(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    asked = set(query.lower().strip("?").split())
    return len(asked & set(text.lower().split())) / max(len(asked), 1)


@pytest.fixture
def server(short_pauses: None) -> Iterator[ScriptedServer]:
    with ScriptedServer(cohere).running() as server:
        yield server


def items(body: Any, texts: str = "documents", score: str = "relevance_score") -> list[dict[str, Any]]:
    """Best first, as the services answer."""
    found = [{"index": at, score: relevance(body["query"], text)} for at, text in enumerate(body[texts])]
    return sorted(found, key=lambda item: -item[score])


def give(handler: Handler, found: Any) -> None:
    handler.give(200, json.dumps(found).encode(), Content_Type="application/json")


def cohere(handler: Handler, body: Any) -> None:
    if "documents" not in body:
        return status(400, "documents missing")(handler, body)
    return give(handler, {"id": "1", "results": items(body), "meta": {}})


def voyage(handler: Handler, body: Any) -> None:
    give(handler, {"object": "list", "data": items(body), "model": body["model"]})


def tei(handler: Handler, body: Any) -> None:
    if "texts" not in body:
        return status(422, "missing field `texts`")(handler, body)
    if len(body["texts"]) > 32:
        return status(413, "batch size > maximum allowed batch size 32")(handler, body)
    return give(handler, items(body, "texts", "score"))


def logits(handler: Handler, body: Any) -> None:
    found = items(body)
    give(
        handler, {"results": [item | {"relevance_score": item["relevance_score"] * 16 - 8} for item in found]}
    )


def scored(score: str) -> Behaviour:
    """Every document gets this score, written as it stands."""

    def answer(handler: Handler, body: Any) -> None:
        rows = (f'{{"index": {at}, "relevance_score": {score}}}' for at, _ in enumerate(body["documents"]))
        handler.give(200, f'{{"results": [{", ".join(rows)}]}}'.encode(), Content_Type="application/json")

    return answer


def short(handler: Handler, body: Any) -> None:
    give(handler, {"results": items(body)[:-1]})


def twice_the_same(handler: Handler, body: Any) -> None:
    give(handler, {"results": [items(body)[0]] * len(body["documents"])})


def too_many(handler: Handler, body: Any) -> None:
    give(handler, {"results": [*items(body), {"index": 99, "relevance_score": 0.5}]})


SPOKEN: dict[str, Behaviour] = {"cohere": cohere, "tei": tei, "voyage": voyage, "logits": logits}
TEXTS = ["the disk was full", "ann lives in lisbon", "ann sings"]
QUERY = "ann lives"
SCORES = [0.0, 1.0, 0.5]


class _OverHttp(RerankerContract):
    speaks = "cohere"
    logits: bool | None = None

    @pytest.fixture(autouse=True)
    def _serve(self, server: ScriptedServer) -> None:
        server.answer = SPOKEN[self.speaks]
        self.server = server

    def make(self) -> Reranker:
        return HttpReranker("m", url=self.server.url, logits=self.logits)


class TestCohereFormat(_OverHttp):
    speaks = "cohere"


class TestTeiFormat(_OverHttp):
    speaks = "tei"


class TestVoyageFormat(_OverHttp):
    speaks = "voyage"


class TestLogits(_OverHttp):
    speaks = "logits"
    logits = True


def test_documents_are_sent_and_scores_come_in_their_order(server: ScriptedServer) -> None:
    reranker = HttpReranker("rerank-v3.5", url=server.url, key=KEY)
    assert score_checked(reranker, QUERY, TEXTS) == SCORES
    assert server.asked == [{"model": "rerank-v3.5", "query": QUERY, "documents": TEXTS}]
    path, headers = server.seen[0]
    assert path == "/v1/rerank"
    assert headers["authorization"] == f"Bearer {KEY}"


def test_a_server_without_a_model_name_is_not_sent_one(server: ScriptedServer) -> None:
    HttpReranker(url=server.url).scores(QUERY, TEXTS)
    assert "model" not in server.asked[0]
    assert "authorization" not in server.seen[0][1]


def test_a_server_that_wants_texts_is_given_texts_from_then_on(server: ScriptedServer) -> None:
    server.answer = tei
    reranker = HttpReranker(url=server.url)
    assert [reranker.scores(QUERY, TEXTS) for _ in range(2)] == [SCORES, SCORES]
    assert ["texts" in body for body in server.asked] == [False, True, True]
    assert server.asked[1] == {"query": QUERY, "texts": TEXTS, "truncate": True}


def test_a_dialect_that_is_given_is_the_only_one_tried(server: ScriptedServer) -> None:
    server.answer = tei
    with pytest.raises(BadInput, match="missing field `texts`"):
        HttpReranker(url=server.url, dialect="cohere").scores(QUERY, TEXTS)
    assert HttpReranker(url=server.url, dialect="tei").scores(QUERY, TEXTS) == SCORES
    assert len(server.asked) == 2


def test_texts_that_neither_dialect_takes_are_bad_input_in_the_first_words(server: ScriptedServer) -> None:
    server.script = [status(400, "too many tokens"), status(422, "no field")]
    with pytest.raises(BadInput, match="400: too many tokens"):
        HttpReranker(url=server.url).scores(QUERY, TEXTS)


def test_once_understood_a_refusal_is_not_tried_otherwise(server: ScriptedServer) -> None:
    reranker = HttpReranker(url=server.url)
    reranker.scores(QUERY, TEXTS)
    server.script = [status(400, "too many tokens")]
    with pytest.raises(BadInput, match="too many tokens"):
        reranker.scores(QUERY, TEXTS)
    assert len(server.asked) == 2


@pytest.mark.parametrize(("speaks", "sizes"), [(cohere, [100, 50]), (tei, [100, 32, 32, 32, 32, 22])])
def test_many_texts_go_in_batches_the_server_takes(
    server: ScriptedServer, speaks: Behaviour, sizes: list[int]
) -> None:
    server.answer = speaks
    texts = ["ann", "bob"] * 75
    assert HttpReranker(url=server.url).scores("ann", texts) == [1.0, 0.0] * 75
    assert [len(body.get("texts", body.get("documents"))) for body in server.asked] == sizes


def test_the_batch_may_be_chosen(server: ScriptedServer) -> None:
    HttpReranker(url=server.url, batch=2).scores(QUERY, TEXTS)
    assert [len(body["documents"]) for body in server.asked] == [2, 1]
    with pytest.raises(BadInput, match="at least 1"):
        HttpReranker(url=server.url, batch=0)


def test_empty_texts_and_queries_are_sent_as_a_space(server: ScriptedServer) -> None:
    HttpReranker(url=server.url).scores("", ["", "a"])
    assert server.asked[0] == {"query": " ", "documents": [" ", "a"]}


def test_a_number_outside_0_to_1_shows_that_the_server_gives_logits(server: ScriptedServer) -> None:
    server.answer = logits
    reranker = HttpReranker(url=server.url)
    low, high, middle = reranker.scores(QUERY, TEXTS)
    assert 0 < low < 0.001 < middle == 0.5 < 0.999 < high < 1
    assert reranker.scores(QUERY, TEXTS[2:]) == [0.5], "0 is a logit from then on"


def test_logits_that_are_announced_are_logits_at_once(server: ScriptedServer) -> None:
    server.answer = scored("0")
    assert HttpReranker(url=server.url, logits=True).scores(QUERY, TEXTS) == [0.5] * 3
    assert HttpReranker(url=server.url).scores(QUERY, TEXTS) == [0.0] * 3


def test_logits_where_none_were_announced_are_refused(server: ScriptedServer) -> None:
    server.answer = logits
    with pytest.raises(Misconfigured, match="scores are from 0 to 1"):
        HttpReranker(url=server.url, logits=False).scores(QUERY, TEXTS)


def test_a_rounding_error_is_no_logit(server: ScriptedServer) -> None:
    server.answer = scored("1.0000001")
    assert HttpReranker(url=server.url).scores(QUERY, TEXTS) == [1.0] * 3


@pytest.mark.parametrize("fault", [short, twice_the_same, too_many])
def test_scores_that_do_not_fit_the_texts_are_refused(server: ScriptedServer, fault: Behaviour) -> None:
    server.script = [fault]
    with pytest.raises(Misconfigured, match="scores for 3 texts"):
        HttpReranker(url=server.url).scores(QUERY, TEXTS)


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(server: ScriptedServer, score: str) -> None:
    server.script = [scored(score)]
    with pytest.raises(Misconfigured, match=r"gave (nan|-?inf) for the text 'the disk"):
        HttpReranker(url=server.url).scores(QUERY, TEXTS)


@pytest.mark.parametrize("score", ["null", '"0.5"', "true", "[0.5]"])
def test_scores_that_are_no_numbers_are_refused(server: ScriptedServer, score: str) -> None:
    server.script = [scored(score)]
    with pytest.raises(Misconfigured, match="holds no scores"):
        HttpReranker(url=server.url).scores(QUERY, TEXTS)


@pytest.mark.parametrize("found", [{"hello": 1}, "hello", 7, None, [1], {"results": None}, {"results": [{}]}])
def test_json_of_another_kind_is_refused(server: ScriptedServer, found: Any) -> None:
    server.script = [lambda handler, body: give(handler, found)]
    with pytest.raises(Misconfigured, match="is it a rerank endpoint"):
        HttpReranker(url=server.url).scores(QUERY, TEXTS)


@pytest.mark.parametrize("form", ["http:m@{}", "http:{}", "{}", "http:org/m@{}/rerank"])
def test_a_string_gives_model_and_address(server: ScriptedServer, form: str) -> None:
    reranker = reranker_of(form.format(server.url), key=KEY)
    assert reranker.scores(QUERY, TEXTS) == SCORES
    path, headers = server.seen[0]
    assert (path, headers["authorization"]) == ("/v1/rerank", f"Bearer {KEY}")
    model = form.partition("@")[0].removeprefix("http:") if "@" in form else None
    assert server.asked[0].get("model") == model
    assert reranker_of(reranker.name).name == reranker.name


def test_the_key_of_a_provider_goes_to_nobody_else(server: ScriptedServer) -> None:
    reranker_of(f"http:{server.url}", environment={"COHERE_API_KEY": KEY}).scores(QUERY, TEXTS)
    assert "authorization" not in server.seen[0][1]


def test_the_key_of_a_provider_is_found_for_its_own_address() -> None:
    environment = {"COHERE_API_KEY": "sk-c", "JINA_API_KEY": "sk-j"}
    found = HttpReranker.from_spec("http:m@https://api.jina.ai/v1", environment=environment)
    assert found._http.headers == {"Authorization": "Bearer sk-j"}
    plain = HttpReranker.from_spec("http:m@http://api.cohere.com/v2", environment=environment)
    assert plain._http.headers == {}, "never without TLS"


@pytest.mark.parametrize("spec", ["http:", "http:m@", "http:m", "http:m@file:///etc"])
def test_an_address_that_is_none_is_refused(spec: str) -> None:
    with pytest.raises(Misconfigured, match="http"):
        reranker_of(spec)
