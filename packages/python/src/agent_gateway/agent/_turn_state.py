"""Which turn is under way, and which wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Turn = dict[str, Any]
#: The verbs that stop turns.
_STOPS = {"interrupt": "one", "archive": "all", "pause": "none", "resume": "none"}


def turn_taker(entity: dict[str, Any]) -> dict[str, Any]:
    """With what a new entity does not have yet."""
    entity.setdefault("newest", 0)
    entity.setdefault("inbox", [])
    return entity


def apply_verb(self: dict[str, Any], verb: str) -> list[Turn]:
    """Applies a verb. Gives the turns that it stops, the one under way first."""
    turns = _take_stopped(self, _STOPS[verb])
    if verb == "archive":
        self["status"] = "archived"
    elif verb == "pause":
        self["status"] = "paused"
    elif not (verb == "interrupt" and self["status"] == "paused"):
        self["status"] = resting_status(self)
    return turns


def _take_stopped(self: dict[str, Any], which: str) -> list[Turn]:
    if which == "none":
        return []
    turn = self.pop("turn", None)
    first = [turn] if turn else self["inbox"][:1]
    if not turn:
        del self["inbox"][:1]
    if which == "one":
        return first
    others, self["inbox"] = self["inbox"], []
    return [*first, *others]


def take_turn(self: dict[str, Any], is_meant: Callable[[Turn], bool]) -> Turn | None:
    """Takes one turn out, wherever it is. `None` if it has ended, or was never here."""
    turn: Turn | None = self.get("turn")
    if turn and is_meant(turn):
        del self["turn"]
        return turn
    for place, waiting in enumerate(self["inbox"]):
        if is_meant(waiting):
            found: Turn = self["inbox"].pop(place)
            return found
    return None


def is_at_work(self: dict[str, Any]) -> bool:
    """Whether a turn may begin or continue."""
    return self["status"] not in ("paused", "archived")


def begin_next(self: dict[str, Any]) -> bool:
    """Begins with the oldest message that waits, if no turn is under way."""
    if not is_at_work(self) or self.get("turn"):
        return False
    has_next = bool(self["inbox"])
    if has_next:
        self["turn"] = {**self["inbox"].pop(0), "index": 0, "calls": 0}
    self["status"] = resting_status(self)
    return has_next


def resting_status(self: dict[str, Any]) -> str:
    """The status of an agent that is neither paused nor archived, apart from what its turn does."""
    if self.get("turn") or self["inbox"]:
        return "running"
    return "failed" if self.get("hasFailed") else "idle"
