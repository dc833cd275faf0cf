"""One invocation that answers a turn, or continues with it."""

from __future__ import annotations

import copy
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from restate import Context, TerminalError

from .._json import json_of
from .._paths import entity_of
from .._turn_parts import utf16_length
from ._access import Access
from ._courier import CommandRefusedError, ask_key, post, send_path
from ._failure import PublicReason, message_of
from ._input import MAX_CHAIN
from ._live import LiveGeneration
from ._restate import is_cancelled, now_ms, step
from ._timeline import NewEvent
from ._tools import (
    AgentTool,
    AnyTool,
    Tool,
    ToolAgent,
    ToolContext,
    call_tool,
    judge,
    spawn_tool,
    valid_input,
    whole_tool,
)
from ._turn_store import (
    Part,
    call_of,
    calls_of,
    has_ended,
    part_of,
    write_text,
    written_text,
)

_log = logging.getLogger("agent_gateway.agent")

#: The event of a longer reply would not fit into a request of 1 MiB.
_MAX_REPLY_LENGTH = 256 * 1_024
_FIRST_RETRY_S = 0.5
_LONGEST_RETRY_S = 30.0


@dataclass(frozen=True)
class Message:
    """A message: its parts, and their text, a line each."""

    content: list[Any]
    text: str


@dataclass(frozen=True)
class Generation:
    """What `generate` is given for one answer."""

    message: Message
    #: The earlier turns, oldest first: `message`, `reply` and `parts`.
    turns: list[dict[str, Any]]
    #: What this answer has so far: texts, and calls of tools with their results. The next piece of
    #: text follows directly.
    written: list[dict[str, Any]]
    #: The arguments of the spawn.
    args: Any = None


#: Yields the pieces of the answer that come after `written`: texts, calls of tools
#: `{"tool", "input", "id"}` or a list of them, `{"usage"}`, `{"reasoning"}`, `{"data"}`. A call
#: evaluates to the output of the tool, a list to the list of them. If the last piece is a call, or a
#: call waits, `generate` is called again, with the results in `written`. An exception is recorded,
#: and `generate` is called again later. A `TerminalError` of Restate ends the turn.
Generate = Callable[[Generation], AsyncIterable[Any]]


@dataclass
class AnswerRules:
    """How an agent answers."""

    generate: Generate
    tools: Mapping[str, AnyTool] = field(default_factory=dict)
    batch_s: float = 0.08
    max_tool_calls: int = 50
    idle_timeout_s: float = 120.0
    retry_for_s: float = 3_600.0
    public_reason: PublicReason | None = None


#: Records what happened. False: the invocation is to end.
Write = Callable[[dict[str, Any]], Awaitable[bool]]


