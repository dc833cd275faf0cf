"""What both clients are made of: the settings, and how a request becomes one of httpx."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import httpx

from ._effects import NoAnswerError, Request, Response
from ._paths import checked_path
from ._tokens import secret_text

_KEY = re.compile(r"[\x21-\x7e]+")


def checked_url(url: str) -> str:
    """Without a slash at its end. Throws a `ValueError` for what is no address of a gateway."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError) as error:
        raise ValueError("url must be an http or https URL.") from error
    is_url = parsed.scheme in ("http", "https") and parsed.host != ""
    if not is_url or parsed.userinfo or parsed.query or parsed.fragment:
        raise ValueError("url must be an http or https URL, without a user, a query and a fragment.")
    return url.rstrip("/")


def authorization_of(key: object) -> str:
    """The value of the header. Throws a `ValueError` that does not contain the key."""
    text = secret_text(key) if isinstance(key, str) else ""
    if not _KEY.fullmatch(text):
        raise ValueError("The API key must be visible ASCII characters without spaces.")
    return f"Bearer {text}"


def no_credential(error: BaseException) -> NoAnswerError:
    """The error for a function that gave no key."""
    return NoAnswerError(
        f"The credential is not available: {error}",
        code="credential_unavailable",
        sent=False,
    )


def no_answer(error: BaseException) -> NoAnswerError:
    """The error for a missing or incomplete response."""
    if isinstance(error, (httpx.TimeoutException, TimeoutError, asyncio.TimeoutError)):
        return NoAnswerError("No answer came in time.", code="timeout")
    said = str(error) or type(error).__name__
    return NoAnswerError(f"The gateway cannot be reached: {said}.", code="connection_failed")


def http_request(
    client: httpx.Client | httpx.AsyncClient,
    base: str,
    request: Request,
    authorization: str | None,
    timeout_s: float,
) -> httpx.Request:
    """The only place where an address is made, so that the key goes to no other server."""
    query = f"?{urlencode(request.query)}" if request.query else ""
    headers = dict(request.headers)
    if authorization is not None:
        headers["authorization"] = authorization
    return client.build_request(
        request.method,
        f"{base}{checked_path(request.path)}{query}",
        headers=headers,
        content=request.body,
        timeout=timeout_s,
    )


def response_of(response: httpx.Response, body: bytes) -> Response:
    """A response as the core reads it."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Response(response.status_code, headers, body.decode("utf-8", "replace"))


def client_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What httpx is told, whatever the caller chose for it. It follows no redirect."""
    return {"follow_redirects": False, **options}


#: What of httpx means that there was no response.
HTTP_FAILURES = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError)
