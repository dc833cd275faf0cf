"""The back end of a page that talks to agents, as an ASGI app: the routes of `chatBackEnd`.

`POST token`, `POST api/spawn` and `POST api/a/:type/:id/` with `send`, `stop`, `withdraw`,
`decision`, `locate` or `control`, for the page's `new AgentGateway({url, backEnd: '/chat'})`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from . import _commands as commands
from ._async import AsyncGateway
from ._chat_body import (
    CHAT_AGENT,
    Refusal,
    content_of,
    control_of,
    decision_of,
    read_json,
    spawn_of,
    token_of,
    turn_of,
)
from ._commands import AcceptedCommand, CommandOptions, ControlVerb
from ._errors import GatewayError
from ._json import to_json_bytes
from ._paths import agent_prefix, entity_of
from ._tokens import mint_read_token, secret_text
from ._transport import new_id

__all__ = ["CallDecision", "ChatUser", "chat_back_end"]

_log = logging.getLogger("agent_gateway.chat")

#: The page retries a command by itself, with the same key. One attempt fits into the time it waits.
_TIMEOUT_S = 18.0
_MIN_SECRET_BYTES = 32
_MAX_PREFIXES = 16
_CATALOG_PATH = "/shapes/v1/shape"
#: There is nothing at this path, and every token needs one.
_NOTHING = "/shapes/none"
_REQUEST_ID = re.compile(r"[\w.-]{1,128}", re.ASCII)
_COMMAND = re.compile(
    r"/api(?:/t/(?P<tenant>[A-Za-z0-9][\w-]{0,62}))?/a/(?P<agent>[^/]+/[^/]+)"
    r"/(?P<name>send|control|stop|withdraw|decision|locate)",
    re.ASCII,
)
_JSON_TYPE = re.compile(r"application/json(?:[ \t]*;.*|[ \t]*)", re.IGNORECASE | re.DOTALL)
_UNAVAILABLE = "The agents cannot be reached for now. Try again later."
#: The errors of the gateway that a page can do something about. Only the log may name all others.
_PASSED = {
    "entity_type_not_registered": (404, "There is no agent of this type."),
    "invalid_idempotency_key": (400, "The Idempotency-Key is 1 to 1,024 visible ASCII characters."),
    "runtime_rejected": (400, "The agent does not take this command."),
    "body_too_large": (413, "The body is longer than the gateway takes."),
    "rate_limited": (429, "There are too many commands. Try again later."),
    "overloaded": (503, _UNAVAILABLE),
    "draining": (503, _UNAVAILABLE),
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
MaybeBool = bool | Awaitable[bool]


@dataclass(frozen=True)
class ChatUser:
    """Who sent a request, and what is theirs."""

    #: The id of the user: for the rates, and as the subject of all the user's read tokens.
    subject: str
    #: Whether the agent, always as `type/id`, is the user's: to read, to spawn and to send to.
    owns: Callable[[str], MaybeBool]
    #: The URL of an entity of the user's own. It becomes the parent of every agent that the user's
    #: pages spawn, so that a `catalog` can be pinned to it. It need not exist.
    parent: str | None = None
    #: The verbs that the user may apply to the agents.
    verbs: Sequence[ControlVerb] = ("interrupt",)
    #: The part of the catalog that the user may read: `table`, `where`, `params`, `columns`.
    catalog: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class CallDecision:
    """A decision that a page sends, before it is judged."""

    #: The agent, `type/id`.
    agent: str
    #: The id of the call.
    call: str
    approved: bool


#: Says who sent a request, by its headers, whose names are in lower case. `None` means nobody.
Authorize = Callable[[Mapping[str, str]], "ChatUser | Awaitable[ChatUser | None] | None"]


def chat_back_end(
    *,
    gateway: AsyncGateway,
    read_token_secret: str,
    authorize: Authorize,
    may_decide: Callable[[CallDecision, str], MaybeBool] | None = None,
    ttl_seconds: float = 300,
    max_body_bytes: int = 65_536,
    body_timeout_s: float = 15.0,
    requests_per_minute: int = 120,
    tokens_per_minute: int = 60,
) -> App:
    """An ASGI app, to be mounted: `app.mount("/chat", chat_back_end(…))`.

    A user reaches only the agents that `owns` accepts, and every body is built here. No key and no
    text of another server reaches the page. `may_decide` says whether a user may decide a call of a
    tool; by default whoever owns the agent. Throws a `ValueError` for a secret that is too short.
    """
    if len(secret_text(read_token_secret).encode()) < _MIN_SECRET_BYTES:
        raise ValueError(f"read_token_secret must have at least {_MIN_SECRET_BYTES} bytes.")
    rates = _Rate(requests_per_minute), _Rate(tokens_per_minute)
    limits = max_body_bytes, body_timeout_s

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError("This app serves HTTP alone.")
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        headers = {name.lower(): value for name, value in pairs}
        path = scope["path"]
        root = scope.get("root_path", "").rstrip("/")
        own = path[len(root) :] if root and path.startswith(f"{root}/") else path
        request = _Request(scope["method"], own, headers, receive)
        back_end = _BackEnd(gateway, read_token_secret, ttl_seconds, may_decide, limits)
        try:
            status, more, body = await back_end.answer(request, authorize, rates)
        except Exception as error:
            refusal = _refusal_of(error)
            status, more, body = _problem(refusal, request)
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    (b"content-length", str(len(body)).encode()),
                    (b"cache-control", b"no-store"),
                    *((name.encode(), value.encode()) for name, value in more.items()),
                ],
            }
        )
        await send({"type": "http.response.body", "body": body})

    return app


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    headers: Mapping[str, str]
    receive: Receive

    @property
    def request_id(self) -> str | None:
        given = self.headers.get("x-request-id", "")
        return given if _REQUEST_ID.fullmatch(given) else None


_Answer = tuple[int, dict[str, str], bytes]


@dataclass(frozen=True)
class _BackEnd:
    gateway: AsyncGateway
    secret: str
    ttl_seconds: float
    may_decide: Callable[[CallDecision, str], MaybeBool] | None
    limits: tuple[int, float]

    async def answer(
        self, request: _Request, authorize: Authorize, rates: tuple[_Rate, _Rate]
    ) -> _Answer:
        """Throws a `Refusal`, or any error that the page must not see."""
        name, agent = self._route_of(request)
        _refuse_cross_site(request.headers)
        user = await _settled(authorize(request.headers))
        if not user:
            raise Refusal(401, "not_signed_in", "Sign in first.")
        _check_user(user, self.gateway.tenant)
        rates[1 if name == "token" else 0].spend(user.subject)
        if name == "token":
            return await self._token(request, user)
        if name == "spawn":
            return _accepted(await self._spawn(request, user))
        return _accepted(await self._command(request, name, agent, user))

    def _route_of(self, request: _Request) -> tuple[str, str]:
        route = self._route_below(request.path)
        if route is None:
            raise Refusal(404, "route_not_found", "There is nothing at this path.")
        if request.method != "POST":
            raise Refusal(405, "method_not_allowed", "Use POST.")
        return route

    def _route_below(self, path: str) -> tuple[str, str] | None:
        if path in ("/token", "/api/spawn"):
            return path.rsplit("/", 1)[1], ""
        named = _COMMAND.fullmatch(path)
        if not named or not CHAT_AGENT.fullmatch(named["agent"]):
            return None
        if (named["tenant"] or self.gateway.tenant) != self.gateway.tenant:
            return None
        return named["name"], named["agent"]

    async def _token(self, request: _Request, user: ChatUser) -> _Answer:
        agents, catalog = token_of(await self._body_of(request))
        token, ttl_seconds = mint_read_token(
            secret=self.secret,
            prefix=await self._prefixes_of(user, agents, catalog),
            ttl_seconds=self.ttl_seconds,
            tenant=self.gateway.tenant,
            subject=user.subject,
            shape=user.catalog,
        )
        return _json(200, {"token": token, "ttlSeconds": ttl_seconds})

    async def _prefixes_of(self, user: ChatUser, agents: list[str], catalog: bool) -> list[str]:
        """What a token opens: the agents that the user owns, the latest of those wanted."""
        with_catalog = catalog and user.catalog is not None
        most = _MAX_PREFIXES - 1 if with_catalog else _MAX_PREFIXES
        wanted = list(dict.fromkeys(agents))[-most:]
        own = [agent for agent in wanted if await _settled(user.owns(agent)) is True]
        prefixes = [agent_prefix(agent, self.gateway.tenant) for agent in own]
        # A token that opens nothing is given as well, so that the gateway refuses the read itself.
        return [*prefixes, *([_CATALOG_PATH] if with_catalog else [])] or [_NOTHING]

    async def _spawn(self, request: _Request, user: ChatUser) -> AcceptedCommand:
        spawn = spawn_of(await self._body_of(request))
        await _refuse_unless_own(user, f"{spawn['type']}/{spawn['id']}")
        if user.parent is not None:
            spawn["parent"] = user.parent
        settings = self.gateway._settings
        return await self.gateway._run(commands.spawn(settings, spawn, _options(request)))

    async def _command(
        self, request: _Request, name: str, agent: str, user: ChatUser
    ) -> AcceptedCommand:
        is_judged = name == "decision" and self.may_decide is not None
        # Before the body: whoever may not send need not be read.
        if not is_judged:
            await _refuse_unless_own(user, agent)
        body = await self._body_of(request)
        settings, options = self.gateway._settings, _options(request)
        if name == "control":
            verb, reason = control_of(body)
            if verb not in user.verbs:
                raise Refusal(403, "verb_not_allowed", "You may not apply this verb.")
            core = commands.control(settings, agent, verb, reason, options)
            return await self.gateway._run(core)
        if name == "send":
            sent: dict[str, Any] = {"kind": "message", "content": content_of(body)}
        elif name == "decision":
            sent = {"kind": "decision", "by": user.subject, **decision_of(body)}
            judge = self.may_decide
            if judge is not None:
                decision = CallDecision(agent, sent["call"], sent["approved"])
                if await _settled(judge(decision, user.subject)) is not True:
                    raise Refusal(403, "decision_not_allowed", "You may not decide this.")
        else:
            sent = {"kind": name, **turn_of(body)}
        core = commands.send_message(settings, agent, sent, None, options)
        return await self.gateway._run(core)

    async def _body_of(self, request: _Request) -> Any:
        most, timeout_s = self.limits
        try:
            reading = read_json(request.receive, request.headers, most)
            return await asyncio.wait_for(reading, timeout_s)
        except asyncio.TimeoutError as error:
            raise Refusal(408, "body_timeout", "The body did not arrive in time.") from error


class _Rate:
    """A budget of requests for each user, which refills evenly. It is kept in this process only."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        #: The one that was used last is the last.
        self._budgets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, subject: str) -> None:
        """Counts a request. Throws if the user has none left."""
        now = time.monotonic()
        left_then, then = self._budgets.pop(subject, (float(self._per_minute), now))
        left = min(float(self._per_minute), left_then + (now - then) / 60 * self._per_minute)
        self._budgets[subject] = (left if left < 1 else left - 1, now)
        # Whoever did nothing for a minute has the whole budget again, as if unknown.
        while now - next(iter(self._budgets.values()))[1] >= 60:
            self._budgets.popitem(last=False)
        if left < 1:
            wait_s = math.ceil((1 - left) / self._per_minute * 60)
            said = "There are too many requests. Try again later."
            raise Refusal(429, "rate_limited", said, wait_s)


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _check_user(user: ChatUser, tenant: str) -> None:
    # Tokens without a subject would count one by one.
    if not isinstance(user.subject, str) or user.subject == "":
        raise TypeError("authorize must give the id of the user as subject, a text that is not empty.")
    if user.parent is not None and entity_of(user.parent).tenant != tenant:
        raise ValueError("parent must be the URL of an entity of this tenant.")


