"""Requests with retries: the same rules as those of the TypeScript client."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ._effects import Core, NoAnswerError, Request, Response, pause, send
from ._errors import GatewayError, error_of_answer, invalid_response, is_passing

#: Longer than the gateway waits for a server behind it.
DEFAULT_TIMEOUT_S = 20.0
DEFAULT_RETRY_FOR_S = 5.0
#: A command is worth waiting for: it outlasts an outage of the runtime.
COMMAND_RETRY_FOR_S = 90.0
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
#: A server that asks for more is still asked again after this time.
_LONGEST_WAIT_S = 60.0
#: How long 4xx answers of others in a row are taken for a state that passes.
_FOREIGN_PASSES_S = 60.0


@dataclass(frozen=True)
class Settings:
    """What a client goes by."""

    tenant: str | None = None
    timeout_s: float | None = None
    retry_for_s: float | None = None
    #: The API key comes from a function, so that a refused one may be a new one next time.
    is_renewable: bool = False
    clock: Callable[[], float] = time.monotonic
    random: Callable[[], float] = random.random

    @property
    def read_tenant(self) -> str:
        """The tenant of agents whose address names none."""
        return self.tenant or "default"


@dataclass(frozen=True)
class Call:
    """One call, and how it may be repeated."""

    request: Request
    #: The request has its effect once, however often it arrives.
    is_idempotent: bool
    usual_retry_for_s: float = DEFAULT_RETRY_FOR_S
    retry_for_s: float | None = None
    timeout_s: float | None = None


def perform(settings: Settings, call: Call) -> Core[Response]:
    """The successful response. Throws a `GatewayError`."""
    retry_for_s = _first(call.retry_for_s, settings.retry_for_s, call.usual_retry_for_s)
    timeout_s = _first(call.timeout_s, settings.timeout_s, DEFAULT_TIMEOUT_S)
    last_at = settings.clock() + retry_for_s
    foreign = ForeignAnswers(settings.clock)
    tries = 0
    while True:
        tries += 1
        try:
            response = yield from send(call.request, timeout_s)
            if response.is_ok:
                return response
            error = error_of(response, call.is_idempotent)
        except NoAnswerError as no_answer:
            error = no_answer
            error.is_safe_to_retry = call.is_idempotent or not error.sent
        is_foreign = foreign.may_pass(error) and call.is_idempotent
        is_final = not error.is_safe_to_retry or not (
            is_foreign or is_passing(error, settings.is_renewable)
        )
        wait_s = pause_s(tries, error.retry_after_s, settings.random)
        if is_final or settings.clock() + wait_s > last_at:
            raise error
        yield from pause(wait_s)


def error_of(response: Response, is_idempotent: bool) -> GatewayError:
    """The error of a response that is no success. A redirect is none of a gateway."""
    status, headers = response.status, response.headers
    if 300 <= status < 400 and status != 304:
        place = headers.get("location", "another place")
        message = f"The address answers with a redirect to {place}. No agent gateway does."
        return invalid_response(message, status)
    return error_of_answer(status, headers, response.text, is_idempotent)


def pause_s(
    failures: int, retry_after_s: float | None = None, rnd: Callable[[], float] = random.random
) -> float:
    """What the server asked for, and a random time that grows with each failure in a row."""
    longest: float = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(failures - 1, 16))
    return min(retry_after_s or 0.0, _LONGEST_WAIT_S) + longest * rnd()


class ForeignAnswers:
    """The 4xx answers that are not the gateway's, which names the request in every answer.

    A captive portal gives such, or a proxy during a deployment.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: float | None = None

    def may_pass(self, error: GatewayError) -> bool:
        """Whether the error is such an answer, and a retry may still succeed."""
        if error.status is None:
            # A failed connection neither begins a row nor ends one.
            return False
        if error.request_id is not None or not 400 <= error.status < 500:
            self.forget()
            return False
        if self._since is None:
            self._since = self._clock()
        return self._clock() - self._since < _FOREIGN_PASSES_S

    def forget(self) -> None:
        """The gateway has answered."""
        self._since = None


def new_id() -> str:
    """128 random bits."""
    return secrets.token_hex(16)


def command_headers(content_type: str, key: str, request_id: str) -> Mapping[str, str]:
    """The headers of a command: the same at every attempt."""
    return {"content-type": content_type, "idempotency-key": key, "x-request-id": request_id}


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)
