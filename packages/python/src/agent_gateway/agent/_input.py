"""Reads what clients sent. It never throws: a handler that did would block every later message."""

from __future__ import annotations

from typing import Any

from .._json import Json, fields_of, is_number, is_too_deep, parse_json, to_json_bytes
from .._paths import entity_of
from .._turn import text_of

#: The most agents that wait for each other.
MAX_CHAIN = 16
_OUTCOMES = ("done", "failed", "refused", "stopped")
_VERBS = ("interrupt", "pause", "resume", "archive")
#: Restate takes longer delays, but a number that is no exact millisecond is a mistake.
_LONGEST_DELAY_MS = 366 * 86_400_000

#: What a `send` asks of an agent: `kind` and its fields, or a `problem`.
Input = dict[str, Any]


def read_message(body: bytes) -> dict[str, Any]:
    """The `message`, or the `problem` with one that cannot be read.

    Taken: `{"kind":"message","content":[parts]}`, and as shorthand a `content` that is a text, a
    JSON text, or plain text.
    """
    try:
        plain = body.decode("utf-8").lstrip("\ufeff").strip()
    except UnicodeDecodeError:
        return {"problem": "the message is neither JSON nor text in UTF-8"}
    if plain == "":
        return {"problem": "the message is empty"}
    try:
        value = parse_json(plain)
    except ValueError:
        # A sender who begins like this means JSON and would not expect literal text.
        if plain[0] in '[{"':
            return {"problem": "the message is broken JSON"}
        return {"message": _text_message(plain)}
    if isinstance(value, str):
        return {"message": _text_message(value)}
    if not isinstance(value, dict):
        return {"problem": "the message must be an object with content, or a text"}
    if value.get("kind", "message") != "message":
        return {"problem": 'the kind of a message must be "message"'}
    content = value.get("content")
    if isinstance(content, str):
        return {"message": _text_message(content)}
    if not isinstance(content, list) or not all(_is_part(part) for part in content):
        return {"problem": "the content of a message must be a list of parts, or a text"}
    if is_too_deep(content):
        return {"problem": "the content of the message is nested too deep"}
    return {"message": {"content": content, "text": text_of(content)}}


def read_input(body: bytes, url: str) -> Input:
    """What a client sent to the agent of a URL."""
    value = _object_in(body)
    kind = None if value is None else value.get("kind", "message")
    if value is None or kind == "message":
        return _own_message(body, value or {}, url)
    name = _text(kind) or "message"
    if is_too_deep(value):
        return {"problem": f"the {name} is nested too deep"}
    if kind == "stop":
        named = _texts(value, "invocationId", "call", "reason")
        if "invocationId" not in named and "call" not in named:
            return {"problem": "the stop needs an invocationId"}
        return {"kind": "stop", **named}
    if kind in ("withdraw", "locate"):
        named = _texts(value, "invocationId", "reason")
        if "invocationId" not in named:
            return {"problem": f"the {kind} needs an invocationId"}
        return {"kind": kind, **named}
    if kind == "decision":
        return _decision(value)
    if kind == "result":
        return _result(value)
    if kind == "remind":
        return _reminder(value)
    if kind == "forget":
        return {"kind": "forget", "children": value.get("children") is True}
    return {"problem": 'the kind of a message must be "message"'}


def read_control(body: bytes) -> dict[str, Any] | None:
    """The body of a `control` command, `None` if it is not one."""
    value = _shallow_object(body)
    if value is None or value.get("verb") not in _VERBS:
        return None
    reason = value.get("reason")
    more = {"reason": reason} if isinstance(reason, str) else {}
    return {"verb": value["verb"], **more}


def read_spawn(body: bytes) -> dict[str, Any] | None:
    """The body of a `spawn` command, `None` if it is not one."""
    value = _shallow_object(body)
    if value is None:
        return None
    texts = {
        name: value[name] for name in ("parent", "workspaceRef") if isinstance(value.get(name), str)
    }
    return {**({"args": value["args"]} if "args" in value else {}), **texts}


def _own_message(body: bytes, value: dict[str, Json], url: str) -> Input:
    read = read_message(body)
    caller = _caller(value.get("caller"), url)
    more: dict[str, Any] = {} if caller is None else {"caller": caller}
    if "problem" in read:
        return {**read, **more}
    reminder = _text(value.get("reminder"))
    if reminder is not None:
        more["reminder"] = reminder
    return {"kind": "message", "message": read["message"], **more}


def _caller(value: Json, own: str) -> dict[str, Any] | None:
    """The agent gets the result with this agent's key: only one of the same tenant is meant."""
    if not isinstance(value, dict):
        return None
    url, call, chain = value.get("url"), value.get("call"), value.get("chain")
    is_chain = isinstance(chain, list) and len(chain) <= MAX_CHAIN
    is_call = isinstance(call, str) and 0 < len(call) <= 64 and not any(map(str.isspace, call))
    if not is_chain or not is_call or not isinstance(chain, list):
        return None
    if not all(_is_sibling(one, own) for one in (url, *chain)):
        return None
    return {"url": url, "call": call, "chain": chain}


def _is_sibling(value: Json, own: str) -> bool:
    try:
        tenant = entity_of(value).tenant if isinstance(value, str) else None
    except ValueError:
        return False
    return tenant is not None and tenant == entity_of(own).tenant


def _decision(value: dict[str, Json]) -> Input:
    if _text(value.get("call")) is None:
        return {"problem": "the decision needs a call"}
    if not isinstance(value.get("approved"), bool):
        return {"problem": "the decision needs approved, true or false"}
    changed = {"input": value["input"]} if "input" in value else {}
    texts = _texts(value, "by", "note")
    call, approved = value["call"], value["approved"]
    return {"kind": "decision", "call": call, "approved": approved, **texts, **changed}


def _result(value: dict[str, Json]) -> Input:
    call, agent, state = _text(value.get("call")), _text(value.get("agent")), value.get("state")
    if call is None or agent is None or state not in _OUTCOMES:
        return {"problem": "the result needs a call, an agent and a state"}
    outcome = {"state": state, "text": _text(value.get("text")) or "", **_texts(value, "reason")}
    return {"kind": "result", "call": call, "agent": agent, "outcome": outcome}


def _reminder(value: dict[str, Json]) -> Input:
    content, delay_ms = value.get("content"), value.get("delayMs")
    read = read_message(to_json_bytes({"content": content}))
    if "problem" in read:
        return read
    if delay_ms is None or not is_number(delay_ms) or not 0 <= delay_ms <= _LONGEST_DELAY_MS:
        return {"problem": "the remind needs delayMs, milliseconds up to a year"}
    return {"kind": "remind", "content": content, "delayMs": int(delay_ms)}


def _object_in(body: bytes) -> dict[str, Json] | None:
    try:
        value = parse_json(body.decode("utf-8").lstrip("\ufeff"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _shallow_object(body: bytes) -> dict[str, Json] | None:
    value = _object_in(body)
    return None if value is None or is_too_deep(value) else value


def _is_part(part: Json) -> bool:
    return isinstance(fields_of(part).get("type"), str)


def _text_message(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "text": text}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value != "" else None


def _texts(value: dict[str, Json], *names: str) -> dict[str, str]:
    found = ((name, _text(value.get(name))) for name in names)
    return {name: text for name, text in found if text is not None}