async def _refuse_unless_own(user: ChatUser, agent: str) -> None:
    if await _settled(user.owns(agent)) is not True:
        raise Refusal(403, "agent_not_yours", "This agent is not yours.")


def _refuse_cross_site(headers: Mapping[str, str]) -> None:
    """Throws unless a page of this origin sent the request: no page can set or omit these headers."""
    site = headers.get("sec-fetch-site")
    is_own = _is_own_origin(headers) if site is None else site == "same-origin"
    if not is_own:
        raise Refusal(403, "cross_site", "Only a page of this origin may do this.")
    # A form cannot send JSON, and a page of another origin cannot without a preflight.
    if not _JSON_TYPE.fullmatch(headers.get("content-type", "")):
        raise Refusal(415, "json_required", "Send the body as application/json.")


def _is_own_origin(headers: Mapping[str, str]) -> bool:
    try:
        origin = urlsplit(headers.get("origin", ""))
    except ValueError:
        return False
    # The scheme is not compared, because a proxy that ends TLS changes it.
    is_web = origin.scheme in ("http", "https") and origin.netloc != ""
    return is_web and origin.netloc.lower() == headers.get("host", "").lower()


def _options(request: _Request) -> CommandOptions:
    key = request.headers.get("idempotency-key")
    return CommandOptions(key, request.request_id, timeout_s=_TIMEOUT_S, retry_for_s=0)


