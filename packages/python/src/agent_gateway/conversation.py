"""Makes turns of the events of a timeline, as every reader of the project does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ._json import is_number
from ._turn import Turn, TurnMessage, new_turn, text_of, turn_after, turn_moved_up, turn_of
from ._turn_parts import TurnPart

__all__ = ["Conversation", "Note", "Turn", "TurnMessage", "TurnPart", "conversation", "text_of"]

_HELD = ("paused", "archived", "failing", "failed")
#: The gateway's rule for `X-Request-Id`. The other keys have a `#`, which no such id has.
_REQUEST_ID = re.compile(r"[\w.-]{1,128}", re.ASCII)


@dataclass(frozen=True)
class Note:
    """An event that is no part of a turn, or numbers that are missing."""

    key: str
    #: The kind of the event, or `gap`.
    what: str
    event: object = None
    #: The first and the last number that is missing.
    gap: tuple[int, int] | None = None


@dataclass(frozen=True)
class Conversation:
    """What a timeline says, as turns."""

    #: In the order of their messages.
    turns: tuple[Turn, ...] = ()
    #: The turns and the notes.
    items: tuple[Turn | Note, ...] = ()
    #: The status of the agent as its events say it.
    status: str = "idle"
    #: The number of the next event, `None` before the first one.
    next_seq: int | None = None
    #: The latest status, if it is one that stays.
    held_status: str | None = None
    _names: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def queued(self) -> tuple[Turn, ...]:
        """The turns that wait for others to end, the next one first."""
        return tuple(turn for turn in self.turns if turn.state == "queued")


def conversation(events: Iterable[Any], before: Conversation | None = None) -> Conversation:
    """The conversation after these events. `before` is the result for the events before them.

    The result is the same however the events are cut into calls. Events that `before` has already
    are ignored.
    """
    draft = _Draft(before or Conversation())
    for event in events:
        draft.add(event)
    return draft.result()


class _Draft:
    """The work of one call, on copies."""

    def __init__(self, before: Conversation) -> None:
        self._before = before
        self._turns = list(before.turns)
        self._items = list(before.items)
        self._next_seq = before.next_seq
        self._held = before.held_status
        self._is_changed = False
        self._names = set(before._names)

    def result(self) -> Conversation:
        if not self._is_changed:
            return self._before
        return Conversation(
            tuple(self._turns),
            tuple(self._items),
            self._status(),
            self._next_seq,
            self._held,
            frozenset(self._names),
        )

    def add(self, given: object) -> None:
        event: Mapping[str, Any] = given if isinstance(given, dict) else {"value": given}
        seq, kind = event.get("seq"), event.get("kind")
        if not self._count(seq):
            return
        self._is_changed = True
        if kind == "status":
            status = event.get("status")
            self._held = status if status in _HELD else None
        # It answers a client that looks for a turn, and says nothing to anybody else.
        if kind == "located":
            return
        if kind == "message" and is_number(seq):
            self._add_turn(event)
        elif not self._add_to_turn(event):
            self._add_note(event)

    def _status(self) -> str:
        held = self._held
        if held is not None and held != "failed":
            return held
        if any(turn.state == "asking" for turn in self._turns):
            return "waiting"
        return "running" if any(turn.is_open for turn in self._turns) else held or "idle"

    def _count(self, seq: Any) -> bool:
        """Whether the event is new. Notes numbers that are missing before it."""
        if not is_number(seq):
            return True
        expected = int(seq) if self._next_seq is None else self._next_seq
        if seq < expected:
            return False
        if seq > expected:
            gap = (expected, int(seq) - 1)
            self._items.append(Note(f"#gap{expected}", "gap", gap=gap))
        self._next_seq = int(seq) + 1
        return True

    def _add_to_turn(self, event: Mapping[str, Any]) -> bool:
        refused = event.get("kind") == "refused"
        turn = self._refused(event) if refused else self._answered(event)
        after = turn and turn_after(turn, event)
        if turn is None or after is None:
            return False
        self._put(turn, after)
        if turn.is_open and not after.is_open:
            self._ended(after, event)
        return True

    def _refused(self, event: Mapping[str, Any]) -> Turn | None:
        """The turn whose message the agent refused after it had come."""
        name, request_id = event.get("invocationId"), event.get("requestId")
        if isinstance(name, str):
            return self._named(name)
        if not isinstance(request_id, str):
            return None
        found = (
            turn
            for turn in reversed(self._turns)
            if turn.is_open and turn.message and turn.message.request_id == request_id
        )
        return next(found, None)

    def _answered(self, event: Mapping[str, Any]) -> Turn | None:
        """The turn that an event names, a new one if its message is before what was read."""
        seq = event.get("replyTo")
        # A message that has not come yet has no answer.
        if not is_number(seq) or self._next_seq is None or int(seq or 0) >= self._next_seq:
            return None
        place = int(seq or 0)
        same_place = (turn for turn in reversed(self._turns) if turn.seq == place)
        return (
            self._named(event.get("invocationId"))
            or next(same_place, None)
            or new_turn(self._free_key(place), place, event.get("at"))
        )

    def _free_key(self, seq: int) -> str:
        # A turn that began again has kept the key of its first message.
        return f"#old{seq}" if f"#turn{seq}" in self._names else f"#turn{seq}"

    def _named(self, name: object) -> Turn | None:
        if not isinstance(name, str) or f"# {name}" not in self._names:
            return None
        return next((turn for turn in reversed(self._turns) if turn.id == name), None)

    def _add_turn(self, event: Mapping[str, Any]) -> None:
        """A message that comes again, after a restore, begins its turn again."""
        before = self._named(event.get("invocationId"))
        is_again = before is not None and before.is_open
        if before is not None and is_again:
            self._remove(before)
        elif before is not None:
            self._put(before, replace(before, id=None))
        key = before.key if before is not None and is_again else self._new_key(event)
        turn = turn_of(key, event)
        self._turns.append(turn)
        self._items.append(turn)
        self._names.update(_names_of(turn))

    def _new_key(self, event: Mapping[str, Any]) -> str:
        request_id = event.get("requestId")
        is_id = isinstance(request_id, str) and _REQUEST_ID.fullmatch(request_id)
        if is_id and request_id not in self._names:
            return str(request_id)
        return f"#turn{int(event['seq'])}"

    def _remove(self, turn: Turn) -> None:
        del self._turns[_last_place(self._turns, turn)]
        del self._items[_last_place(self._items, turn)]
        self._move_up_after(turn)

    def _put(self, turn: Turn, after: Turn) -> None:
        if not any(one is turn for one in self._turns):
            self._insert(after)
            self._names.add(after.key)
            return
        self._turns[_last_place(self._turns, turn)] = after
        self._items[_last_place(self._items, turn)] = after

    def _ended(self, turn: Turn, event: Mapping[str, Any]) -> None:
        is_held = self._held in ("paused", "archived")
        # Agents that do not name their turns are idle after a failure.
        is_named = turn.id is not None or isinstance(event.get("invocationId"), str)
        if turn.state == "failed" and is_named and not is_held:
            self._held = "failed"
        if turn.state == "done" and self._held == "failed":
            self._held = None
        self._move_up_after(turn)

    def _move_up_after(self, turn: Turn) -> None:
        """The turns behind one that has ended have one less before them."""
        for one in reversed(self._turns[:]):
            if one.seq <= turn.seq:
                return
            after = turn_moved_up(one)
            if after is not one:
                self._put(one, after)

    def _insert(self, turn: Turn) -> None:
        """Puts a turn where its message would be among the turns."""
        later = (place for place, one in enumerate(self._turns) if one.seq > turn.seq)
        place = next(later, None)
        if place is None:
            self._items.append(turn)
            self._turns.append(turn)
            return
        self._items.insert(_last_place(self._items, self._turns[place]), turn)
        self._turns.insert(place, turn)

    def _add_note(self, event: Mapping[str, Any]) -> None:
        seq, kind = event.get("seq"), event.get("kind")
        # There are never fewer items than before, so the second number is a new one.
        key = f"#{int(seq)}" if is_number(seq) and seq is not None else f"#x{len(self._items)}"
        what = kind if isinstance(kind, str) else "event"
        self._items.append(Note(key, what, event))


def _names_of(turn: Turn) -> list[str]:
    return [turn.key] if turn.id is None else [turn.key, f"# {turn.id}"]


def _last_place(items: Any, item: object) -> int:
    """By identity: an equal turn is another one."""
    return next(place for place in range(len(items) - 1, -1, -1) if items[place] is item)
