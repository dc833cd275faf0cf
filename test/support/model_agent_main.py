"""The agent of model-agent-main.ts, made with the Python kit.

A process that a test may kill: AGENT_TYPE, GATEWAY_URL, GATEWAY_API_KEY, CATALOG_URL, CATALOG_TOKEN,
PORT, VERSION. Prints how each generation begins.
"""

import asyncio
import json
import os
import re
import socket
import uuid
from collections import Counter
from typing import Any

import httpx
import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config

from agent_gateway.agent import Generation, Tool, ToolContext, agent_tool, define_agent

AGENT_TYPE = os.environ["AGENT_TYPE"]
GATEWAY_URL = os.environ["GATEWAY_URL"]
WAIT_MS = os.environ.get("WAIT_MS")
VERSION = os.environ.get("VERSION", "")

#: How often a message was answered by this process.
attempts: Counter[str] = Counter()


def say(line: str) -> None:
    print(line, flush=True)


def written_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def ends(results: list[dict[str, Any]]) -> list[Any]:
    return [result.get("output", result.get("error")) for result in results]


async def generate(generation: Generation) -> Any:
    text = generation.message.text
    said = "".join(part["text"] for part in generation.written if part["type"] == "text")
    results = [part for part in generation.written if part["type"] == "tool"]
    say(f"generate{VERSION} {written_json({'text': text, 'written': len(said.split(' ')) - 1})}")
    attempts[text] += 1
    attempt = attempts[text]
    verb, first, second = [*text.split(" "), "", ""][:3]
    if verb == "count":
        for number in range(len(said.split(" ")), int(first) + 1):
            if second.isdigit():
                await asyncio.sleep(int(second) / 1_000)
            yield f"{number} "
    elif verb == "tool":
        if not results:
            yield {"tool": first, "input": {"city": second}}
        else:
            yield f"I know: {written_json(results)}"
    elif verb == "inline":
        if not results:
            output = yield {"tool": "weather", "input": {"city": first}}
            yield f"It is {written_json(output)}"
    elif verb == "spawn":
        if not results:
            yield {"tool": "spawn", "input": {"type": AGENT_TYPE, "id": first}}
        else:
            yield "spawned"
    elif verb == "fail":
        if said == "":
            yield "so far "
        if attempt <= int(first):
            raise RuntimeError(f"the model is away ({attempt})")
        yield "so good"
    elif verb == "end":
        raise restate.TerminalError("not today")
    elif verb == "hang":
        try:
            await asyncio.Event().wait()
        finally:
            say(f"aborted {text}")
    elif verb == "pay":
        if not results:
            yield {"tool": "pay", "input": {"amount": int(first)}, "id": "call_0"}
        else:
            without = [{k: v for k, v in one.items() if k != "id"} for one in results]
            yield f"paid: {written_json(without)}"
    elif verb == "both":
        if not results:
            outputs = yield [
                {"tool": "pay", "input": {"amount": 50}, "id": "call_0"},
                {"tool": "weather", "input": {"city": first}, "id": "call_0"},
            ]
            yield f"at once {written_json(outputs)}"
        else:
            yield f"later {written_json(ends(results))}"
    elif verb == "all":
        if not results:
            if said == "":
                yield "first "
            yield [
                {"tool": "pay", "input": {"amount": int(first)}},
                {"tool": "weather", "input": {"city": "Rome"}},
            ]
        elif len(results) == 2:
            if "second" not in said:
                yield "second "
            yield {"tool": "helper", "input": f"to {second} count 3"}
        elif "third" not in said:
            yield "third"
    elif verb == "held":
        if not results:
            yield {"tool": "held"}
        else:
            yield f"held: {written_json(ends(results))}"
    elif verb == "anybody":
        if not results:
            yield {"tool": "anybody", "input": "count 1"}
        else:
            yield f"it said {written_json(ends(results))}"
    elif verb == "pair":
        if not results:
            yield [{"tool": "helper", "input": f"to {first} hang"}, {"tool": "hang"}]
    elif verb == "child":
        if not results:
            yield {"tool": "helper", "input": text.removeprefix("child ")}
        else:
            yield f"it said {written_json(ends(results))}"
    elif verb == "remind":
        if not results:
            yield {"tool": "remind", "input": {"afterMs": int(first), "what": second}}
        else:
            yield f"reminder {written_json(results[0].get('output'))}"
    elif verb == "where":
        if not results:
            yield {"tool": "where"}
        else:
            yield written_json(results[0].get("output"))
    elif verb == "parts":
        yield {"reasoning": "let me "}
        yield {"reasoning": "think"}
        yield {"usage": {"inputTokens": 5, "outputTokens": 2}}
        yield "said"
        yield {"data": {"chart": [1, 2]}}
        yield {"usage": {"inputTokens": 1, "cost": 0.5}}
    elif verb == "unknown":
        yield None
    elif verb == "odd":
        circle: list[Any] = []
        circle.append(circle)
        odd = {"bigint": object(), "function": print, "circle": circle}.get(second)
        if not results:
            yield {
                "data": {"data": odd},
                "input": {"tool": "where", "input": odd},
                "message": {"tool": "odd"},
            }[first]
        else:
            yield f"it said {written_json([one.get('error') for one in results])}"
    elif verb == "silent":
        if attempt == 1:
            await asyncio.Event().wait()
        yield "awake"
    elif verb == "remember":
        args = {} if generation.args is None else {"args": generation.args}
        yield written_json({"turns": generation.turns, **args})


