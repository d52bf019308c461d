"""A handoff as AG-UI events for an agent's own front end (`pip install handoff-client[ag-ui]`).

`responseSchema` is the JSON Schema of the values that were asked for, as AG-UI's interrupts have
it; the person answers through the desk, so these are CUSTOM events and no interrupts.
"""

from collections.abc import Iterator
from typing import Any, Final

from ag_ui.core import CustomEvent

from handoff_client.answers import Answer
from handoff_client.desk import Desk
from handoff_client.waiting import ENDED

ASKED: Final = "handoff.asked"
ENDED_EVENT: Final = "handoff.ended"


def asked(handoff: dict[str, Any]) -> CustomEvent:
    """That people were asked, and for what."""
    return CustomEvent(
        name=ASKED,
        value={
            "handoffSessionId": handoff.get("id"),
            "channel": handoff.get("channel_label"),
            "responseSchema": handoff.get("return_schema"),
            "expiresAt": handoff.get("return_until"),
        },
    )


def ended(answer: Answer) -> CustomEvent:
    """How it ended: the resume note, and the values as the schema types them."""
    handoff = answer.handoff or {}
    return CustomEvent(
        name=ENDED_EVENT,
        value={
            "handoffSessionId": handoff.get("id"),
            "text": answer.text,
            "release": handoff.get("release"),
            "outcome": handoff.get("outcome"),
            "values": handoff.get("values"),
            "missing": handoff.get("missing"),
            "invalid": handoff.get("invalid"),
        },
    )


def follow(desk: Desk, session: str, *, seconds: float) -> Iterator[CustomEvent]:
    """Both events of one handoff; only the first when it is still open after `seconds`."""
    open_handoff = desk.status(session).handoff
    if open_handoff is None:
        return
    yield asked(open_handoff)
    answer = desk.wait_resumed(session, seconds=seconds)
    if (answer.handoff or {}).get("status") in ENDED:
        yield ended(answer)
