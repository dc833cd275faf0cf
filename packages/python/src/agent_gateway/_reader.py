"""Reads a stream of JSON, each item once: across cuts, restarts and proxies that hold events back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ._effects import (
    Core,
    NoAnswerError,
    Request,
    close_body,
    open_body,
    pause,
    read_more,
    send,
)
from ._errors import GatewayError, is_passing
from ._json import fields_of, parse_json
from ._sse import EventParser
from ._transport import ForeignAnswers, Settings, error_of, pause_s

Live = Literal["sse", "long-poll"]

#: A long-poll lasts 30 s at most, and an event stream sends something within 60 s.
SILENCE_S = 90.0
#: An event stream says at once where it is. Something that holds events back has sent none by then.
EVENTS_PASS_WITHIN_S = 10.0
_WAIT_FOR_STREAM_S = 0.5
#: A live read that ends sooner without new data counts as a failure.
_SHORT_READ_S = 1.0
#: A response that repeatedly cannot be parsed at the same place will not improve.
_MAX_BAD_READS = 3
_JSON_TYPE = re.compile(r"application/json\b", re.IGNORECASE)


class LateError(Exception):
    """The time of the caller is over."""


@dataclass(frozen=True)
class Chunk:
    """A piece of a stream, and where the next one begins."""

    items: list[Any]
    offset: str
    is_up_to_date: bool
    #: The store has less than was read: everything comes again from the start.
    is_reset: bool = False


class _BadReadError(Exception):
    """The stream is no JSON."""


class StreamReader:
    """A place in a stream. `next` reads on from it."""

    def __init__(
        self,
        settings: Settings,
        path: str,
        offset: str,
        live: Live | None = "sse",
        wait_for_stream: bool = True,
    ) -> None:
        self._settings = settings
        self._path = path
        self.offset = offset
        #: How to wait for new items. `None`: the read ends at the present end.
        self.live = live
        self._wait_for_stream = wait_for_stream
        self._foreign = ForeignAnswers(settings.clock)
        self._ready: list[Chunk] = []
        self._is_done = False
        #: All items of now were read once, or there is nothing to catch up with.
        self._has_caught_up = False
        self._has_told_up_to_date = False
        self._cursor: str | None = None
        self._events: EventParser | None = None
        self._held: list[Any] = []
        self._opened_at = 0.0
        self._opened_offset = ""
        self._is_probe = False
        self._has_heard = False
        #: Events have come at once, so nothing on the way holds them back.
        self._events_pass = False
        self._failures = 0
        self._bad_reads = 0
        self._resets = 0

    def next(self, until: float | None = None) -> Core[Chunk | None]:
        """The next piece, `None` at the end. Throws a `GatewayError`, or a `LateError` at `until`."""
        while not self._ready:
            if self._is_done:
                yield from self.close()
                return None
            if until is not None and self._settings.clock() >= until:
                yield from self.close()
                raise LateError
            before = self.offset
            try:
                yield from self._read(until)
            except (GatewayError, _BadReadError) as error:
                yield from self.close()
                yield from self._wait_after(error, before, until)
        return self._ready.pop(0)

    def close(self) -> Core[None]:
        """Closes the connection. A later `next` reads on."""
        self._held = []
        if self._events is not None:
            self._events = None
            yield from close_body()

    def _read(self, until: float | None) -> Core[None]:
        if self._events is not None:
            yield from self._read_events()
        elif not self._has_caught_up or self.live is None:
            yield from self._ask({}, self._limit_s(until))
        elif self.live == "sse":
            yield from self._open_events()
        else:
            cursor = {} if self._cursor is None else {"cursor": self._cursor}
            began = self._settings.clock()
            yield from self._ask({"live": "long-poll", **cursor}, self._limit_s(until))
            is_short = self._settings.clock() - began < _SHORT_READ_S
            if is_short and not self._ready and not self._is_done:
                yield from self._rest()

    def _limit_s(self, until: float | None) -> float:
        if until is None:
            return SILENCE_S
        return max(0.05, min(SILENCE_S, until - self._settings.clock()))

    def _ask(self, live: dict[str, str], timeout_s: float) -> Core[None]:
        response = yield from send(self._request(live), timeout_s)
        if not response.is_ok:
            raise error_of(response, True)
        headers = response.headers
        offset = headers.get("stream-next-offset", self.offset)
        self._cursor = headers.get("stream-cursor", self._cursor)
        is_all = "stream-up-to-date" in headers or offset == self.offset
        is_closed = headers.get("stream-closed", "").lower() == "true"
        kind = headers.get("content-type", "application/json")
        if response.text.strip() and not _JSON_TYPE.match(kind):
            raise _BadReadError(f"the stream is {kind}, not JSON")
        self._take(_items_in(response.text), offset, is_all, is_closed)
        self._has_caught_up = self._has_caught_up or is_all
        self._is_done = self._is_done or (self.live is None and is_all)

    def _request(self, live: dict[str, str]) -> Request:
        query = {"offset": self.offset, **live}
        return Request("GET", self._path, query, {"accept-encoding": "identity"})

    def _open_events(self) -> Core[None]:
        timeout_s = SILENCE_S if self._events_pass else EVENTS_PASS_WITHIN_S
        self._is_probe = not self._events_pass
        response = yield from open_body(self._request({"live": "sse"}), timeout_s)
        if not response.is_ok:
            raise error_of(response, True)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            yield from close_body()
            self.live = "long-poll"
            return
        self._events = EventParser()
        self._has_heard = False
        self._opened_at = self._settings.clock()
        self._opened_offset = self.offset

    def _read_events(self) -> Core[None]:
        assert self._events is not None
        try:
            data = yield from read_more()
        except NoAnswerError as error:
            if error.code != "timeout" or not self._is_probe:
                raise
            # Either it is only quiet, or something on the way holds events back.
            self._is_probe = False
            if not self._has_heard:
                self.live = "long-poll"
            yield from self.close()
            return
        if data is None:
            yield from self.close()
            ended = self._settings.clock() - self._opened_at
            if ended < _SHORT_READ_S and self.offset == self._opened_offset:
                yield from self._rest()
            return
        for event in self._events.take(data):
            self._has_heard = self._events_pass = True
            if event.name == "data":
                self._held.extend(_items_in(event.data))
            elif event.name == "control":
                self._control(event.data)

    def _control(self, data: str) -> None:
        fields = fields_of(_parsed(data))
        offset = fields.get("streamNextOffset")
        if not isinstance(offset, str):
            raise _BadReadError("an event without a place")
        items, self._held = self._held, []
        is_closed = fields.get("streamClosed") is True
        is_all = is_closed or fields.get("upToDate") is True
        self._take(items, offset, is_all, is_closed)

    def _take(self, items: list[Any], offset: str, is_all: bool, is_closed: bool) -> None:
        if self.offset not in ("-1", "now") and offset < self.offset:
            # Offsets sort as text. A store that was restored from a copy has a lower one.
            self.offset = "-1"
            self._has_caught_up = self._has_told_up_to_date = False
            self._resets += 1
            self._failures = self._resets - 1
            self._ready.append(Chunk([], "-1", False, is_reset=True))
            self._held = []
            return
        is_news = offset != self.offset or (not items and is_all and not self._has_told_up_to_date)
        self.offset = offset
        if is_news:
            self._has_told_up_to_date = self._has_told_up_to_date or is_all
            self._ready.append(Chunk(items, offset, is_all))
        self._foreign.forget()
        if is_all:
            self._failures = self._bad_reads = 0
        self._is_done = self._is_done or is_closed

    def _rest(self) -> Core[None]:
        self._failures += 1
        yield from pause(pause_s(self._failures, rnd=self._settings.random))

    def _wait_after(
        self, error: GatewayError | _BadReadError, before: str, until: float | None
    ) -> Core[None]:
        if self.offset != before:
            self._failures = self._bad_reads = 0
        if isinstance(error, _BadReadError):
            self._bad_reads += 1
            if self._bad_reads >= _MAX_BAD_READS:
                message = f"The stream cannot be read: {error}."
                raise GatewayError(message, code="stream_unreadable") from error
            yield from self._rest()
            return
        may_pass = self._foreign.may_pass(error)
        # A 404 with a code comes from the gateway: there is no such route or tenant.
        is_absent = error.status == 404 and error.code == "http_404" and error.request_id
        if is_absent and self._wait_for_stream:
            yield from pause(_WAIT_FOR_STREAM_S)
            return
        if not may_pass and not is_passing(error, self._settings.is_renewable):
            raise error
        self._failures += 1
        is_renewed = error.status == 401 and self._failures == 1
        wait_s = pause_s(self._failures, error.retry_after_s, self._settings.random)
        if until is not None:
            wait_s = min(wait_s, max(0.0, until - self._settings.clock()))
        yield from pause(0.0 if is_renewed else wait_s)


def _items_in(text: str) -> list[Any]:
    if text.strip() == "":
        return []
    value = _parsed(text)
    return value if isinstance(value, list) else [value]


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise _BadReadError(str(error)) from error
