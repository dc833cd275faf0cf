"""The cases that every client of the gateway goes by: see packages/vectors."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from agent_gateway import Gateway, GatewayError, conversation, mint_read_token
from agent_gateway._effects import NoAnswerError, Pause, Request, Response, Send, Steps
from agent_gateway._errors import error_of_answer, is_passing
from agent_gateway._paths import checked_path
from agent_gateway._transport import Call, Settings, perform

VECTORS = Path(__file__).parents[2] / "vectors"


def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def cases(name: str) -> pytest.MarkDecorator:
    found = vectors(name)
    return pytest.mark.parametrize(
        "case", found, ids=[case.get("name", case.get("path")) for case in found]
    )


@cases("tokens")
def test_read_token(case: Any) -> None:
    request = dict(case["request"])
    if "ttlSeconds" in request:
        request["ttl_seconds"] = request.pop("ttlSeconds")
    if case.get("isRefused"):
        with pytest.raises(ValueError):  # noqa: PT011
            mint_read_token(**request)
        return
    token, ttl_seconds = mint_read_token(**request)
    head, claims, signature = token.split(".")
    key = request["secret"].strip().encode()
    digest = hmac.new(key, f"{head}.{claims}".encode(), hashlib.sha256).digest()
    assert _decoded(signature) == digest
    assert json.loads(_decoded(head)) == {"alg": "HS256", "typ": "JWT"}
    said = json.loads(_decoded(claims))
    life = said.pop("exp") - said.pop("iat")
    assert (said, life, ttl_seconds) == (case["claims"], case["ttlSeconds"], case["ttlSeconds"])


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@cases("paths")
def test_path(case: Any) -> None:
    if case["isTaken"]:
        assert checked_path(case["path"]) == case["path"]
    else:
        with pytest.raises(ValueError, match="is no path of the gateway"):
            checked_path(case["path"])


@cases("problems")
def test_problem(case: Any) -> None:
    error = error_of_answer(case["status"], case["headers"], case["text"], case["isIdempotent"])
    wait_s = error.retry_after_s
    told = {
        "code": error.code,
        "detail": error.detail,
        "requestId": error.request_id,
        "errors": list(error.errors),
        "retryAfterMs": None if wait_s is None else wait_s * 1_000,
        "isUndone": not error.sent,
        "isSafeToRetry": error.is_safe_to_retry,
    }
    assert {name: value for name, value in told.items() if value is not None} == case["error"]
    assert is_passing(error, False) == case["passes"]
    assert is_passing(error, True) == case["passesWithAnotherKey"]


@cases("retries")
def test_retry(case: Any) -> None:
    now = 0.0
    settings = Settings(is_renewable=case["isRenewable"], clock=lambda: now)
    steps = Steps(perform(settings, Call(Request("POST", "/x"), case["isIdempotent"])))
    tries, code = 0, None
    try:
        while (effect := steps.next()) is not None:
            if isinstance(effect, Pause):
                now += effect.seconds
                continue
            assert isinstance(effect, Send)
            answer = case["answers"][tries]
            tries += 1
            if answer == "lost":
                steps.failed(NoAnswerError("lost", code="connection_failed"))
            else:
                steps.done(Response(**answer))
    except GatewayError as error:
        code = error.code
    assert (tries, code) == (case["tries"], case.get("code"))


EVENTS = vectors("events")


class _Pieces(httpx.SyncByteStream):
    """A body in small pieces, which may break off."""

    def __init__(self, data: bytes, size: int, breaks: bool) -> None:
        self._data, self._size, self._breaks = data, size, breaks

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._data), self._size):
            yield self._data[at : at + self._size]
        if self._breaks:
            raise httpx.ReadError("terminated")


@pytest.mark.parametrize("case", EVENTS["cases"], ids=[case["name"] for case in EVENTS["cases"]])
def test_event_stream(case: Any) -> None:
    log, frames = EVENTS["log"], EVENTS["frames"]
    cuts = list(case["cuts"])

    def answer(request: httpx.Request) -> httpx.Response:
        query = parse_qs(urlsplit(str(request.url)).query)
        offset = query["offset"][0]
        place = next((i + 1 for i, one in enumerate(log) if one["nextOffset"] == offset), 0)
        if query.get("live") != ["sse"]:
            found = log[place : max(place, case["present"])]
            headers = {
                "content-type": "application/json",
                "stream-next-offset": found[-1]["nextOffset"] if found else offset,
                "stream-up-to-date": "true",
            }
            if place + len(found) == len(log):
                headers["stream-closed"] = "true"
            items = [item for one in found for item in one["items"]]
            return httpx.Response(200, headers=headers, json=items)
        whole = "".join(frames[place:]).encode()
        cut = cuts.pop(0) if cuts else len(whole)
        body = _Pieces(whole[:cut], case["pieceBytes"], breaks=cut < len(whole))
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body)

    transport = httpx.MockTransport(answer)
    with Gateway("http://gateway.example", "key", http={"transport": transport}) as gateway:
        events = list(gateway.timeline("assistant/ada"))
    assert events == [item for one in log for item in one["items"]]


@cases("conversations")
def test_conversation(case: Any) -> None:
    events = case["events"]
    whole = conversation(events)
    assert _told(whole) == case["conversation"]
    # However the events are cut into calls.
    for size in (1, 3):
        so_far = None
        for at in range(0, len(events), size):
            so_far = conversation(events[at : at + size], so_far)
        if so_far is not None:
            assert _told(so_far) == case["conversation"]
    assert conversation([], whole) is whole


def _told(said: Any) -> Any:
    """In the names of the vectors, which leave out what is not there."""
    told = _plain(said)
    told["turns"] = [_plain(turn) for turn in said.turns]
    told["queued"] = [turn.key for turn in said.queued]
    told["items"] = [_item(item) for item in said.items]
    return json.loads(json.dumps(told))


def _item(item: Any) -> Any:
    if hasattr(item, "parts"):
        return item.key
    note = _plain(item)
    if item.what != "gap":
        note["event"] = item.event
    return {"kind": "note", **note}


def _plain(value: Any) -> Any:
    if not is_dataclass(value):
        return value
    kind = {"kind": "turn"} if hasattr(value, "parts") else {}
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return kind | {
        _camel(name): _plain(inner)
        for name, inner in found.items()
        if inner is not None and not name.startswith("_")
    }


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
