"""A client of the agent gateway: commands to agents, their answers and timelines, read tokens."""

from ._async import AsyncAnswer, AsyncGateway, AsyncTimeline
from ._commands import AcceptedCommand
from ._errors import AnswerError, GatewayError
from ._forget import ForgetReceipt
from ._sync import Answer, Gateway, Timeline
from ._timeline import Bookmark, Event
from ._tokens import ReadToken, mint_read_token, read_token_for
from .conversation import Conversation, Note, Turn, conversation

__all__ = [
    "AcceptedCommand",
    "Answer",
    "AnswerError",
    "AsyncAnswer",
    "AsyncGateway",
    "AsyncTimeline",
    "Bookmark",
    "Conversation",
    "Event",
    "ForgetReceipt",
    "Gateway",
    "GatewayError",
    "Note",
    "ReadToken",
    "Timeline",
    "Turn",
    "conversation",
    "mint_read_token",
    "read_token_for",
]
