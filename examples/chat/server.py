"""The back end of the chat in Python: the routes of server.ts, for the same page.

GATEWAY_URL, GATEWAY_API_KEY, GATEWAY_READ_TOKEN_SECRETS, AGENT, TOKEN_TTL_SECONDS, SESSION_SECRET,
PORT. It needs `agent-gateway`, `fastapi` and `hypercorn`, and the page that `npm run build` makes.
"""

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from hypercorn.asyncio import serve
from hypercorn.config import Config

from agent_gateway import AsyncGateway
from agent_gateway.chat import ChatUser, chat_back_end

GATEWAY_URL = os.environ["GATEWAY_URL"]
AGENT = os.environ.get("AGENT", "assistant")
# The type of the chats, and that of the agents that they ask: the id of such a one begins with that
# of its chat.
TYPES = (AGENT, "researcher")
OWN_HOST = re.compile(r"(?:127\.0\.0\.1|localhost)(?::\d+)?")
# An empty variable is none: everybody could sign with an empty secret.
SESSION_SECRET = os.environ.get("SESSION_SECRET") or secrets.token_hex(32)
LIFETIME_MS = 7 * 24 * 3_600_000

gateway = AsyncGateway(GATEWAY_URL, os.environ["GATEWAY_API_KEY"])


def signature_of(claim: str) -> str:
    return hmac.new(SESSION_SECRET.encode(), claim.encode(), hashlib.sha256).hexdigest()


def signed(user: str) -> str:
    """`user.end.signature`: whoever has the secret made it."""
    claim = f"{user}.{int(time.time() * 1_000) + LIFETIME_MS}"
    return f"{claim}.{signature_of(claim)}"


def user_of(headers: Mapping[str, str]) -> str | None:
    """The user whom the request's cookie names."""
    cookies = headers.get("cookie", "")
    found = re.search(r"(?:^|; )session=(([a-z0-9]+)\.(\d+))\.([0-9a-f]+)", cookies)
    if not found or not hmac.compare_digest(found[4], signature_of(found[1])):
        return None
    return found[2] if int(found[3]) > time.time() * 1_000 else None


def own_of(user: str) -> ChatUser:
    """What belongs to a user. A name has no hyphen, so no user's chats look like another's."""
    parent = f"/t/{gateway.tenant}/a/user/{user}"
    return ChatUser(
        subject=user,
        owns=lambda agent: any(agent.startswith(f"{kind}/{user}-") for kind in TYPES),
        parent=parent,
        catalog={
            "table": "entities",
            "where": "parent = $1",
            "params": [parent],
            "columns": ["url", "status", "updated_at"],
        },
    )


def authorize(headers: Mapping[str, str]) -> ChatUser | None:
    user = user_of(headers)
    return None if user is None else own_of(user)


app = FastAPI(openapi_url=None)


@app.middleware("http")
async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    # Nobody proves who they are, so only pages of this machine may ask. Another site can point a name
    # of its own to 127.0.0.1. Remove this together with the pretended sign-in.
    if not OWN_HOST.fullmatch(request.headers.get("host", "")):
        problem = {"problem": "Open this page as 127.0.0.1 or localhost."}
        return JSONResponse(problem, status_code=421)
    response = await call_next(request)
    origin = urlsplit(GATEWAY_URL)
    policy = (
        "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; "
        f"connect-src 'self' {origin.scheme}://{origin.netloc}"
    )
    response.headers["content-security-policy"] = policy
    response.headers["x-content-type-options"] = "nosniff"
    return response


def tell(user: str | None) -> JSONResponse:
    told: dict[str, Any] = {}
    if user is not None:
        catalog = own_of(user).catalog
        told = {"user": user, "gatewayUrl": GATEWAY_URL, "agentType": AGENT, "catalog": catalog}
    return JSONResponse(told, headers={"cache-control": "no-store"})


@app.get("/session")
async def session(request: Request) -> Response:
    return tell(user_of(request.headers))


@app.post("/session")
async def sign_in(request: Request) -> Response:
    """Signing in is only pretended: whoever names a user is that user. Put your own sign-in here."""
    try:
        name = (await request.json()).get("name")
    except (AttributeError, ValueError):
        name = None
    user = name.strip().lower() if isinstance(name, str) else ""
    if not re.fullmatch(r"[a-z][a-z0-9]{0,30}", user):
        problem = {"problem": "A name has letters and digits, and begins with a letter."}
        return JSONResponse(problem, status_code=400)
    response = tell(user)
    is_secure = request.url.scheme == "https"
    response.set_cookie("session", signed(user), httponly=True, samesite="lax", secure=is_secure)
    return response


@app.delete("/session")
async def sign_out() -> Response:
    response = tell(None)
    response.delete_cookie("session")
    return response


app.mount(
    "/chat",
    chat_back_end(
        gateway=gateway,
        read_token_secret=os.environ["GATEWAY_READ_TOKEN_SECRETS"].split(",")[0],
        ttl_seconds=float(os.environ.get("TOKEN_TTL_SECONDS", "300")),
        authorize=authorize,
    ),
)
app.mount("/", StaticFiles(directory=Path(__file__).parent / "dist", html=True))


async def main() -> None:
    # Only for this machine, because nobody proves who they are.
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "3000"))))
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    print(f"The chat is at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await serve(app, config)  # type: ignore[arg-type]


if __name__ == "__main__":
    asyncio.run(main())
