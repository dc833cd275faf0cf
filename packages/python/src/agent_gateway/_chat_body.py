"""What a page may ask for. Nothing else of a body goes any further."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from ._json import fields_of, parse_json

_MAX_WANTED = 100
#: The gateway's rules for names, as `type/id`. No percent sign is one, so a path has one spelling.
CHAT_AGENT = re.compile(r"[A-Za-z][\w.-]{0,62}/[\w-][\w.~:@-]{0,127}", re.ASCII)


class Refusal(Exception):  # noqa: N818
    """An answer that is no success. Its texts are written here and never come from elsewhere."""

    def __init__(self, status: int, code: str, detail: str, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


async def read_json(
    receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
    headers: Mapping[str, str],
    max_bytes: int,
) -> Any:
    """Reads a body of JSON."""
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "invalid_body", "The body broke off.")
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body", False):
            break
    try:
        return parse_json(bytes(body))
    except ValueError as error:
        raise Refusal(400, "invalid_body", "Send JSON in UTF-8.") from error


def token_of(body: Any) -> tuple[list[str], bool]:
    """The agents that a token is wanted for. A name that is none costs the others nothing."""
    fields = _only(body, '{"agents", "catalog"?}', "agents", "catalog")
    agents, catalog = fields.get("agents", []), fields.get("catalog", False)
    is_list = isinstance(agents, list) and len(agents) <= _MAX_WANTED
    if not is_list or not isinstance(catalog, bool):
        raise _invalid('{"agents", "catalog"?}')
    names = [one for one in agents if isinstance(one, str) and CHAT_AGENT.fullmatch(one)]
    return names, catalog


def content_of(body: Any) -> list[dict[str, Any]]:
    """The content of a message. Its kind is not for a page to choose."""
    form = '{"content": [texts and files]}'
    fields = _only(body, form, "kind", "content")
    content = fields.get("content")
    is_message = fields.get("kind", "message") == "message"
    if not is_message or not isinstance(content, list) or not content:
        raise _invalid(form)
    return [_part_of(fields_of(part), form) for part in content]


def _part_of(part: Mapping[str, Any], form: str) -> dict[str, Any]:
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    names = ("url", "mediaType")
    if part.get("type") != "file" or not all(isinstance(part.get(name), str) for name in names):
        raise _invalid(form)
    known = {"type": "file", **{name: part[name] for name in names}}
    filename = part.get("filename")
    return {**known, "filename": filename} if isinstance(filename, str) else known


def spawn_of(body: Any) -> dict[str, Any]:
    """A parent or a workspace is not for a page to choose."""
    form = '{"type", "id", "args"?}'
    fields = _only(body, form, "type", "id", "args")
    kind, name = fields.get("type"), fields.get("id")
    is_whole = isinstance(kind, str) and isinstance(name, str)
    if not is_whole or not CHAT_AGENT.fullmatch(f"{kind}/{name}"):
        raise _invalid(form)
    return dict(fields)


def control_of(body: Any) -> tuple[str, str | None]:
    """A verb, and its reason."""
    form = '{"verb", "reason"?}'
    fields = _only(body, form, "verb", "reason")
    if not isinstance(fields.get("verb"), str) or not _is_text_or_nothing(fields, "reason"):
        raise _invalid(form)
    return fields["verb"], fields.get("reason")


def turn_of(body: Any) -> dict[str, Any]:
    """The turn that is to end, or to be found."""
    form = '{"invocationId", "reason"?}'
    fields = _only(body, form, "invocationId", "reason")
    if not _is_name(fields.get("invocationId")) or not _is_text_or_nothing(fields, "reason"):
        raise _invalid(form)
    return dict(fields)


def decision_of(body: Any) -> dict[str, Any]:
    """A decision. A page does not choose its author, so `by` is ignored."""
    form = '{"call", "approved", "note"?, "input"?}'
    fields = _only(body, form, "call", "approved", "note", "input", "by")
    is_whole = _is_name(fields.get("call")) and isinstance(fields.get("approved"), bool)
    if not is_whole or not _is_text_or_nothing(fields, "note"):
        raise _invalid(form)
    return {name: value for name, value in fields.items() if name != "by"}


def _only(body: Any, form: str, *names: str) -> Mapping[str, Any]:
    fields = fields_of(body)
    if any(name not in names for name in fields):
        raise _invalid(form)
    return fields


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_nothing(fields: Mapping[str, Any], name: str) -> bool:
    return name not in fields or isinstance(fields[name], str)


def _invalid(form: str) -> Refusal:
    return Refusal(400, "invalid_body", f"Send {form} and nothing else.")


def _too_large(most: int) -> Refusal:
    return Refusal(413, "body_too_large", f"Send at most {most} bytes.")
