"""The page is there before the application is; everything else waits for it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from elbowroom.present.web.door import Door

HOST = "127.0.0.1:8765"


class Application:
    """What FastAPI makes, as far as a door knows it."""

    def __init__(self, lived: list[str]) -> None:
        @asynccontextmanager
        async def lifespan(app: Any) -> Any:
            lived.append("begun")
            yield
            lived.append("ended")

        self.router = SimpleNamespace(lifespan_context=lifespan)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 207, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def status(door: Door, path: str, token: str = "secret", host: str = HOST) -> int:
    heard: list[Any] = []

    async def send(part: Any) -> None:
        heard.append(part)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"host", host.encode()), (b"x-elbowroom-token", token.encode())]
    await door({"type": "http", "method": "GET", "path": path, "headers": headers}, receive, send)
    return int(heard[0]["status"])


def test_the_page_comes_first_and_the_rest_when_it_is_loaded() -> None:
    loaded, lived = threading.Event(), list[str]()

    def load() -> Application:
        loaded.wait(60.0)
        return Application(lived)

    async def story() -> None:
        door, told = Door(load, frozenset({HOST}), "secret"), asyncio.Queue[Any]()
        said: list[str] = []

        async def send(part: Any) -> None:
            said.append(part["type"])

        living = asyncio.create_task(door({"type": "lifespan"}, told.get, send))
        await told.put({"type": "lifespan.startup"})
        while not said:
            await asyncio.sleep(0.01)
        assert await status(door, "/") == 200
        assert await status(door, "/", token="guess") == 401
        assert await status(door, "/", host="evil.example") == 403
        waiting = asyncio.create_task(status(door, "/space"))
        await asyncio.sleep(0.1)
        assert not waiting.done() and not lived
        loaded.set()
        assert await waiting == 207 and lived == ["begun"]
        assert await status(door, "/") == 207
        await told.put({"type": "lifespan.shutdown"})
        await living
        assert lived == ["begun", "ended"] and said[-1] == "lifespan.shutdown.complete"

    with ThreadPoolExecutor(1) as own:  # a browser's tests may have left a loop running in this thread
        own.submit(lambda: asyncio.run(story())).result()
