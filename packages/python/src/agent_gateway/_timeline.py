"""The events of a timeline, each once and in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._effects import Core, emit
from ._json import fields_of, is_number
from ._reader import Chunk, Live, StreamReader
from ._transport import Settings

#: An event of a timeline: `seq`, `at`, `kind`, and what its kind has (docs/agents.md).
Event = dict[str, Any]


@dataclass(frozen=True)
class Bookmark:
    """Where a later read continues: after the last event that was given."""

    #: All events before this offset were given, …
    offset: str
    #: … and those after it up to this number.
    seq: int | None = None


def bookmark_of(offset: str | Bookmark) -> Bookmark:
    """`start`, `now`, an offset, or a bookmark."""
    if isinstance(offset, Bookmark):
        return offset
    # A read from the start expects number 0 first.
    return Bookmark("-1", -1) if offset in ("start", "-1") else Bookmark(offset)


class EventReader:
    """Reads chunks, and gives the events that are new."""

    def __init__(
        self,
        settings: Settings,
        path: str,
        begin: Bookmark,
        live: Live | None,
        wait_for_stream: bool = True,
    ) -> None:
        self.stream = StreamReader(settings, path, begin.offset, live, wait_for_stream)
        #: After the events that were given.
        self.bookmark = begin
        self._last = begin.seq
        self._before = begin.offset
        self._ready: list[tuple[Event, Bookmark]] = []
        self.is_reset = False

    def next(self, until: float | None = None) -> Core[Event | None]:
        """The next event, `None` at the end. Sets `is_reset` where the events come again."""
        while not self._ready:
            chunk = yield from self.stream.next(until)
            if chunk is None:
                return None
            self._take(chunk)
        event, self.bookmark = self._ready.pop(0)
        return event

    def _take(self, chunk: Chunk) -> None:
        if chunk.is_reset:
            self.is_reset = True
            self._last, self._before = -1, "-1"
            self.bookmark = Bookmark("-1", -1)
            return
        for index, item in enumerate(chunk.items):
            seq = fields_of(item).get("seq")
            if is_number(seq):
                if self._last is not None and seq <= self._last:
                    continue
                self._last = int(seq)
            # Only after the last event of a chunk its offset is known.
            is_last = index == len(chunk.items) - 1
            place = Bookmark(chunk.offset if is_last else self._before, self._last)
            self._ready.append((item, place))
        self._before = chunk.offset
        if not self._ready:
            self.bookmark = Bookmark(chunk.offset, self._last)


def read_timeline(reader: EventReader) -> Core[None]:
    """Gives the events until the stream ends, or until all of now were given."""
    while True:
        event = yield from reader.next()
        if event is None:
            return
        yield from emit(event)
