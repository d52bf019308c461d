"""The admin: plain Django pages over the actions. Django's autodiscover imports this package."""

from handoff.admin import agents, channels, conversations, log, people, sessions, webhooks

__all__ = ["agents", "channels", "conversations", "log", "people", "sessions", "webhooks"]
