"""The dashboard: pages without a build step, and the routes that they call.

    static/             the pages: HTML, CSS and ES modules; `vendor/` has third-party ones with licences
    dashboard_routes.py   the routes under /v1 that only the pages use
    *_view.py             the data of each view, as JSON

Routes translate to verbs and check access like those of the REST interface. Pages need no key; they prompt
for one when a route needs it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope as Connection

from ..serving import Serving
from .dashboard_routes import router

STATIC: Final = Path(__file__).parent / "static"
CSP: Final = (
    "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}


class _Pages(StaticFiles):
    """Files with headers that keep a page from loading from, or sending to, other origins."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Connection,
        status_code: int = 200,
    ) -> Response:
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers.update(HEADERS)
        return answer


def add_dashboard(app: FastAPI, _serving: Serving) -> None:
    """Adds the pages at `/`, `/docs` and `/dashboard`, and their routes under `/v1`."""
    # Routes are added one by one, so that a 405 can list the methods of a path.
    app.router.routes.extend(router.routes)
    app.mount("/dashboard", _Pages(directory=STATIC), name="dashboard")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_index() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_docs() -> FileResponse:
        return FileResponse(STATIC / "docs.html", headers=HEADERS)


__all__ = ["CSP", "HEADERS", "STATIC", "add_dashboard"]
