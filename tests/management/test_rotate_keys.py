"""`manage.py rotate_keys`."""

from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django import Settings

from audit.models import Event
from handoff.models import Channel
from handoff.models.sealed import Unreadable
from tests import factories

pytestmark = pytest.mark.django_db

OLD, NEW, LOST = (Fernet.generate_key().decode() for _ in range(3))


@pytest.fixture
def channel(settings: Settings) -> Channel:
    settings.ENCRYPTION_KEYS = [OLD]
    return factories.email_channel(factories.AgentFactory.create())


def run() -> str:
    out = StringIO()
    call_command("rotate_keys", stdout=out)
    return out.getvalue()


def test_afterwards_the_old_key_may_go(channel: Channel, settings: Settings) -> None:
    before = channel.opened_settings()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert run() == "Channels sealed under the first key: 1.\n"
    settings.ENCRYPTION_KEYS = [NEW]
    assert Channel.objects.get().opened_settings() == before
    event = Event.objects.get(action="channel.changed")
    assert (event.actor, event.details["resealed"]) == ("shell", True)


def test_a_channel_that_no_key_opens_is_named_and_left_as_it_is(
    channel: Channel, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = [LOST]
    readable = factories.email_channel(channel.agent, label="Duty desk")
    settings.ENCRYPTION_KEYS = [NEW, LOST]
    with pytest.raises(CommandError) as error:
        run()
    assert str(error.value).splitlines()[1:] == [f"Channel {channel.pk}: Sales support (email)"]
    settings.ENCRYPTION_KEYS = [NEW]
    readable.refresh_from_db()
    assert readable.opened_settings()["to"]
    sealed = channel.sealed_settings
    channel.refresh_from_db()
    assert channel.sealed_settings == sealed
    with pytest.raises(Unreadable):
        channel.opened_settings()
