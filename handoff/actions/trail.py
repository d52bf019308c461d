"""An audit row about a session, with the ids that every such row carries."""

from collections.abc import Mapping

import audit.trail
from audit.trail import Detail
from handoff.models import Session


def note(
    action: str,
    session: Session,
    *,
    actor: str,
    token: str = "",
    tool: str = "",
    attempt: str = "",
    reason: str = "",
    failure: str = "",
    details: Mapping[str, Detail] | None = None,
) -> None:
    """Write one audit row inside the caller's transaction. `actor` is who did it."""
    audit.trail.record(
        action,
        actor=actor,
        agent=session.agent.name,
        other_agent=session.target.name if session.target else "",
        token=token,
        tool=tool,
        conversation=session.conversation.public_id if session.conversation else "",
        session=session.public_id,
        attempt=attempt,
        channel=session.channel_id,
        reason=reason,
        failure=failure,
        details=details,
    )
