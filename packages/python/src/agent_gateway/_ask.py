"""Asks an agent, and reads the answer to just this message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ._commands import AcceptedCommand, CommandOptions, control, invocations_of, send_kind
from ._commands import send_message as send_command
from ._effects import Core, Request
from ._errors import AnswerError, GatewayError
from ._json import fields_of, is_number
from ._own_turn import is_begin_of, is_named_by, own_turn_after
from ._paths import AgentAddress, timeline_path
from ._reader import LateError
from ._timeline import Bookmark, Event, EventReader
from ._transport import COMMAND_RETRY_FOR_S, Call, Settings, new_id, perform
from ._turn import Turn

_START = "-1"
#: How long the client waits for an agent that says where a turn begins.
_LOCATE_S = 5.0


@dataclass(frozen=True)
class Question:
    """What is asked, and how."""

    agent: AgentAddress
    message: object
    content_type: str | None
    options: CommandOptions
    #: How long the agent may take to begin.
    timeout_s: float


class Answering:
    """The state of an answer: what was read of it, and how it ended."""

    def __init__(self, settings: Settings, question: Question) -> None:
        self._settings = settings
        self._question = question
        options = question.options
        # Whoever is cancelled while the message is sent, and reads again, sends it under the same key.
        self._send_options = replace(
            options,
            key=new_id() if options.key is None else options.key,
            request_id=new_id() if options.request_id is None else options.request_id,
        )
        self.command: AcceptedCommand | None = None
        self.events: list[Event] = []
        self.turn: Turn | None = None
        self.reply: Event | None = None
        self.is_done = False
        self.error: GatewayError | None = None
        self._reader: EventReader | None = None
        self._begin_by: float | None = None
        self._before = (_START, "")
        self._is_searched = False
        self._status: Mapping[str, Any] = {}
        self._ended: set[int] = set()
        self._is_unsent = False

    def send(self) -> Core[AcceptedCommand]:
        """Sends the message, if that has not been done."""
        if self._is_unsent and self.error is not None:
            raise self.error
        if self.command is None:
            path = timeline_path(self._question.agent, self._settings.read_tenant)
            self._before = (yield from self._end_of(path)), path
            question = self._question
            self.command = yield from send_command(
                self._settings,
                question.agent,
                question.message,
                question.content_type,
                self._send_options,
            )
        return self.command

    def read_on(self, count: int) -> Core[None]:
        """Reads until there are more events than `count`, or the end. Keeps an error for all."""
        while not self.is_done and len(self.events) <= count:
            try:
                yield from self._read_event()
            except GatewayError as error:
                yield from self.rest()
                self.error = self.error or error
                self.is_done = True

    def rest(self) -> Core[None]:
        """Closes the connection until somebody reads on."""
        if self._reader is not None:
            yield from self._reader.stream.close()

    def stop(self, reason: str | None) -> Core[AcceptedCommand | None]:
        """Ends this turn and no other. A message that has not been sent never is."""
        if self.command is None:
            message = "The answer was stopped before the message was sent."
            self.error = self.error or AnswerError(message, code="stopped")
            self.is_done = self._is_unsent = True
            return None
        if self.is_done:
            return None
        if self.turn is not None and self.turn.id is None:
            # An agent that does not name its turns is interrupted.
            return (
                yield from control(self._settings, self.command, "interrupt", reason, CommandOptions())
            )
        body = {"kind": "stop", "invocationId": self.command.invocation_id, "reason": reason}
        return (yield from send_kind(self._settings, self.command, body, CommandOptions()))

    def _end_of(self, path: str) -> Core[str]:
        """The offset after the last event of now."""
        options = self._question.options
        call = Call(
            Request("HEAD", path),
            is_idempotent=True,
            usual_retry_for_s=COMMAND_RETRY_FOR_S,
            retry_for_s=options.retry_for_s,
        )
        try:
            response = yield from perform(self._settings, call)
        except GatewayError as error:
            if error.status == 404:
                return _START
            raise
        return response.headers.get("stream-next-offset", _START)

    def _read_event(self) -> Core[None]:
        command = yield from self.send()
        if self._reader is None:
            self._wait()
            place = yield from self._place(command)
            path = timeline_path(command, self._settings.read_tenant)
            # Each long-poll ends at its own time, so that an agent that does not begin is not waited
            # for too long.
            self._reader = EventReader(self._settings, path, Bookmark(place), "long-poll")
        try:
            event = yield from self._reader.next(self._begin_by)
        except LateError:
            raise (yield from self._not_answered(command)) from None
        if self._reader.is_reset:
            self._reader.is_reset = False
            self.events.clear()
            self.turn = None
            self._wait()
        if event is None:
            raise AnswerError(
                "The timeline has ended before the answer.",
                code="not_answered",
                request_id=command.request_id,
                text=self.turn.text if self.turn else "",
            )
        self._take(event, command)
        if self.is_done:
            yield from self.rest()

    def _wait(self) -> None:
        self._begin_by = self._settings.clock() + self._question.timeout_s

    def _take(self, event: Event, command: AcceptedCommand) -> None:
        fields = fields_of(event)
        kind, reply_to = fields.get("kind"), fields.get("replyTo")
        if kind == "status":
            self._status = fields
        if kind in ("reply", "error") and is_number(reply_to):
            self._ended.add(int(reply_to or 0))
        turn = own_turn_after(self.turn, event, command)
        if turn is None:
            return
        if (turn.has_begun or not turn.is_open) and self._reader is not None:
            self._begin_by = None
            self._reader.stream.live = "sse"
        self.turn = turn
        self.events.append(event)
        if kind == "reply":
            self.reply = event
        if not turn.is_open:
            self.is_done = True
            self.error = None if turn.state == "done" else _error_of(turn, command.request_id)

    def _place(self, command: AcceptedCommand) -> Core[str]:
        """Where the turn begins, or would. Only a message with a key can have been sent before."""
        offset, path = self._before
        own = timeline_path(command, self._settings.read_tenant)
        # Without a tenant of its own the client does not know that of the gateway before.
        before = offset if path == own else _START
        if not command.is_replay and self._question.options.key is None:
            self._is_searched = True
            return before
        if before == _START:
            self._is_searched = True
            return before
        if not command.is_replay and (
            yield from self._finds(own, before, _LOCATE_S, is_begin_of, command)
        ):
            self._is_searched = True
            return before
        place = yield from self._located(own, before, command)
        self._is_searched = self._begin_by is None or self._settings.clock() < self._begin_by
        return place

    def _finds(
        self, path: str, offset: str, within_s: float | None, is_meant: Any, command: Any
    ) -> Core[Event | None]:
        """The first event that is meant: among those of now, or of this time."""
        live = None if within_s is None else "long-poll"
        until = None if within_s is None else self._settings.clock() + within_s
        reader = EventReader(
            self._settings,
            path,
            Bookmark(offset),
            live,  # type: ignore[arg-type]
            wait_for_stream=within_s is not None,
        )
        try:
            while (event := (yield from reader.next(until))) is not None:
                if is_meant(event, command):
                    yield from reader.stream.close()
                    return event
        except LateError:
            pass
        return None

    def _located(self, path: str, before: str, command: AcceptedCommand) -> Core[str]:
        """The store can be read from its start only, so the agent is asked. Its answer is checked."""
        body = {"kind": "locate", "invocationId": command.invocation_id}
        try:
            options = CommandOptions(timeout_s=_LOCATE_S, retry_for_s=0)
            asked = yield from send_kind(self._settings, command, body, options)
        except GatewayError:
            return _START

        def is_said(event: object, own: AcceptedCommand) -> bool:
            fields = fields_of(event)
            kind = fields.get("kind")
            is_place = kind == "located" and fields.get("invocationId") == own.invocation_id
            is_refusal = kind in ("error", "refused") and is_named_by(event, asked)
            return is_begin_of(event, own) or is_place or is_refusal

        event = yield from self._finds(path, before, _LOCATE_S, is_said, command)
        if event is not None and is_begin_of(event, command):
            return before
        offset = fields_of(event).get("offset")
        if not isinstance(offset, str):
            return _START
        try:
            found = yield from self._finds(path, offset, None, is_begin_of, command)
        except GatewayError:
            # An offset of nobody's, or of a store that was restored.
            return _START
        return _START if found is None else offset

    def _not_answered(self, command: AcceptedCommand) -> Core[AnswerError]:
        late = f"The agent did not begin to answer within {self._question.timeout_s:g} s"
        if self._is_searched:
            why = "; ".join(self._reasons()) or (yield from self._work_of(command))
        else:
            why = "it has not said where the answer to the earlier message is"
        message = f"{late}: {why}." if why else f"{late}."
        return AnswerError(message, code="not_answered", request_id=command.request_id)

    def _reasons(self) -> list[str]:
        status, reason = self._status.get("status"), self._status.get("reason")
        turn = self.turn
        reasons = []
        if status == "paused":
            reasons.append("it is paused")
        ended = [seq for seq in self._ended if turn is not None and seq < turn.seq]
        ahead = max(0, (turn.ahead if turn else 0) - len(ended))
        if ahead > 0:
            others = "1 other turn is" if ahead == 1 else f"{ahead} other turns are"
            reasons.append(f"{others} before it")
        if status == "failing":
            attempt = self._status.get("attempt")
            count = f" (attempt {attempt})" if is_number(attempt) else ""
            reasons.append(f"it is failing{count}{f': {reason}' if reason else ''}")
        return reasons

    def _work_of(self, command: AcceptedCommand) -> Core[str]:
        """What Restate has, where the key may ask. The reason is only a help."""
        once = Settings(tenant=self._settings.tenant, timeout_s=5.0, retry_for_s=0.0)
        try:
            rows = yield from invocations_of(once, command, False, 100)
        except GatewayError:
            return ""
        if not rows:
            if self.turn is not None:
                return "it has noted the message, and no invocation of it is under way"
            return "it has handled the message, but has written no event that names the request"
        # The invocations of an agent run one after the other, and the oldest is the first.
        busy = next((row for row in rows if row.get("status") != "pending"), rows[0])
        said = f"{busy.get('target')} is {busy.get('status')}"
        failure = busy.get("last_failure")
        tries = busy.get("retry_count") or 0
        return f"{said} after {tries} tries: {failure}" if failure else said


def _error_of(turn: Turn, request_id: str) -> AnswerError:
    """Why a turn has no complete reply."""
    said = turn.error or ""
    if turn.state == "stopped":
        stopped = turn.stopped_by or {}
        reason = f": {stopped['reason']}" if "reason" in stopped else ""
        message = f"{_stop_in_words(stopped.get('verb'))}{reason}"
        return AnswerError(
            message,
            code="stopped",
            request_id=request_id,
            text=turn.text,
            stopped_by=turn.stopped_by,
        )
    if turn.state == "refused":
        code = "archived" if said == "archived" else "refused"
        message = f"The agent refused the message: {said}"
        return AnswerError(message, code=code, request_id=request_id)
    message = f"The agent failed: {said}"
    return AnswerError(message, code="failed", request_id=request_id, text=turn.text)


def _stop_in_words(verb: object) -> str:
    if verb == "withdraw":
        return "The message was withdrawn"
    by = f" by an {verb}" if verb in ("interrupt", "archive") else ""
    return f"The answer was stopped{by}"
