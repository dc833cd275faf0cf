"""Read tokens for browsers: signed here, checked by the gateway."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ._json import to_json_bytes
from ._paths import AgentAddress, agent_prefix, checked_path, entity_of

_MIN_SECRET_BYTES = 32
_MAX_PREFIXES = 16
_SHAPE_KEYS = ("table", "where", "params", "columns")
_PREFIX = re.compile(r"/(?:streams|shapes)(?:/|\Z)")
_COLUMN = re.compile(r'[^",\s\x00-\x1f\x7f-\x9f]+')
_NUMBER = re.compile(r"[1-9]\d{0,3}", re.ASCII)
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
_PLACEHOLDER = re.compile(r"\$(\d+)", re.ASCII)


class ReadToken(NamedTuple):
    """A read token, and how many seconds it lives. A page gets both from your back end."""

    token: str
    ttl_seconds: float


def mint_read_token(
    *,
    secret: str,
    prefix: str | Sequence[str],
    ttl_seconds: float = 300,
    tenant: str = "default",
    subject: str | None = None,
    shape: Mapping[str, Any] | None = None,
) -> ReadToken:
    """Signs a read token with HS256, for a page whose user you have checked.

    `secret` is one of the gateway's `GATEWAY_READ_TOKEN_SECRETS`, at least 32 bytes. `prefix` is a
    path or up to 16, each below `/streams` or `/shapes`. `subject` is the id of the user. `shape`
    is the part of the catalog: `table`, and `where`, `params`, `columns`. Throws a `ValueError` for
    what no gateway takes.
    """
    key = secret_text(secret).encode()
    if len(key) < _MIN_SECRET_BYTES:
        raise ValueError(f"The secret must have at least {_MIN_SECRET_BYTES} bytes.")
    is_life = isinstance(ttl_seconds, (int, float)) and not isinstance(ttl_seconds, bool)
    if not is_life or not math.isfinite(ttl_seconds) or ttl_seconds < 1:
        raise ValueError("ttl_seconds must be 1 or more.")
    if not _is_name(tenant) or (subject is not None and not _is_name(subject)):
        raise ValueError("tenant and subject must be texts that are not empty.")
    issued = int(time.time())
    claims: dict[str, Any] = {"prefix": _checked_prefix(prefix)}
    if shape is not None:
        claims["shape"] = _shape_claim(shape)
    if subject is not None:
        claims["sub"] = subject
    claims |= {"aud": tenant, "iat": issued, "exp": issued + ttl_seconds}
    head = {"alg": "HS256", "typ": "JWT"}
    signed = f"{_encoded(to_json_bytes(head))}.{_encoded(to_json_bytes(claims))}"
    signature = hmac.new(key, signed.encode(), hashlib.sha256).digest()
    return ReadToken(f"{signed}.{_encoded(signature)}", ttl_seconds)


def read_token_for(
    agent: AgentAddress,
    *,
    secret: str,
    ttl_seconds: float = 300,
    tenant: str = "default",
    subject: str | None = None,
) -> ReadToken:
    """Signs a read token for one agent. An address that names a tenant decides it."""
    own = entity_of(agent).tenant or tenant
    return mint_read_token(
        secret=secret,
        prefix=agent_prefix(agent, own),
        ttl_seconds=ttl_seconds,
        tenant=own,
        subject=subject,
    )


def secret_text(text: str) -> str:
    """A key or a secret without the white space and the byte-order mark of a file around it."""
    return text.strip(" \t\r\n\v\f\ufeff\u00a0")


def _checked_prefix(prefix: str | Sequence[str]) -> str | list[str]:
    prefixes = [prefix] if isinstance(prefix, str) else list(prefix)
    is_good = 0 < len(prefixes) <= _MAX_PREFIXES and all(
        isinstance(path, str) and _PREFIX.match(path) for path in prefixes
    )
    if not is_good:
        rule = "each /streams or /shapes or a path below it"
        raise ValueError(f"prefix must be a path, or 1 to {_MAX_PREFIXES} of them, {rule}.")
    for path in prefixes:
        checked_path(path)
    return prefix if isinstance(prefix, str) else prefixes


def _shape_claim(shape: Mapping[str, Any]) -> dict[str, Any]:
    unknown = next((key for key in shape if key not in _SHAPE_KEYS), None)
    if unknown is not None:
        raise ValueError(f"shape has no {unknown!r}.")
    claim: dict[str, Any] = {"table": shape.get("table")}
    if not _is_name(claim["table"]):
        raise ValueError("shape.table must be the name of a table.")
    where = shape.get("where")
    if where is not None:
        if not isinstance(where, str) or where.strip() == "":
            raise ValueError("shape.where must be a condition.")
        claim["where"] = where
    params = shape.get("params")
    numbered = {} if params is None else _numbered(params)
    for number in _PLACEHOLDER.findall(_QUOTED.sub("'", where or "")):
        if number not in numbered:
            raise ValueError(f"shape.params must have a value for ${number}.")
    if params is not None:
        claim["params"] = numbered
    columns = shape.get("columns")
    if columns is not None:
        if not _is_column_list(columns):
            rule = "names of columns, without quotes, commas and spaces"
            raise ValueError(f"shape.columns must be {rule}.")
        claim["columns"] = list(columns)
    return claim


def _numbered(params: object) -> dict[str, str]:
    if isinstance(params, Mapping):
        entries = dict(params)
    elif isinstance(params, (list, tuple)):
        entries = {str(index + 1): value for index, value in enumerate(params)}
    else:
        entries = {"": ""}
    for number, value in entries.items():
        is_number = isinstance(number, str) and _NUMBER.fullmatch(number)
        if not is_number or not isinstance(value, str):
            raise ValueError("shape.params must be texts, as a list or by the numbers of their $n.")
    return entries


def _is_column_list(columns: object) -> bool:
    return (
        isinstance(columns, (list, tuple))
        and len(columns) > 0
        and all(isinstance(column, str) and _COLUMN.fullmatch(column) for column in columns)
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
