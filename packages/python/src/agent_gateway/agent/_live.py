"""A generator of this process. It runs ahead of the steps that record its text."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from restate import TerminalError

from .._json import json_of, to_json
from ._failure import PublicReason, detail_of, public_words

#: So many characters make a step without waiting, and stop the generator until a step takes them.
_MAX_STEP_LENGTH = 64 * 1_024
#: A step without anything new ends after this time: Restate takes a handler that reports nothing
#: for a minute for stuck.
_LONGEST_STEP_S = 20.0


class _UnknownPartError(Exception):
    """`generate` gave something that is no part of an answer, which no other try mends."""


class _SilentModelError(Exception):
    """The model sent nothing for too long."""


class LiveGeneration:
    """Each step takes all that came meanwhile.

    The generator runs in one task from its beginning to its end, because libraries bind what they
    open to the task in which they do.
    """

    def __init__(
        self,
        generate: Callable[[], Any],
        *,
        batch_s: float,
        idle_timeout_s: float,
        public_reason: PublicReason | None,
    ) -> None:
        self._generate = generate
        self._batch_s = batch_s
        self._idle_timeout_s = idle_timeout_s
        self._public_reason = public_reason
        self._task: asyncio.Task[None] | None = None
        self._is_silent = False
        self._said: list[dict[str, Any]] = []
        self._length = 0
        self._ending: dict[str, Any] | None = None
        self._outputs: asyncio.Future[list[Any]] | None = None
        self._changed = asyncio.Event()

    async def next(self, outputs: list[Any]) -> dict[str, Any]:
        """Waits for the first piece, and then at most a batch for more. Never throws."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        # A call that no step has taken yet has not been answered.
        if self._ending is None and self._outputs is not None and not self._outputs.done():
            self._outputs.set_result(outputs)
        await self._until(lambda: self._length > 0 or self._ending is not None, _LONGEST_STEP_S)
        if self._length > 0:
            full = _MAX_STEP_LENGTH
            await self._until(lambda: self._length >= full or self._ending is not None, self._batch_s)
        said, self._said, self._length = self._said, [], 0
        ending, self._ending = self._ending, None
        if ending is not None and "calls" not in ending:
            self._task = None
        self._changed.set()
        return {"said": said, **(ending or {})}

    def stop(self) -> None:
        """The generator is not needed any more: what it awaits is cancelled."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            while await self._run_once():
                pass
            self._end({"isEnd": True})
        except asyncio.CancelledError:
            if not self._is_silent:
                raise
            self._is_silent = False
            silent = f"the model sent nothing for {round(self._idle_timeout_s)} s"
            self._fail(_SilentModelError(silent))
        except Exception as error:
            self._fail(error)

    async def _run_once(self) -> bool:
        """Whether the last piece was a call, so that the model has not seen its result yet."""
        made = self._generate()
        parts = await made if inspect.isawaitable(made) else made
        iterator = aiter(parts)
        output: Any = None
        is_after_tool = False
        try:
            while True:
                try:
                    value = await self._in_time(iterator, output)
                except StopAsyncIteration:
                    return is_after_tool
                output = None
                calls = _calls_in(value)
                is_after_tool = calls is not None
                if calls is None:
                    await self._say(_said_in(value))
                else:
                    outputs = await self._call(calls)
                    output = outputs if isinstance(value, list) else outputs[0]
        finally:
            if hasattr(iterator, "aclose"):
                with contextlib.suppress(Exception):
                    await iterator.aclose()

    async def _in_time(self, iterator: Any, output: Any) -> Any:
        """What the generator gives next. A model that sends nothing is given up."""
        task = self._task

        def give_up() -> None:
            self._is_silent = True
            if task is not None:
                task.cancel()

        timer = asyncio.get_running_loop().call_later(self._idle_timeout_s, give_up)
        try:
            if hasattr(iterator, "asend"):
                return await iterator.asend(output)
            return await anext(iterator)
        finally:
            timer.cancel()

    async def _say(self, said: dict[str, Any]) -> None:
        last = self._said[-1] if self._said else {}
        for kind in ("text", "reasoning"):
            if kind in said and kind in last:
                last[kind] += said[kind]
                break
        else:
            self._said.append(dict(said))
        self._length += len(said["text"]) if "text" in said else len(to_json(said))
        self._changed.set()
        while self._length >= _MAX_STEP_LENGTH:
            self._changed.clear()
            await self._changed.wait()

    async def _call(self, calls: list[dict[str, Any]]) -> list[Any]:
        self._outputs = asyncio.get_running_loop().create_future()
        self._end({"calls": calls})
        return await self._outputs

    def _fail(self, error: Exception) -> None:
        is_unknown = isinstance(error, _UnknownPartError)
        is_final = is_unknown or isinstance(error, TerminalError)
        otherwise = str(error) if is_unknown else f"the {'agent' if is_final else 'model'} failed"
        reason = public_words(self._public_reason, error, otherwise)
        failure = {"reason": reason, "detail": detail_of(error), "isFinal": is_final}
        self._end({"failure": failure})

    def _end(self, ending: dict[str, Any]) -> None:
        self._ending = ending
        self._changed.set()

    async def _until(self, is_true: Callable[[], bool], timeout_s: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        while not is_true():
            left = end - loop.time()
            if left <= 0:
                return
            self._changed.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)


def _calls_in(part: Any) -> list[dict[str, Any]] | None:
    """The calls that a part asks for, `None` for any other part."""
    is_one = isinstance(part, dict) and "tool" in part
    if not isinstance(part, list) and not is_one:
        return None
    requests = part if isinstance(part, list) else [part]
    if not requests:
        raise _UnknownPartError("the agent asked for an empty list of tools")
    return [_request_of(request) for request in requests]


def _request_of(request: Any) -> dict[str, Any]:
    if not isinstance(request, dict) or not isinstance(request.get("tool"), str):
        raise _UnknownPartError("the agent asked for a tool in a form that is not known")
    tool = request["tool"]
    call: dict[str, Any] = {"tool": tool}
    if "input" in request:
        call["input"] = _storable(request["input"], f"the input of {tool}")
    if isinstance(request.get("id"), str):
        call["id"] = request["id"]
    return call


def _said_in(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, dict):
        if isinstance(part.get("reasoning"), str):
            return {"reasoning": part["reasoning"]}
        if isinstance(part.get("usage"), dict):
            usage = _storable(
                {
                    name: value
                    for name, value in part["usage"].items()
                    if isinstance(value, (int, float)) and not isinstance(value, bool)
                },
                "usage",
            )
            return {"usage": usage}
        if "data" in part:
            return {"data": _storable(part["data"], "data")}
    raise _UnknownPartError("the agent gave a part of an answer that is not known")


def _storable(value: Any, what: str) -> Any:
    try:
        return json_of(value)
    except (TypeError, ValueError) as error:
        raise _UnknownPartError(f"the agent gave {what} that JSON cannot hold") from error
