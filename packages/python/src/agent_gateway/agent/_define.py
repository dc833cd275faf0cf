"""Makes an agent: the services of Restate that belong together."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from restate import Context, ObjectContext, Service, TerminalError, VirtualObject
from restate.serde import BytesSerde

from .._client import authorization_of, checked_url
from .._json import parse_json, to_json_bytes
from ._access import Access
from ._courier import deliver
from ._entity import Settings, address_of, open_entity
from ._failure import PublicReason
from ._forget import forget
from ._input import read_control, read_input, read_spawn
from ._restate import JSON, RETRY_FOREVER, put, trace_of
from ._rows import row_writer
from ._run import AnswerRules, Generate, TurnRun
from ._tools import AnyTool
from ._visit import Visit

_DAY_S = 86_400.0


@dataclass(frozen=True)
class Agent:
    """An agent, to be served: `restate.app(agent.services)`."""

    name: str
    #: All of them belong to one deployment.
    services: list[VirtualObject | Service]


def define_agent(
    name: str,
    *,
    generate: Generate,
    gateway_url: str,
    api_key: str,
    tools: Mapping[str, AnyTool] | None = None,
    catalog_url: str | None = None,
    catalog_token: str | None = None,
    max_waiting: int = 20,
    key_retention_s: float = _DAY_S,
    batch_s: float = 0.08,
    max_tool_calls: int = 50,
    idle_timeout_s: float = 120.0,
    retry_for_s: float = 3_600.0,
    public_reason: PublicReason | None = None,
) -> Agent:
    """An agent of the type `name` that answers each message with `generate`.

    An invocation of its own answers a message, and gives its events to the entity, whose handlers
    are short. So a command is applied at once, whatever the answer is doing. `max_waiting` is the
    most messages that wait, `key_retention_s` how long an `ask` can be repeated, `batch_s` how long
    text is collected for one event. A model that sends nothing for `idle_timeout_s` has failed, and
    a turn that fails for `retry_for_s` ends. `public_reason` says what readers may know of an error.
    Throws a `ValueError` for an address that is not http or https.
    """
    authorization_of(api_key)
    catalog = checked_url(catalog_url) if catalog_url else None
    access = Access(checked_url(gateway_url), api_key, catalog, catalog_token)
    settings = Settings(access, name, f"{name}Turn", f"{name}Row", max_waiting, key_retention_s)
    rules = AnswerRules(
        generate,
        dict(tools or {}),
        batch_s,
        max_tool_calls,
        idle_timeout_s,
        retry_for_s,
        public_reason,
    )
    services: list[VirtualObject | Service] = [_entity(settings), _turn_service(settings, rules)]
    if catalog is not None:
        services.append(row_writer(access, settings.row_service))
    return Agent(name, services)


def _entity(settings: Settings) -> VirtualObject:
    """The handlers of an agent, all of them short. They alone write to the timeline."""
    entity = VirtualObject(
        settings.name,
        # The journals have what was said.
        journal_retention=timedelta(0),
        idempotency_retention=timedelta(seconds=settings.key_retention_s),
        state_preload=False,
        invocation_retry_policy=RETRY_FOREVER,
    )
    raw = BytesSerde()

    @entity.handler(name="spawn", accept="*/*", input_serde=raw, output_serde=raw)
    async def spawn(ctx: ObjectContext, body: bytes) -> None:
        given = read_spawn(bytes(body))
        if given is None:
            raise TerminalError("not a spawn", status_code=400)
        visit = Visit(ctx, settings)
        if await visit.find():
            await visit.leave()
            return
        if "args" in given:
            put(ctx, "args", given["args"])
        await open_entity(ctx, settings, given, None)

    @entity.handler(name="wake", accept="*/*", input_serde=raw, output_serde=raw)
    async def wake(ctx: ObjectContext, body: bytes) -> None:
        given = read_input(bytes(body), address_of(ctx)[0])
        kind = given.get("kind", "message")
        if kind == "forget":
            await forget(ctx, settings, given["children"])
            return
        visit = Visit(ctx, settings)
        try:
            await visit.open(kind in ("message", "remind"))
        except TerminalError as error:
            # The agent that waits hears of it, too.
            visit.refuse(given, error.message)
            raise
        await visit.take(given)
        await visit.leave()

    @entity.handler(name="control", accept="*/*", input_serde=raw, output_serde=raw)
    async def control(ctx: ObjectContext, body: bytes) -> None:
        given = read_control(bytes(body))
        if given is None:
            raise TerminalError("nothing to control", status_code=404)
        visit = Visit(ctx, settings)
        await visit.open(False)
        await visit.control(given)
        await visit.leave()

    @entity.handler(name="write", input_serde=JSON, output_serde=JSON, ingress_private=True)
    async def write(ctx: ObjectContext, given: Any) -> bool:
        visit = Visit(ctx, settings)
        if not await visit.find():
            return False
        is_newest = visit.self["newest"] == given["number"]
        continues = is_newest and await visit.write(given)
        await visit.leave(False)
        return continues

    @entity.handler(name="gone", input_serde=JSON, output_serde=raw, ingress_private=True)
    async def gone(ctx: ObjectContext, given: Any) -> None:
        visit = Visit(ctx, settings)
        if not await visit.find():
            return
        if visit.self["newest"] == given["number"]:
            await visit.answer_again()
        await visit.leave(False)

    @entity.handler(name="expire", input_serde=JSON, output_serde=raw, ingress_private=True)
    async def expire(ctx: ObjectContext, given: Any) -> None:
        visit = Visit(ctx, settings)
        if not await visit.find():
            return
        await visit.expire(given)
        await visit.leave(False)

    return entity


def _turn_service(settings: Settings, rules: AnswerRules) -> Service:
    """`run` answers one message, or continues with it. `watch` sees that it is gone."""
    service = Service(
        settings.turn_service,
        # Restate keeps for a day how each answer ended, but not its journal, which has what was said.
        journal_retention=timedelta(0),
        idempotency_retention=timedelta(days=1),
        ingress_private=True,
        invocation_retry_policy=RETRY_FOREVER,
    )
    raw = BytesSerde()

    @service.handler(name="run", input_serde=JSON, output_serde=raw)
    async def run(ctx: Context, work: Any) -> None:
        async def write(given: dict[str, Any]) -> bool:
            body = to_json_bytes({"number": work["number"], **given})
            key, headers = work["key"], trace_of(ctx)
            answer = await ctx.generic_call(settings.name, "write", body, key=key, headers=headers)
            return parse_json(bytes(answer)) is True

        await TurnRun(ctx, rules, settings.access, work, write).run()

    @service.handler(name="watch", input_serde=JSON, output_serde=raw)
    async def watch(ctx: Context, given: Any) -> None:
        # It was killed, or Restate does not know it. Where this watcher was cancelled, another
        # invocation continues with the answer all the same.
        with contextlib.suppress(TerminalError):
            await ctx.attach_invocation(given["run"], serde=raw)
        body = to_json_bytes({"number": given["number"]})
        ctx.generic_send(settings.name, "gone", body, key=given["key"])

    @service.handler(name="deliver", input_serde=JSON, output_serde=raw)
    async def deliver_letter(ctx: Context, letter: Any) -> None:
        await deliver(ctx, settings.access, letter)

    return service
