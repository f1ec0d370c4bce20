"""A web service in which each user has a memory of their own, on FastAPI.

    pip install 'eidet[server]'
    python examples/programs/fastapi_users.py                    # plays a few requests, without a port
    python examples/programs/fastapi_users.py --serve            # http://127.0.0.1:8000/docs

A token says who asks; the user's name is the scope, so nobody can reach another user's records, whatever
the request says. `DELETE /me` erases a user for good and returns the receipt.

For your own use: replace `TOKENS` by your sign-in, and the file by `postgresql://…` for several workers.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.testclient import TestClient
from pydantic import BaseModel

from eidet import AsyncMemory, acting

NOTHING = {"score": 0.0, "text": "nothing", "why": "no note of this user fits"}
TOKENS = {"token-of-ann": "ann", "token-of-bob": "bob"}

Credentials = Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]


def find_user(credentials: Credentials) -> str:
    user = TOKENS.get(credentials.credentials)
    if user is None:
        raise HTTPException(401, "this token is not known")
    return user


User = Annotated[str, Depends(find_user)]


class Note(BaseModel):
    text: str
    topic: str | None = None


class Answer(BaseModel):
    text: str
    score: float
    why: str


def create_app(at: str | Path) -> FastAPI:
    memory = AsyncMemory(at)

    @asynccontextmanager
    async def close_at_end(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await memory.close()

    app = FastAPI(title="Notes with a memory", lifespan=close_at_end)

    @app.post("/notes", status_code=201)
    async def remember(note: Note, user: User) -> dict[str, str]:
        with acting(by=user):
            record = await memory.remember(note.text, scope=f"users/{user}", meta={"topic": note.topic})
        return {"id": record.id}

    @app.get("/answers")
    async def recall(q: str, user: User, topic: str | None = None) -> list[Answer]:
        only = {"meta.topic": topic} if topic else None
        hits = await memory.recall(q, scope=f"users/{user}", limit=3, where=only, least=0.2)
        return [Answer(text=hit.text, score=round(hit.score, 2), why=hit.why()) for hit in hits]

    @app.delete("/me")
    async def erase(user: User) -> dict[str, Any]:
        gone = await memory.forget(
            everything=True, scope=f"users/{user}", by=user, why="asked for it", for_good=True
        )
        return {"records": int(gone), "receipt": gone.receipt is not None}

    return app


class Caller:
    """Sends requests as one user and prints what comes back."""

    def __init__(self, http: TestClient, user: str) -> None:
        self._http, self._user = http, user
        self._headers = {"Authorization": f"Bearer token-of-{user}"}

    def send(self, method: str, path: str, body: dict[str, str] | None = None) -> None:
        response = self._http.request(method, path, json=body, headers=self._headers)
        print(f"{self._user}: {method} {path} -> {response.status_code}")
        if method == "GET" and response.status_code == 200:
            for answer in response.json() or [NOTHING]:
                print(f"  {answer['score']:.2f}  {answer['text']}  ({answer['why']})")
        elif method == "DELETE":
            print(f"  {response.json()}")


def show(folder: Path) -> None:
    with TestClient(create_app(folder / "notes.db")) as http:
        ann, bob = Caller(http, "ann"), Caller(http, "bob")
        ann.send(
            "POST", "/notes", {"text": "The router's admin password is on the blue card.", "topic": "home"}
        )
        ann.send("POST", "/notes", {"text": "The dentist moved my appointment to 14 May.", "topic": "health"})
        bob.send("POST", "/notes", {"text": "My dentist is Dr. Silva in Porto."})
        ann.send("GET", "/answers?q=when do I see the dentist?")
        bob.send("GET", "/answers?q=who is my dentist?")
        bob.send("GET", "/answers?q=where is the password of the router?")
        ann.send("DELETE", "/me")
        ann.send("GET", "/answers?q=when do I see the dentist?")
        Caller(http, "eve").send("GET", "/answers?q=dentist")


def main() -> None:
    reader = argparse.ArgumentParser(description="A web service with a memory for each user.")
    reader.add_argument("--serve", action="store_true", help="serve it instead of playing some requests")
    reader.add_argument("--at", default="notes.db", help="file or URL of the memory that is served")
    options = reader.parse_args()
    if options.serve:
        uvicorn.run(create_app(options.at), host="127.0.0.1", port=8000)
        return
    with tempfile.TemporaryDirectory() as folder:
        show(Path(folder))


if __name__ == "__main__":
    main()
