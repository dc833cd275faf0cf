"""The turn of one command among the events of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ._json import fields_of, is_number
from ._turn import Turn, new_turn, turn_after, turn_of


class OwnCommand(Protocol):
    """The command whose turn is meant."""

    @property
    def request_id(self) -> str:
        """Its `X-Request-Id`."""

    @property
    def invocation_id(self) -> str:
        """The name of its turn."""


def is_named_by(event: object, command: OwnCommand) -> bool:
    """Whether an event names the command.

    By the invocation id, which it has also when it is repeated, or by the request id, where the
    agent writes no other.
    """
    named = fields_of(event)
    if isinstance(named.get("invocationId"), str):
        return bool(named["invocationId"] == command.invocation_id)
    return named.get("requestId") == command.request_id


def own_turn_after(turn: Turn | None, event: object, command: OwnCommand) -> Turn | None:
    """The turn of the command after an event, `None` if the event is not of that turn."""
    if not isinstance(event, dict):
        return None
    fields: Mapping[str, Any] = event
    is_named = is_named_by(event, command)
    kind = fields.get("kind")
    if turn is None:
        if not is_begin_of(event, command):
            return None
        if kind == "message":
            return turn_of(command.request_id, fields)
        seq = fields.get("seq")
        place = int(seq) if seq is not None and is_number(seq) else -1
        return turn_after(new_turn(command.request_id, place, fields.get("at")), fields)
    if kind == "message":
        # After a restore the message comes again, and the turn begins again.
        is_again = is_named and "invocationId" in fields and turn.is_open
        return turn_of(command.request_id, fields) if is_again else None
    is_of_turn = "replyTo" in fields and fields["replyTo"] == turn.seq
    is_failure = kind == "error" and "replyTo" in fields and "invocationId" in fields
    is_end = is_named and (kind == "refused" or is_failure)
    if not (is_of_turn or is_end):
        return None
    return turn_after(turn, fields) or turn


def is_begin_of(event: object, command: OwnCommand) -> bool:
    """Whether it is the first event of the turn: its message, or why there is none."""
    kind = fields_of(event).get("kind")
    return kind in ("message", "refused", "error") and is_named_by(event, command)
