"""Sends commands to other agents, in invocations of their own: no agent waits for another one."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from restate import Context, ObjectContext

from .._json import to_json_bytes
from ._access import Access, describe
from ._restate import step, trace_of
from ._store import receipt_in

_log = logging.getLogger("agent_gateway.agent")


class CommandRefusedError(Exception):
    """The gateway refused a command, in words that readers may see."""


async def deliver(ctx: Context, access: Access, letter: Mapping[str, Any]) -> None:
    """Sends a command under each of its keys, until it has an answer. A refusal is logged."""
    path, body = letter["path"], letter["body"]
    for key in letter["keys"]:

        async def send(key: str = key) -> dict[str, Any]:
            return await post(ctx, access, path, body, key)

        answer = await step(ctx, f"post {path}", send)
        if "refusal" in answer:
            _log.error("%s refused: %s", path, answer["refusal"])


async def post(
    ctx: Context, access: Access, path: str, body: Mapping[str, Any], key: str
) -> dict[str, Any]:
    """What was accepted, or the `refusal`. Throws a `ConnectionError` for what may work later."""
    headers = {
        **trace_of(ctx),
        **access.authorization,
        "content-type": "application/json",
        "idempotency-key": key,
    }
    known = {name: value for name, value in body.items() if value is not None}
    url = f"{access.gateway_url}{path}"
    reply = await access.request("POST", url, headers, to_json_bytes(known))
    if reply.status == 202:
        return receipt_in(reply.text)
    if reply.status < 400 or "x-request-id" not in reply.headers:
        raise ConnectionError(f"POST {path}: {describe(reply)}")
    return {"refusal": describe(reply)}


def send_path(url: str) -> str:
    """The path of a command to the agent of a URL `/t/<tenant>/a/<type>/<id>`."""
    return f"/api{url}/send"


def ask_key(call: str) -> str:
    """The idempotency key of the message that asks a child."""
    return f"ask {call}"


class Courier:
    """Sends what an agent has to say to others."""

    def __init__(self, ctx: ObjectContext, service: str) -> None:
        self._ctx = ctx
        self._service = service

    def reply(
        self, caller: Mapping[str, Any], agent: str, turn: str, outcome: Mapping[str, Any]
    ) -> None:
        """Tells the agent that waits how a turn ended."""
        body = {
            "kind": "result",
            "call": caller["call"],
            "agent": agent,
            "invocationId": turn,
            **outcome,
        }
        self._deliver(send_path(caller["url"]), body, [f"result {turn}"])

    def stop_children(self, written: Sequence[Mapping[str, Any]]) -> None:
        """Stops the turns of children for which nobody waits any more.

        The message that begins one may still be on its way: the stop first takes that message's key,
        so that it comes before the stop or never.
        """
        for part in written:
            if part["type"] != "tool" or "child" not in part or part["state"] != "called":
                continue
            call = part["id"]
            body = {"kind": "stop", "call": call, "reason": "nobody waits for it any more"}
            self._deliver(send_path(part["child"]["url"]), body, [ask_key(call), f"stop {call}"])

    def forget(self, child: str, key: str) -> None:
        """Has a child forgotten."""
        self._deliver(send_path(child), {"kind": "forget", "children": True}, [key])

    def _deliver(self, path: str, body: Mapping[str, Any], keys: list[str]) -> None:
        letter = to_json_bytes({"path": path, "body": body, "keys": keys})
        self._ctx.generic_send(self._service, "deliver", letter, headers=trace_of(self._ctx))
