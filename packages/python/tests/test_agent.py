"""The parts of the kit that need no Restate. `test/system` has the whole, with this kit's agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from restate import TerminalError

from agent_gateway._json import json_of, to_json_bytes
from agent_gateway.agent import Tool, ToolContext, define_agent
from agent_gateway.agent._input import read_control, read_input, read_message, read_spawn
from agent_gateway.agent._live import LiveGeneration
from agent_gateway.agent._tools import call_tool, judge

OWN = "/t/default/a/assistant/ada"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "the message is empty"),
        (b" \n", "the message is empty"),
        (b"\xff", "the message is neither JSON nor text in UTF-8"),
        (b"{", "the message is broken JSON"),
        (b'{"content": NaN}', "the message is broken JSON"),
        (b"[" * 100_000, "the message is broken JSON"),
        (b"[1]", "the message must be an object with content, or a text"),
        (b"7", "the message must be an object with content, or a text"),
        (b'{"kind": "x"}', 'the kind of a message must be "message"'),
        (b'{"content": [1]}', "the content of a message must be a list of parts, or a text"),
        (
            b'{"content": [{"type": "x", "a": ' + b"[" * 70 + b"]" * 70 + b"}]}",
            "the content of the message is nested too deep",
        ),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_no_exception(body: bytes, problem: str) -> None:
    assert read_message(body) == {"problem": problem}
    assert read_input(body, OWN)["problem"] == problem


@pytest.mark.parametrize(
    "body", [b'{"content": "\\ud800"}', b'{"content": [{"type": "x", "n": 1e999}]}']
)
def test_what_was_read_can_be_stored(body: bytes) -> None:
    assert json_of(read_message(body)["message"]) is not None
    assert to_json_bytes(read_message(body)["message"])


@pytest.mark.parametrize("body", [b"", b"[]", b'{"verb": "stop"}', b'{"verb": ["pause"]}', b"\xff"])
def test_a_control_that_is_none_is_no_exception(body: bytes) -> None:
    assert read_control(body) is None
    assert read_spawn(b"[") is None


@pytest.mark.parametrize(
    "caller",
    [
        {"url": "/t/other/a/x/y", "call": "a.1", "chain": []},
        {"url": "/t/default/a/x/../y", "call": "a.1", "chain": []},
        {"url": "https://elsewhere.example/", "call": "a.1", "chain": []},
        {"url": "/t/default/a/x/y", "call": "a b", "chain": []},
        {"url": "/t/default/a/x/y", "call": "a.1", "chain": [7]},
        {"url": "/t/default/a/x/y", "call": "a.1", "chain": ["/t/default/a/x/y"] * 17},
        "x",
    ],
)
def test_a_caller_that_is_no_agent_of_the_tenant_is_none(caller: Any) -> None:
    body = to_json_bytes({"kind": "message", "content": "hi", "caller": caller})
    assert "caller" not in read_input(body, OWN)


def live(generate: Callable[[], Any], **more: Any) -> LiveGeneration:
    given = {"batch_s": 0.01, "idle_timeout_s": 5.0, "public_reason": None, **more}
    return LiveGeneration(generate, **given)


async def steps_of(generation: LiveGeneration, outputs: list[Any] | None = None) -> list[Any]:
    steps = []
    while True:
        steps.append(await generation.next(outputs or []))
        if "isEnd" in steps[-1] or "failure" in steps[-1]:
            return steps


def test_a_generator_begins_and_ends_in_one_task() -> None:
    # Libraries on anyio end what they opened only in the task in which they did.
    tasks = []

    async def generate() -> AsyncIterator[Any]:
        tasks.append(asyncio.current_task())
        output = yield {"tool": "t", "input": 1}
        tasks.append(asyncio.current_task())
        yield f"got {output}"
        tasks.append(asyncio.current_task())

    async def main() -> None:
        generation = live(generate)
        first = await generation.next([])
        assert first["calls"] == [{"tool": "t", "input": 1}]
        said = await steps_of(generation, [7])
        assert [one for step in said for one in step["said"]] == [{"text": "got 7"}]

    asyncio.run(main())
    assert len(tasks) == 3
    assert len(set(tasks)) == 1


def test_a_generator_that_is_stopped_is_cancelled_where_it_waits() -> None:
    seen = []

    async def generate() -> AsyncIterator[Any]:
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            seen.append("closed")

    async def main() -> None:
        generation = live(generate)
        assert (await generation.next([]))["said"] == [{"text": "a"}]
        task = generation._task
        generation.stop()
        assert task is not None
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["closed"]


def test_a_model_that_sends_nothing_has_failed() -> None:
    async def generate() -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield "never"

    async def main() -> Any:
        return (await steps_of(live(generate, idle_timeout_s=0.05)))[-1]

    failure = asyncio.run(main())["failure"]
    assert failure["reason"] == "the model failed"
    assert "the model sent nothing for 0 s" in failure["detail"]
    assert failure["isFinal"] is False


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (None, "the agent gave a part of an answer that is not known"),
        ([], "the agent asked for an empty list of tools"),
        ([{"a": 1}], "the agent asked for a tool in a form that is not known"),
        ({"tool": "t", "input": {1, 2}}, "the agent gave the input of t that JSON cannot hold"),
        ({"data": float("nan")}, "the agent gave data that JSON cannot hold"),
    ],
)
def test_a_part_of_no_known_form_ends_the_turn(part: Any, reason: str) -> None:
    async def generate() -> AsyncIterator[Any]:
        yield part

    failure = asyncio.run(steps_of(live(generate)))[-1]["failure"]
    assert (failure["reason"], failure["isFinal"]) == (reason, True)


def test_an_error_is_said_in_plain_words_unless_the_author_has_others() -> None:
    async def generate() -> AsyncIterator[Any]:
        raise RuntimeError("the secret")
        yield "never"

    def broken(_: BaseException) -> str:
        raise RuntimeError("oh")

    async def final() -> AsyncIterator[Any]:
        raise TerminalError("not today")
        yield "never"

    def reason(generate: Callable[[], Any], public: Any) -> Any:
        failure = asyncio.run(steps_of(live(generate, public_reason=public)))[-1]["failure"]
        return failure["reason"], failure["isFinal"]

    assert reason(generate, None) == ("the model failed", False)
    assert reason(generate, lambda _: "busy") == ("busy", False)
    assert reason(generate, broken) == ("the model failed", False)
    assert reason(final, None) == ("the agent failed", True)


def test_a_tool_gets_its_context_only_if_it_takes_one() -> None:
    context: Any = ToolContext(agent=None, call_id="a.1", call_number=1, key="k")  # type: ignore[arg-type]

    async def slow(value: Any, given: ToolContext) -> Any:
        return [value, given.key]

    async def main() -> list[Any]:
        tools: list[Any] = [
            lambda value: value,
            lambda _, given: given.call_id,
            slow,
            lambda v, x=1: [v, x],
        ]
        return [await call_tool(Tool(tool), "t", 5, context, None) for tool in tools]

    outputs = [outcome["output"] for outcome in asyncio.run(main())]
    assert outputs == [5, "a.1", [5, "k"], [5, 1]]


def test_an_approval_that_fails_lets_nothing_run() -> None:
    def fails(_: Any) -> bool:
        raise RuntimeError("nobody knows")

    tools = [Tool(print, approval=fails), Tool(print, approval=lambda _: 1)]  # type: ignore[arg-type, return-value]
    for tool in tools:
        verdict = asyncio.run(judge(tool, "t", None))
        assert "whether the call needs an approval cannot be said" in verdict["error"]
    assert asyncio.run(judge(Tool(print, approval=True), "t", None)) == {"waits": True}
    assert asyncio.run(judge(None, "t", None)) == {"error": "there is no tool t"}


def test_an_agent_shows_no_key_and_takes_no_address_that_is_none() -> None:
    async def generate(_: Any) -> AsyncIterator[Any]:
        yield "x"

    agent = define_agent("a", generate=generate, gateway_url="http://g", api_key="the-secret-key")
    assert "the-secret-key" not in repr(agent)
    assert [service.name for service in agent.services] == ["a", "aTurn"]
    for url in ("", "g", "ftp://g"):
        with pytest.raises(ValueError, match="url must be"):
            define_agent("a", generate=generate, gateway_url=url, api_key="key")
