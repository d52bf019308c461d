"""`manage.py send_test`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from audit.models import Event
from handoff.models import Channel
from tests import factories

pytestmark = pytest.mark.django_db


def test_it_prints_the_lines_of_a_channel_that_works() -> None:
    channel = factories.inbox_channel(factories.AgentFactory.create())
    out = StringIO()
    call_command("send_test", str(channel.pk), stdout=out)
    assert out.getvalue().splitlines() == [
        "Nothing to connect to.",
        f"Channel {channel.pk} (Shop team) works.",
    ]
    trail = Event.objects.get(action="channel.tested")
    assert (trail.actor, trail.channel) == ("shell", channel.pk)


def test_it_fails_with_the_lines_of_a_channel_that_does_not() -> None:
    agent = factories.AgentFactory.create()
    channel = factories.email_channel(agent, smtp_url="smtp://me:s3cr3t@127.0.0.1:9")
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("send_test", str(channel.pk), stdout=out)
    assert failed.value.returncode == 1
    assert "does not work yet" in str(failed.value)
    assert len(out.getvalue().splitlines()) >= 1
    assert "s3cr3t" not in out.getvalue()


def test_an_unknown_channel_names_the_known_ones() -> None:
    channel = factories.inbox_channel(factories.AgentFactory.create())
    with pytest.raises(CommandError, match=f"Known: {channel.pk}"):
        call_command("send_test", str(channel.pk + 1))
    Channel.objects.all().delete()
    with pytest.raises(CommandError, match="none yet"):
        call_command("send_test", "1")
