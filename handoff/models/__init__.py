"""The tables of the desk. Only `handoff.actions` writes them."""

from handoff.models.agent import Agent, Token
from handoff.models.alert import Alert
from handoff.models.bucket import Bucket
from handoff.models.channel import Channel, Redispatch
from handoff.models.conversation import Conversation, Message, Ticket
from handoff.models.file import File, Shelf
from handoff.models.link import ReturnLink, Submission, SubmissionKind
from handoff.models.log import (
    Delivery,
    DeliveryKind,
    DeliveryStatus,
    Event,
    IdempotencyRecord,
    InboundEvent,
)
from handoff.models.session import Attempt, Session
from handoff.models.webhook import Webhook, WebhookCall, WebhookReplay

__all__ = [
    "Agent",
    "Alert",
    "Attempt",
    "Bucket",
    "Channel",
    "Conversation",
    "Delivery",
    "DeliveryKind",
    "DeliveryStatus",
    "Event",
    "File",
    "IdempotencyRecord",
    "InboundEvent",
    "Message",
    "Redispatch",
    "ReturnLink",
    "Session",
    "Shelf",
    "Submission",
    "SubmissionKind",
    "Ticket",
    "Token",
    "Webhook",
    "WebhookCall",
    "WebhookReplay",
]
