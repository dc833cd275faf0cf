"""Requests of an agent to the rest of the system."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from .._client import HTTP_FAILURES, authorization_of
from .._json import object_of

#: An attempt that hangs would block its agent. After this time Restate tries again.
_REQUEST_TIMEOUT_S = 10.0
#: Statuses that are not the request's fault: a rotated key, a gateway that is slow or overloaded.
_TRANSIENT = (401, 408, 425, 429)


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Access:
    """The addresses of the rest of the system."""

    gateway_url: str
    api_key: str = field(repr=False)
    catalog_url: str | None = None
    catalog_token: str | None = field(default=None, repr=False)
    _client: httpx.AsyncClient | None = field(default=None, repr=False)
    _loop: Any = field(default=None, repr=False)

    @property
    def authorization(self) -> dict[str, str]:
        """The header with the key."""
        return {"authorization": authorization_of(self.api_key)}

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        """One request, for use in a step.

        Throws a `ConnectionError` for temporary failures, so that Restate tries the step again.
        Every other response is returned, because another try would not change it.
        """
        what = f"{method} {urlsplit(url).path}"
        try:
            sending = self._client_of_loop().request(
                method, url, headers=dict(headers), content=body, timeout=_REQUEST_TIMEOUT_S
            )
            response = await asyncio.wait_for(sending, _REQUEST_TIMEOUT_S)
        except (*HTTP_FAILURES, asyncio.TimeoutError) as error:
            raise ConnectionError(f"{what}: no answer") from error
        found = {name.lower(): value for name, value in response.headers.items()}
        reply = Reply(response.status_code, found, response.text)
        if reply.status >= 500 or reply.status in _TRANSIENT:
            raise ConnectionError(f"{what}: {describe(reply)}")
        return reply

    def _client_of_loop(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = httpx.AsyncClient(follow_redirects=False), loop
        return self._client


def describe(reply: Reply) -> str:
    """A short description of a response, for an event or a log line."""
    detail = object_of(reply.text).get("detail")
    said = str(detail) if detail is not None else reply.text[:200]
    return f"{reply.status} {said}".strip()
