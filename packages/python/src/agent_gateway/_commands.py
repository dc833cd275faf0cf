"""The commands to agents, and what the registry is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from ._effects import Core, Request, Response, emit
from ._errors import invalid_response
from ._json import fields_of, object_of, parse_json, to_json_bytes
from ._paths import AgentAddress, command_path, entity_of, timeline_path
from ._reader import StreamReader
from ._transport import COMMAND_RETRY_FOR_S, Call, Settings, new_id, perform

ControlVerb = Literal["interrupt", "pause", "resume", "archive"]

_HEADER = re.compile(r"[\x20-\x7e]+")
_STATE_NAME = re.compile(r"[\w .-]+", re.ASCII)


@dataclass(frozen=True)
class AcceptedCommand:
    """A command that the runtime has in its journal."""

    #: The URL of the agent, `/t/<tenant>/a/<type>/<id>`.
    url: str
    stream_path: str
    stream_url: str
    #: The name of the turn, for a message.
    invocation_id: str
    #: Whether the same command had already been accepted.
    is_replay: bool
    key: str
    #: Agents put it into the events that the command causes.
    request_id: str


@dataclass(frozen=True)
class CommandOptions:
    """What every command takes."""

    #: The idempotency key. The runtime handles one key once for an agent, for a day by default.
    key: str | None = None
    request_id: str | None = None
    timeout_s: float | None = None
    retry_for_s: float | None = None


def message_body(message: object, content_type: str | None) -> tuple[bytes, str]:
    """Text and bytes unchanged, anything else as JSON."""
    if isinstance(message, str):
        return message.encode(), content_type or "text/plain; charset=utf-8"
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message), content_type or "application/octet-stream"
    return to_json_bytes(message), content_type or "application/json"


def spawn(
    settings: Settings, request: Mapping[str, Any], options: CommandOptions
) -> Core[AcceptedCommand]:
    """Creates an agent. An existing one stays as it is."""
    path = "/api/spawn" if settings.tenant is None else f"/api/t/{settings.tenant}/spawn"
    body = {name: value for name, value in request.items() if value is not None}
    return (yield from _command(settings, path, to_json_bytes(body), "application/json", options))


def send_message(
    settings: Settings,
    agent: AgentAddress,
    message: object,
    content_type: str | None,
    options: CommandOptions,
) -> Core[AcceptedCommand]:
    """Sends a message."""
    body, kind = message_body(message, content_type)
    path = command_path(agent, "send", settings.tenant)
    return (yield from _command(settings, path, body, kind, options))


def send_kind(
    settings: Settings, agent: AgentAddress, body: Mapping[str, Any], options: CommandOptions
) -> Core[AcceptedCommand]:
    """Sends what the kit of an agent reads: a stop, a decision."""
    known = {name: value for name, value in body.items() if value is not None}
    return (yield from send_message(settings, agent, known, None, options))


def decision(
    call: str, approved: bool, by: str | None, note: str | None, changed: object
) -> dict[str, Any]:
    """The body of a decision. Throws a `TypeError` if `call` is no text or `approved` no boolean."""
    if not isinstance(call, str) or call == "":
        raise TypeError("call must be the id of a call.")
    if not isinstance(approved, bool):
        raise TypeError("approved must be True or False.")
    fields = {"call": call, "approved": approved, "by": by, "note": note, "input": changed}
    return {"kind": "decision", **fields}


def control(
    settings: Settings,
    agent: AgentAddress,
    verb: str,
    reason: str | None,
    options: CommandOptions,
) -> Core[AcceptedCommand]:
    """Applies a verb."""
    body = {"verb": verb} if reason is None else {"verb": verb, "reason": reason}
    path = command_path(agent, "control", settings.tenant)
    return (yield from _command(settings, path, to_json_bytes(body), "application/json", options))


def _command(
    settings: Settings, path: str, body: bytes, content_type: str, options: CommandOptions
) -> Core[AcceptedCommand]:
    key = new_id() if options.key is None else options.key
    request_id = new_id() if options.request_id is None else options.request_id
    headers = {"content-type": content_type, "idempotency-key": key, "x-request-id": request_id}
    for name, value in headers.items():
        # httpx would call it a failed connection, which is tried again.
        if not _HEADER.fullmatch(value):
            raise ValueError(f"{name} must be visible ASCII characters and spaces.")
    call = Call(
        Request("POST", path, {}, headers, body),
        is_idempotent=True,
        usual_retry_for_s=COMMAND_RETRY_FOR_S,
        retry_for_s=options.retry_for_s,
        timeout_s=options.timeout_s,
    )
    response = yield from perform(settings, call)
    return _accepted(response, key, request_id)


def _accepted(response: Response, key: str, request_id: str) -> AcceptedCommand:
    fields = object_of(response.text)
    found = [fields.get(name) for name in ("url", "streamPath", "streamUrl")]
    invocation_id = fields_of(fields.get("restate")).get("invocationId")
    if not all(isinstance(value, str) for value in (*found, invocation_id)):
        message = "The address answers a command in another way than an agent gateway."
        raise invalid_response(message, response.status)
    url, stream_path, stream_url = (str(value) for value in found)
    return AcceptedCommand(
        url=url,
        stream_path=stream_path,
        stream_url=stream_url,
        invocation_id=str(invocation_id),
        is_replay=response.headers.get("idempotency-replayed") == "true",
        key=key,
        request_id=response.headers.get("x-request-id", request_id),
    )


def export(settings: Settings, agent: AgentAddress) -> Core[None]:
    """Gives all events of now as lines of JSON."""
    path = timeline_path(agent, settings.read_tenant)
    reader = StreamReader(settings, path, "-1", None, wait_for_stream=False)
    while True:
        chunk = yield from reader.next()
        if chunk is None:
            return
        for event in chunk.items:
            yield from emit(to_json_bytes(event).decode() + "\n")


def register(settings: Settings, uri: str, force: bool, use_http_11: bool) -> Core[dict[str, Any]]:
    """Lets Restate discover the agents at an address."""
    body = {"uri": uri, "force": force, "use_http_11": use_http_11}
    # An unchanged address that is registered twice is one deployment.
    response = yield from _registry(settings, "deployments", body, is_idempotent=not force)
    fields = object_of(response.text)
    if not isinstance(fields.get("id"), str) or not isinstance(fields.get("services"), list):
        raise invalid_response("The answer is not that of Restate's admin API.")
    return fields


def _registry(
    settings: Settings, path: str, body: Mapping[str, Any], is_idempotent: bool
) -> Core[Response]:
    headers = {"content-type": "application/json", "accept": "application/json"}
    request = Request("POST", f"/registry/{path}", {}, headers, to_json_bytes(body))
    return (yield from perform(settings, Call(request, is_idempotent)))


def rows_of(settings: Settings, query: str) -> Core[list[dict[str, Any]]]:
    """What Restate answers to a query."""
    response = yield from _registry(settings, "query", {"query": query}, is_idempotent=True)
    rows = object_of(response.text).get("rows")
    if not isinstance(rows, list):
        raise invalid_response("The answer is not that of Restate's admin API.")
    return [row for row in rows if isinstance(row, dict)]


def invocations_of(
    settings: Settings, agent: AgentAddress, is_ended: bool, limit: int
) -> Core[list[dict[str, Any]]]:
    """The invocations of an agent and of its answers."""
    # Neither contains a quote, or it would not be an address.
    _, kind, name = entity_of(agent)
    own = f"target_service_name = '{kind}' AND target_service_key = '{name}'"
    state = "=" if is_ended else "<>"
    conditions = [
        f"status {state} 'completed'",
        f"({own} OR starts_with(invoked_by_target, '{kind}/{name}/'))",
    ]
    if not is_ended:
        watch = "invoked_by_target IS NOT NULL AND target LIKE '%Turn/watch'"
        conditions.append(f"NOT ({watch})")
    columns = "id, target, status, created_at, retry_count, last_failure"
    where = " AND ".join(conditions)
    query = f"SELECT {columns} FROM sys_invocation WHERE {where} ORDER BY created_at LIMIT {limit}"
    return (yield from rows_of(settings, query))


def state_of(settings: Settings, agent: AgentAddress, name: str) -> Core[str | None]:
    """A value of an agent's state, as text."""
    _, kind, own = entity_of(agent)
    if not _STATE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a state.")
    where = f"service_name = '{kind}' AND service_key = '{own}' AND key = '{name}'"
    rows = yield from rows_of(settings, f"SELECT value_utf8 FROM state WHERE {where}")
    value = rows[0].get("value_utf8") if rows else None
    return value if isinstance(value, str) else None