def _accepted(command: AcceptedCommand) -> _Answer:
    """In the form of the gateway's own answer."""
    body = {
        "url": command.url,
        "streamPath": command.stream_path,
        "streamUrl": command.stream_url,
        "restate": {"invocationId": command.invocation_id},
    }
    replayed = {"idempotency-replayed": "true"} if command.is_replay else {}
    return _json(202, body, {"x-request-id": command.request_id, **replayed})


def _json(status: int, body: object, more: Mapping[str, str] | None = None) -> _Answer:
    return status, {"content-type": "application/json", **(more or {})}, to_json_bytes(body)


def _refusal_of(error: Exception) -> Refusal:
    """The answer for a failed request. A fault goes to the log."""
    if isinstance(error, Refusal):
        return error
    if not isinstance(error, GatewayError):
        _log.error("chat back end", exc_info=error)
        return Refusal(500, "internal_error", "The back end of this page has a fault.")
    if error.code not in _PASSED:
        _log.error("chat back end", exc_info=error)
        return Refusal(502, "gateway_unavailable", _UNAVAILABLE)
    status, detail = _PASSED[error.code]
    wait_s = error.retry_after_s if status in (429, 503) else None
    return Refusal(status, error.code, detail, None if wait_s is None else max(1, math.ceil(wait_s)))


def _problem(refusal: Refusal, request: _Request) -> _Answer:
    """A problem document (RFC 9457), which the client library reads as an error of the gateway."""
    headers = {"content-type": "application/problem+json"}
    if refusal.retry_after_s is not None:
        headers["retry-after"] = str(refusal.retry_after_s)
    if refusal.status == 405:
        headers["allow"] = "POST"
    # The page takes a refusal without it for that of a proxy, and tries again for a minute.
    headers["x-request-id"] = request.request_id or new_id()
    body = {"status": refusal.status, "code": refusal.code, "detail": str(refusal)}
    return refusal.status, headers, to_json_bytes(body)
