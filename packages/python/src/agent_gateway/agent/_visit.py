"""One command at an agent: what it changes, and the events that say so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from restate import ObjectContext, TerminalError

from .._json import to_json_bytes
from .._turn import text_of
from ._courier import Courier
from ._entity import (
    Entity,
    Settings,
    address_of,
    find_entity,
    ids_of,
    keep_row,
    open_entity,
    record,
    save_entity,
)
from ._restate import is_cancelled, iso, now_iso, now_ms, trace_of
from ._timeline import NewEvent, Owner
from ._turn_state import (
    Turn,
    apply_verb,
    begin_next,
    is_at_work,
    resting_status,
    take_turn,
    turn_taker,
)
from ._turn_store import (
    Part,
    TurnStore,
    add_words,
    call_of,
    calls_of,
    has_ended,
    is_over,
    put_call,
)

#: An invocation that is gone again and again does not answer.
_MOST_LOSSES = 5
_MAX_REMINDERS = 100
_WATCH_AGAIN_MS = 10_000
_ENDINGS = {"failed": "failed", "refused": "refused the message", "stopped": "was stopped"}


class Visit:
    """The work of one handler, from what it finds to what it leaves."""

    def __init__(self, ctx: ObjectContext, settings: Settings) -> None:
        self.self: dict[str, Any] = {}
        self._ctx = ctx
        self._settings = settings
        self._store = TurnStore(ctx)
        self._courier = Courier(ctx, settings.turn_service)
        self._ids = ids_of(ctx)
        self._events: list[NewEvent] = []
        self._status_before: str | None = None
        #: The turn under way needs a new invocation.
        self._needs_work = False
        self._places: list[tuple[str, str, str]] = []
        #: What the timeline has ended: turns by the numbers of their messages, …
        self._ended: list[int] = []
        #: … and by their names where these were refused.
        self._refused: list[Any] = []

    async def open(self, may_spawn: bool) -> None:
        """Throws a `TerminalError` for an agent that does not exist, unless it may be spawned."""
        if await self.find():
            return
        if not may_spawn:
            raise TerminalError("there is no such agent", status_code=404)
        self._begin(await open_entity(self._ctx, self._settings, {}, self._owner_of))

    async def find(self) -> bool:
        """Whether the agent exists."""
        found = await find_entity(self._ctx, self._settings, self._owner_of)
        if found is not None:
            self._begin(found)
        await self._drop_ended()
        return found is not None

    async def take(self, given: dict[str, Any]) -> None:
        """Applies what a client sent."""
        if "problem" in given:
            self._events.append({"kind": "error", "message": given["problem"], **self._ids})
            self.refuse(given, given["problem"])
            return
        kind = given["kind"]
        if kind == "message":
            self._receive(given)
        elif kind == "stop":
            await self._stop(given)
        elif kind == "withdraw":
            await self._withdraw(given)
        elif kind == "decision":
            await self._decide(given)
        elif kind == "result":
            await self._take_result(given)
        elif kind == "locate":
            await self._locate(given)
        elif kind == "remind":
            await self._remind(given)

    def refuse(self, given: dict[str, Any], reason: str) -> None:
        """Tells the agent that waits for this message's reply that there will be none."""
        if "caller" not in given:
            return
        url, _ = address_of(self._ctx)
        outcome = {"state": "refused", "text": "", "reason": reason}
        self._courier.reply(given["caller"], url, self._ids["invocationId"], outcome)

    async def control(self, given: dict[str, Any]) -> None:
        """Applies a verb."""
        me = self.self
        if me["status"] == "archived":
            self._events.append({"kind": "refused", "reason": "archived", **self._ids})
            return
        under_way = me.get("turn")
        turns = apply_verb(me, given["verb"])
        await self._keep_status()
        request = {name: self._ids[name] for name in ("requestId",) if name in self._ids}
        self._events.append({"kind": "status", "status": me["status"], **given, **request})
        stopped = self._stop_by(given["verb"], given.get("reason"))
        for turn in turns:
            await self._stopped(turn, turn is under_way, stopped)
        turn_now = me.get("turn")
        if turn_now and turn_now.get("isHeld") and is_at_work(me):
            self._needs_work = True

    async def write(self, given: dict[str, Any]) -> bool:
        """Records what the invocation of the current turn has to say. False: it is to end."""
        me = self.self
        turn = me.get("turn")
        if not turn:
            return False
        if me["status"] == "paused" and not _is_for_pause(given):
            turn["isHeld"] = True
            turn.pop("run", None)
            return False
        written = await self._store.written()
        # What ended meanwhile stays as it is: the invocation has not heard of it.
        events = [
            event
            for event in given["events"]
            if event["kind"] != "tool" or not is_over(call_of(written, event.get("id")))
        ]
        calls = [call for call in given["calls"] if not is_over(call_of(written, call["id"]))]
        add_words(written, turn, events)
        for call in calls:
            put_call(written, turn, call)
        if given.get("usage"):
            turn["usage"] = given["usage"]
        if events:
            turn.pop("losses", None)
        if "failure" in given:
            await self._note_failure(turn, given["failure"])
        self._note_children(calls)
        for limit in given.get("limits", []):
            self._limit(limit)
        self._events.extend(_of_turn(event, turn) for event in events)
        end = next((event for event in events if event["kind"] in ("reply", "error")), None)
        self._store.keep_written(written)
        if end is not None:
            await self._end(turn, True, _outcome_of(end))
            return False
        if not given.get("isParked"):
            return True
        # Something may have been decided since the invocation looked.
        turn.pop("run", None)
        is_ready = any(call["state"] == "approved" for call in calls_of(written))
        if is_ready or all(has_ended(call) for call in calls_of(written)):
            self._resume(turn)
        return False

    async def answer_again(self) -> None:
        """The invocation that answers is gone, and another one continues."""
        turn = self.self.get("turn")
        if not turn or "run" not in turn:
            return
        del turn["run"]
        turn["losses"] = turn.get("losses", 0) + 1
        if turn["losses"] <= _MOST_LOSSES:
            self._resume(turn)
            return
        message = "the answer was cut off again and again"
        event = {"kind": "error", "message": message, "replyTo": turn["seq"]}
        self._events.append(event)
        await self._end(turn, True, _outcome_of(event))

    async def expire(self, limit: dict[str, Any]) -> None:
        """Nobody decided, or no child replied, in time."""
        written = await self._store.written()
        call = call_of(written, limit["call"])
        turn = self.self.get("turn")
        if not turn or call is None or call["state"] != limit["state"]:
            return
        if limit["state"] == "waiting":
            self._settle_decision(turn, call, {"approved": False}, {"expired": True})
        else:
            self._courier.stop_children([call])
            outcome = {"state": "failed", "text": "", "reason": "no reply in time"}
            self._settle_result(turn, call, outcome)
        self._store.keep_written(written)
        self._resume(turn)

    async def leave(self, is_command: bool = True) -> None:
        """Stores the change, sends its events, begins what is to begin, and updates the row."""
        me = self.self
        if begin_next(me):
            self._needs_work = True
        await self._keep_status()
        save_entity(self._ctx, me)
        await self._record()
        await self._drop_ended()
        if not me.get("turn") and begin_next(me):
            self._needs_work = True
        turn = me.get("turn")
        if turn and self._needs_work and is_at_work(me):
            await self._work(turn)
        elif turn and "run" in turn and is_command:
            await self._watch(turn["run"])
        for name, offset, at in self._places:
            retention_s = self._settings.key_retention_s
            await self._store.keep_place(me, name, offset, at, retention_s)
        await self._keep_status()
        save_entity(self._ctx, me)
        if me["status"] != self._status_before:
            await keep_row(self._ctx, self._settings, me)

    async def _record(self) -> None:
        """Where the timeline cannot be written any more, the row alone can say that it has failed."""
        me = self.self
        try:
            await record(self._ctx, self._settings, me, self._events, self._owner_of(me))
        except TerminalError as error:
            if is_cancelled(error):
                raise
            me["status"] = "failed"
            save_entity(self._ctx, me)
            await keep_row(self._ctx, self._settings, me)
            raise

    def _receive(self, given: dict[str, Any]) -> None:
        me, message = self.self, given["message"]
        caller = given.get("caller")
        if "reminder" in given:
            me.get("reminders", {}).pop(given["reminder"], None)
        is_full = len(me["inbox"]) >= self._settings.max_waiting
        reason = "archived" if me["status"] == "archived" else "inbox full" if is_full else None
        if reason is not None:
            self._events.append({"kind": "refused", "reason": reason, **self._ids})
            self.refuse(given, reason)
            return
        ahead = len(me["inbox"]) + (1 if me.get("turn") else 0)
        name = self._ids["invocationId"]
        waiting = {"id": name, "seq": me["timeline"]["nextSeq"]}
        me["inbox"].append({**waiting, **({"caller": caller} if caller else {})})
        self._store.keep_message(name, message)
        event = {"kind": "message", "content": message["content"], **self._ids}
        if ahead > 0:
            event["ahead"] = ahead
        if caller:
            event["caller"] = caller["url"]
        self._events.append(event)

    async def _stop(self, given: dict[str, Any]) -> None:
        under_way = self.self.get("turn")
        name, call = given.get("invocationId"), given.get("call")

        def is_meant(turn: Turn) -> bool:
            asked = (turn.get("caller") or {}).get("call")
            return bool(turn["id"] == name or (call is not None and asked == call))

        turn = take_turn(self.self, is_meant)
        if turn:
            stopped = self._stop_by("stop", given.get("reason"))
            await self._stopped(turn, turn is under_way, stopped)

    async def _withdraw(self, given: dict[str, Any]) -> None:
        me, name = self.self, given["invocationId"]
        reminder = me.get("reminders", {}).pop(name, None)
        if reminder is not None:
            self._ctx.cancel_invocation(reminder)
            return
        if (me.get("turn") or {}).get("id") == name:
            return
        turn = take_turn(me, lambda one: bool(one["id"] == name))
        if turn:
            await self._stopped(turn, False, self._stop_by("withdraw", given.get("reason")))

    def _stop_by(self, verb: str, reason: str | None) -> dict[str, Any]:
        request = {name: self._ids[name] for name in ("requestId",) if name in self._ids}
        return {"verb": verb, **({} if reason is None else {"reason": reason}), **request}

    async def _decide(self, given: dict[str, Any]) -> None:
        turn = self.self.get("turn")
        written = await self._store.written() if turn else []
        call = call_of(written, given["call"])
        if not turn or call is None or call["state"] != "waiting":
            decided = call.get("decision") if call else None
            by = f", by {decided['by']}" if decided and "by" in decided else ""
            reason = (
                f"the call is decided already{by}"
                if decided
                else f"no call {given['call'][:64]} waits for a decision"
            )
            self._events.append({"kind": "refused", "reason": reason, **self._ids})
            return
        known: tuple[str, ...] = ("approved", "by", "note")
        decision = {name: given[name] for name in known if name in given}
        more = {"input": given["input"]} if given["approved"] and "input" in given else {}
        if "requestId" in self._ids:
            more["requestId"] = self._ids["requestId"]
        self._settle_decision(turn, call, decision, more)
        self._store.keep_written(written)
        self._resume(turn)

    def _settle_decision(
        self, turn: Turn, call: Part, decision: dict[str, Any], more: dict[str, Any]
    ) -> None:
        call["decision"] = decision
        if "input" in more:
            call["input"] = more["input"]
        about = {"replyTo": turn["seq"], "call": call["id"]}
        self._events.append({"kind": "decision", **about, **decision, **more})
        call["state"] = "approved" if decision["approved"] else "denied"
        if decision["approved"]:
            return
        note = f": {decision['note']}" if "note" in decision else ""
        late = "denied: nobody decided in time"
        call["error"] = late if "expired" in more else f"denied by a person{note}"
        tool = {"replyTo": turn["seq"], "id": call["id"], "name": call["name"], "state": "denied"}
        self._events.append({"kind": "tool", **tool})

    async def _take_result(self, given: dict[str, Any]) -> None:
        turn = self.self.get("turn")
        written = await self._store.written() if turn else []
        call = call_of(written, given["call"])
        if not turn or call is None or call["state"] != "called":
            return
        if (call.get("child") or {}).get("url") != given["agent"]:
            return
        self._settle_result(turn, call, given["outcome"])
        self._store.keep_written(written)
        self._resume(turn)

    def _settle_result(self, turn: Turn, call: Part, outcome: dict[str, Any]) -> None:
        child = (call.get("child") or {}).get("url", "")
        event = {"kind": "tool", "replyTo": turn["seq"], "id": call["id"], "name": call["name"]}
        event["url"] = child
        if outcome["state"] == "done":
            call["state"], call["output"] = "done", outcome["text"]
            self._events.append({**event, "state": "done", "output": outcome["text"]})
            return
        reason = f": {outcome['reason']}" if outcome.get("reason") else ""
        call["state"] = "failed"
        call["error"] = f"the agent {child} {_ENDINGS[outcome['state']]}{reason}"
        self._events.append({**event, "state": "failed", "error": call["error"]})

    async def _locate(self, given: dict[str, Any]) -> None:
        name = given["invocationId"]
        offset = await self._store.place_of(self.self, name)
        event = {"kind": "located", "invocationId": name}
        self._events.append(event if offset is None else {**event, "offset": offset})

    async def _remind(self, given: dict[str, Any]) -> None:
        me = self.self
        reminders = me.setdefault("reminders", {})
        name = self._ids["invocationId"]
        is_archived = me["status"] == "archived"
        if is_archived or len(reminders) >= _MAX_REMINDERS:
            reason = "archived" if is_archived else "too many reminders"
            self._events.append({"kind": "refused", "reason": reason, **self._ids})
            return
        url, stream = address_of(self._ctx)
        body = {"kind": "message", "content": given["content"], "reminder": name}
        handle = self._ctx.generic_send(
            self._settings.name,
            "wake",
            to_json_bytes(body),
            key=self._ctx.key(),
            send_delay=timedelta(milliseconds=given["delayMs"]),
            headers={**trace_of(self._ctx), "x-entity-url": url, "x-entity-stream": stream},
        )
        reminders[name] = await handle.invocation_id()

    def _resume(self, turn: Turn) -> None:
        """A new invocation continues with the turn, unless one is at it."""
        if "run" in turn:
            return
        if is_at_work(self.self):
            self._needs_work = True
        else:
            turn["isHeld"] = True

    async def _stopped(self, turn: Turn, is_under_way: bool, stopped: dict[str, Any]) -> None:
        # The model is not needed any more. Whatever the invocation still writes is refused.
        if "run" in turn:
            self._ctx.cancel_invocation(turn["run"])
        reason = stopped.get("reason", f"by {stopped['verb']}")
        outcome = {"state": "stopped", "text": "", "reason": reason}
        text = await self._end(turn, is_under_way, outcome)
        event = {"kind": "reply", "replyTo": turn["seq"]}
        event["content"] = [{"type": "text", "text": text}] if text else []
        usage = {"usage": turn["usage"]} if turn.get("usage") else {}
        self._events.append({**event, "stopped": stopped, **usage})

    async def _end(self, turn: Turn, is_under_way: bool, outcome: dict[str, Any]) -> str:
        """Gives what was said."""
        me = self.self
        if is_under_way:
            me.pop("turn", None)
            self._courier.stop_children(await self._store.written())
        text = await self._store.end(turn["id"], is_under_way)
        if turn.get("caller"):
            whole = {**outcome, "text": outcome["text"] or text}
            self._courier.reply(turn["caller"], me["url"], turn["id"], whole)
        if outcome["state"] == "failed":
            me["hasFailed"] = True
            known = await self._store.failure() or {}
            since = known.get("since") or await now_iso(self._ctx)
            first = {"tries": 1, "error": outcome.get("reason", "")}
            self._store.fail({**first, **known, "since": since, "isFinal": True})
        if outcome["state"] == "done":
            me.pop("hasFailed", None)
            self._store.fail(None)
        return text

    async def _note_failure(self, turn: Turn, failure: dict[str, Any] | None) -> None:
        if failure is None:
            turn.pop("failingSince", None)
            self._store.fail(None)
            return
        if "failingSince" not in turn:
            turn["failingSince"] = await now_ms(self._ctx)
        since = iso(turn["failingSince"])
        kept = {"since": since, "tries": failure["attempt"], "error": failure["error"]}
        self._store.fail({**kept, "isFinal": False})

    def _note_children(self, calls: list[Part]) -> None:
        for call in calls:
            if "child" not in call:
                continue
            children = self.self.setdefault("children", [])
            if call["child"]["url"] not in children:
                children.append(call["child"]["url"])

    def _limit(self, limit: dict[str, Any]) -> None:
        self._ctx.generic_send(
            self._settings.name,
            "expire",
            to_json_bytes(limit),
            key=self._ctx.key(),
            send_delay=timedelta(milliseconds=limit["afterMs"]),
        )

    async def _work(self, turn: Turn) -> None:
        """Starts an invocation that answers, or continues with the answer."""
        me = self.self
        me["newest"] += 1
        turn.pop("isHeld", None)
        stored = await self._store.read(turn["id"])
        about = {"key": self._ctx.key(), "url": me["url"], "number": me["newest"], "turn": turn}
        handle = self._ctx.generic_send(
            self._settings.turn_service,
            "run",
            to_json_bytes({**stored, **about}),
            # Restate keeps how it ended.
            idempotency_key=str(self._ctx.uuid()),
            headers=trace_of(self._ctx),
        )
        turn["run"] = await handle.invocation_id()
        await self._watch(turn["run"])

    async def _watch(self, run: str) -> None:
        """Asks Restate to say when an invocation is gone: once in a while. A watcher may be killed."""
        period = await now_ms(self._ctx) // _WATCH_AGAIN_MS
        given = {"key": self._ctx.key(), "run": run, "number": self.self["newest"]}
        self._ctx.generic_send(
            self._settings.turn_service,
            "watch",
            to_json_bytes(given),
            idempotency_key=f"watch {run} {period}",
        )

    def _begin(self, found: Entity) -> None:
        self.self = turn_taker(found)
        self._status_before = found["status"]

    async def _keep_status(self) -> None:
        """The status of an agent that is neither paused nor archived follows from its turn."""
        me = self.self
        turn = me.get("turn")
        if not is_at_work(me):
            return
        if not turn:
            me["status"] = resting_status(me)
        elif "failingSince" in turn:
            me["status"] = "failing"
        else:
            calls = calls_of(await self._store.written()) if "run" not in turn else []
            waits = any(call["state"] == "waiting" for call in calls)
            me["status"] = "waiting" if waits and not self._needs_work else "running"

    def _owner_of(self, entity: Entity) -> Owner:
        me = turn_taker(entity)

        def turns() -> list[Turn]:
            return [*([me["turn"]] if me.get("turn") else []), *me["inbox"]]

        def appended(event: NewEvent, at: str, before: str | None) -> None:
            name = event.get("invocationId")
            if event["kind"] == "message" and isinstance(name, str) and before is not None:
                self._places.append((name, before, at))

        def refused(event: NewEvent) -> None:
            if event["kind"] == "message":
                self._refused.append(event.get("invocationId"))

        async def adopted(expected: int, tail: dict[str, Any]) -> list[tuple[int, NewEvent]]:
            self._ended = list(tail["ended"])
            messages = []
            for turn in turns():
                if not tail["nextSeq"] <= turn["seq"] < expected:
                    continue
                message = await self._store.message(turn["id"]) or {}
                event = {"kind": "message", "content": message.get("content", [])}
                messages.append((turn["seq"], {**event, "invocationId": turn["id"]}))
            return messages

        def renumbered(numbers: dict[int, int]) -> None:
            for turn in turns():
                turn["seq"] = numbers.get(turn["seq"], turn["seq"])

        return Owner(lambda: None, appended, refused, adopted, renumbered)

    async def _drop_ended(self) -> None:
        """A restored agent does not answer again what the timeline has the reply to."""
        refused, self._refused = self._refused, []
        for name in refused:
            under_way = self.self.get("turn")
            turn = take_turn(self.self, lambda one, name=name: bool(one["id"] == name))  # type: ignore[misc]
            if turn:
                reason = "its message cannot be recorded"
                outcome = {"state": "failed", "text": "", "reason": reason}
                await self._end(turn, turn is under_way, outcome)
        ended, self._ended = self._ended, []
        for seq in ended:
            under_way = self.self.get("turn")
            turn = take_turn(self.self, lambda one, seq=seq: bool(one["seq"] == seq))  # type: ignore[misc]
            if not turn:
                continue
            if "run" in turn:
                self._ctx.cancel_invocation(turn["run"])
            await self._store.end(turn["id"], turn is under_way)


def _is_for_pause(given: dict[str, Any]) -> bool:
    """The result of a tool is kept, because the tool has run. Text is generated again later."""
    if given.get("isParked"):
        return True
    calls = given["calls"]
    return len(calls) > 0 and all(has_ended(call) for call in calls)


def _of_turn(event: NewEvent, turn: Turn) -> NewEvent:
    return {**event, "replyTo": turn["seq"]} if "replyTo" in event else event


def _outcome_of(event: NewEvent) -> dict[str, Any]:
    if event["kind"] == "reply":
        return {"state": "done", "text": text_of(event["content"])}
    return {"state": "failed", "text": "", "reason": str(event["message"])}
