"""What was said stays said: no edit and no deletion at a provider changes a line, or acts."""

import copy
import json

import pytest
from pytest_django import Settings

from handoff.models import InboundEvent, Message
from tests import factories
from tests.fakes.providers import Providers
from tests.fakes.telegram import SUPERGROUP
from tests.flows import discord_story, slack_story, telegram_story
from tests.flows.test_whatsapp import Story as WhatsAppStory
from tests.flows.test_whatsapp import story as whatsapp  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db(transaction=True)

SAID = "It left on Monday."
EDITED = "/release Never mind, it was lost."


def check_kept() -> None:
    """One line, as it was said, and a handoff that goes on."""
    [line] = Message.objects.exclude(author__in=("subscriber", "agent", "system"))
    assert line.text == SAID
    assert line.conversation is not None
    [session] = line.conversation.sessions.all()
    assert session.status == "active"


def test_in_telegram(providers: Providers, settings: Settings) -> None:
    """It tells bots of edits and never of deletions."""
    settings.PUBLIC_BASE_URL = "https://desk.example.org"
    story = telegram_story.made(factories.AgentFactory.create(), providers)
    story.press("set_up", "replies")
    story.ask()
    [asked] = story.posts()
    assert story.hear(SAID, chat=SUPERGROUP, under=asked) == ["replied"]
    message = story.telegram.write(SAID, chat=SUPERGROUP, under=asked)
    story.telegram.waiting.clear()
    story.telegram.update(edited_message={**message, "text": EDITED, "edit_date": 1})
    assert story.heard() == []
    check_kept()


def test_in_slack(providers: Providers) -> None:
    story = slack_story.made(factories.AgentFactory.create(), providers.fakes["slack"], providers)
    story.ask()
    [asked] = story.posts()
    said = story.slack.event(SAID, thread=asked.ts)
    assert story.heard(said) == ["replied"]
    old = said["event"]
    new = {**old, "text": EDITED, "edited": {"user": old["user"], "ts": old["ts"]}}
    changed = {"message": new, "previous_message": old, "text": EDITED, "hidden": True}
    deleted = {"deleted_ts": old["ts"], "previous_message": old, "hidden": True}
    for subtype, more in (("message_changed", changed), ("message_deleted", deleted)):
        text = more.pop("text", "")
        event = story.slack.event(text, thread=asked.ts, subtype=subtype, **more)
        assert story.heard(event) == []
    # an edit that comes as the message itself, under its own id
    again = copy.deepcopy(said) | {"event_id": "Ev0EDITED"}
    again["event"]["text"] = EDITED
    assert story.heard(again) == []
    check_kept()


def test_in_discord(providers: Providers) -> None:
    """The desk reads threads after the newest message that it knows, and no gateway."""
    story = discord_story.made(factories.AgentFactory.create(), providers, poll_replies=True)
    story.discord.shows_content = True
    story.ask()
    thread = story.thread()
    number = story.discord.write(thread, SAID)
    story.poll()
    [written] = [item for item in story.discord.messages if item["id"] == number]
    written |= {"content": EDITED, "edited_timestamp": "2026-06-10T12:00:00Z"}
    story.poll()
    check_kept()
    story.discord.messages.remove(written)
    story.poll()
    check_kept()


def test_in_whatsapp(whatsapp: WhatsAppStory) -> None:  # noqa: F811
    story = whatsapp
    story.hear(story.meta.says("On duty from now on."))
    story.ask()
    [asked] = story.sent()
    said = story.meta.says(SAID, quotes=asked.wamid)
    assert story.hear(said) == ["replied"]
    [message] = said["messages"]
    for kind, about in (
        ("edit", {"original_message_id": message["id"], "message": {"text": {"body": EDITED}}}),
        ("revoke", {"original_message_id": message["id"]}),
    ):
        news = {**message, "id": f"wamid.{kind}", "type": kind, kind: about}
        del news["text"]
        assert story.hear({**said, "messages": [news]}) == []
    # the same message with other words
    again = json.loads(json.dumps(said).replace(SAID, EDITED))
    assert story.hear(again) == []
    check_kept()
    assert InboundEvent.objects.filter(outcome="released").count() == 0
