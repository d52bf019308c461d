"""The agent's side of a Handoff Desk. Standard library only."""

from handoff_client.answers import Answer
from handoff_client.async_desk import AsyncDesk
from handoff_client.desk import Desk, Unset
from handoff_client.events import Events
from handoff_client.turns import Turn

__version__ = "0.1.0"
__all__ = ["Answer", "AsyncDesk", "Desk", "Events", "Turn", "Unset"]
