"""The messages, the answer under way, the history and the failure of an agent.

They are values of their own, because they are large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from restate import ObjectContext

from .._json import to_json
from ._restate import get, put

Part = dict[str, Any]

#: The history that `generate` gets has at most this many characters, and this many turns.
_MAX_HISTORY_LENGTH = 64 * 1_024
_MAX_TURNS = 100
_HOUR_MS = 3_600_000
_WRITTEN = "written"
_TURNS = "turns"
_FAILURE = "failure"


class TurnStore:
    """The values of one agent."""

    def __init__(self, ctx: ObjectContext) -> None:
        self._ctx = ctx

    def keep_message(self, name: str, message: dict[str, Any]) -> None:
        """Keeps a message until its turn ends."""
        put(self._ctx, f"message {name}", message)

    async def message(self, name: str) -> dict[str, Any] | None:
        """The message of a turn."""
        found: dict[str, Any] | None = await get(self._ctx, f"message {name}")
        return found

    async def read(self, name: str) -> dict[str, Any]:
        """What an invocation needs to answer a message, or to continue with it."""
        args = await get(self._ctx, "args")
        return {
            "message": await self.message(name) or {"content": [], "text": ""},
            "turns": await get(self._ctx, _TURNS) or [],
            "written": await self.written(),
            **({} if args is None else {"args": args}),
        }

    async def written(self) -> list[Part]:
        """The answer under way."""
        return await get(self._ctx, _WRITTEN) or []

    def keep_written(self, written: list[Part]) -> None:
        """Keeps the answer under way."""
        put(self._ctx, _WRITTEN, written)

    async def end(self, name: str, is_under_way: bool) -> str:
        """Ends a turn, which is then part of the history. Gives what was said."""
        written = await self.written() if is_under_way else []
        reply = written_text(written)
        message = await self.message(name)
        if is_under_way:
            self._ctx.clear(_WRITTEN)
        self._ctx.clear(f"message {name}")
        if written:
            turns = await get(self._ctx, _TURNS) or []
            text = message["text"] if message else ""
            turns.append({"message": text, "reply": reply, "parts": [*map(part_of, written)]})
            put(self._ctx, _TURNS, _newest(turns))
        return reply

    def fail(self, failure: dict[str, Any] | None) -> None:
        """Keeps a failure as an operator sees it, or that there is none."""
        if failure is None:
            self._ctx.clear(_FAILURE)
        else:
            put(self._ctx, _FAILURE, failure)

    async def failure(self) -> dict[str, Any] | None:
        """The failure."""
        found: dict[str, Any] | None = await get(self._ctx, _FAILURE)
        return found

    async def keep_place(
        self, self_: dict[str, Any], name: str, offset: str, at: str, retention_s: float
    ) -> None:
        """Keeps where a turn begins for as long as its key is."""
        hour = _hour_of(at)
        hours = self_.setdefault("hours", [])
        if not hours or hours[-1] != hour:
            hours.append(hour)
        while (hour - hours[0] - 1) * _HOUR_MS > retention_s * 1_000:
            self._ctx.clear(f"places {hours.pop(0)}")
        places = await get(self._ctx, f"places {hour}") or {}
        put(self._ctx, f"places {hour}", {**places, name: offset})

    async def place_of(self, self_: dict[str, Any], name: str) -> str | None:
        """The offset before the message of a turn."""
        for hour in reversed(self_.get("hours", [])):
            places = await get(self._ctx, f"places {hour}") or {}
            if name in places:
                return str(places[name])
        return None


def _hour_of(at: str) -> int:
    seconds = datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    return math.floor(seconds * 1_000 / _HOUR_MS)


def write_text(written: list[Part], text: str) -> None:
    """Adds a piece of text to the text before it."""
    if written and written[-1]["type"] == "text":
        written[-1]["text"] += text
    else:
        written.append({"type": "text", "text": text})


def written_text(written: Sequence[Part]) -> str:
    """The text of an answer so far."""
    return "".join(part["text"] for part in written if part["type"] == "text")


def add_words(written: list[Part], turn: dict[str, Any], events: Sequence[dict[str, Any]]) -> None:
    """Adds what events say to an answer under way."""
    for event in events:
        if event["kind"] == "word":
            write_text(written, event["text"])
            turn["index"] += 1


def calls_of(written: Sequence[Part]) -> list[Part]:
    """The calls of an answer."""
    return [part for part in written if part["type"] == "tool"]


def call_of(written: Sequence[Part], name: object) -> Part | None:
    """The call of an id."""
    return next((call for call in reversed(calls_of(written)) if call["id"] == name), None)


def put_call(written: list[Part], turn: dict[str, Any], call: Part) -> None:
    """Takes over what an invocation knows of a call."""
    for place in range(len(written) - 1, -1, -1):
        if written[place]["type"] == "tool" and written[place]["id"] == call["id"]:
            written[place] = call
            return
    written.append(call)
    turn["calls"] = max(turn["calls"], call["number"])


def has_ended(call: Part) -> bool:
    """Whether a call has its result."""
    return "output" in call or "error" in call or call["state"] in ("done", "failed")


def is_over(call: Part | None) -> bool:
    """Whether the agent has ended a call, with its event."""
    return call is not None and call["state"] in ("done", "failed", "denied")


def part_of(part: Part) -> Part:
    """A part as `generate` sees it."""
    return {name: value for name, value in part.items() if name not in ("number", "state", "child")}


def _newest(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of the newest turns as there is room for, but at least one."""
    kept = turns[-_MAX_TURNS:]
    length, first = 0, len(kept)
    while first > 0:
        length += len(to_json(kept[first - 1]))
        if length > _MAX_HISTORY_LENGTH:
            break
        first -= 1
    return kept[min(first, len(kept) - 1) :]
