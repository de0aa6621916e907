"""Who may ask: the right host, the same origin, the token; and no more than a body of a certain size.

A page from elsewhere that is open in the same browser can send requests to 127.0.0.1. It does not know the token, its
Origin is its own, and with DNS rebinding its Host is its own name: each of the three is refused.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES: Final = 1_000_000
HEADER: Final = "x-elbowroom-token"
SAFE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"cache-control", b"no-store"),
)


class Gate:
    """In front of the whole application."""

    def __init__(self, app: App, hosts: frozenset[str], token: str | None, most_bytes: int = MOST_BYTES) -> None:
        self._app, self._hosts, self._token, self._most = app, hosts, token, most_bytes
        self._too_large = f"at most {most_bytes:,} bytes per question"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _say(send, *refused)
            return
        seen, late = 0, False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen, late
            part = await receive()
            seen += len(part.get("body", b""))
            if seen > self._most:
                late = True
                return {"type": "http.request", "body": b"", "more_body": False}
            return part

        async def safely(part: MutableMapping[str, Any]) -> None:
            if late:  # the application was handed a part of the body: what it says of that is not the reason
                if part["type"] == "http.response.start":
                    await _say(send, 413, self._too_large)
                return
            if part["type"] == "http.response.start":
                part["headers"] = [*part.get("headers", []), *SAFE]
            await send(part)

        await self._app(scope, counted, safely)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host not in self._hosts:
            return 403, f"this server answers as {' or '.join(sorted(self._hosts))} only"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] not in self._hosts:
            return 403, "a page from elsewhere may not ask"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "a page from elsewhere may not ask"
        if self._token is not None and not self._knows(scope, headers):
            return (
                401,
                f"the token is missing or wrong: open the address that elbowroom serve printed, or send {HEADER}",
            )
        if scope["method"] == "POST":
            if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                return 415, "send JSON with Content-Type: application/json"
            size = headers.get("content-length", "")
            if size and (not size.isdecimal() or int(size) > self._most):
                return 413, self._too_large
        return None

    def _knows(self, scope: Scope, headers: dict[str, str]) -> bool:
        given = headers.get(HEADER) or headers.get("authorization", "").removeprefix("Bearer ")
        if not given:
            given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return secrets.compare_digest(given.encode(), (self._token or "").encode())


async def _say(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *SAFE]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
