"""`manage.py set_up`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from audit.models import Event
from handoff.actions.channels import create_channel
from handoff.models import Channel
from tests import factories
from tests.fakes.providers import Providers
from tests.fakes.telegram import BOT_TOKEN
from tests.fakes.telegram_chats import MIA

pytestmark = pytest.mark.django_db


@pytest.fixture
def channel(providers: Providers, settings: Settings) -> Channel:
    settings.PUBLIC_BASE_URL = "https://desk.example.org"
    config = {"bot_token": BOT_TOKEN, "chat_id": MIA.id}
    agent = factories.AgentFactory.create()
    return create_channel(agent, kind="telegram", label="Mia", config=config, actor="test")


def test_it_does_what_the_button_does(channel: Channel, providers: Providers) -> None:
    out = StringIO()
    call_command("set_up", str(channel.pk), "replies", stdout=out)
    url = f"https://desk.example.org/hooks/telegram/{channel.uuid}/"
    assert out.getvalue() == f"Telegram now posts replies to {url}\n"
    assert providers.fakes["telegram"].webhook.url == url
    trail = Event.objects.filter(action="channel.changed").latest("pk")
    assert (trail.actor, trail.details["set_up"]) == ("shell", "replies")


def test_it_fails_with_what_to_do(channel: Channel, settings: Settings) -> None:
    settings.PUBLIC_BASE_URL = "http://desk.example.org"
    out = StringIO()
    with pytest.raises(CommandError, match="could not be set up"):
        call_command("set_up", str(channel.pk), "replies", stdout=out)
    assert "public https address" in out.getvalue()


def test_another_word_lists_what_there_is(channel: Channel) -> None:
    with pytest.raises(CommandError, match=r"telegram channel: replies \(Connect replies\)\."):
        call_command("set_up", str(channel.pk), "?")
    inbox = factories.inbox_channel(channel.agent)
    with pytest.raises(CommandError, match=r"owner_inbox channel: nothing\."):
        call_command("set_up", str(inbox.pk), "replies")
    with pytest.raises(CommandError, match="Known: "):
        call_command("set_up", "0", "replies")
