"""What the core asks of the outside: a request, a pause. The shells, sync and async, do it.

Everything that decides is a generator that yields an effect and gets what came of it. So the rules
stand once, and a test can play the outside.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ._errors import GatewayError

T = TypeVar("T")

#: A part of the core: it asks for effects, and returns its result.
Core = Generator[Any, Any, T]


@dataclass(frozen=True)
class Request:
    """A request without its credential, which the shell adds."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class Response:
    """A whole response. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_ok(self) -> bool:
        """Whether it is a success."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Send:
    """Sends a request and reads the whole response. Throws a `NoAnswerError`."""

    request: Request
    timeout_s: float


@dataclass(frozen=True)
class Open:
    """Sends a request and reads the head of the response. What was open before is closed."""

    request: Request
    timeout_s: float


@dataclass(frozen=True)
class ReadMore:
    """Reads the next bytes of the body that is open, `None` at its end. Throws a `NoAnswerError`."""


@dataclass(frozen=True)
class Close:
    """Closes what is open."""


@dataclass(frozen=True)
class Pause:
    """Waits."""

    seconds: float


@dataclass(frozen=True)
class Emit:
    """Gives the next item to whoever iterates."""

    item: object


class NoAnswerError(GatewayError):
    """There was no response, or it broke off."""


def send(request: Request, timeout_s: float) -> Core[Response]:
    """The whole response to a request."""
    response: Response = yield Send(request, timeout_s)
    return response


def open_body(request: Request, timeout_s: float) -> Core[Response]:
    """The head of a response. Its text is there only if it is no success."""
    response: Response = yield Open(request, timeout_s)
    return response


def read_more() -> Core[bytes | None]:
    """The next bytes of the open body."""
    data: bytes | None = yield ReadMore()
    return data


def close_body() -> Core[None]:
    """Closes the open body."""
    yield Close()


def pause(seconds: float) -> Core[None]:
    """Waits."""
    yield Pause(seconds)


def emit(item: object) -> Core[None]:
    """Gives an item."""
    yield Emit(item)


class Steps(Generic[T]):
    """The effects of a core, one after the other."""

    def __init__(self, core: Core[T]) -> None:
        self._core = core
        self._result: object = None
        self._failure: GatewayError | None = None
        #: What the core returned, once `next` has given `None`.
        self.returned: T

    def next(self) -> object | None:
        """The next effect, `None` at the end. Throws what the core throws."""
        failure, result = self._failure, self._result
        self._failure = self._result = None
        try:
            effect: object = self._core.send(result) if failure is None else self._core.throw(failure)
            return effect
        except StopIteration as end:
            self.returned = end.value
            return None

    def done(self, result: object) -> None:
        """What came of the effect."""
        self._result = result

    def failed(self, failure: GatewayError) -> None:
        """That nothing came of it."""
        self._failure = failure

    def close(self) -> None:
        """Ends the core where it is."""
        self._core.close()
