"""Revokes the return links of a session: nobody can answer through them any more."""

from django.db.models.functions import Now

import audit.trail
from handoff.actions.release import lock
from handoff.actions.writing import writing
from handoff.models import ReturnLink, Session


def revoke_links(session: Session, *, actor: str) -> int:
    """Revoke every link of the session that is not revoked yet. Returns how many there were.

    The session goes on; its recipient can still answer in the other ways of its channel.
    """
    with writing():
        locked, conversation = lock(session.pk)
        revoked = ReturnLink.objects.filter(session=locked, revoked_at=None).update(
            revoked_at=Now()
        )
        if revoked:
            audit.trail.record(
                "link.revoked",
                actor=actor,
                agent=locked.agent.name,
                session=locked.public_id,
                channel=locked.channel_id,
                conversation=conversation.public_id if conversation else "",
                details={"links": revoked},
            )
    return revoked
