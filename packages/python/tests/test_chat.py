"""What a page may ask of the back end, and what it never learns. Chromium has the rest."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from agent_gateway import AsyncGateway
from agent_gateway.chat import CallDecision, ChatUser, chat_back_end

SECRET = "a-secret-of-more-than-32-bytes-0123456789"
HEADERS = {"content-type": "application/json", "sec-fetch-site": "same-origin", "cookie": "user=ada"}
ACCEPTED = {
    "url": "/t/default/a/chat/ada",
    "streamPath": "/t/default/agents/chat/ada/timeline",
    "streamUrl": "/streams/t/default/agents/chat/ada/timeline",
    "restate": {"invocationId": "inv_1"},
}


def authorize(headers: Mapping[str, str]) -> ChatUser | None:
    _, _, user = headers.get("cookie", "").partition("user=")
    if not user:
        return None
    catalog = {"table": "entities", "where": "parent = $1", "params": [user]}
    return ChatUser(user, lambda agent: agent == f"chat/{user}", catalog=catalog)


def ask(
    path: str,
    body: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
    method: str = "POST",
    answer: httpx.Response | None = None,
    requests: int = 1,
    **options: Any,
) -> tuple[httpx.Response, list[httpx.Request]]:
    """The answer to the last of some requests, and what the gateway got."""
    got: list[httpx.Request] = []

    def gateway_answers(request: httpx.Request) -> httpx.Response:
        got.append(request)
        return answer or httpx.Response(202, json=ACCEPTED, headers={"x-request-id": "theirs"})

    async def main() -> httpx.Response:
        http = {"transport": httpx.MockTransport(gateway_answers)}
        async with AsyncGateway("http://gateway.example", "the-key", http=http) as gateway:
            app = FastAPI()
            given = {"authorize": authorize, "read_token_secret": SECRET, **options}
            app.mount("/chat", chat_back_end(gateway=gateway, **given))
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://chat.example") as page:
                whole = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
                for _ in range(requests):
                    sent = {**HEADERS, **(headers or {})}
                    known = {name: value for name, value in sent.items() if value != ""}
                    last = await page.request(method, path, content=whole, headers=known)
                return last

    return asyncio.run(main()), got


def claims_of(token: str) -> Any:
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def test_a_message_is_built_here_and_keeps_its_key_and_its_name() -> None:
    content = [{"type": "text", "text": "hi", "more": 1}]
    names = {"idempotency-key": "k1", "x-request-id": "r1"}
    response, [sent] = ask("/chat/api/a/chat/ada/send", {"content": content}, headers=names)
    assert response.status_code == 202
    assert response.json() == ACCEPTED
    assert json.loads(sent.content) == {"kind": "message", "content": [{"type": "text", "text": "hi"}]}
    assert (sent.headers["idempotency-key"], sent.headers["x-request-id"]) == ("k1", "r1")
    assert sent.headers["authorization"] == "Bearer the-key"
    assert "the-key" not in response.text


def test_a_token_opens_what_the_user_owns_and_nothing_else() -> None:
    wanted = {"agents": ["chat/ada", "chat/bob", "../x", "chat/ada"], "catalog": True}
    response, got = ask("/chat/token", wanted)
    claims = claims_of(response.json()["token"])
    assert got == []
    assert claims["prefix"] == ["/streams/t/default/agents/chat/ada", "/shapes/v1/shape"]
    assert (claims["sub"], claims["shape"]["params"]) == ("ada", {"1": "ada"})
    nothing, _ = ask("/chat/token", {"agents": ["chat/bob"]})
    assert claims_of(nothing.json()["token"])["prefix"] == ["/shapes/none"]


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "code"),
    [
        ("/chat/other", {}, {}, 404, "route_not_found"),
        ("/chat/api/t/other/a/chat/ada/send", {}, {}, 404, "route_not_found"),
        ("/chat/api/a/chat/a%2fb/send", {}, {}, 404, "route_not_found"),
        ("/chat/api/a/chat/bob/send", {}, {}, 403, "agent_not_yours"),
        ("/chat/api/spawn", {"type": "chat", "id": "bob"}, {}, 403, "agent_not_yours"),
        ("/chat/api/spawn", {"type": "chat", "id": "ada", "parent": "x"}, {}, 400, "invalid_body"),
        ("/chat/api/a/chat/ada/send", {"kind": "forget"}, {}, 400, "invalid_body"),
        ("/chat/api/a/chat/ada/send", {"content": []}, {}, 400, "invalid_body"),
        ("/chat/api/a/chat/ada/send", b"{", {}, 400, "invalid_body"),
        ("/chat/api/a/chat/ada/send", b"[" * 60_000, {}, 400, "invalid_body"),
        ("/chat/api/a/chat/ada/send", b" " * 70_000, {}, 413, "body_too_large"),
        ("/chat/api/a/chat/ada/control", {"verb": "archive"}, {}, 403, "verb_not_allowed"),
        ("/chat/api/a/chat/ada/decision", {"call": "x", "approved": 1}, {}, 400, "invalid_body"),
        ("/chat/token", {}, {"cookie": ""}, 401, "not_signed_in"),
        ("/chat/token", {}, {"sec-fetch-site": "cross-site"}, 403, "cross_site"),
        ("/chat/token", {}, {"sec-fetch-site": ""}, 403, "cross_site"),
        (
            "/chat/token",
            {},
            {"sec-fetch-site": "", "origin": "http://chat.example.evil"},
            403,
            "cross_site",
        ),
        ("/chat/token", {}, {"content-type": "text/plain"}, 415, "json_required"),
        ("/chat/token", {}, {"content-type": "application/jsonx"}, 415, "json_required"),
    ],
)
def test_what_is_refused(path: str, body: Any, headers: Any, status: int, code: str) -> None:
    response, got = ask(path, body, headers={"x-request-id": "r1", **headers})
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-request-id"] == "r1"
    assert got == []


def test_a_page_of_this_origin_is_known_without_the_verdict_of_its_browser() -> None:
    headers = {"sec-fetch-site": "", "origin": "https://chat.example"}
    response, _ = ask("/chat/token", {}, headers=headers)
    assert response.status_code == 200


def test_a_get_is_refused() -> None:
    response, _ = ask("/chat/token", method="GET")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_a_decision_is_by_the_user_and_not_by_what_the_page_says() -> None:
    decision = {"call": "x.1", "approved": True, "by": "root", "note": "ok"}
    _, [sent] = ask("/chat/api/a/chat/ada/decision", decision)
    assert json.loads(sent.content) == {
        "kind": "decision",
        "by": "ada",
        "call": "x.1",
        "approved": True,
        "note": "ok",
    }
    seen = []

    async def may_decide(call: CallDecision, user: str) -> bool:
        seen.append((call, user))
        return False

    response, got = ask("/chat/api/a/chat/bob/decision", decision, may_decide=may_decide)
    assert (response.json()["code"], got) == ("decision_not_allowed", [])
    assert seen == [(CallDecision("chat/bob", "x.1", True), "ada")]


def test_too_many_requests_of_a_user_wait() -> None:
    response, _ = ask("/chat/token", requests=4, tokens_per_minute=3)
    assert response.json()["code"] == "rate_limited"
    assert 1 <= int(response.headers["retry-after"]) <= 20


@pytest.mark.parametrize(
    ("given", "said", "status", "code"),
    [
        (401, "invalid_credentials", 502, "gateway_unavailable"),
        (500, "internal_error", 502, "gateway_unavailable"),
        (404, "entity_type_not_registered", 404, "entity_type_not_registered"),
        (429, "rate_limited", 429, "rate_limited"),
    ],
)
def test_no_text_of_the_gateway_reaches_the_page(given: int, said: str, status: int, code: str) -> None:
    problem = {"code": said, "detail": "the-key"}
    answer = httpx.Response(given, json=problem, headers={"retry-after": "7"})
    body = {"content": [{"type": "text", "text": "hi"}]}
    response, got = ask("/chat/api/a/chat/ada/send", body, answer=answer)
    assert (response.status_code, response.json()["code"], len(got)) == (status, code, 1)
    assert "the-key" not in response.text
    assert response.headers.get("retry-after") == ("7" if status == 429 else None)


def test_a_fault_of_the_program_is_not_said() -> None:
    def broken(_: Mapping[str, str]) -> ChatUser:
        raise RuntimeError("the-key")

    response, _ = ask("/chat/token", authorize=broken)
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert "the-key" not in response.text


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32 bytes"):
        ask("/chat/token", read_token_secret="short")
