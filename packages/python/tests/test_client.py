"""What the two clients do with httpx: the rest is in the core, which the vectors hold."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from agent_gateway import (
    Answer,
    AnswerError,
    AsyncAnswer,
    AsyncGateway,
    AsyncTimeline,
    Gateway,
    GatewayError,
    Timeline,
    read_token_for,
)
from agent_gateway import _reader as reader
from agent_gateway._sse import EventParser

URL = "http://gateway.example"
ACCEPTED = {
    "url": "/t/default/a/assistant/ada",
    "streamPath": "/t/default/agents/assistant/ada/timeline",
    "streamUrl": "/streams/t/default/agents/assistant/ada/timeline",
    "restate": {"invocationId": "inv_1"},
}


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> dict[str, Any]:
    return {"transport": httpx.MockTransport(answer)}


@pytest.mark.parametrize(
    ("one", "other"), [(Gateway, AsyncGateway), (Timeline, AsyncTimeline), (Answer, AsyncAnswer)]
)
def test_both_clients_have_the_same_methods(one: type, other: type) -> None:
    def shape(owner: type) -> dict[str, Any]:
        found = {
            name: list(inspect.signature(method).parameters.values())
            for name, method in vars(owner).items()
            if callable(method) and not name.startswith("_")
        }
        return {
            name: [(p.name, p.kind, p.default) for p in parameters]
            for name, parameters in found.items()
        }

    assert shape(one) == shape(other)
    assert {n: inspect.getdoc(m) for n, m in vars(one).items() if n in shape(one)} == {
        n: inspect.getdoc(m) for n, m in vars(other).items() if n in shape(one)
    }


def test_a_command_keeps_its_key_and_its_name_at_every_attempt() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.headers["idempotency-key"], request.headers["x-request-id"]))
        if len(seen) < 3:
            raise httpx.ConnectError("refused")
        return httpx.Response(202, json=ACCEPTED)

    with Gateway(URL, "key", http=answering(answer)) as gateway:
        command = gateway.send("assistant/ada", "hi")
    assert seen == [(command.key, command.request_id)] * 3
    assert command.invocation_id == "inv_1"


def test_the_key_follows_no_redirect_and_stands_in_no_error() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(307, headers={"location": "https://elsewhere.example/"})

    gateway = Gateway(URL, "the-secret-key", http=answering(answer))
    with pytest.raises(GatewayError, match="redirect") as caught:
        gateway.spawn("assistant")
    assert asked == [f"{URL}/api/spawn"]
    assert caught.value.code == "invalid_response"
    shown = [
        repr(gateway),
        repr(caught.value),
        str(vars(caught.value)),
        repr(vars(gateway)["_settings"]),
    ]
    assert not [text for text in shown if "the-secret-key" in text]
    with pytest.raises(ValueError, match="visible ASCII") as refused:
        Gateway(URL, "a secret with spaces")
    assert "secret with" not in str(refused.value)


def test_a_key_that_changes_is_asked_for_again() -> None:
    keys = iter(["old", "new"])
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        if len(seen) == 1:
            return httpx.Response(401, headers={"x-request-id": "r"}, text="no")
        return httpx.Response(202, json=ACCEPTED)

    async def main() -> None:
        async def current() -> str:
            return next(keys)

        async with AsyncGateway(URL, current, http=answering(answer)) as gateway:
            await gateway.spawn("assistant")

    asyncio.run(main())
    assert seen == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize("url", ["", "gateway", "ftp://x", "http://u:p@x", "http://x?y", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="url must be"):
        Gateway(url, "key")


@pytest.mark.parametrize("agent", ["ada", "a/b/c", "a/..", "/t/x/a/b", "a/b?c", "a/b c", "", "a/"])
def test_an_address_of_an_agent_that_leads_elsewhere_is_refused(agent: str) -> None:
    gateway = Gateway(URL, "key", http=answering(lambda _: httpx.Response(500)))
    for call in (
        lambda: gateway.send(agent, "hi"),
        lambda: gateway.control(agent, "pause"),
        lambda: gateway.timeline(agent) and gateway.send(agent, "x"),
        lambda: read_token_for(agent, secret="x" * 32),
    ):
        with pytest.raises(ValueError, match=r"is no agent|is no path"):
            call()


def test_a_decision_that_is_no_yes_or_no_is_refused() -> None:
    gateway = Gateway(URL, "key", http=answering(lambda _: httpx.Response(202, json=ACCEPTED)))
    with pytest.raises(TypeError, match="approved must be"):
        gateway.decide("a/b", "x.1", "yes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="call must be"):
        gateway.decide("a/b", "", True)


class Store(BaseHTTPRequestHandler):
    """A timeline behind a proxy that holds event streams back."""

    protocol_version = "HTTP/1.1"
    present: list[dict[str, Any]]
    live: list[str]
    hold: threading.Event

    def do_GET(self) -> None:
        _, _, query = self.path.partition("?")
        if "live=sse" in query:
            self.live.append("sse")
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.hold.wait()
            self.close_connection = True
            return
        is_poll = "live=long-poll" in query
        if is_poll:
            self.live.append("long-poll")
        after = int(query.partition("offset=")[2].partition("&")[0].replace("-1", "0"))
        items = self.present[after:] + ([{"seq": 1, "kind": "b"}] if is_poll else [])
        body = json.dumps(items).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("stream-next-offset", str(after + len(items)))
        self.send_header("stream-up-to-date", "true")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def store_behind_a_proxy() -> Iterator[tuple[str, type[Store]]]:
    class Own(Store):
        present = [{"seq": 0, "kind": "a"}]  # noqa: RUF012
        live: list[str] = []  # noqa: RUF012
        hold = threading.Event()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", Own
    finally:
        Own.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_timeline_long_polls_where_events_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "EVENTS_PASS_WITHIN_S", 0.2)
    with store_behind_a_proxy() as (url, own):
        with Gateway(url, "key") as gateway:
            kinds = []
            for event in gateway.timeline("assistant/ada"):
                kinds.append(event["kind"])
                if event["kind"] == "b":
                    break
        assert (kinds, own.live[:2]) == (["a", "b"], ["sse", "long-poll"])


def test_the_same_with_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "EVENTS_PASS_WITHIN_S", 0.2)

    async def main(url: str) -> list[str]:
        kinds = []
        async with AsyncGateway(url, "key") as gateway:
            async for event in gateway.timeline("assistant/ada"):
                kinds.append(event["kind"])
                if event["kind"] == "b":
                    break
        return kinds

    with store_behind_a_proxy() as (url, _):
        assert asyncio.run(main(url)) == ["a", "b"]


def test_an_answer_that_does_not_begin_ends_in_time() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith("/api/"):
            return httpx.Response(202, json=ACCEPTED)
        if request.url.path.startswith("/registry/"):
            row = {"target": "assistant/ada/wake", "status": "backing-off", "retry_count": 3}
            return httpx.Response(200, json={"rows": [row | {"last_failure": "away"}]})
        headers = {"stream-next-offset": "7", "stream-up-to-date": "true"}
        return httpx.Response(204, headers=headers)

    with Gateway(URL, "key", http=answering(answer)) as gateway:
        asked = gateway.ask("assistant/ada", "hi", timeout=0.3)
        with pytest.raises(AnswerError) as caught:
            asked.text()
    assert caught.value.code == "not_answered"
    assert str(caught.value) == (
        "The agent did not begin to answer within 0.3 s: "
        "assistant/ada/wake is backing-off after 3 tries: away."
    )


def test_an_answer_that_is_stopped_before_it_is_read_is_never_sent() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise AssertionError("nothing is sent")

    gateway = Gateway(URL, "key", http=answering(answer))
    asked = gateway.ask("assistant/ada", "hi")
    assert asked.stop() is None
    assert list(asked) == []
    with pytest.raises(AnswerError, match="before the message was sent"):
        asked.text()


def test_a_store_that_was_restored_gives_its_events_again() -> None:
    answers = [
        ([{"seq": 0}, {"seq": 1}], "2"),
        ([], "1"),
        ([{"seq": 0}], "1"),
    ]

    def answer(_: httpx.Request) -> httpx.Response:
        items, offset = answers.pop(0) if answers else ([], "1")
        headers = {"stream-next-offset": offset, "stream-up-to-date": "true"}
        if not answers:
            headers["stream-closed"] = "true"
        return httpx.Response(200, headers=headers, json=items)

    gateway = Gateway(URL, "key", http=answering(answer))
    events = list(gateway.timeline("assistant/ada", live="long-poll"))
    assert [event["seq"] for event in events] == [0, 1, 0]


def test_an_answer_that_is_cancelled_while_it_is_sent_is_sent_again_under_its_key() -> None:
    sent: list[str] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def answer(request: httpx.Request) -> httpx.Response:
            if request.method == "HEAD":
                return httpx.Response(404, headers={"x-request-id": "r"})
            if request.method == "POST":
                sent.append(request.headers["idempotency-key"])
                begun.set()
                if len(sent) == 1:
                    await asyncio.Event().wait()
                return httpx.Response(202, json=ACCEPTED)
            events = [
                {"seq": 0, "kind": "message", "content": [], "invocationId": "inv_1"},
                {"seq": 1, "kind": "reply", "replyTo": 0, "content": [{"type": "text", "text": "yes"}]},
            ]
            headers = {"stream-next-offset": "2", "stream-up-to-date": "true"}
            return httpx.Response(200, json=events, headers=headers)

        http = {"transport": httpx.MockTransport(answer)}
        async with AsyncGateway(URL, "key", http=http) as gateway:
            asked = gateway.ask("assistant/ada", "hi")
            first = asyncio.create_task(asked.text())
            await begun.wait()
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert await asked.text() == "yes"

    asyncio.run(main())
    assert len(sent) == 2
    assert len(set(sent)) == 1


@pytest.mark.parametrize("name", ["a\nb", "ä", ""])
def test_a_key_that_no_header_can_hold_is_refused_at_once(name: str) -> None:
    gateway = Gateway(URL, "key", http=answering(lambda _: httpx.Response(202, json=ACCEPTED)))
    for options in ({"key": name}, {"request_id": name}):
        with pytest.raises(ValueError, match="must be visible ASCII"):
            gateway.send("assistant/ada", "hi", **options)


@pytest.mark.parametrize("body", [b"event: data\ndata:{\n\n", b"event: control\ndata:{}\n\n"])
def test_a_stream_that_is_never_right_ends_with_an_error(body: bytes) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "live=sse" in str(request.url):
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
        headers = {"stream-next-offset": "1", "stream-up-to-date": "true"}
        return httpx.Response(200, headers=headers, json=[{"seq": 0}])

    gateway = Gateway(URL, "key", http=answering(answer))
    with pytest.raises(GatewayError) as caught:
        list(gateway.timeline("assistant/ada"))
    assert caught.value.code == "stream_unreadable"


def test_lines_may_end_with_cr_and_lf_wherever_they_are_cut() -> None:
    text = b"event: control\r\ndata: a\r\ndata: b\r\n\r\nevent: x\rdata: c\r\r: ping\n\n"
    for size in range(1, len(text)):
        parser = EventParser()
        found = [
            event for at in range(0, len(text), size) for event in parser.take(text[at : at + size])
        ]
        assert found == [("control", "a\nb"), ("x", "c")]
