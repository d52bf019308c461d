"""Row 9 at the tool-call door: what the agent is told when a provider is out of order is true."""

import re
from typing import Any, Final

import pytest
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions.channels import create_channel
from handoff.contract.kinds import ChannelKind
from handoff.models import Agent, Attempt, Channel
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.examples import CONFIGS
from tests.fakes.rude import Rude, RudeServer
from tests.fakes.smtp import SmtpServer
from tests.reliability.figures import report

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

KINDS: Final = (ChannelKind.EMAIL, *CONFIGS)
BEFORE: Final = (Rude.REFUSE, Rude.SILENT)
BEHIND: Final = (Rude.SILENT, Rude.BAD_GATEWAY, Rude.RESET_BEFORE)
NOT_ASKED: Final = (
    "Nobody could be asked: the Sales support channel did not accept the message. "
    "Do not say that somebody is looking into it. "
)
NOT_KNOWN: Final = "It is not known whether Sales support was reached. Do not say that they were. "
INNER: Final = re.compile(
    r"127\.0\.0\.1|localhost|socket|ssl|tls|https?\b|smtp|api|exception|error:|timed? ?out|"
    r"connect|reset|redirect|502|307|json|html|token|proxy|certificate",
    re.IGNORECASE,
)
"""Words of what is underneath, which mean nothing to an agent or tell it too much."""
_ID: Final = re.compile(r"\b[a-z]{2}_[a-z2-7]+")


def channel_behind(kind: str, *, agent: Agent, port: int, tls: bool, settings: Settings) -> Channel:
    """A channel of a kind whose provider is what listens on the port."""
    if kind == ChannelKind.EMAIL:
        return factories.email_channel(agent, smtp_url=f"smtp://127.0.0.1:{port}")
    base = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    setattr(settings, f"{kind.upper()}_API_BASE", base)
    config = CONFIGS[kind]
    return create_channel(agent, kind=kind, label="Sales support", config=config, actor="test")


def asked(desk: Desk, channel: Channel) -> tuple[dict[str, Any], Attempt]:
    """The answer to a handoff request of a new visitor, which tells nothing of what is inside."""
    visitor = factories.conversation(desk.agent, f"visitor of {channel.pk}")
    answer = desk.call("handoff_request", factories.arguments(channel), conversation=visitor)
    result = answer["result"]
    shown = _ID.sub("", f"{answer['text']} {result['error']} {result['details']['hint']}")
    assert INNER.search(shown) is None, INNER.search(shown)
    assert "127.0.0.1" not in str(answer)
    for key, value in CONFIGS.get(channel.kind, {}).items():
        assert not ("token" in key or "secret" in key) or value not in str(answer)
    return answer, Attempt.objects.get(session__channel=channel)


def trail(attempt: Attempt, action: str) -> None:
    """The cause stands on the trail, without the address of anything."""
    row = AuditEvent.objects.get(action=action, attempt=attempt.public_id)
    assert row.failure
    assert "127.0.0.1" not in row.failure


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_could_be_asked_when_nothing_had_left(
    desk: Desk, agent: Agent, settings: Settings, kind: str
) -> None:
    settings.DISPATCH_SECONDS = 1.5
    for mode in BEFORE:
        with RudeServer(mode, at_once=True) as server:
            channel = channel_behind(
                kind, agent=agent, port=server.port, tls=True, settings=settings
            )
            answer, attempt = asked(desk, channel)
        assert answer["text"].startswith(NOT_ASKED), mode
        assert (attempt.session.status, attempt.failure_kind) == ("failed", "connect"), mode
        assert not attempt.session.links.filter(revoked_at=None).exists()
        trail(attempt, "handoff.dispatch_failed")
    report(9, f"{kind}: {len(BEFORE)} tool calls with a fault before anything left, all told so")


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_not_known_whether_when_it_had_left_and_the_link_stays(
    desk: Desk, agent: Agent, settings: Settings, kind: str
) -> None:
    settings.DISPATCH_SECONDS = 1.5
    for mode in BEHIND:
        with (
            SmtpServer() as mail,
            RudeServer(
                mode, upstream=mail.port if kind == ChannelKind.EMAIL else None, start=b"250-"
            ) as server,
        ):
            channel = channel_behind(
                kind, agent=agent, port=server.port, tls=False, settings=settings
            )
            answer, attempt = asked(desk, channel)
            assert server.connections == 1  # sent once, and never again
        assert answer["text"].startswith(NOT_KNOWN), mode
        assert (attempt.session.status, attempt.failure_kind) == (
            "unknown", "unknown_outcome",
        ), mode  # fmt: skip
        assert attempt.session.links.filter(revoked_at=None).exists()
        trail(attempt, "handoff.dispatch_unknown")
    report(9, f"{kind}: {len(BEHIND)} tool calls with a fault after it had left, all told so")
