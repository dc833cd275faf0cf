"""Deletes an agent, and waits for the receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._commands import CommandOptions, invocations_of, purge, send_kind, state_of
from ._effects import Core, pause
from ._errors import GatewayError
from ._json import fields_of, object_of
from ._paths import AgentAddress
from ._transport import Settings

_LONGEST_PAUSE_S = 1.0
#: So many at a time.
_PAGE = 1_000


@dataclass(frozen=True)
class ForgetReceipt:
    """What was deleted of an agent, and what could not be."""

    agent: str
    #: When, as ISO 8601.
    at: str
    #: `deleted`, or why events are still there.
    timeline: str
    #: `deleted`, or `none` for an agent without a catalog.
    row: str
    #: The children that were asked to forget, too.
    children: tuple[str, ...]
    #: How many ended invocations were deleted in Restate, with their journals.
    invocations: int
    #: The invocations that could not be deleted. Restate forgets them within a day by default.
    remaining: tuple[str, ...]


def forget(
    settings: Settings,
    agent: AgentAddress,
    children: bool,
    timeout_s: float,
    options: CommandOptions,
) -> Core[ForgetReceipt]:
    """Sends the command, waits for its end, and deletes what Restate keeps."""
    # Before anything is deleted: whether the key may ask for the receipt.
    yield from invocations_of(settings, agent, False, 1)
    yield from send_kind(settings, agent, {"kind": "forget", "children": children}, options)
    give_up_at = settings.clock() + timeout_s
    wait_s = 0.05
    while not (mark := (yield from _mark_of(settings, agent))):
        if settings.clock() > give_up_at:
            message = f"The agent has not been forgotten within {timeout_s:g} s; ask again."
            raise GatewayError(message, code="not_forgotten")
        yield from pause(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_PAUSE_S)
    count, remaining = yield from _purge_all(settings, agent)
    return ForgetReceipt(
        agent=str(mark.get("agent")),
        at=str(mark.get("at")),
        timeline=str(mark.get("timeline")),
        row=str(mark.get("row")),
        children=tuple(mark.get("children") or ()),
        invocations=count,
        remaining=tuple(remaining),
    )


def _mark_of(settings: Settings, agent: AgentAddress) -> Core[dict[str, Any]]:
    text = yield from state_of(settings, agent, "entity")
    return dict(fields_of(object_of(text or "").get("forgotten")))


def _purge_all(settings: Settings, agent: AgentAddress) -> Core[tuple[int, list[str]]]:
    """Page by page: an answer ends meanwhile, and an agent may have had more than a page in a day."""
    seen: set[str] = set()
    remaining: list[str] = []
    while True:
        ended = yield from invocations_of(settings, agent, True, _PAGE)
        found = [str(row.get("id")) for row in ended if str(row.get("id")) not in seen]
        if not found:
            return len(seen) - len(remaining), remaining
        for invocation_id in found:
            seen.add(invocation_id)
            try:
                yield from purge(settings, invocation_id)
            except GatewayError:
                remaining.append(invocation_id)
