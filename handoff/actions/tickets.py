"""Mints and redeems the one-use tickets that open a chat socket."""

import dataclasses
import datetime as dt

from django.conf import settings
from django.db.models.functions import Now

from handoff import links
from handoff.actions.writing import writing
from handoff.contract import ids, limits
from handoff.contract.payloads import TicketView
from handoff.models import Conversation, Ticket


@dataclasses.dataclass(frozen=True)
class TicketGrant:
    """What a redeemed ticket opens."""

    agent_pk: int
    conversation_pk: int
    conversation: str
    role: str
    allowed_origins: tuple[str, ...]


def mint_ticket(conversation: Conversation, *, role: str) -> TicketView:
    """A signed ticket for one conversation and role, good once within 60 seconds."""
    ticket_id = ids.link_id()
    with writing():
        Ticket.objects.filter(expires_at__lt=Now() - dt.timedelta(hours=1)).delete()
        row = Ticket.objects.create(
            digest=links.digest(ticket_id),
            conversation=conversation,
            role=role,
            expires_at=Now() + dt.timedelta(seconds=limits.TICKET_SECONDS),
        )
        row.refresh_from_db(fields=["expires_at"])
    token = links.ticket_token(ticket_id)
    base = settings.PUBLIC_BASE_URL.replace("http", "ws", 1)
    return TicketView(ticket=token, url=f"{base}/ws/chat?ticket={token}", expires_at=row.expires_at)


def redeem(ticket: str) -> TicketGrant | None:
    """Use a ticket up; None when it is forged, expired or used already."""
    ticket_id = links.read_ticket_token(ticket)
    if ticket_id is None:
        return None
    with writing():
        mine = Ticket.objects.filter(
            digest=links.digest(ticket_id), used_at=None, expires_at__gt=Now()
        )
        if mine.update(used_at=Now()) != 1:
            return None
        row = Ticket.objects.select_related("conversation__agent").get(
            digest=links.digest(ticket_id)
        )
    agent = row.conversation.agent
    if not agent.enabled:
        return None
    return TicketGrant(
        agent_pk=agent.pk,
        conversation_pk=row.conversation_id,
        conversation=row.conversation.public_id,
        role=row.role,
        allowed_origins=tuple(agent.allowed_origins),
    )
