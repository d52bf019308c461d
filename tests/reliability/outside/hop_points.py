"""The named points of a hop from agent to agent at which the server kills itself."""

import os
from enum import StrEnum

from handoff.actions import calls, hops, release, request, sibling_calls, sibling_tools
from handoff.api import resources
from tests.reliability.outside.points import VARIABLE, wrap


class HopPoint(StrEnum):
    BEFORE_OFFER = "before the offer"
    IN_OFFER = "in the transaction of the offer, before its commit"
    AFTER_OFFER = "after the commit of the offer, before the answer"
    BEFORE_CLAIM = "before the claim"
    IN_CLAIM = "in the transaction of the claim, before its commit"
    AFTER_CLAIM = "after the commit of the claim, before the answer"
    BEFORE_REPLY = "before the sibling's reply"
    IN_REPLY = "in the transaction of the sibling's reply, before its commit"
    AFTER_REPLY = "after the commit of the sibling's reply, before the answer"
    BEFORE_RETURN = "before the sibling's release"
    IN_RETURN = "in the transaction of a hop's release, before its commit"
    AFTER_RETURN = "after the commit of the sibling's release, before the answer"


def install() -> None:
    if VARIABLE not in os.environ:
        return
    point = HopPoint
    wrap(calls, "hand_over", before=point.BEFORE_OFFER)
    wrap(request, "note_success", before=point.IN_OFFER)
    wrap(request, "_write_intent", after=point.AFTER_OFFER)
    wrap(resources, "claim_hop", before=point.BEFORE_CLAIM, after=point.AFTER_CLAIM)
    wrap(hops, "note", after=point.IN_CLAIM)
    wrap(sibling_tools, "reply_as_sibling", before=point.BEFORE_REPLY, after=point.AFTER_REPLY)
    wrap(sibling_calls, "say", after=point.IN_REPLY)
    wrap(sibling_tools, "release_as_sibling", before=point.BEFORE_RETURN, after=point.AFTER_RETURN)
    wrap(release, "_tell", after=point.IN_RETURN)