def purge(settings: Settings, invocation_id: str) -> Core[None]:
    """Deletes what Restate keeps of an invocation that has ended."""
    path = f"/registry/invocations/{quote(invocation_id, safe='')}/purge"
    # Repeating it has no further effect.
    yield from perform(settings, Call(Request("PATCH", path), is_idempotent=True))


def catalog_rows(
    settings: Settings,
    table: str,
    where: str | None,
    params: Sequence[str],
    columns: Sequence[str] | None,
) -> Core[list[dict[str, Any]]]:
    """The present rows of the catalog."""
    query = {"table": table}
    if where is not None:
        query["where"] = where
    query |= {f"params[{place}]": value for place, value in enumerate(params, 1)}
    if columns is not None:
        query["columns"] = ",".join(columns)
    place = {"offset": "-1"}
    rows: dict[str, dict[str, Any]] = {}
    while True:
        request = Request("GET", "/shapes/v1/shape", {**query, **place})
        response = yield from perform(settings, Call(request, is_idempotent=True))
        messages = parse_json(response.text or "[]")
        for message in messages if isinstance(messages, list) else []:
            if not _apply(rows, fields_of(message)):
                rows = {}
        handle, offset = (response.headers.get(f"electric-{one}") for one in ("handle", "offset"))
        if "electric-up-to-date" in response.headers or not handle or not offset:
            return list(rows.values())
        place = {"handle": handle, "offset": offset}


def _apply(rows: dict[str, dict[str, Any]], message: Mapping[str, Any]) -> bool:
    """False where everything comes again."""
    headers, key, value = (
        fields_of(message.get("headers")),
        message.get("key"),
        message.get("value"),
    )
    if headers.get("control") == "must-refetch":
        return False
    if not isinstance(key, str):
        return True
    if headers.get("operation") == "delete":
        rows.pop(key, None)
    else:
        # An update contains only the changed columns.
        rows[key] = {**rows.get(key, {}), **fields_of(value)}
    return True
