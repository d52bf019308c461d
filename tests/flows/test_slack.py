"""A handoff in a Slack channel from the request to the resume note, through the real doors."""

import dataclasses
import json
import time
import uuid

import pytest
from django.db import connection
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.actions.inbound_apply import apply_due
from handoff.models import Channel, InboundEvent
from tests import factories
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.slack import BOT, BOT_TOKEN, Room
from tests.flows.slack_story import Story, made

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def story(providers: Providers) -> Story:
    return made(factories.AgentFactory.create(), providers.fakes["slack"], providers)


def test_the_whole_story(story: Story) -> None:
    answer = story.post(story.slack.url_verification("c-123"))
    assert (answer.status, answer.json()) == (200, {"challenge": "c-123"})

    result = story.ask()["result"]
    session = story.session()
    [asked] = story.posts()
    assert result["channel_kind"] == "slack"
    assert result["human_notified"] is True
    assert result["channel_message_id"] == f"C0SUPPORT:{asked.ts}"
    assert asked.thread_ts is None
    assert "an AI agent, asks Shop on Slack to take over." in asked.shown.splitlines()[0]
    assert f"/r/{factories.link_of(session).link_id}." in asked.links["Fill return form"]
    assert "Reply in this thread to write to the visitor." in asked.shown
    assert f"`!release {session.release_token}`" in asked.shown
    assert "| Look up order 1234 and fill in its status." in asked.shown
    assert asked.notified == ()

    assert story.hear("It left <Monday> & is on its way 😀", thread=asked.ts) == ["replied"]
    assert story.chat()[-1] == ("person", "It left <Monday> & is on its way 😀")

    assert story.ana_says("Thanks <!channel>!\nAnd when does it arrive?")["routed_to"] == (
        "recipient"
    )
    line = story.posts()[-1]
    assert line.thread_ts == asked.ts
    assert line.shown == ("*The visitor:* Ana\n| Thanks <!channel>!\n| And when does it arrive?")
    assert line.notified == ()

    release = f"!release {session.release_token} It arrives *tomorrow*"
    assert story.hear(release, thread=asked.ts) == ["released"]
    session = story.session()
    assert (session.release, session.message) == ("token", "It arrives *tomorrow*")
    author, note = story.chat()[-1]
    assert author == "system"
    assert note.startswith("[Bot resumed — ")
    assert "It arrives *tomorrow*" in note.splitlines()[0]
    told = story.posts()[-1]
    assert (told.thread_ts, told.shown) == (asked.ts, "Released. The assistant has been told.")
    assert story.ana_says("Thank you!")["routed_to"] == "agent"
    assert len(story.slack.thread(asked.ts)) == len(story.posts()) == 3


def test_the_slash_command_releases_in_the_open_channel(story: Story) -> None:
    story.ask()
    session = story.session()
    words = story.command(f"{session.release_token} It arrives tomorrow")
    assert words == "Released. The assistant has been told."
    session = story.session()
    assert (session.release, session.message) == ("token", "It arrives tomorrow")
    assert story.chat()[-1][1].startswith("[Bot resumed — ")
    assert len(story.posts()) == 1, "only whoever typed it is told"


def test_a_slash_command_that_names_nothing_is_told_so_and_says_no_more(story: Story) -> None:
    story.ask()
    token = story.session().release_token
    wrong = "h7" + "a" * 16
    said = {story.command(text) for text in ("", "release", "the kraken", wrong)}
    assert said == {"That release line is not recognised. Nothing was released or passed on."}
    elsewhere = story.command(token, channel="C0OTHER")
    assert elsewhere.startswith("Nothing more was done")
    assert token not in elsewhere
    assert story.session().status == "active"


