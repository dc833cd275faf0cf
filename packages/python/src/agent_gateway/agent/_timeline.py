"""Appends the events of an agent, each exactly once, and adopts what a restore left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from restate import ObjectContext, TerminalError

from ._access import Access
from ._restate import now_iso, step
from ._store import HistoryStore

NewEvent = dict[str, Any]


@dataclass
class Owner:
    """What the owner of a timeline does while its events are sent."""

    #: Stores the state that has the timeline.
    save: Callable[[], None]
    #: An event is on the stream: the event, its time, and the offset before it.
    appended: Callable[[NewEvent, str, str | None], None] = lambda *_: None
    #: An event can never be on the stream, and an error event takes its place.
    refused: Callable[[NewEvent], None] = lambda _: None
    #: The timeline continues at the end of the store. Gives the messages that are missing there.
    adopted: Callable[[int, dict[str, Any]], Awaitable[list[tuple[int, NewEvent]]]] | None = None
    #: Messages have other numbers now.
    renumbered: Callable[[dict[int, int]], None] = lambda _: None


def new_timeline(stream: str) -> dict[str, Any]:
    """A timeline without events. `stream` is the path of its stream."""
    return {"stream": stream, "nextSeq": 0, "unsent": [], "epoch": 0, "epochStartSeq": 0}


async def create_timeline(ctx: ObjectContext, access: Access, stream: str) -> None:
    """Creates the stream. An existing one stays as it is."""
    store = HistoryStore(ctx, access, stream)
    refusal = await step(ctx, "create timeline", store.create)
    if refusal is not None:
        raise TerminalError(f"{stream} cannot be created: {refusal}")


async def send_unsent(
    ctx: ObjectContext, access: Access, timeline: dict[str, Any], owner: Owner
) -> None:
    """Appends the unsent events in order.

    The owner has stored `unsent` before, and stores it again after every event. After a crash at any
    point the event is still in `unsent` or in the journal, with the same number. The number is also
    its Producer-Seq, by which the server recognizes and drops a repeated append.
    """
    store = HistoryStore(ctx, access, timeline["stream"])
    while timeline["unsent"]:
        event = timeline["unsent"][0]
        # The time comes from the journal, so that a replay sends the same bytes. Waiting for it also
        # makes sure that Restate has stored `unsent` before anyone can see the append.
        at = await now_iso(ctx)
        seq, before = timeline["nextSeq"], timeline.get("offset")
        append = {
            "event": {"seq": seq, "at": at, **event},
            "seq": seq,
            "epoch": timeline["epoch"],
            "producer_seq": seq - timeline["epochStartSeq"],
            "after": before,
        }
        outcome = await step(
            ctx,
            f"append {event['kind']}",
            lambda append=append: store.append(append),  # type: ignore[misc]
        )
        if "appended" in outcome:
            timeline["unsent"].pop(0)
            timeline["nextSeq"] += 1
            timeline["offset"] = outcome["appended"]
            owner.appended(event, at, before)
        elif "refusal" in outcome:
            _replace_refused(timeline, event, outcome["refusal"])
            owner.refused(event)
        else:
            await _adopt(ctx, store, timeline, owner, outcome)
        owner.save()


def _replace_refused(timeline: dict[str, Any], event: NewEvent, refusal: str) -> None:
    """An error event takes the number: a reader sees that an event is missing, and a turn its end."""
    if event["kind"] == "error":
        raise TerminalError(f"{timeline['stream']} refuses events: {refusal}")
    kind = event["kind"]
    names = {"reply": ("replyTo",), "message": ("invocationId", "requestId")}.get(kind, ())
    more = {name: event[name] for name in names if name in event}
    timeline["unsent"][0] = {"kind": "error", "message": f"{kind} not recorded: {refusal}", **more}


async def _adopt(
    ctx: ObjectContext,
    store: HistoryStore,
    timeline: dict[str, Any],
    owner: Owner,
    outcome: dict[str, Any],
) -> None:
    """Continues after what the store has, under a new epoch, and says what differs."""
    if "closed" in outcome:
        raise TerminalError(f"The timeline cannot be written any more: {outcome['closed']}.")
    expected, is_missing = timeline["nextSeq"], "missing" in outcome
    after = None if is_missing else timeline.get("offset")
    if is_missing:
        refusal = await step(ctx, "create timeline again", store.create)
        if refusal is not None:
            message = f"The timeline was deleted and cannot be created again: {refusal}"
            raise TerminalError(message)
    tail = await step(ctx, "read the end of the timeline", lambda: store.tail(after, expected))
    known = outcome.get("differs", {}).get("epoch", 0)
    timeline["epoch"] = max(timeline["epoch"], known) + 1
    timeline["nextSeq"] = timeline["epochStartSeq"] = tail["nextSeq"]
    timeline["offset"] = tail["offset"]
    if tail["nextSeq"] == expected:
        return
    again = await owner.adopted(expected, tail) if owner.adopted else []
    unsent = [event for event in timeline["unsent"] if not _is_there(event, tail)]
    restored = {"kind": "restored", "expected": expected, "found": tail["nextSeq"]}
    first = tail["nextSeq"] + 1
    numbers = {seq: first + index for index, (seq, _) in enumerate(again)}
    for index, event in enumerate(timeline["unsent"]):
        place = next((i for i, one in enumerate(unsent) if one is event), -1)
        number = first + len(again) + place
        numbers[expected + index] = tail["messages"].get(str(event.get("invocationId")), number)
    timeline["unsent"] = [restored, *(event for _, event in again), *unsent]
    for event in timeline["unsent"]:
        reply_to = event.get("replyTo")
        if isinstance(reply_to, int) and reply_to in numbers:
            event["replyTo"] = numbers[reply_to]
    owner.renumbered(numbers)


def _is_there(event: NewEvent, tail: dict[str, Any]) -> bool:
    """Whether the store has a message, or the end of a turn, that the agent has not sent."""
    if event["kind"] == "message":
        return str(event.get("invocationId")) in tail["messages"]
    return event["kind"] in ("reply", "error") and event.get("replyTo") in tail["ended"]
