"""What is said of an error: to the model, to an operator, to the readers of the timeline."""

from __future__ import annotations

import traceback
from collections.abc import Callable

#: What readers of the timeline may know of an error. `None`: only that it failed.
PublicReason = Callable[[BaseException], "str | None"]

_MAX_REASON_LENGTH = 500
_MAX_DETAIL_LENGTH = 8_192


def message_of(error: BaseException) -> str:
    """The message of an error, for the model and for the author's own log."""
    return str(error) or type(error).__name__


def detail_of(error: BaseException) -> str:
    """An error with its causes and stacks, for an operator."""
    return "".join(traceback.format_exception(error)).strip()[-_MAX_DETAIL_LENGTH:]


def public_words(reason_of: PublicReason | None, error: BaseException, otherwise: str) -> str:
    """The author's words, or that it failed. A fault in them must not end the answer."""
    try:
        words = reason_of(error) if reason_of else None
    except Exception:
        words = None
    return words[:_MAX_REASON_LENGTH] if isinstance(words, str) and words else otherwise
