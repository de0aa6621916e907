"""The server from its first moment: the page at once, everything else when the application is loaded.

FastAPI takes longer to import than all that comes before it. The page needs none of it, so that a browser shows the form
while the rest is imported in a thread; what the page asks for then waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from elbowroom.present.web.gate import App, Gate, Receive, Scope, Send
from elbowroom.present.web.page import first_page

PATIENCE: Final = 0.25  # seconds in which the first browser is waited for before loading begins


class Door:
    """``load`` imports and makes the application, whose lifespan begins when it is there."""

    def __init__(self, load: Callable[[], Any], hosts: frozenset[str], token: str | None) -> None:
        self._load, self._first = load, Gate(self._page, hosts, token)
        self._shown, self._open = asyncio.Event(), AsyncExitStack()
        self._loading: asyncio.Task[App] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        assert self._loading is not None
        if not self._loading.done() and scope["type"] == "http" and (scope["method"], scope["path"]) == ("GET", "/"):
            await self._first(scope, receive, send)
            self._shown.set()
            return
        app = await asyncio.shield(self._loading)
        await app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._loading = asyncio.create_task(self._enter())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await asyncio.wait([self._loading])
        await self._open.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _enter(self) -> App:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._shown.wait(), PATIENCE)
        app = await asyncio.to_thread(self._load)
        await self._open.enter_async_context(app.router.lifespan_context(app))
        made: App = app
        return made

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = first_page().encode()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
