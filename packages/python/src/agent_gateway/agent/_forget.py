"""Ends what an agent does, and deletes its timeline, its row and its state."""

from __future__ import annotations

from restate import ObjectContext, TerminalError

from ._courier import Courier
from ._entity import ENTITY_STATE, Settings, address_of, ids_of
from ._restate import get, now_iso, put, step
from ._rows import send_row_removal
from ._store import HistoryStore
from ._turn_state import turn_taker
from ._turn_store import TurnStore


async def forget(ctx: ObjectContext, settings: Settings, with_children: bool) -> None:
    """What is left is a receipt without content, by which later commands are refused.

    It may be repeated: each step finds what is still there.
    """
    url, stream = address_of(ctx)
    found = await get(ctx, ENTITY_STATE)
    if found is None:
        raise TerminalError("there is no such agent", status_code=404)
    if found["url"] != url:
        raise TerminalError(f"this object is {found['url']}, not {url}")
    if "forgotten" in found:
        return
    me = turn_taker(found)
    turn = me.get("turn")
    for invocation in [(turn or {}).get("run"), *me.get("reminders", {}).values()]:
        if invocation is not None:
            ctx.cancel_invocation(invocation)
    courier = Courier(ctx, settings.turn_service)
    for one in [*([turn] if turn else []), *me["inbox"]]:
        if one.get("caller"):
            outcome = {"state": "stopped", "text": "", "reason": "it was forgotten"}
            courier.reply(one["caller"], url, one["id"], outcome)
    if turn:
        courier.stop_children(await TurnStore(ctx).written())
    children = me.get("children", []) if with_children else []
    for child in children:
        courier.forget(child, f"forget {url} {child}")
    store = HistoryStore(ctx, settings.access, stream)
    left = await step(ctx, "delete timeline", store.remove)
    has_row = settings.access.catalog_url is not None
    if has_row:
        send_row_removal(ctx, settings.row_service, url)
    ids = ids_of(ctx)
    receipt = {
        "agent": url,
        "at": await now_iso(ctx),
        **({"requestId": ids["requestId"]} if "requestId" in ids else {}),
        "timeline": left or "deleted",
        "row": "deleted" if has_row else "none",
        "children": children,
    }
    ctx.clear_all()
    put(ctx, ENTITY_STATE, {"url": url, "forgotten": receipt})
