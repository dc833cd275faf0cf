"""Tools, and how they are judged and called."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from restate import Context
from restate.exceptions import RetryableError

from .._json import json_of
from ._access import Access
from ._courier import CommandRefusedError, post
from ._failure import PublicReason, detail_of, message_of, public_words

#: A tool as a function of the input, or of the input and a `ToolContext`; it may be async. It may
#: run again after a crash. If it raises, the model gets the error. A `RetryableError` of Restate is
#: recorded, and the call is tried again.
ToolFunction = Callable[..., Any]
Approval = bool | Callable[[Any], "bool | Awaitable[bool]"]


@dataclass(frozen=True)
class ToolAgent:
    """The agent in which a tool runs."""

    #: `/t/<tenant>/a/<type>/<id>`.
    url: str
    tenant: str
    type: str
    id: str
    _command: Callable[[dict[str, Any], str], Awaitable[str]] = field(repr=False)
    _call: str = field(repr=False)

    async def remind(self, message: Any, delay_s: float, key: str = "") -> str:
        """Sends this agent a message later, up to a year. Gives the id to withdraw it with.

        A tool that runs again asks for the same reminder again, unless `key` tells them apart.
        """
        delay_ms = round(timedelta(seconds=delay_s).total_seconds() * 1_000)
        body = {"kind": "remind", "content": message, "delayMs": delay_ms}
        return await self._command(body, f"remind {self._call} {key}".strip())

    async def withdraw(self, reminder: str) -> None:
        """Withdraws a reminder that has not come yet."""
        body = {"kind": "withdraw", "invocationId": reminder}
        await self._command(body, f"withdraw {reminder}")


@dataclass(frozen=True)
class ToolContext:
    """What a tool is given beside its input."""

    agent: ToolAgent
    #: The id of the call on the timeline, and its number in the turn (1, 2, 3 …).
    call_id: str
    call_number: int
    #: The same at every attempt of this call: an idempotency key for the requests of the tool.
    key: str
    #: The arguments of the spawn.
    args: Any = None


@dataclass(frozen=True)
class Tool:
    """A tool with rules."""

    run: ToolFunction
    #: Judges each input before the tool runs, also one that an approver changed, and gives what the
    #: tool gets. It raises for a wrong one, and the model hears why: a pydantic `model_validate`.
    input: Callable[[Any], Any] | None = None
    #: Whether a call waits for a person. Where the function raises, the call fails.
    approval: Approval = False
    #: How long a call waits for a decision. Without it there is no end.
    wait_s: float | None = None


class ChildId(Protocol):
    """The id of the agent for an input and a call of this agent."""

    def __call__(self, value: Any, context: ToolContext, /) -> str:
        """Such as the id of the asking agent and that of the call."""


@dataclass(frozen=True)
class AgentTool:
    """A tool that is an agent, made by `agent_tool`."""

    type: str
    message: Callable[[Any], Any]
    id: str | ChildId | None = None
    args: Any = None
    input: Callable[[Any], Any] | None = None
    approval: Approval = False
    wait_s: float | None = None


#: What `define_agent` takes as a tool.
AnyTool = ToolFunction | Tool | AgentTool


def agent_tool(
    type: str,  # noqa: A002
    message: Callable[[Any], Any],
    *,
    id: str | ChildId | None = None,  # noqa: A002
    args: Any = None,
    input: Callable[[Any], Any] | None = None,  # noqa: A002
    approval: Approval = False,
    wait_s: float | None = None,
) -> AgentTool:
    """A tool that is an agent: it spawns a child, sends it a message, and gives what the child says.

    The child's turn is stopped with the turn that waits for it. By default each call has an agent of
    its own. The child must be made with `define_agent`, of this kit or of the TypeScript one.
    """
    return AgentTool(type, message, id, args, input, approval, wait_s)


def whole_tool(tool: AnyTool) -> Tool | AgentTool:
    """A function is a tool without rules."""
    return tool if isinstance(tool, (Tool, AgentTool)) else Tool(tool)


def valid_input(tool: Tool | AgentTool, value: Any) -> Any:
    """The input as the tool's rule has it. Throws a `ValueError`."""
    if tool.input is None:
        return value
    try:
        return tool.input(value)
    except Exception as error:
        raise ValueError(f"the input is wrong: {message_of(error)}") from error


async def judge(tool: Tool | AgentTool | None, name: str, value: Any) -> dict[str, Any]:
    """Whether a call `waits`, or the `error` of a wrong one. Never throws."""
    if tool is None:
        return {"error": f"there is no tool {name}"}
    try:
        valid = valid_input(tool, value)
    except ValueError as error:
        return {"error": str(error)}
    try:
        waits = tool.approval(valid) if callable(tool.approval) else tool.approval
        if inspect.isawaitable(waits):
            waits = await waits
        if not isinstance(waits, bool):
            raise TypeError("the approval is no boolean")
    except Exception as error:
        why = f"whether the call needs an approval cannot be said: {message_of(error)}"
        return {"error": why}
    return {"waits": waits}


async def call_tool(
    tool: Tool, name: str, value: Any, context: ToolContext, public_reason: PublicReason | None
) -> dict[str, Any]:
    """Calls a tool: its `output`, its `error`, or `again`. Never throws."""
    try:
        valid = valid_input(tool, value)
        output = json_of(await _run(tool.run, valid, context))
        url = output.get("url") if name == "spawn" and isinstance(output, dict) else None
        return {"output": output, **({"url": url} if isinstance(url, str) else {})}
    except Exception as error:
        known = str(error) if isinstance(error, CommandRefusedError) else ""
        reason = public_words(public_reason, error, known)
        if isinstance(error, RetryableError):
            said = reason or f"the tool {name} failed"
            return {"again": {"reason": said, "detail": detail_of(error), "isFinal": False}}
        return {"error": message_of(error), **({"reason": reason} if reason else {})}


async def _run(run: ToolFunction, value: Any, context: ToolContext) -> Any:
    given = (value, context) if _takes_context(run) else (value,)
    if inspect.iscoroutinefunction(run):
        return await run(*given)
    result = await asyncio.to_thread(run, *given)
    return await result if inspect.isawaitable(result) else result


def _takes_context(run: ToolFunction) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(run).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [one for one in parameters if one.kind in kinds and one.default is one.empty]
    return len(required) >= 2


def spawn_tool(ctx: Context, access: Access, parent: str) -> Tool:
    """The tool that spawns a child through the gateway, `{type, id?, args?}`."""

    async def spawn(value: Any, context: ToolContext) -> dict[str, Any]:
        fields = value if isinstance(value, Mapping) else {}
        body = {name: fields.get(name) for name in ("type", "id", "args")} | {"parent": parent}
        try:
            # The gateway derives the id from the key, so a repeated call spawns no second child.
            answer = await post(ctx, access, "/api/spawn", body, context.key)
        except ConnectionError as error:
            raise RetryableError(str(error)) from error
        if "refusal" in answer:
            raise CommandRefusedError(answer["refusal"])
        return {"url": answer["url"]}

    return Tool(spawn)
