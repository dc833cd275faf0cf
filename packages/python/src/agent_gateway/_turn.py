"""A turn: a message, and what the agent makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ._json import is_number, to_json
from ._turn_parts import (
    Parts,
    TurnPart,
    is_asking,
    utf16_length,
    with_call,
    with_decision,
    with_text,
    with_whole,
)

TurnState = Literal["queued", "waiting", "writing", "asking", "done", "stopped", "failed", "refused"]


@dataclass(frozen=True)
class TurnMessage:
    """The message that a turn began with."""

    content: Sequence[Any]
    #: The text parts of the content.
    text: str
    #: The `X-Request-Id` of the command.
    request_id: str | None


@dataclass(frozen=True)
class Turn:
    """A message to the agent, and what came of it."""

    #: Unique among the items of a conversation, and never changes.
    key: str
    #: The name of the turn: the invocation id of its command, which `stop` and `withdraw` take.
    id: str | None
    #: The number of the message's event, which is only a place.
    seq: int
    #: `None` if the message is before the first event that was read.
    message: TurnMessage | None
    #: The answer in order: texts, reasoning, calls of tools with their decisions, data.
    parts: Parts = ()
    #: What the agent has said, so far or in the end.
    text: str = ""
    #: The content of the reply, once it is complete or stopped.
    reply: Sequence[Any] | None = None
    #: `queued`: another turn is before it. `waiting`: it is the next one. `writing`: the agent
    #: answers. `asking`: a call of a tool waits for a person. The others are ends.
    state: TurnState = "waiting"
    #: How many turns are still before it, while it is `queued`.
    ahead: int = 0
    #: The command that stopped it.
    stopped_by: Mapping[str, Any] | None = None
    #: Why it failed or was refused.
    error: str | None = None
    #: What it used, once it has ended and where the agent counts.
    usage: Mapping[str, Any] | None = None
    began_at: str | None = None
    ended_at: str | None = None

    @property
    def tools(self) -> tuple[TurnPart, ...]:
        """The calls of tools among the parts."""
        return tuple(part for part in self.parts if part["type"] == "tool")

    @property
    def has_begun(self) -> bool:
        """Whether the agent answers, or waits for a person in the middle of its answer."""
        return self.state in ("writing", "asking")

    @property
    def is_open(self) -> bool:
        """Whether the agent has yet to end the turn."""
        return self.state in ("queued", "waiting", "writing", "asking")


def text_of(content: object) -> str:
    """The text parts of a content, a line each. A content that is no list has none."""
    if not isinstance(content, list):
        return ""
    texts = [part["text"] for part in content if _is_text(part)]
    return "\n".join(texts)


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def new_turn(key: str, seq: int, at: object) -> Turn:
    """A turn of which nothing but its number is known."""
    return Turn(key=key, id=None, seq=seq, message=None, began_at=text_or_none(at))


def turn_of(key: str, event: Mapping[str, Any]) -> Turn:
    """The turn that begins with a message."""
    content, ahead = event.get("content"), event.get("ahead")
    message = TurnMessage(
        content=content if isinstance(content, list) else [],
        text=text_of(content),
        request_id=text_or_none(event.get("requestId")),
    )
    turn = replace(
        new_turn(key, int(event["seq"]) if is_number(event.get("seq")) else -1, event.get("at")),
        id=text_or_none(event.get("invocationId")),
        message=message,
    )
    if ahead is not None and is_number(ahead) and ahead > 0:
        return replace(turn, state="queued", ahead=int(ahead))
    return turn


def turn_moved_up(turn: Turn) -> Turn:
    """The turn when one that was before it has ended."""
    if turn.state != "queued":
        return turn
    ahead = turn.ahead - 1
    return replace(turn, ahead=ahead, state="waiting" if ahead == 0 else "queued")


def turn_after(turn: Turn, event: Mapping[str, Any]) -> Turn | None:
    """The turn after an event of it.

    The same object if the event changes nothing, and `None` if it is no event of a turn. Anyone with
    a key may append anything, so every field is looked at.
    """
    kind = event.get("kind")
    if kind in ("word", "reasoning"):
        said = event.get("text")
        if not isinstance(said, str):
            return None
        if not turn.is_open:
            return turn
        if kind == "word":
            more = replace(turn, text=turn.text + said)
            return _with_parts(more, with_text(turn.parts, "text", said))
        return _with_parts(turn, with_text(turn.parts, "reasoning", said))
    if kind == "data":
        part = {"type": "data", **({"data": event["data"]} if "data" in event else {})}
        return _with_parts(turn, (*turn.parts, part))
    if kind == "tool":
        return _with_parts(turn, with_call(turn.parts, event, utf16_length(turn.text)))
    if kind == "decision":
        return _with_parts(turn, with_decision(turn.parts, event))
    if kind in ("reply", "error", "refused"):
        if turn.is_open:
            return _ended(turn, event)
        return turn if _is_same_end(turn, event) else None
    return None


def _with_parts(turn: Turn, parts: Parts | None) -> Turn | None:
    if parts is None:
        return None
    if not turn.is_open:
        return replace(turn, parts=parts)
    state: TurnState = "asking" if any(is_asking(part) for part in parts) else "writing"
    return replace(turn, parts=parts, ahead=0, state=state)


def _is_same_end(turn: Turn, event: Mapping[str, Any]) -> bool:
    """After a restore an agent may write an end once more."""
    if event["kind"] == "reply":
        state = "stopped" if isinstance(event.get("stopped"), dict) else "done"
        return turn.state == state and turn.text == text_of(event.get("content"))
    if event["kind"] == "error":
        return turn.state == "failed" and turn.error == event.get("message")
    return turn.state == "refused" and turn.error == _reason_of(event)


def _ended(turn: Turn, event: Mapping[str, Any]) -> Turn | None:
    end = replace(turn, ahead=0, ended_at=text_or_none(event.get("at")))
    if event["kind"] == "refused":
        return replace(end, state="refused", error=_reason_of(event))
    usage = event.get("usage") if isinstance(event.get("usage"), dict) else None
    if event["kind"] == "error":
        message = event.get("message")
        if not isinstance(message, str):
            return None
        return replace(end, state="failed", error=message, usage=usage)
    content = event.get("content")
    whole = text_of(content)
    said = replace(
        end,
        reply=content if isinstance(content, list) else [],
        text=whole,
        parts=with_whole(turn.parts, turn.text, whole),
        usage=usage,
    )
    stopped = event.get("stopped")
    if isinstance(stopped, dict):
        return replace(said, state="stopped", stopped_by=_stop_of(stopped))
    return replace(said, state="done")


def _stop_of(stopped: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A stop whose verb is no text says nothing that a reader could show."""
    if not isinstance(stopped.get("verb"), str):
        return None
    return {key: value for key, value in stopped.items() if key != "reason" or isinstance(value, str)}


def _reason_of(event: Mapping[str, Any]) -> str:
    """A reason that may be no text."""
    if "reason" not in event:
        return "no reason given"
    reason = event["reason"]
    return reason if isinstance(reason, str) else to_json(reason)


def text_or_none(value: object) -> str | None:
    """A text, or nothing."""
    return value if isinstance(value, str) else None
