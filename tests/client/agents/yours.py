"""Stands for the reader's own models in the snippets of the documentation: each asks people once,
and then says what it was told.
"""

import importlib
import os
from typing import Any

CHANNEL = int(os.environ["DESK_CHANNEL"])
ASKING: dict[str, Any] = {
    "channel_id": CHANNEL,
    "summary": "The visitor asks where order 1234 is; I cannot see orders.",
    "expected_action": "Look up order 1234 and fill in its status.",
}


def __getattr__(name: str) -> Any:
    """The model of one framework; only its packages are loaded."""
    makers = {
        "chat_model": "langchain_model",
        "openai_model": "openai_agent",
        "pydantic_model": "pydantic_agent",
    }
    if name not in makers:
        raise AttributeError(name)
    return importlib.import_module(makers[name]).telling(ASKING)
