"""The state of an agent, and its address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from restate import ObjectContext, TerminalError

from ._access import Access
from ._restate import get, header_of, now_iso, put
from ._rows import send_row
from ._timeline import NewEvent, Owner, create_timeline, new_timeline, send_unsent

#: The name of the state. It is one value, so that it changes as a whole or not at all.
ENTITY_STATE = "entity"
Entity = dict[str, Any]
OwnerOf = Callable[[Entity], Owner]


@dataclass
class Settings:
    """What the handlers of an agent go by."""

    access: Access
    #: The entity type.
    name: str
    #: The private service that answers, watches and delivers.
    turn_service: str
    row_service: str
    max_waiting: int
    #: How long Restate keeps the keys of commands.
    key_retention_s: float


def address_of(ctx: ObjectContext) -> tuple[str, str]:
    """The URL of the agent and the path of its timeline, as the gateway says them."""
    url, stream = header_of(ctx, "x-entity-url"), header_of(ctx, "x-entity-stream")
    if url is None or stream is None:
        message = "x-entity-url and x-entity-stream are missing: use the gateway"
        raise TerminalError(message, status_code=400)
    return url, stream


def ids_of(ctx: ObjectContext) -> dict[str, str]:
    """Names the command in the events that it caused, so that its sender finds them."""
    request_id = header_of(ctx, "x-request-id")
    name = {"invocationId": ctx.request().id}
    return name if request_id is None else {**name, "requestId": request_id}


async def open_entity(
    ctx: ObjectContext, settings: Settings, spawn: dict[str, Any], owner_of: OwnerOf | None
) -> Entity:
    """The entity, spawned if there is none: whoever may write to it may also create it."""
    url, stream = address_of(ctx)
    existing = await find_entity(ctx, settings, owner_of)
    if existing is not None:
        return existing
    await create_timeline(ctx, settings.access, stream)
    entity = {
        "url": url,
        "status": "idle",
        "parent": spawn.get("parent"),
        "createdAt": await now_iso(ctx),
        "timeline": new_timeline(stream),
    }
    owner = owner_of(entity) if owner_of else None
    await record(ctx, settings, entity, [{"kind": "spawned", **spawn}], owner)
    await keep_row(ctx, settings, entity)
    return entity


async def find_entity(
    ctx: ObjectContext, settings: Settings, owner_of: OwnerOf | None
) -> Entity | None:
    """The entity, if it was ever spawned. Unsent events of an earlier invocation are sent first."""
    entity: Entity | None = await get(ctx, ENTITY_STATE)
    if entity is None:
        return None
    # Two tenants on one runtime would share objects. An agent's own handlers have no such header.
    url = header_of(ctx, "x-entity-url") or entity["url"]
    if entity["url"] != url:
        raise TerminalError(f"this object is {entity['url']}, not {url}")
    if "forgotten" in entity:
        raise TerminalError(f"{url} was forgotten", status_code=410)
    await record(ctx, settings, entity, [], owner_of(entity) if owner_of else None)
    return entity


async def record(
    ctx: ObjectContext,
    settings: Settings,
    entity: Entity,
    events: list[NewEvent],
    owner: Owner | None = None,
) -> None:
    """Stores the entity together with the events that describe the change, and sends the events."""
    timeline = entity["timeline"]
    timeline["unsent"].extend(events)
    if not timeline["unsent"]:
        return
    own = owner or Owner(lambda: None)
    own.save = lambda: save_entity(ctx, entity)
    own.save()
    await send_unsent(ctx, settings.access, timeline, own)


def save_entity(ctx: ObjectContext, entity: Entity) -> None:
    """Stores the entity without an event."""
    put(ctx, ENTITY_STATE, entity)


async def keep_row(ctx: ObjectContext, settings: Settings, entity: Entity) -> None:
    """Updates the row in the catalog, after the status changed."""
    if settings.access.catalog_url is None:
        return
    # `/t/<tenant>/a/<type>/<id>`
    _, _, tenant, _, kind, name = entity["url"].split("/")
    row = {
        "url": entity["url"],
        "type": kind,
        "id": name,
        "status": entity["status"],
        "parent": entity["parent"],
        "tenant": tenant,
        "created_at": entity["createdAt"],
        "updated_at": await now_iso(ctx),
    }
    send_row(ctx, settings.row_service, row)
