"""JSON as the other parts of the system write and read it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeGuard, Union, cast

Json = Union[str, int, float, bool, None, list["Json"], dict[str, "Json"]]  # noqa: UP007

#: The deepest nesting that an agent stores.
MAX_DEPTH = 64


def _number(text: str) -> float | None:
    # JavaScript reads a number that is too large as infinity, and writes that as null.
    number = float(text)
    return number if math.isfinite(number) else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def parse_json(text: str | bytes) -> Json:
    """Reads JSON. Throws a `ValueError`, also for what Python alone takes, and for deep nesting."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        value = json.loads(text, parse_float=_number, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error
    return cast(Json, value)


def to_json(value: object) -> str:
    """Writes JSON without spaces. Throws a `TypeError` or `ValueError` for what it cannot hold."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_json_bytes(value: object) -> bytes:
    """Writes JSON in UTF-8. Half of a surrogate pair, which UTF-8 has not, is escaped."""
    try:
        return to_json(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def json_of(value: object) -> Json:
    """What JSON keeps of a value. Throws a `TypeError` or `ValueError`."""
    try:
        result = parse_json(to_json_bytes(value))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    if is_too_deep(result):
        raise ValueError("it is nested too deep")
    return result


def is_too_deep(value: object, levels_left: int = MAX_DEPTH) -> bool:
    """Whether a value is nested more than 64 levels deep."""
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return False
    if levels_left == 0:
        return True
    return any(is_too_deep(one, levels_left - 1) for one in inner)


def object_of(text: str | bytes) -> dict[str, Any]:
    """The JSON object in a text, an empty one where there is none."""
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def fields_of(value: object) -> Mapping[str, Any]:
    """The fields of an object, none of anything else: anyone with a key may append anything."""
    return value if isinstance(value, dict) else {}


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a whole number that JavaScript keeps exactly."""
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= 2**53 - 1
    return isinstance(value, int) and abs(value) <= 2**53 - 1
