"""Lets a token in, at whichever door it comes."""

import dataclasses

from handoff.actions import addresses, throttle
from handoff.actions.tickets import TicketGrant, redeem
from handoff.actions.tokens import note_use
from handoff.errors import NotAuthorised
from handoff.selectors.tokens import Caller, caller_for


@dataclasses.dataclass(frozen=True, kw_only=True)
class Knock:
    """What a request says about who sends it: header values, "" for an absent one."""

    authorization: str
    x_token: str
    """`x-openbot-agent-token`."""
    remote: str
    """The peer's address."""
    forwarded: str
    """`X-Forwarded-For`."""


def admit(knock: Knock) -> Caller:
    """Who calls; raises NotAuthorised, and TooFast for an address that was refused too often."""
    try:
        caller = caller_for(knock.authorization, knock.x_token)
    except NotAuthorised:
        throttle.take_refused(addresses.hashed(knock.remote, knock.forwarded))
        raise
    note_use(caller.token_pk)
    return caller


def admit_ticket(ticket: str, *, remote: str, forwarded: str) -> TicketGrant:
    """What a ticket opens, which is used up; raises as `admit` does."""
    grant = redeem(ticket)
    if grant is None:
        throttle.take_refused(addresses.hashed(remote, forwarded))
        raise NotAuthorised("ticket")
    return grant
