"""The client for programs that block. The rules are in the core; here is what does them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar, cast

import httpx

from . import _commands as commands
from ._ask import Answering, Question
from ._client import (
    HTTP_FAILURES,
    authorization_of,
    checked_url,
    client_options,
    http_request,
    no_answer,
    no_credential,
    response_of,
)
from ._commands import AcceptedCommand, CommandOptions, ControlVerb
from ._effects import Close, Core, Emit, Open, Pause, ReadMore, Request, Response, Send, Steps
from ._errors import GatewayError
from ._forget import ForgetReceipt, forget
from ._paths import AgentAddress, timeline_path
from ._reader import Live
from ._timeline import Bookmark, Event, EventReader, bookmark_of, read_timeline
from ._transport import Settings
from ._turn import Turn, text_of

T = TypeVar("T")

#: An API key, or a function that gives the current one.
ApiKey = str | Callable[[], str]


class Gateway:
    """A client of one gateway.

    `url` is its address, `api_key` a key or a function that gives the current one. `tenant` is that
    of agents whose address names none. `timeout` is how many seconds one attempt may take, and
    `retry_for` how long a call is repeated. Methods throw a `GatewayError`, and a `ValueError` for
    what is no agent. `http` is for options of httpx, such as `verify`.
    """

    def __init__(
        self,
        url: str,
        api_key: ApiKey | None = None,
        *,
        tenant: str | None = None,
        timeout: float | None = None,
        retry_for: float | None = None,
        http: Mapping[str, Any] | None = None,
    ) -> None:
        self._url = checked_url(url)
        self._api_key = api_key
        if isinstance(api_key, str):
            authorization_of(api_key)
        self._settings = Settings(tenant, timeout, retry_for, is_renewable=callable(api_key))
        self._client = httpx.Client(**client_options(http or {}))

    @property
    def tenant(self) -> str:
        """The tenant of agents whose address names none."""
        return self._settings.read_tenant

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def __enter__(self) -> Gateway:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._client.close()

    def spawn(
        self,
        type: str,  # noqa: A002
        id: str | None = None,  # noqa: A002
        *,
        args: Any = None,
        parent: str | None = None,
        workspace_ref: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
    ) -> AcceptedCommand:
        """Creates an agent. An existing one stays as it is."""
        body = {
            "type": type,
            "id": id,
            "args": args,
            "parent": parent,
            "workspaceRef": workspace_ref,
        }
        return self._run(commands.spawn(self._settings, body, CommandOptions(key, request_id)))

    def send(
        self,
        agent: AgentAddress,
        message: Any,
        *,
        content_type: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
    ) -> AcceptedCommand:
        """Sends text and bytes unchanged, and anything else as JSON."""
        options = CommandOptions(key, request_id)
        return self._run(commands.send_message(self._settings, agent, message, content_type, options))

    def ask(
        self,
        agent: AgentAddress,
        message: Any,
        *,
        content_type: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
        timeout: float = 60.0,
    ) -> Answer:
        """Asks an agent. The message is sent when the answer is read for the first time.

        With the `key` of an earlier call it gives the same answer, finished or under way. `timeout`
        is how many seconds the agent may take to begin.
        """
        options = CommandOptions(key, request_id)
        question = Question(agent, message, content_type, options, timeout)
        return Answer(self, Answering(self._settings, question))

    def control(
        self,
        agent: AgentAddress,
        verb: ControlVerb,
        *,
        reason: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
    ) -> AcceptedCommand:
        """Interrupts, pauses, resumes or archives an agent."""
        options = CommandOptions(key, request_id)
        return self._run(commands.control(self._settings, agent, verb, reason, options))

    def stop(
        self,
        agent: AgentAddress,
        invocation_id: str,
        *,
        reason: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
    ) -> AcceptedCommand:
        """Ends one turn and no other, under way or waiting. Nothing happens if it has ended."""
        body = {"kind": "stop", "invocationId": invocation_id, "reason": reason}
        return self._send_kind(agent, body, CommandOptions(key, request_id))

    def withdraw(
        self,
        agent: AgentAddress,
        invocation_id: str,
        *,
        reason: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
    ) -> AcceptedCommand:
        """Takes a message back that waits for other turns. Nothing happens if its turn has begun."""
        body = {"kind": "withdraw", "invocationId": invocation_id, "reason": reason}
        return self._send_kind(agent, body, CommandOptions(key, request_id))

    def decide(
        self,
        agent: AgentAddress,
        call: str,
        approved: bool,
        *,
        by: str | None = None,
        note: str | None = None,
        input: Any = None,  # noqa: A002
        key: str | None = None,
        request_id: str | None = None,
    ) -> AcceptedCommand:
        """Decides a call of a tool that waits for a person. The first decision of a call counts."""
        body = commands.decision(call, approved, by, note, input)
        return self._send_kind(agent, body, CommandOptions(key, request_id))

    def timeline(
        self,
        agent: AgentAddress,
        offset: str | Bookmark = "start",
        *,
        live: Live | None = "sse",
        wait_for_stream: bool = True,
    ) -> Timeline:
        """The events of an agent, each once and in order.

        `offset` is `start`, `now`, an offset or a bookmark. `live` is how to wait for new events;
        with `None` the timeline ends with the events of now. Where something on the way holds events
        back, it long-polls by itself.
        """
        path = timeline_path(agent, self._settings.read_tenant)
        begin = bookmark_of(offset)
        return Timeline(self, EventReader(self._settings, path, begin, live, wait_for_stream))

    def export(self, agent: AgentAddress) -> Iterator[str]:
        """All events of now as lines of JSON."""
        return self._iterate(commands.export(self._settings, agent))

    def catalog(
        self,
        table: str = "entities",
        *,
        where: str | None = None,
        params: Sequence[str] = (),
        columns: Sequence[str] | None = None,
    ) -> list[dict[str, Any]]:
        """The present rows of the catalog. `where` has `$1`, `$2` … for the values of `params`."""
        return self._run(commands.catalog_rows(self._settings, table, where, params, columns))

    def forget(
        self,
        agent: AgentAddress,
        *,
        children: bool = False,
        timeout: float = 60.0,
        key: str | None = None,
    ) -> ForgetReceipt:
        """Deletes an agent: its timeline, row and state, and its ended invocations.

        Needs a key with `commands` and `registry:write`. It may be repeated.
        """
        return self._run(forget(self._settings, agent, children, timeout, CommandOptions(key)))

    def register(self, uri: str, *, force: bool = False, use_http_11: bool = False) -> dict[str, Any]:
        """Lets Restate discover the agents at an address, as Restate reaches it.

        `force` replaces what was registered there. `use_http_11` is for a server without HTTP/2.
        """
        return self._run(commands.register(self._settings, uri, force, use_http_11))

    def _send_kind(
        self, agent: AgentAddress, body: Mapping[str, Any], options: CommandOptions
    ) -> AcceptedCommand:
        return self._run(commands.send_kind(self._settings, agent, body, options))

    def _run(self, core: Core[T]) -> T:
        driver = _Driver(self)
        try:
            return driver.run(core)
        finally:
            driver.close()

    def _iterate(self, core: Core[None]) -> Iterator[Any]:
        driver = _Driver(self)
        try:
            yield from driver.items(Steps(core))
        finally:
            driver.close()

    def _request(self, request: Request, timeout_s: float) -> httpx.Request:
        authorization = None
        if self._api_key is not None:
            try:
                key = self._api_key if isinstance(self._api_key, str) else self._api_key()
                authorization = authorization_of(key)
            except Exception as error:
                raise no_credential(error) from error
        return http_request(self._client, self._url, request, authorization, timeout_s)


class Timeline:
    """The events of a timeline. A later iteration continues where the last one stopped."""

    def __init__(self, gateway: Gateway, reader: EventReader) -> None:
        self._gateway = gateway
        self._reader = reader
        self._driver = _Driver(gateway)

    @property
    def bookmark(self) -> Bookmark:
        """Save it after each event that you have handled: a later read continues after it."""
        return self._reader.bookmark

    def __iter__(self) -> Iterator[Event]:
        try:
            yield from self._driver.items(Steps(read_timeline(self._reader)))
        finally:
            self._driver.run(self._reader.stream.close())
            self._driver.close()


class Answer:
    """The answer to one message. Iterate over its events as they come, or wait for the whole."""

    def __init__(self, gateway: Gateway, answering: Answering) -> None:
        self._driver = _Driver(gateway)
        self._commands = _Driver(gateway)
        self._answering = answering
        self._reading = threading.Lock()
        self._sending = threading.Lock()

    def __iter__(self) -> Iterator[Event]:
        """From the message to the end. After a stop it ends without an error."""
        index = 0
        try:
            while self._read(index):
                yield self._answering.events[index]
                index += 1
        finally:
            self._rest()
        error = self._answering.error
        if error is not None and error.code != "stopped":
            raise error

    @property
    def turn(self) -> Turn | None:
        """The turn so far: its parts, calls of tools, state."""
        return self._answering.turn

    def sent(self) -> AcceptedCommand:
        """The accepted command. Sends the message if that has not been done."""
        with self._sending:
            return self._commands.run(self._answering.send())

    def reply(self) -> Event:
        """The event of the complete reply. Throws an `AnswerError`, also after a stop."""
        index = 0
        try:
            while self._read(index):
                index += 1
        finally:
            self._rest()
        if self._answering.error is not None:
            raise self._answering.error
        return cast(Event, self._answering.reply)

    def text(self) -> str:
        """The text of the complete reply. Throws like `reply`."""
        return text_of(self.reply().get("content"))

    def stop(self, reason: str | None = None) -> AcceptedCommand | None:
        """Ends this turn and no other. A message that has not been sent never is."""
        with self._sending:
            return self._commands.run(self._answering.stop(reason))

    def _read(self, index: int) -> bool:
        """Whether there is an event of this number."""
        if not self._answering.is_done:
            try:
                self.sent()
            except GatewayError as error:
                self._answering.error = self._answering.error or error
                self._answering.is_done = True
        with self._reading:
            self._driver.run(self._answering.read_on(index))
        return index < len(self._answering.events)

    def _rest(self) -> None:
        with self._reading:
            self._driver.run(self._answering.rest())
            self._driver.close()


class _Driver:
    """Does the effects of the core, one after the other."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._open: httpx.Response | None = None
        self._bytes: Iterator[bytes] | None = None

    def run(self, core: Core[T]) -> T:
        """Runs a core that gives no items."""
        for _ in self.items(steps := Steps(core)):
            pass
        return steps.returned

    def items(self, steps: Steps[Any]) -> Iterator[Any]:
        """What the core gives."""
        try:
            while (effect := steps.next()) is not None:
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                try:
                    steps.done(self._do(effect))
                except GatewayError as error:
                    steps.failed(error)
        finally:
            steps.close()

    def close(self) -> None:
        response, self._open, self._bytes = self._open, None, None
        if response is not None:
            with suppress(*HTTP_FAILURES):
                response.close()

    def _do(self, effect: object) -> object:
        if isinstance(effect, Pause):
            time.sleep(effect.seconds)
            return None
        if isinstance(effect, Close):
            self.close()
            return None
        try:
            if isinstance(effect, Send):
                return self._send(effect)
            if isinstance(effect, Open):
                return self._begin(effect)
            assert isinstance(effect, ReadMore)
            return next(self._bytes, None) if self._bytes is not None else None
        except HTTP_FAILURES as error:
            raise no_answer(error) from error

    def _send(self, effect: Send) -> Response:
        until = time.monotonic() + effect.timeout_s
        request = self._gateway._request(effect.request, effect.timeout_s)
        response = self._gateway._client.send(request, stream=True)
        try:
            return response_of(response, _whole(response, until))
        finally:
            response.close()

    def _begin(self, effect: Open) -> Response:
        self.close()
        request = self._gateway._request(effect.request, effect.timeout_s)
        response = self._gateway._client.send(request, stream=True)
        if not response.is_success:
            try:
                return response_of(response, _whole(response, time.monotonic() + effect.timeout_s))
            finally:
                response.close()
        self._open, self._bytes = response, response.iter_bytes()
        return response_of(response, b"")


def _whole(response: httpx.Response, until: float) -> bytes:
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(body)
