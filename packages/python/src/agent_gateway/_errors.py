"""The errors of the client, and which of them pass."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from ._json import object_of, to_json

#: The gateway's errors for requests that it did not forward, among those of 500 and above.
_NOT_FORWARDED = frozenset({"draining", "overloaded", "keys_unavailable"})
_MAX_TEXT_LENGTH = 500


class GatewayError(Exception):
    """A failed call: the gateway or a server behind it refused it, or there was no response."""

    #: A stable code for programs, of docs/http-api.md or `http_<status>`. The client's own are
    #: `connection_failed`, `timeout`, `credential_unavailable`, `invalid_response`,
    #: `stream_unreadable` and `not_forgotten`.
    code: str
    #: The HTTP status, or `None` without a response.
    status: int | None
    #: The explanation in one sentence.
    detail: str
    #: The `X-Request-Id`, which every log line of the request has.
    request_id: str | None
    #: The wrong fields, for `invalid_body`.
    errors: Sequence[Mapping[str, Any]]
    #: `False`: the call certainly had no effect, so that it can be sent again.
    sent: bool
    #: Whether a repeated call cannot take effect twice.
    is_safe_to_retry: bool
    #: How many seconds the server asks the client to wait.
    retry_after_s: float | None

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        detail: str | None = None,
        request_id: str | None = None,
        errors: Sequence[Mapping[str, Any]] = (),
        sent: bool = True,
        is_safe_to_retry: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.detail = message if detail is None else detail
        self.request_id = request_id
        self.errors = errors
        self.sent = sent
        self.is_safe_to_retry = is_safe_to_retry
        self.retry_after_s = retry_after_s


class AnswerError(GatewayError):
    """The agent gave no complete reply.

    `stopped`: by a stop, a withdrawal, an interrupt or an archive. `refused`, `archived`: the agent
    refused the message. `failed`: it wrote an error. `not_answered`: it did not begin in time.
    """

    #: What the agent had said.
    text: str
    #: The command that stopped it, for `stopped`.
    stopped_by: Mapping[str, Any] | None

    def __init__(
        self,
        message: str,
        *,
        code: str,
        request_id: str | None = None,
        text: str = "",
        stopped_by: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.text = text
        self.stopped_by = stopped_by


def error_of_answer(
    status: int, headers: Mapping[str, str], text: str, is_idempotent: bool
) -> GatewayError:
    """The error of an unsuccessful response. Its request has its effect once if `is_idempotent`."""
    problem = object_of(text)
    code, detail, errors = problem.get("code"), problem.get("detail"), problem.get("errors")
    is_problem = isinstance(code, str) and isinstance(detail, str)
    is_undone = status < 500 or (
        is_problem and (problem.get("sent") is False or code in _NOT_FORWARDED)
    )
    said = _sentence_of(problem, text)[:_MAX_TEXT_LENGTH]
    return GatewayError(
        f"{status} {said}".strip(),
        code=str(code) if is_problem else f"http_{status}",
        status=status,
        detail=said,
        request_id=headers.get("x-request-id"),
        errors=errors if isinstance(errors, list) else (),
        sent=not is_undone,
        is_safe_to_retry=is_idempotent or is_undone,
        retry_after_s=_retry_after_s(headers.get("retry-after")),
    )


def is_passing(error: GatewayError, is_renewable: bool) -> bool:
    """Whether a retry may succeed. `is_renewable`: the credential may be a new one then."""
    if error.code == "invalid_response":
        return False
    if error.status == 401:
        return is_renewable
    return error.status is None or error.status >= 500 or error.status in (408, 429)


def invalid_response(message: str, status: int | None = None) -> GatewayError:
    """The error for what no agent gateway answers."""
    return GatewayError(message, code="invalid_response", status=status)


def _sentence_of(problem: Mapping[str, Any], text: str) -> str:
    detail, message = problem.get("detail"), problem.get("message")
    if isinstance(detail, str):
        return detail
    if isinstance(message, str):
        # Restate and Electric have a form of their own.
        return f"{message}: {to_json(problem['errors'])}" if "errors" in problem else message
    said = text.strip()
    if said == "":
        return "The server gave no reason."
    if said.startswith("<"):
        return "A server between here and the gateway answered with a page."
    return said


def _retry_after_s(value: str | None) -> float | None:
    """`Retry-After` in seconds or as a date (RFC 9110 §10.2.3)."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
