"""Writes rows of the catalog, in an object of its own: a catalog that is down delays no reply."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from restate import Context, ObjectContext, VirtualObject
from restate.serde import BytesSerde

from .._json import to_json_bytes
from ._access import Access, describe
from ._restate import JSON, RETRY_FOREVER, step, trace_of

_log = logging.getLogger("agent_gateway.agent")


def send_row(ctx: Context, service: str, row: dict[str, Any]) -> None:
    """Sends the row to its writer and does not wait. Rows arrive in the order of sending."""
    body = to_json_bytes(row)
    ctx.generic_send(service, "put", body, key=row["url"], headers=trace_of(ctx))


def send_row_removal(ctx: Context, service: str, url: str) -> None:
    """Has the row of an agent deleted, after those that were sent before."""
    ctx.generic_send(service, "remove", to_json_bytes(url), key=url, headers=trace_of(ctx))


def row_writer(access: Access, name: str) -> VirtualObject:
    """The object that writes the rows."""
    writer = VirtualObject(
        name,
        journal_retention=timedelta(0),
        ingress_private=True,
        invocation_retry_policy=RETRY_FOREVER,
    )
    rows = f"{access.catalog_url}/rows/entities"
    token = access.catalog_token
    credential = {"authorization": f"Bearer {token}"} if token else {}

    @writer.handler(name="put", input_serde=JSON, output_serde=BytesSerde())
    async def put_row(ctx: ObjectContext, row: Any) -> None:
        headers = {**trace_of(ctx), **credential, "content-type": "application/json"}

        async def put() -> str | None:
            reply = await access.request("PUT", rows, headers, to_json_bytes(row))
            return describe(reply) if reply.status >= 300 else None

        refusal = await step(ctx, "put row", put)
        # A refused row is dropped, because it is only a copy: the next one may be valid.
        if refusal is not None:
            _log.error("row of %s refused: %s", row["url"], refusal)

    @writer.handler(name="remove", input_serde=JSON, output_serde=BytesSerde())
    async def remove_row(ctx: ObjectContext, url: Any) -> None:
        headers = {**trace_of(ctx), **credential}

        async def remove() -> str | None:
            reply = await access.request("DELETE", f"{rows}?url={quote(url, safe='')}", headers)
            is_gone = reply.status < 300 or reply.status == 404
            return None if is_gone else describe(reply)

        refusal = await step(ctx, "delete row", remove)
        if refusal is not None:
            _log.error("row of %s not deleted: %s", url, refusal)

    return writer
