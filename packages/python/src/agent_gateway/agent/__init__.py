"""Agents on Restate, whose timelines every reader of the gateway understands."""

from ._define import Agent, define_agent
from ._failure import PublicReason
from ._run import Generate, Generation, Message
from ._tools import AgentTool, Tool, ToolAgent, ToolContext, ToolFunction, agent_tool

__all__ = [
    "Agent",
    "AgentTool",
    "Generate",
    "Generation",
    "Message",
    "PublicReason",
    "Tool",
    "ToolAgent",
    "ToolContext",
    "ToolFunction",
    "agent_tool",
    "define_agent",
]
