"""The events of an event stream (HTML, section 9.2.6), from bytes that are cut anywhere."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

# A line may end with CR, LF or CRLF. A CR at the end of the bytes may be half of a CRLF.
_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")


class ServerEvent(NamedTuple):
    """An event."""

    name: str
    data: str


class EventParser:
    """Takes bytes, and gives the events that they complete."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._name = ""
        self._data: list[str] = []

    def take(self, data: bytes) -> list[ServerEvent]:
        """The events that are whole with these bytes."""
        lines = _LINE_END.split(self._rest + self._decoder.decode(data))
        self._rest = lines.pop()
        found = [self._line(line) for line in lines]
        return [event for event in found if event is not None]

    def _line(self, line: str) -> ServerEvent | None:
        if line == "":
            event = ServerEvent(self._name or "message", "\n".join(self._data))
            is_event = bool(self._data)
            self._name, self._data = "", []
            return event if is_event else None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None
