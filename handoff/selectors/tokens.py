"""Who is calling: a token becomes an agent, or one sentence for every reason why not."""

import dataclasses
import hmac
import re
from typing import Final

from django.db.models import Q
from django.db.models.functions import Now

from handoff import links
from handoff.errors import NotAuthorised
from handoff.models import Agent, Token

_TOKEN: Final = re.compile(r"hd_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})")
_NO_DIGEST: Final = "0" * 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Caller:
    """An authenticated agent, with the public id of the token that it used."""

    agent: Agent
    token: str
    token_pk: int


def caller_for(authorization: str, x_token: str = "") -> Caller:
    """The caller of an `Authorization: Bearer …` header or an `x-openbot-agent-token` header.

    Raises NotAuthorised for every cause alike; its `reason` (missing, malformed, unknown, revoked,
    expired, disabled) is for the trail.
    """
    text = x_token.strip()
    if authorization:
        scheme, _, text = authorization.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthorised("malformed")
        text = text.strip()
    if not text:
        raise NotAuthorised("missing")
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise NotAuthorised("malformed")
    public_id, secret = match.groups()
    token = (
        Token.objects.select_related("agent")
        .annotate(is_live=Q(expires_at=None) | Q(expires_at__gt=Now()))
        .filter(public_id=public_id)
        .first()
    )
    right = hmac.compare_digest(links.digest(secret), token.digest if token else _NO_DIGEST)
    if token is None or not right:
        raise NotAuthorised("unknown")
    if token.revoked_at is not None:
        raise NotAuthorised("revoked")
    if not token.is_live:
        raise NotAuthorised("expired")
    if not token.agent.enabled:
        raise NotAuthorised("disabled")
    return Caller(agent=token.agent, token=public_id, token_pk=token.pk)
