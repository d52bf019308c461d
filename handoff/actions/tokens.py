"""Issues and revokes API tokens."""

import dataclasses
import datetime as dt
import secrets
import string
from typing import Final

from django.db.models import Q
from django.db.models.functions import Now

import audit.trail
from handoff import links
from handoff.actions import webhook_queue
from handoff.actions.writing import writing
from handoff.models import Agent, Token

_ALPHABET: Final = string.ascii_letters + string.digits


@dataclasses.dataclass(frozen=True)
class IssuedToken:
    """`text` is the whole token; it is shown once and kept nowhere."""

    row: Token
    text: str


def issue_token(
    agent: Agent, *, label: str = "", expires_at: dt.datetime | None = None, actor: str
) -> IssuedToken:
    """A new token of the form `hd_<8 characters>_<43 characters>`; raises ValidationError when the
    label cannot be kept.
    """
    public_id = "".join(secrets.choice(_ALPHABET) for _ in range(8))
    secret = secrets.token_urlsafe(32)
    with writing():
        row = Token(
            agent=agent,
            public_id=public_id,
            digest=links.digest(secret),
            label=label,
            expires_at=expires_at,
        )
        row.clean_fields(exclude={"agent"})
        row.save()
        audit.trail.record("token.issued", actor=actor, agent=agent.name, token=public_id)
    return IssuedToken(row, f"hd_{public_id}_{secret}")


def revoke_token(token: Token, *, actor: str) -> bool:
    """Revoke a token for good, and stop the webhooks that it set up; False when it was already."""
    with writing():
        revoked = Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=Now()) == 1
        if revoked:
            audit.trail.record(
                "token.revoked", actor=actor, agent=token.agent.name, token=token.public_id
            )
            webhook_queue.stop_of(token.pk)
    return revoked


def note_use(token_pk: int) -> None:
    """Remember that a token is in use, to the hour, so that a dead one can be told."""
    stale = Q(last_used_at=None) | Q(last_used_at__lt=Now() - dt.timedelta(hours=1))
    if Token.objects.filter(stale, pk=token_pk).exists():
        with writing():
            Token.objects.filter(stale, pk=token_pk).update(last_used_at=Now())
