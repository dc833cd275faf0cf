"""The requests to one timeline in the history store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from restate import Context

from .._json import fields_of, is_number, object_of, parse_json, to_json_bytes
from .._paths import checked_path
from ._access import Access, Reply, describe
from ._restate import trace_of

_TOO_LARGE = 413
_REQUEST_AT_FAULT = (400, 415, 422)
_CONFLICT = 409
_GONE = 410
#: Before the first event.
_BEGINNING = "-1"


class HistoryStore:
    """Each method is for use in a step.

    They throw a `ConnectionError` for everything that is not the word of the store or of the
    gateway, such as the page of a proxy, so that Restate tries the step again.
    """

    def __init__(self, ctx: Context, access: Access, stream: str) -> None:
        self._access = access
        self._url = f"{access.gateway_url}/streams{checked_path(stream)}"
        self._headers = {**trace_of(ctx), **access.authorization}

    async def create(self) -> str | None:
        """Creates the stream. Gives why it cannot be created, or `None`."""
        reply = await self._ask("PUT", {"content-type": "application/json"})
        if _is_done(reply):
            return None
        # The store keeps a deleted stream for its forks, or has one of another kind there.
        is_taken = reply.status == _CONFLICT and (await self._ask("HEAD")).status in (200, _GONE)
        is_final = is_taken or reply.status == _GONE or reply.status in _REQUEST_AT_FAULT
        if not is_final or not _is_own(reply):
            raise _foreign("PUT", reply)
        return describe(reply)

    async def append(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Appends an event: `appended`, `refusal`, `differs`, `missing` or `closed`."""
        headers = {
            "content-type": "application/json",
            "producer-id": "agent",
            "producer-epoch": str(given["epoch"]),
            "producer-seq": str(given["producer_seq"]),
        }
        event, seq = given["event"], given["seq"]
        reply = await self._ask("POST", headers, to_json_bytes(event))
        if reply.status == 204 and (_is_done(reply) or "producer-seq" in reply.headers):
            # The store has an event of this number: the same one only if an earlier try appended it.
            found = await self._read(given.get("after"), seq)
            if found is None or found["first"] is None or found["nextSeq"] != seq + 1:
                return {"differs": {}}
            is_same = _without_time(found["first"]) == _without_time(event)
            return {"appended": found["offset"]} if is_same else {"differs": {}}
        if reply.status < 300 and _is_done(reply):
            return {"appended": reply.headers["stream-next-offset"]}
        if reply.status == _TOO_LARGE:
            return {"refusal": describe(reply)}
        if reply.status < 300 or not _is_own(reply):
            raise _foreign("POST", reply)
        return await self._refusal_of(reply, given["producer_seq"])

    async def tail(self, after: str | None, known_seq: int) -> dict[str, Any]:
        """What is after an offset, or all where that does not lead to the next event."""
        head = await self._ask("HEAD")
        if head.status == 200 and after and head.headers.get("stream-next-offset") == after:
            return {"nextSeq": known_seq, "offset": after, "messages": {}, "ended": []}
        found = None if after is None else await self._read(after, known_seq)
        if found is None or found["first"] is None:
            found = await self._read(None, known_seq)
        assert found is not None
        return {name: found[name] for name in ("nextSeq", "offset", "messages", "ended")}

    async def remove(self) -> str | None:
        """Deletes the stream. Gives what remains, or `None`."""
        reply = await self._ask("DELETE")
        if reply.status >= 300 and not _is_own(reply):
            raise _foreign("DELETE", reply)
        if reply.status >= 300 and reply.status not in (404, _GONE):
            return describe(reply)
        # A stream with forks is still read through them. The store says so only afterwards.
        is_kept = (await self._ask("HEAD")).status == _GONE
        return "its forks still have its events" if is_kept else None

    async def _refusal_of(self, reply: Reply, producer_seq: int) -> dict[str, Any]:
        epoch = reply.headers.get("producer-epoch", "")
        if reply.status == 403 and epoch.isdigit():
            return {"differs": {"epoch": int(epoch)}}
        if reply.headers.get("stream-closed") == "true":
            return {"closed": "it is closed"}
        if reply.status == _CONFLICT:
            return {"differs": {}}
        if reply.status == _GONE:
            return {"closed": "it was deleted, and its forks keep it"}
        if reply.status in _REQUEST_AT_FAULT:
            # A store that was restored takes a newer epoch only from its beginning.
            return {"differs": {}} if producer_seq > 0 else {"refusal": describe(reply)}
        if reply.status == 404 and (await self._ask("HEAD")).status == 404:
            return {"missing": True}
        raise _foreign("POST", reply)

    async def _read(self, after: str | None, first_seq: int) -> dict[str, Any] | None:
        """From an offset to the end, `None` if the store does not have the offset."""
        begin = after or _BEGINNING
        next_seq = 0 if begin == _BEGINNING else first_seq
        found: dict[str, Any] = {"nextSeq": next_seq, "offset": begin, "messages": {}}
        found |= {"ended": [], "first": None}
        while True:
            reply = await self._ask("GET", query=f"?offset={quote(found['offset'], safe='')}")
            offset = reply.headers.get("stream-next-offset")
            if reply.status != 200 or offset is None:
                if reply.status >= 400 and _is_own(reply) and begin != _BEGINNING:
                    return None
                raise _foreign("GET", reply)
            events = parse_json(reply.text or "[]")
            for event in events if isinstance(events, list) else []:
                _count(found, fields_of(event), first_seq)
            is_end = "stream-up-to-date" in reply.headers or offset == found["offset"]
            found["offset"] = offset
            if is_end:
                return found

    async def _ask(
        self,
        method: str,
        more: Mapping[str, str] | None = None,
        body: bytes | None = None,
        query: str = "",
    ) -> Reply:
        headers = {**self._headers, **(more or {})}
        return await self._access.request(method, self._url + query, headers, body)


def _count(found: dict[str, Any], event: Mapping[str, Any], first_seq: int) -> None:
    number = event.get("seq")
    if not is_number(number):
        return
    seq = int(number)
    if seq == first_seq:
        found["first"] = dict(event)
    found["nextSeq"] = seq + 1
    if seq < first_seq:
        return
    kind, name, reply_to = event.get("kind"), event.get("invocationId"), event.get("replyTo")
    if kind == "message" and isinstance(name, str):
        found["messages"][name] = seq
    if kind in ("reply", "error") and is_number(reply_to):
        found["ended"].append(int(reply_to))


def _without_time(event: Mapping[str, Any]) -> dict[str, Any]:
    """A try that was cut off had another time. Its number and its content say which event it is."""
    return {name: value for name, value in event.items() if name != "at"}


def _is_done(reply: Reply) -> bool:
    return 200 <= reply.status < 300 and "stream-next-offset" in reply.headers


def _is_own(reply: Reply) -> bool:
    """The gateway names each request, also one that a proxy before the store answered: with a page."""
    kind = reply.headers.get("content-type", "text/plain")
    return "x-request-id" in reply.headers and not kind.startswith("text/html")


def _foreign(method: str, reply: Reply) -> ConnectionError:
    return ConnectionError(f"{method} of the timeline: {describe(reply)}")


def receipt_in(text: str) -> dict[str, Any]:
    """What the gateway says of an accepted command."""
    fields = object_of(text)
    return {"url": fields["url"], "invocationId": fields["restate"]["invocationId"]}
