"""Addresses of agents, and the paths that are made of them."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol, runtime_checkable
from urllib.parse import unquote

# RFC 3986 §3.3: the characters of a segment. A `?` or `#` would end the path.
_SEGMENT = re.compile(r"(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+", re.ASCII | re.IGNORECASE)
#: What a server that decodes once more would take for a dot, a slash, a backslash or a control.
_ENCODED_TWICE = re.compile(r"%(?:2e|2f|5c|[01][\da-f]|7f|c2%[89])", re.IGNORECASE)
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f-\x9f]")
_ENTITY_URL = re.compile(r"/t/([^/]+)/a/([^/]+)/([^/]+)")
#: The gateway's rules for names. A name that breaks them would change the path.
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._~:@-]*")


@runtime_checkable
class HasUrl(Protocol):
    """Anything with the URL of an agent, such as an accepted command."""

    @property
    def url(self) -> str:
        """`/t/<tenant>/a/<type>/<id>`."""


#: An agent: `type/id`, its URL `/t/<tenant>/a/<type>/<id>`, or the result of a command.
AgentAddress = str | HasUrl


class Entity(NamedTuple):
    """The parts of an address. The tenant is `None` where it names none."""

    tenant: str | None
    type: str
    id: str


def checked_path(path: str) -> str:
    """Throws a `ValueError` for a path that the gateway refuses, and for one with `?` or `#`.

    A name that leads elsewhere must not carry the credential there.
    """
    first, *segments = path.split("/")
    # A slash at the end is a part of the name to the gateway.
    if len(segments) > 1 and segments[-1] == "":
        segments.pop()
    if first != "" or not segments or not all(_is_plain(segment) for segment in segments):
        raise ValueError(f"{path!r} is no path of the gateway.")
    return path


def _is_plain(segment: str) -> bool:
    if not _SEGMENT.fullmatch(segment):
        return False
    try:
        name = unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return False
    return name not in (".", "..") and not _UNSAFE.search(name) and not _ENCODED_TWICE.search(name)


def entity_of(address: AgentAddress) -> Entity:
    """Throws a `ValueError` if it is no address of an agent."""
    text = address if isinstance(address, str) else address.url
    url = _ENTITY_URL.fullmatch(text)
    if url:
        tenant, kind, name = url.groups()
        parts = Entity(tenant, kind, name)
    else:
        kind, _, name = text.partition("/")
        parts = Entity(None, kind, name)
    if not all(_NAME.fullmatch(part) for part in (parts.tenant or "x", parts.type, parts.id)):
        raise ValueError(f"{text!r} is no agent: give type/id or its URL.")
    return parts


def command_path(address: AgentAddress, command: str, tenant: str | None) -> str:
    """The path of `send` or `control`."""
    named, kind, name = entity_of(address)
    own = named or tenant
    below = "" if own is None else f"/t/{own}"
    return f"/api{below}/a/{kind}/{name}/{command}"


def timeline_path(address: AgentAddress, tenant: str) -> str:
    """The path of an agent's timeline, or of a stream that is named by its path."""
    text = address if isinstance(address, str) else address.url
    if text.startswith("/") and not _ENTITY_URL.fullmatch(text):
        return checked_path(text if text.startswith("/streams/") else f"/streams{text}")
    return f"{agent_prefix(address, tenant)}/timeline"


def agent_prefix(address: AgentAddress, tenant: str) -> str:
    """The path below which an agent's streams are."""
    named, kind, name = entity_of(address)
    return checked_path(f"/streams/t/{named or tenant}/agents/{kind}/{name}")
