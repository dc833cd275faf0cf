"""Restate's context, as the kit uses it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from restate import Context, InvocationRetryPolicy, ObjectContext, RunOptions, TerminalError
from restate.serde import Serde

from .._json import parse_json, to_json_bytes

#: By default Restate waits up to a minute between retries, and pauses the invocation after 70 of
#: them until somebody resumes it: an agent would stay blocked long after an outage.
RETRY_FOREVER = InvocationRetryPolicy(
    initial_interval=timedelta(milliseconds=100),
    exponentiation_factor=2.0,
    max_interval=timedelta(seconds=2),
    max_attempts=2**31 - 1,
)

_TRACE_HEADERS = ("traceparent", "tracestate")


class JsonSerde(Serde[Any]):
    """JSON as the TypeScript kit writes it, so that each reads the state of the other."""

    def deserialize(self, buf: bytes) -> Any:
        """Nothing is `None`."""
        return parse_json(bytes(buf)) if buf else None

    def serialize(self, obj: Any) -> bytes:
        """Any JSON."""
        return to_json_bytes(obj)


JSON = JsonSerde()


async def step(ctx: Context, name: str, action: Callable[[], Awaitable[Any]]) -> Any:
    """Runs an action whose result the journal keeps. An exception is tried again."""

    async def run() -> Any:
        return await action()

    return await ctx.run_typed(name, run, RunOptions(serde=JSON))


async def get(ctx: ObjectContext, name: str) -> Any:
    """A value of the state, `None` without one."""
    return await ctx.get(name, serde=JSON)


def put(ctx: ObjectContext, name: str, value: Any) -> None:
    """Stores a value."""
    ctx.set(name, value, serde=JSON)


async def now_ms(ctx: Context) -> int:
    """The time, the same at each replay."""

    async def read() -> int:
        return int(time.time() * 1_000)

    return int(await step(ctx, "time", read))


async def now_iso(ctx: Context) -> str:
    """The time as ISO 8601."""
    return iso(await now_ms(ctx))


def iso(ms: int) -> str:
    """A time as ISO 8601 in UTC, with milliseconds."""
    at = datetime.fromtimestamp(ms / 1_000, timezone.utc)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def header_of(ctx: Context, name: str) -> str | None:
    """A header of the command."""
    headers = {key.lower(): value for key, value in ctx.request().headers.items()}
    return headers.get(name)


def trace_of(ctx: Context) -> dict[str, str]:
    """The W3C trace context of the command, for the requests that it causes."""
    found = ((name, header_of(ctx, name)) for name in _TRACE_HEADERS)
    return {name: value for name, value in found if value is not None}


def is_cancelled(error: BaseException) -> bool:
    """Whether somebody cancelled the invocation. The SDK has no type of its own for it."""
    is_terminal = isinstance(error, TerminalError) and error.status_code == 409
    return is_terminal and str(error) == "cancelled"
