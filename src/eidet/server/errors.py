"""One shape for every error: `type` for programs, `message` for people, `hint` and `field` where known."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from ..core.errors import (
    BadInput,
    Conflict,
    Corrupt,
    EidetError,
    Misconfigured,
    NotFound,
    Refused,
    Unavailable,
)

LOG: Final = logging.getLogger("eidet.server")
JSON: Final = "application/json"
_NO_OBJECT: Final = ("model_type", "model_attributes_type", "dict_type")  # pydantic's, for bytes and lists


class ErrorBody(BaseModel):
    """The shape of every error."""

    type: str = Field(description="Which error it is, for programs: bad_input, not_found, conflict …")
    message: str = Field(description="What happened, for people.")
    hint: str | None = Field(None, description="What to do about it, where that is known.")
    field: str | None = Field(None, description="The field of the request that is wrong, such as body.text.")


class Problem(HTTPException):
    """Ends a request with an error. FastAPI passes only an HTTPException on while it reads a body."""

    def __init__(
        self,
        status: int,
        type: str,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.body: ErrorBody = ErrorBody(type=type, message=message, hint=hint, field=field)

    def respond(self) -> JSONResponse:
        return JSONResponse(self.body.model_dump(), self.status_code, self.headers)


_STATUS: Final[dict[type[EidetError], tuple[int, str]]] = {
    BadInput: (422, "bad_input"),
    NotFound: (404, "not_found"),
    Conflict: (409, "conflict"),
    Refused: (403, "refused"),
    Corrupt: (500, "corrupt"),
    Misconfigured: (500, "misconfigured"),
}


def problem_of(error: EidetError) -> Problem:
    """Converts an error of a verb to one of HTTP; details for operators go to the log only."""
    if isinstance(error, Unavailable):
        LOG.warning("the memory is unavailable: %s", error)
        return make_unavailable(error.retry_after)
    for kind, (status, type) in _STATUS.items():
        if isinstance(error, kind):
            if status < 500:
                return Problem(status, type, str(error))
            LOG.error("a request failed: %s", error)
            return Problem(status, type, "the memory cannot answer this; the server's log says why")
    return make_internal()


def make_unavailable(retry_after: float | None = None) -> Problem:
    """Makes a 503 for a store or model that is down, without its address."""
    seconds = max(1, math.ceil(retry_after or 1.0))
    return Problem(
        503,
        "unavailable",
        "the memory cannot be reached at the moment",
        hint="try again after the seconds that Retry-After names",
        headers={"Retry-After": str(seconds)},
    )


def make_internal() -> Problem:
    return Problem(500, "internal", "the server failed; its log says why under this request id")


def make_not_found(what: str = "there is no such thing here") -> Problem:
    """Makes a 404, the same whether a scope does not exist or is not the caller's."""
    return Problem(404, "not_found", what)


def _make_invalid(errors: Sequence[Any], content_type: str = JSON) -> Problem:
    """Makes a 422 that names the first field that is wrong."""
    first = errors[0]
    field = ".".join(str(part) for part in first.get("loc", ()))
    message, hint = str(first.get("msg", "the request is not valid")), None
    if first.get("type") in _NO_OBJECT and field == "body":
        message, hint = "the body must be a JSON object", _FIELDS_AT
        if content_type.partition(";")[0].strip().lower() != JSON:  # curl by default declares a form
            hint = "send the header Content-Type: application/json"
    elif first.get("type") == "extra_forbidden":
        message, hint = f"there is no field {field}", _SCOPE_AT if field == "body.scope" else _FIELDS_AT
    return Problem(422, "bad_input", message, hint=hint, field=field or None)


_SCOPE_AT: Final = "name the scope in the URL: ?scope=acme/ann"
_FIELDS_AT: Final = "/docs lists the fields of each route"
_HTTP: Final = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}


def _list_methods(request: Request) -> list[str]:
    """Lists the methods that any route offers for the path of a request."""
    methods: set[str] = set()
    for route in request.app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return sorted(methods)


def add_handlers(app: FastAPI) -> None:
    """Registers handlers that give errors of the app the one shape; `AccessMiddleware` does for verbs."""

    async def answer_invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        content_type = request.headers.get("content-type", "")
        return _make_invalid(error.errors(), content_type).respond()

    async def answer_http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if isinstance(error, Problem):
            return error.respond()
        type, headers = _HTTP.get(error.status_code, "bad_request"), dict(error.headers or {})
        if error.status_code == 400:  # FastAPI's only 400 is for a body that is not JSON
            return Problem(422, "bad_input", "the body is not JSON in UTF-8", field="body").respond()
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_list_methods(request))
        return Problem(error.status_code, type, str(error.detail), headers=headers).respond()

    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(HTTPException, answer_http)