class TurnRun:
    """Each batch of text, each call of a tool and each failure is a step in the journal and an event.

    After a crash, `generate` continues after the text that the journal has. It ends with the turn,
    or when all that is left waits: then what waits is in the state of the agent, and another
    invocation continues. A cancellation ends the answer with what it has.
    """

    def __init__(
        self, ctx: Context, rules: AnswerRules, access: Access, work: dict[str, Any], write: Write
    ) -> None:
        self._ctx = ctx
        self._rules = rules
        self._access = access
        self._work = work
        self._write_to = write
        self._url: str = work["url"]
        self._turn: dict[str, Any] = work["turn"]
        self._written: list[Part] = copy.deepcopy(work["written"])
        self._index: int = self._turn["index"]
        self._calls = max(self._turn["calls"], len(calls_of(self._written)))
        self._usage: dict[str, Any] | None = self._turn.get("usage")
        self._failing_since: int | None = self._turn.get("failingSince")
        self._failures = 0 if self._failing_since is None else 1
        tools = {name: whole_tool(tool) for name, tool in rules.tools.items()}
        self._tools = {"spawn": spawn_tool(ctx, access, self._url), **tools}
        self._live = LiveGeneration(
            lambda: rules.generate(self._generation()),
            batch_s=rules.batch_s,
            idle_timeout_s=rules.idle_timeout_s,
            public_reason=rules.public_reason,
        )

    async def run(self) -> None:
        """Answers."""
        try:
            await self._answer()
        except TerminalError as error:
            if not is_cancelled(error):
                raise
            self._live.stop()
            await self._write([self._reply_event({"verb": "interrupt"})])
        finally:
            self._live.stop()

    async def _answer(self) -> None:
        outputs: list[Any] = []
        # What an earlier invocation left: calls that were cut off, or decided meanwhile.
        if not await self._settle():
            return
        while True:
            results = outputs
            taken = await step(self._ctx, "generate", lambda: self._live.next(results))  # noqa: B023
            if not await self._tell(taken):
                return
            failure = taken.get("failure")
            if taken.get("isEnd") or (failure and failure["isFinal"]):
                return
            if failure and not await self._failing(failure):
                return
            if "calls" not in taken:
                continue
            calls = await self._begin(taken["calls"])
            if calls is None or not await self._settle():
                return
            ended = [call_of(self._written, call["id"]) or {} for call in calls]
            outputs = [call.get("output") for call in ended]

    async def _tell(self, taken: dict[str, Any]) -> bool:
        """Records what was said, and how it ended. Gives whether the answer continues."""
        events: list[NewEvent] = []
        for said in taken["said"]:
            self._say(said, events)
        works = bool(events) or bool(taken.get("isEnd")) or "calls" in taken
        again = self._works_again() if self._failures > 0 and works else None
        if again:
            events.insert(0, again)
        more: dict[str, Any] = {"failure": None} if again else {}
        is_too_long = utf16_length(written_text(self._written)) > _MAX_REPLY_LENGTH
        failure = taken.get("failure")
        if is_too_long:
            why = f"the reply is longer than {_MAX_REPLY_LENGTH} characters"
            events.append(self._error_event(why))
        elif taken.get("isEnd"):
            events.append(self._reply_event())
        elif failure and failure["isFinal"]:
            self._tell_log(failure)
            events.append(self._error_event(failure["reason"]))
            more = {"failure": {"attempt": self._failures + 1, "error": failure["detail"]}}
        if not events:
            return True
        return await self._write(events, more) and not is_too_long

    def _say(self, said: dict[str, Any], events: list[NewEvent]) -> None:
        about = {"replyTo": self._turn["seq"]}
        if "text" in said:
            if said["text"] == "":
                return
            events.append({"kind": "word", **about, "index": self._index, "text": said["text"]})
            self._index += 1
            write_text(self._written, said["text"])
        elif "usage" in said:
            self._usage = _sum(self._usage, said["usage"])
        elif "reasoning" in said:
            events.append({"kind": "reasoning", **about, "text": said["reasoning"]})
        else:
            events.append({"kind": "data", **about, "data": said["data"]})

    async def _begin(self, requests: list[dict[str, Any]]) -> list[Part] | None:
        """Notes calls, each with whether it may run or waits. `None`: the turn is over."""
        most = self._rules.max_tool_calls
        if self._calls + len(requests) > most:
            await self._write([self._error_event(f"more than {most} calls of tools")])
            return None
        calls = [self._call_of(request) for request in requests]
        for call in calls:
            tool = self._tools.get(call["name"])

            async def judged(tool: Any = tool, call: Part = call) -> dict[str, Any]:
                return await judge(tool, call["name"], call.get("input"))

            verdict = await step(self._ctx, f"judge {call['name']}", judged)
            if "error" in verdict:
                call["error"] = verdict["error"]
            elif verdict["waits"]:
                call["state"] = "waiting"
            self._written.append(call)
        inputs = [{"input": call["input"]} if "input" in call else {} for call in calls]
        events = [self._call_event(call, more) for call, more in zip(calls, inputs, strict=True)]
        limits = [
            limit for call in calls if call["state"] == "waiting" for limit in self._limit_of(call)
        ]
        is_written = await self._write(events, {"calls": calls, "limits": limits})
        return calls if is_written else None

    def _call_of(self, request: dict[str, Any]) -> Part:
        self._calls += 1
        # The name of the turn ends with what no other turn has.
        call: Part = {"type": "tool", "id": f"{self._turn['id'][-8:]}.{self._calls}"}
        call |= {"number": self._calls, "name": request["tool"]}
        if "id" in request:
            call["modelId"] = request["id"]
        if "input" in request:
            call["input"] = request["input"]
        return call | {"state": "called"}

    async def _settle(self) -> bool:
        """Runs the calls that may run. False: the answer is over, or a call waits."""
        for call in calls_of(self._written):
            if has_ended(call) and call["state"] != "called":
                continue
            if call["state"] == "waiting":
                continue
            if call["state"] == "approved":
                call["state"] = "called"
                if not await self._write([self._call_event(call)], {"calls": [call]}):
                    return False
            if not await self._perform(call):
                return False
        if all(has_ended(call) for call in calls_of(self._written)):
            return True
        await self._write([], {"isParked": True})
        return False

    async def _perform(self, call: Part) -> bool:
        tool = self._tools.get(call["name"])
        if tool is None:
            return await self._refuse(call, f"there is no tool {call['name']}")
        if "error" in call:
            return await self._finish(call, {"error": call["error"]})
        if isinstance(tool, AgentTool):
            return await self._ask(tool, call)
        return await self._run(tool, call)

    async def _run(self, tool: Tool, call: Part) -> bool:
        context = self._context_of(call)
        while True:

            async def run() -> dict[str, Any]:
                reason = self._rules.public_reason
                return await call_tool(tool, call["name"], call.get("input"), context, reason)

            outcome = await step(self._ctx, f"tool {call['name']}", run)
            if "again" not in outcome:
                return await self._finish(call, outcome)
            if not await self._failing(outcome["again"]):
                return False

    async def _ask(self, tool: AgentTool, call: Part) -> bool:
        """Sends the message of a call to its child. The result comes to the agent."""
        known = call.get("child") or {}
        if "turn" in known:
            return True
        chain = [*(self._turn.get("caller") or {}).get("chain", []), self._url]

        async def child_of() -> dict[str, Any]:
            return self._child_of(tool, call)

        sent = await step(self._ctx, f"ask {tool.type}", child_of)
        if "error" in sent:
            return await self._finish(call, sent)
        child = sent["child"]
        if child in chain:
            return await self._refuse(call, f"{child} waits for this answer, so it would never reply")
        if len(chain) >= MAX_CHAIN:
            return await self._refuse(call, f"more than {MAX_CHAIN} agents would wait for each other")
        if "child" not in call:
            call["child"] = {"url": child}
            more = {"calls": [call], "limits": self._limit_of(call)}
            if not await self._write([self._call_event(call, {"url": child})], more):
                return False
        caller = {"url": self._url, "call": call["id"], "chain": chain}
        body = {"kind": "message", "content": sent["message"], "caller": caller}

        async def send() -> dict[str, Any]:
            return await self._send(tool, child, body, call["id"])

        outcome = await step(self._ctx, f"send to {child}", send)
        if "error" in outcome:
            return await self._finish(call, outcome)
        call["child"]["turn"] = outcome["turn"]
        return await self._write([], {"calls": [call]})

    def _child_of(self, tool: AgentTool, call: Part) -> dict[str, Any]:
        try:
            valid = valid_input(tool, call.get("input"))
        except ValueError as error:
            return {"error": str(error)}
        try:
            own = tool.id(valid, self._context_of(call)) if callable(tool.id) else tool.id
            name = own or f"{self._turn['id']}-{call['number']}"
            # It is the one that was asked before, also where the id is another one each time.
            new = f"/t/{entity_of(self._url).tenant}/a/{tool.type}/{name}"
            child = (call.get("child") or {}).get("url") or new
            # Throws for one that is no agent.
            entity_of(child)
            message = json_of(tool.message(valid))
        except Exception as error:
            return {"error": f"the message to the agent cannot be made: {message_of(error)}"}
        is_whole = isinstance(message, dict) and "content" in message
        return {
            "child": child,
            "message": message["content"] if is_whole and isinstance(message, dict) else message,
        }

    async def _send(
        self, tool: AgentTool, child: str, body: dict[str, Any], call: str
    ) -> dict[str, Any]:
        """Spawns the child, and sends it the message. Throws for what may work later."""
        tenant, kind, name = entity_of(child)
        spawn = {"type": kind, "id": name, "parent": self._url, "args": tool.args}
        path = f"/api/t/{tenant}/spawn"
        spawned = await post(self._ctx, self._access, path, spawn, f"spawn {call}")
        if "refusal" in spawned:
            return {"error": f"{child} cannot be spawned: {spawned['refusal']}"}
        answer = await post(self._ctx, self._access, send_path(child), body, ask_key(call))
        if "refusal" in answer:
            return {"error": f"{child} cannot be asked: {answer['refusal']}"}
        return {"turn": answer["invocationId"]}

    async def _refuse(self, call: Part, reason: str) -> bool:
        """Ends a call with a sentence that readers may see."""
        return await self._finish(call, {"error": reason, "reason": reason})

    async def _finish(self, call: Part, outcome: dict[str, Any]) -> bool:
        """Records the result of a call."""
        again = self._works_again() if self._failures > 0 else None
        events = [again] if again else []
        if "output" in outcome:
            call["state"], call["output"] = "done", outcome["output"]
            if "url" in outcome:
                call["child"] = {"url": outcome["url"]}
            events.append(self._call_event(call, outcome))
        else:
            call["state"], call["error"] = "failed", outcome["error"]
            more = {"error": outcome["reason"]} if "reason" in outcome else {}
            events.append(self._call_event(call, more))
        return await self._write(events, {"calls": [call], **({"failure": None} if again else {})})

    async def _failing(self, failure: dict[str, Any]) -> bool:
        """Records the failure and waits before the next attempt."""
        self._tell_log(failure)
        self._failures += 1
        attempt, reason = self._failures, failure["reason"]
        now = await now_ms(self._ctx)
        since = self._failing_since = now if self._failing_since is None else self._failing_since
        more = {"failure": {"attempt": attempt, "error": failure["detail"]}}
        if now - since >= self._rules.retry_for_s * 1_000:
            await self._write([self._error_event(f"{reason}, again and again")], more)
            return False
        event = {"kind": "status", "status": "failing", "reason": reason, "attempt": attempt}
        continues = await self._write([event], more)
        wait_s = min(_FIRST_RETRY_S * 2 ** min(attempt - 1, 16), _LONGEST_RETRY_S)
        if continues:
            await self._ctx.sleep(timedelta(seconds=wait_s), "before the next attempt")
        return continues

    def _works_again(self) -> NewEvent:
        self._failures, self._failing_since = 0, None
        return {"kind": "status", "status": "running"}

    def _tell_log(self, failure: dict[str, Any]) -> None:
        _log.error("%s: %s: %s", self._url, failure["reason"], failure["detail"])

    def _call_event(self, call: Part, more: Mapping[str, Any] | None = None) -> NewEvent:
        about = {name: call[name] for name in ("id", "name", "state")}
        return {"kind": "tool", "replyTo": self._turn["seq"], **about, **(more or {})}

    def _limit_of(self, call: Part) -> list[dict[str, Any]]:
        tool = self._tools.get(call["name"])
        if tool is None or tool.wait_s is None:
            return []
        after_ms = round(tool.wait_s * 1_000)
        return [{"call": call["id"], "state": call["state"], "afterMs": after_ms}]

    def _reply_event(self, stopped: dict[str, Any] | None = None) -> NewEvent:
        text = written_text(self._written)
        content = [{"type": "text", "text": text}] if text else []
        stop = {"stopped": stopped} if stopped else {}
        about = {"replyTo": self._turn["seq"], "content": content}
        return {"kind": "reply", **about, **stop, **self._usage_field()}

    def _error_event(self, message: str) -> NewEvent:
        """The end of a turn that failed for good."""
        about = {"message": message, "replyTo": self._turn["seq"]}
        return {"kind": "error", **about, **self._usage_field()}

    def _usage_field(self) -> dict[str, Any]:
        return {"usage": self._usage} if self._usage else {}

    async def _write(self, events: list[NewEvent], more: dict[str, Any] | None = None) -> bool:
        given = {"calls": [], **(more or {}), **self._usage_field(), "events": events}
        return await self._write_to(given)

    def _context_of(self, call: Part) -> ToolContext:
        return ToolContext(
            agent=self._agent(call["id"]),
            call_id=call["id"],
            call_number=call["number"],
            key=f"{self._url}#{self._turn['id']}.{call['number']}",
            args=self._work.get("args"),
        )

    def _agent(self, call: str) -> ToolAgent:
        tenant, kind, name = entity_of(self._url)

        async def command(body: dict[str, Any], key: str) -> str:
            answer = await post(self._ctx, self._access, send_path(self._url), body, key)
            if "refusal" in answer:
                raise CommandRefusedError(answer["refusal"])
            return str(answer["invocationId"])

        return ToolAgent(self._url, tenant or "", kind, name, command, call)

    def _generation(self) -> Generation:
        work = self._work
        return Generation(
            message=Message(work["message"]["content"], work["message"]["text"]),
            turns=copy.deepcopy(work["turns"]),
            written=[copy.deepcopy(part_of(part)) for part in self._written],
            args=work.get("args"),
        )


def _sum(before: dict[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    total = dict(before or {})
    for name, value in more.items():
        total[name] = total.get(name, 0) + (value or 0)
    return total