def amount_of(value: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(value.get("amount"), (int, float)):
        raise ValueError("amount: must be a number")
    return value


def must_be_approved(value: Any) -> bool:
    if value["amount"] == 13:
        raise RuntimeError("nobody knows")
    return bool(value["amount"] > 10)


def weather(value: Any) -> Any:
    return {"city": value["city"], "degrees": 21}


def pay(value: Any, context: ToolContext) -> Any:
    say(f"paid {value['amount']} with {context.key}")
    return {"paid": value["amount"]}


async def remind(value: Any, context: ToolContext) -> str:
    return await context.agent.remind(f"count {value['what']}", value["afterMs"] / 1_000)


def where(_: Any, context: ToolContext) -> Any:
    agent = context.agent
    about = {"url": agent.url, "tenant": agent.tenant, "type": agent.type, "id": agent.id}
    args = {} if context.args is None else {"args": context.args}
    return {**about, **args, "number": context.call_number}


async def held(_: Any) -> int:
    """Ends when the test lets the gateway's answer through."""
    async with httpx.AsyncClient(timeout=None) as client:
        return (await client.get(f"{GATEWAY_URL}/held")).status_code


async def hang(_: Any) -> None:
    await asyncio.Event().wait()


def broken(_: Any) -> None:
    raise RuntimeError("it is broken")


def helper_id(text: Any, _: ToolContext) -> str:
    found = re.match(r"to (\S+) ", text)
    return found[1] if found else "helper"


agent = define_agent(
    AGENT_TYPE,
    generate=generate,
    gateway_url=GATEWAY_URL,
    api_key=os.environ["GATEWAY_API_KEY"],
    catalog_url=os.environ.get("CATALOG_URL"),
    catalog_token=os.environ.get("CATALOG_TOKEN"),
    max_waiting=3,
    idle_timeout_s=2,
    tools={
        "weather": weather,
        "pay": Tool(
            pay,
            input=amount_of,
            approval=must_be_approved,
            wait_s=int(WAIT_MS) / 1_000 if WAIT_MS else None,
        ),
        "helper": agent_tool(
            AGENT_TYPE, id=helper_id, message=lambda text: re.sub(r"^to \S+ ", "", text)
        ),
        "anybody": agent_tool(
            AGENT_TYPE, id=lambda _text, _context: str(uuid.uuid4()), message=lambda text: text
        ),
        "odd": agent_tool(AGENT_TYPE, message=lambda _: object()),
        "remind": remind,
        "where": where,
        "held": Tool(held, approval=True, wait_s=5),
        "hang": hang,
        "broken": broken,
    },
)


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    say(f"listening on http://127.0.0.1:{listener.getsockname()[1]}")
    await serve(restate.app(agent.services), config)  # type: ignore[arg-type]


asyncio.run(main())
