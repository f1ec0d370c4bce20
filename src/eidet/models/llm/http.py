"""Models behind an HTTP address, in either dialect."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...core.errors import BadInput, Misconfigured, Unavailable
from ...net.http import HttpClient, Reply, join_endpoint
from . import Answer, Request
from .claude import Anthropic
from .dialect import SCHEMA, TEMPERATURE, Dialect, Without
from .openai import OpenAI

TRIES = 4
DIALECTS: dict[str, Dialect] = {
    "anthropic": Anthropic(),
    "openai": OpenAI(),
    "ollama": OpenAI("ollama", "http://localhost:11434/v1"),
}
ADDRESS = re.compile(r"@(?=[a-z]+://)", re.IGNORECASE)  # a model may have an @ in its name
VARIABLES = {"anthropic": "ANTHROPIC", "openai": "OPENAI"}
OTHER_SHAPE = (KeyError, TypeError, IndexError, AttributeError)


class HttpLLM:
    """One model at one address. `timeout` bounds an `ask` with all its tries.

    An endpoint that refuses a setting it does not know (a temperature, a response format) is asked
    again without, and from then on.
    """

    def __init__(
        self,
        dialect: Dialect,
        model: str,
        *,
        url: str | None = None,
        key: str | None = None,
        timeout: float = 60.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        address = url or dialect.home
        self.name: str = f"{dialect.provider}:{model}" + ("" if address == dialect.home else f"@{address}")
        self._dialect = dialect
        self._model = model
        self._without: Without = frozenset()
        self._http = HttpClient(
            endpoint=join_endpoint(address, dialect.path(address), f"the {dialect.provider} LLM"),
            headers=dialect.headers(key) | dict(headers or {}),
            secret=key,
            timeout=timeout,
            tries=TRIES,
        )

    def __repr__(self) -> str:
        return f"<LLM {self.name}>"

    def health(self) -> dict[str, Any]:
        """How the line to the service does."""
        return self._http.retrier.health().as_dict()

    def ask(self, request: Request) -> Answer:
        started = time.monotonic()
        reply = self._post(request, self._http.deadline())
        answer = self._read(reply.json)
        millis = (time.monotonic() - started) * 1000
        return replace(answer, model=answer.model or self._model, millis=millis, attempts=reply.attempts)

    def _post(self, request: Request, deadline: float) -> Reply:
        """The reply, after what the endpoint does not take was left out; remembered once that worked."""
        without, refusals = self._without, 0
        while True:
            try:
                reply = self._http.post(self._dialect.body(request, self._model, without), deadline)
            except BadInput as refused:
                without |= {self._culprit(request, refused, without)}
                refusals += 1
            else:
                self._without = without
                return Reply(reply.json, reply.attempts + refusals)

    def _culprit(self, request: Request, refused: BadInput, without: Without) -> str:
        """What to leave out next; the schema is suspected last, named or not. Nothing left: the refusal."""
        suspects = self._dialect.culprits(str(refused).lower())
        if request.temperature is None and TEMPERATURE in suspects:
            suspects.remove(TEMPERATURE)
        suspects += [SCHEMA] if request.schema is not None else []
        for suspect in suspects:
            if suspect not in without:
                return suspect
        raise refused

    def _read(self, body: Any) -> Answer:
        try:
            return self._dialect.answer(body)
        except OTHER_SHAPE as bad:
            if isinstance(body, dict) and body.get("error"):  # some gateways answer 200 and an error
                words = self._http.redact(str(body["error"]))[:300]
                raise Unavailable(f"{self._http.endpoint} answered an error: {words}") from None
            raise Misconfigured(
                f"{self._http.endpoint} answered JSON that holds no message ({bad!r}); "
                f"does it speak the protocol of {self._dialect.provider}?"
            ) from bad


def http_llm_of(
    spec: str,
    *,
    key: str | None,
    timeout: float,
    headers: Mapping[str, str] | None,
    environment: Mapping[str, str],
) -> HttpLLM:
    """The model of `provider:model` or `provider:model@url`; see `llm_of` for where a key may go."""
    provider, model, url = _parts(spec)
    dialect = DIALECTS[provider]
    if url is None:
        url, key = _from_environment(provider, key, environment, anonymous=bool(headers))
    return HttpLLM(dialect, model, url=url, key=key, timeout=timeout, headers=headers)


def _parts(spec: str) -> tuple[str, str, str | None]:
    provider, _, rest = spec.partition(":")
    if provider not in DIALECTS:
        known = ", ".join(f"{one}:model" for one in DIALECTS)
        raise Misconfigured(
            f"no LLM provider is called {provider[:40]!r}; say {known}, "
            "openai:model@http://… for a compatible server, or give a callable"
        )
    at = ADDRESS.search(rest)
    model, url = (rest[: at.start()], rest[at.end() :]) if at else (rest, None)
    if not model.strip() or "://" in model:
        raise Misconfigured(f"{provider!r} needs a model: {provider}:model or {provider}:model@http://…")
    return provider, model.strip(), url


def _from_environment(
    provider: str, key: str | None, environment: Mapping[str, str], *, anonymous: bool
) -> tuple[str | None, str | None]:
    """The address and key of the environment; a key that was given goes first."""
    if provider not in VARIABLES:
        return None, key
    prefix = VARIABLES[provider]
    url = environment.get(f"{prefix}_BASE_URL", "").strip() or None
    key = key or environment.get(f"{prefix}_API_KEY", "").strip() or None
    if not key and not url and not anonymous:
        raise Misconfigured(
            f"the {provider} LLM needs a key: give key=… or set {prefix}_API_KEY; "
            f"a server of your own needs an address: {provider}:model@http://127.0.0.1:8000/v1"
        )
    return url, key
