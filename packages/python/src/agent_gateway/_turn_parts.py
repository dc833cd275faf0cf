"""The parts of an answer: texts, thoughts, calls of tools with their decisions, data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A piece of an answer: `type` is `text`, `reasoning`, `data` or `tool`.
TurnPart = dict[str, Any]
Parts = tuple[TurnPart, ...]

_CALL_STATES = ("waiting", "called", "done", "failed", "denied")


def utf16_length(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def with_text(parts: Parts, kind: str, text: str) -> Parts:
    """The parts with a piece of text or of reasoning at their end."""
    if parts and parts[-1]["type"] == kind:
        return (*parts[:-1], {"type": kind, "text": parts[-1]["text"] + text})
    return (*parts, {"type": kind, "text": text})


def with_whole(parts: Parts, said: str, whole: str) -> Parts:
    """The parts with the text of the whole reply, which counts where another one was said."""
    if whole == said:
        return parts
    if whole.startswith(said):
        return with_text(parts, "text", whole[len(said) :])
    others = tuple(part for part in parts if part["type"] != "text")
    return others if whole == "" else (*others, {"type": "text", "text": whole})


def with_call(parts: Parts, event: Mapping[str, Any], text_length: int) -> Parts | None:
    """The parts after an event of a call, `None` if it is none."""
    call_id, name, state = event.get("id"), event.get("name"), event.get("state")
    if not isinstance(call_id, str) or not isinstance(name, str) or state not in _CALL_STATES:
        return None
    known = {key: event[key] for key in ("input", "output") if key in event}
    known |= {key: event[key] for key in ("error", "url") if isinstance(event.get(key), str)}
    place = next(
        (i for i, part in enumerate(parts) if part["type"] == "tool" and part["id"] == call_id),
        None,
    )
    before = {} if place is None else parts[place]
    call = {"textLength": text_length, **before, "type": "tool", "id": call_id, "name": name}
    call |= {"state": state, **known}
    if state == "waiting":
        # It asks once more, because a decision was no good.
        call.pop("decision", None)
    return (*parts, call) if place is None else _replaced(parts, place, call)


def with_decision(parts: Parts, event: Mapping[str, Any]) -> Parts | None:
    """The parts after a decision, `None` if no call waits for it: the first decision counts."""
    if not isinstance(event.get("approved"), bool):
        return None
    place = next(
        (i for i, part in enumerate(parts) if is_asking(part) and part["id"] == event.get("call")),
        None,
    )
    if place is None:
        return None
    decision: dict[str, Any] = {"approved": event["approved"]}
    decision |= {key: event[key] for key in ("by", "note") if isinstance(event.get(key), str)}
    if "input" in event:
        decision["input"] = event["input"]
    if event.get("expired") is True:
        decision["expired"] = True
    if isinstance(event.get("at"), str):
        decision["at"] = event["at"]
    return _replaced(parts, place, {**parts[place], "decision": decision})


def is_asking(part: TurnPart) -> bool:
    """Whether it is a call that waits for a person's decision."""
    return part["type"] == "tool" and part["state"] == "waiting" and "decision" not in part


def _replaced(parts: Parts, place: int, part: TurnPart) -> Parts:
    return (*parts[:place], part, *parts[place + 1 :])
