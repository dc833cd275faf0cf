"""The page's model.py with a recorded model: it counts to 200, and continues after what was said."""

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import model as page
import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config
from pydantic_ai.models.function import FunctionModel

WORDS = [f"{number} " for number in range(1, 201)]


async def recorded(messages: list[Any], _: Any) -> AsyncIterator[str]:
    prompt = str(messages[-1].parts[-1].content)
    print("asked", prompt.encode(), flush=True)
    said = re.search(r"Continue right after: (.*)\Z", prompt, re.DOTALL)
    begin = len(said[1].split()) if said else 0
    for word in WORDS[begin:]:
        await asyncio.sleep(0.03)
        yield word


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    with page.model.override(model=FunctionModel(stream_function=recorded)):
        await serve(restate.app(page.writer.services), config)


asyncio.run(main())