def test_a_retry_and_another_event_id_do_nothing_twice(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    event = story.slack.event("It left.", thread=asked.ts)
    assert story.heard(event) == ["replied"]
    for number in range(11):
        again = {**event, "event_id": f"Ev{number}"} if number % 2 else event
        headers = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
        answer = story.post(story.slack.delivery(again, **(headers if number % 3 else {})))
        assert answer.status == 200
    apply_due()
    assert [line for line in story.chat() if line[0] == "person"] == [("person", "It left.")]


def test_an_outage_is_answered_so_that_slack_tries_again(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.ask()
    [asked] = story.posts()
    event = story.slack.event("It left.", thread=asked.ts)
    table = InboundEvent._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            answers = story.slack.say(
                story.providers,
                event,
                to=story.address,
                client=Client(raise_request_exception=False),
            )
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert [answer.status for answer in answers] == [503] * 4
    assert story.heard(event) == ["replied"]


def test_what_others_say_in_the_channel_is_not_kept(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    for event in (
        story.slack.event("Lunch?"),
        story.slack.event("Yes!", thread="1796030000.000001", parent_user_id="U0BEN"),
        story.slack.event("beep", thread=asked.ts, bot_id="B1"),
        story.slack.event("an echo of ours", thread=asked.ts, user=BOT),
        story.slack.event("edited", thread=asked.ts, subtype="message_changed"),
    ):
        assert story.heard(event) == []
    assert InboundEvent.objects.count() == 0
    assert story.hear("Where?", thread="1796030000.000001") == ["unmatched"]
    assert [line for line in story.chat() if line[0] == "person"] == []


def test_a_channel_that_is_none_of_ours_is_named_on_the_trail(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    assert story.hear("It left.", channel="C0OTHER", thread=asked.ts) == []
    assert AuditEvent.objects.filter(action="inbound.unmatched", reason="unknown_account").exists()


def test_in_its_own_thread_release_alone_will_do(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    assert story.hear("!release", thread=asked.ts) == ["released"]


def test_a_direct_message_outside_of_any_thread_means_the_one_that_is_open(
    providers: Providers,
) -> None:
    agent = factories.AgentFactory.create()
    story = made(agent, providers.fakes["slack"], providers, channel_id="D0MIA")
    story.ask()
    assert story.hear("It left.", channel="D0MIA") == ["replied"]
    assert story.chat()[-1] == ("person", "It left.")


def test_two_agents_share_a_channel_and_each_hears_its_thread(story: Story) -> None:
    other = made(factories.AgentFactory.create(), story.slack, story.providers)
    story.ask()
    other.ask()
    mine, theirs = story.posts()
    assert story.hear("For Ana.", thread=mine.ts) == ["replied"]
    assert story.hear("For the other.", thread=theirs.ts) == ["replied"]
    assert story.chat()[-1] == ("person", "For Ana.")
    assert other.chat()[-1] == ("person", "For the other.")


def test_channels_of_one_app_share_an_address_and_those_of_another_do_not(story: Story) -> None:
    story.slack.rooms["C0SALES"] = Room(id="C0SALES", name="sales")
    agent = factories.AgentFactory.create()
    sales = made(agent, story.slack, story.providers, channel_id="C0SALES")
    foreign = made(
        agent, story.slack, story.providers, channel_id="C0FOREIGN", signing_secret="another-secret"
    )
    sales.ask()
    [asked] = sales.posts()
    assert story.hear("Sold!", channel="C0SALES", thread=asked.ts) == ["replied"]
    assert sales.chat()[-1] == ("person", "Sold!")
    assert foreign.post(story.slack.delivery(story.slack.event("Hm"))).status == 401
    assert story.hear("Hm", channel="C0FOREIGN", thread=asked.ts) == []


def test_a_thread_that_was_deleted_goes_on_in_another(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    story.slack.lost_threads.add(asked.ts)
    story.ana_says("Are you there?")
    anew = story.posts()[-1]
    assert anew.thread_ts is None
    story.ana_says("Hello?")
    assert story.posts()[-1].thread_ts == anew.ts
    assert len(story.providers.requests("slack", path="chat.postMessage")) == 4
    assert story.hear("Yes!", thread=anew.ts) == ["replied"]
    assert story.hear("!release", thread=anew.ts) == ["released"]


def test_a_refusal_says_why_to_the_operator_and_not_to_the_agent(story: Story) -> None:
    story.slack.scopes = "channels:read"
    answer = story.ask()
    assert answer["result"]["code"] == "dispatch_failed"
    assert "scope" not in json.dumps(answer)
    story.channel.refresh_from_db()
    assert not story.channel.healthy
    assert "chat:write" in story.channel.last_error_hint
    failed = AuditEvent.objects.get(action="handoff.dispatch_failed")
    assert failed.failure == "Slack refused: missing_scope"
    assert BOT_TOKEN not in json.dumps(failed.details) + failed.failure


def test_a_short_wait_that_slack_asks_for_is_waited_and_a_long_one_is_not(story: Story) -> None:
    for seconds, works in (("1", True), ("3", False)):
        limited = FakeAnswer(429, headers={"Retry-After": seconds})
        story.providers.script("slack", [limited])
        other = factories.conversation(story.desk.agent, f"visitor-{seconds}")
        before = time.monotonic()
        answer = story.desk.call(
            "handoff_request", factories.arguments(story.channel), conversation=other
        )
        assert answer["isError"] is not works
        assert (time.monotonic() - before >= 1) is works
    assert len(story.posts()) == 1
    story.channel.refresh_from_db()
    assert story.channel.healthy


def test_a_post_that_may_have_arrived_is_unknown_and_its_answer_counts(story: Story) -> None:
    story.providers.script("slack", [FakeAnswer(json={"ok": False, "error": "internal_error"})])
    answer = story.ask()
    assert answer["isError"] is True
    assert answer["text"].startswith("It is not known whether Shop on Slack was reached.")
    session = story.session()
    assert session.status == "unknown"
    assert len(story.providers.requests("slack")) == 1
    assert story.command(f"{session.release_token} Found it") == (
        "Your answer went to the assistant; the visitor is with it."
    )


def test_the_door_answers_with_the_codes_that_slack_needs(story: Story) -> None:
    event = story.slack.event("Hi")
    good = story.slack.delivery(event)
    assert story.post(dataclasses.replace(good, headers={})).status == 401
    assert story.post(dataclasses.replace(good, body=good.body + b" ")).status == 401
    assert story.post(story.slack.raw(b"{")).status == 400
    assert story.post(story.slack.raw(b"{}")).status == 200
    assert story.post(good).status == 200
    over = b"[" + b" " * (1024 * 1024) + b"]"
    assert story.post(story.slack.raw(over)).status == 413
    unknown = f"/hooks/slack/{uuid.uuid4()}/"
    assert story.providers.deliver(good, to=unknown, client=Client()).status == 404
    assert Client().get(story.address).status_code == 405
    Channel.objects.update(enabled=False)
    assert story.post(dataclasses.replace(good, headers={})).status == 401
    assert story.post(story.slack.delivery(story.slack.event("Hi"))).status == 200
