"""The client for asyncio. The rules are in the core; here is what does them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
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
AsyncApiKey = str | Callable[[], str | Awaitable[str]]


class AsyncGateway:
    """A client of one gateway.

    `url` is its address, `api_key` a key or a function that gives the current one. `tenant` is that
    of agents whose address names none. `timeout` is how many seconds one attempt may take, and
    `retry_for` how long a call is repeated. Methods throw a `GatewayError`, and a `ValueError` for
    what is no agent. `http` is for options of httpx, such as `verify`.
    """

    def __init__(
        self,
        url: str,
        api_key: AsyncApiKey | None = None,
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
        self._client = httpx.AsyncClient(**client_options(http or {}))

    @property
    def tenant(self) -> str:
        """The tenant of agents whose address names none."""
        return self._settings.read_tenant

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    async def __aenter__(self) -> AsyncGateway:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes its connections."""
        await self._client.aclose()

    async def spawn(
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
        return await self._run(commands.spawn(self._settings, body, CommandOptions(key, request_id)))

    async def send(
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
        return await self._run(
            commands.send_message(self._settings, agent, message, content_type, options)
        )

    def ask(
        self,
        agent: AgentAddress,
        message: Any,
        *,
        content_type: str | None = None,
        key: str | None = None,
        request_id: str | None = None,
        timeout: float = 60.0,
    ) -> AsyncAnswer:
        """Asks an agent. The message is sent when the answer is read for the first time.

        With the `key` of an earlier call it gives the same answer, finished or under way. `timeout`
        is how many seconds the agent may take to begin.
        """
        options = CommandOptions(key, request_id)
        question = Question(agent, message, content_type, options, timeout)
        return AsyncAnswer(self, Answering(self._settings, question))

    async def control(
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
        return await self._run(commands.control(self._settings, agent, verb, reason, options))

    async def stop(
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
        return await self._send_kind(agent, body, CommandOptions(key, request_id))

    async def withdraw(
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
        return await self._send_kind(agent, body, CommandOptions(key, request_id))

    async def decide(
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
        return await self._send_kind(agent, body, CommandOptions(key, request_id))

    def timeline(
        self,
        agent: AgentAddress,
        offset: str | Bookmark = "start",
        *,
        live: Live | None = "sse",
        wait_for_stream: bool = True,
    ) -> AsyncTimeline:
        """The events of an agent, each once and in order.

        `offset` is `start`, `now`, an offset or a bookmark. `live` is how to wait for new events;
        with `None` the timeline ends with the events of now. Where something on the way holds events
        back, it long-polls by itself.
        """
        path = timeline_path(agent, self._settings.read_tenant)
        begin = bookmark_of(offset)
        return AsyncTimeline(self, EventReader(self._settings, path, begin, live, wait_for_stream))

    def export(self, agent: AgentAddress) -> AsyncIterator[str]:
        """All events of now as lines of JSON."""
        return self._iterate(commands.export(self._settings, agent))

    async def catalog(
        self,
        table: str = "entities",
        *,
        where: str | None = None,
        params: Sequence[str] = (),
        columns: Sequence[str] | None = None,
    ) -> list[dict[str, Any]]:
        """The present rows of the catalog. `where` has `$1`, `$2` … for the values of `params`."""
        return await self._run(commands.catalog_rows(self._settings, table, where, params, columns))

    async def forget(
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
        return await self._run(forget(self._settings, agent, children, timeout, CommandOptions(key)))

    async def register(
        self, uri: str, *, force: bool = False, use_http_11: bool = False
    ) -> dict[str, Any]:
        """Lets Restate discover the agents at an address, as Restate reaches it.

        `force` replaces what was registered there. `use_http_11` is for a server without HTTP/2.
        """
        return await self._run(commands.register(self._settings, uri, force, use_http_11))

    async def _send_kind(
        self, agent: AgentAddress, body: Mapping[str, Any], options: CommandOptions
    ) -> AcceptedCommand:
        return await self._run(commands.send_kind(self._settings, agent, body, options))

    async def _run(self, core: Core[T]) -> T:
        driver = _AsyncDriver(self)
        try:
            return await driver.run(core)
        finally:
            await driver.close()

    async def _iterate(self, core: Core[None]) -> AsyncIterator[Any]:
        driver = _AsyncDriver(self)
        try:
            async for item in driver.items(Steps(core)):
                yield item
        finally:
            await driver.close()

    async def _request(self, request: Request, timeout_s: float) -> httpx.Request:
        authorization = None
        if self._api_key is not None:
            try:
                key = self._api_key if isinstance(self._api_key, str) else self._api_key()
                if inspect.isawaitable(key):
                    key = await key
                authorization = authorization_of(key)
            except Exception as error:
                raise no_credential(error) from error
        return http_request(self._client, self._url, request, authorization, timeout_s)


class AsyncTimeline:
    """The events of a timeline. A later iteration continues where the last one stopped."""

    def __init__(self, gateway: AsyncGateway, reader: EventReader) -> None:
        self._gateway = gateway
        self._reader = reader
        self._driver = _AsyncDriver(gateway)

    @property
    def bookmark(self) -> Bookmark:
        """Save it after each event that you have handled: a later read continues after it."""
        return self._reader.bookmark

    async def __aiter__(self) -> AsyncIterator[Event]:
        try:
            async for event in self._driver.items(Steps(read_timeline(self._reader))):
                yield event
        finally:
            await self._driver.run(self._reader.stream.close())
            await self._driver.close()


class AsyncAnswer:
    """The answer to one message. Iterate over its events as they come, or wait for the whole."""

    def __init__(self, gateway: AsyncGateway, answering: Answering) -> None:
        self._driver = _AsyncDriver(gateway)
        self._commands = _AsyncDriver(gateway)
        self._answering = answering
        self._reading = asyncio.Lock()
        self._sending = asyncio.Lock()

    async def __aiter__(self) -> AsyncIterator[Event]:
        """From the message to the end. After a stop it ends without an error."""
        index = 0
        try:
            while await self._read(index):
                yield self._answering.events[index]
                index += 1
        finally:
            await self._rest()
        error = self._answering.error
        if error is not None and error.code != "stopped":
            raise error

    @property
    def turn(self) -> Turn | None:
        """The turn so far: its parts, calls of tools, state."""
        return self._answering.turn

    async def sent(self) -> AcceptedCommand:
        """The accepted command. Sends the message if that has not been done."""
        async with self._sending:
            return await self._commands.run(self._answering.send())

    async def reply(self) -> Event:
        """The event of the complete reply. Throws an `AnswerError`, also after a stop."""
        index = 0
        try:
            while await self._read(index):
                index += 1
        finally:
            await self._rest()
        if self._answering.error is not None:
            raise self._answering.error
        return cast(Event, self._answering.reply)

    async def text(self) -> str:
        """The text of the complete reply. Throws like `reply`."""
        return text_of((await self.reply()).get("content"))

    async def stop(self, reason: str | None = None) -> AcceptedCommand | None:
        """Ends this turn and no other. A message that has not been sent never is."""
        async with self._sending:
            return await self._commands.run(self._answering.stop(reason))

    async def _read(self, index: int) -> bool:
        """Whether there is an event of this number."""
        if not self._answering.is_done:
            try:
                await self.sent()
            except GatewayError as error:
                self._answering.error = self._answering.error or error
                self._answering.is_done = True
        async with self._reading:
            await self._driver.run(self._answering.read_on(index))
        return index < len(self._answering.events)

    async def _rest(self) -> None:
        async with self._reading:
            await self._driver.run(self._answering.rest())
            await self._driver.close()


class _AsyncDriver:
    """Does the effects of the core, one after the other."""

    def __init__(self, gateway: AsyncGateway) -> None:
        self._gateway = gateway
        self._open: httpx.Response | None = None
        self._bytes: AsyncIterator[bytes] | None = None

    async def run(self, core: Core[T]) -> T:
        """Runs a core that gives no items."""
        async for _ in self.items(steps := Steps(core)):
            pass
        return steps.returned

    async def items(self, steps: Steps[Any]) -> AsyncIterator[Any]:
        """What the core gives."""
        try:
            while (effect := steps.next()) is not None:
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                try:
                    steps.done(await self._do(effect))
                except GatewayError as error:
                    steps.failed(error)
        finally:
            steps.close()

    async def close(self) -> None:
        response, self._open, self._bytes = self._open, None, None
        if response is not None:
            with suppress(*HTTP_FAILURES):
                await response.aclose()

    async def _do(self, effect: object) -> object:
        if isinstance(effect, Pause):
            await asyncio.sleep(effect.seconds)
            return None
        if isinstance(effect, Close):
            await self.close()
            return None
        try:
            if isinstance(effect, Send):
                # The limits of httpx are for each read, this one is for the whole.
                return await asyncio.wait_for(self._send(effect), effect.timeout_s)
            if isinstance(effect, Open):
                return await self._begin(effect)
            assert isinstance(effect, ReadMore)
            return await anext(self._bytes, None) if self._bytes is not None else None
        except (*HTTP_FAILURES, asyncio.TimeoutError) as error:
            raise no_answer(error) from error

    async def _send(self, effect: Send) -> Response:
        request = await self._gateway._request(effect.request, effect.timeout_s)
        response = await self._gateway._client.send(request, stream=True)
        try:
            return response_of(response, await response.aread())
        finally:
            await response.aclose()

    async def _begin(self, effect: Open) -> Response:
        await self.close()
        request = await self._gateway._request(effect.request, effect.timeout_s)
        response = await self._gateway._client.send(request, stream=True)
        if not response.is_success:
            try:
                return response_of(response, await response.aread())
            finally:
                await response.aclose()
        self._open, self._bytes = response, response.aiter_bytes()
        return response_of(response, b"")
