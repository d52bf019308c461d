"""A handoff over WhatsApp from the request to the resume note, through the real doors."""

import dataclasses
import datetime as dt
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models.functions import Now
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.actions import couriers
from handoff.actions.channels import change_channel
from handoff.actions.inbound_apply import apply_due
from handoff.models import Agent, Channel, Conversation, InboundEvent, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.providers import Delivered, Delivery, Providers
from tests.fakes.whatsapp import FakeWhatsApp, Sent, signature
from tests.fakes.whatsapp_rules import MetaError
from tests.transports.whatsapp_samples import SETTINGS, TEMPLATE, documented

pytestmark = pytest.mark.django_db(transaction=True)


@dataclasses.dataclass
class Story:
    """A shop's agent, a visitor called Ana, and Mia, who is on duty with her telephone."""

    desk: Desk
    channel: Channel
    verify_token: str
    conversation: Conversation
    meta: FakeWhatsApp
    providers: Providers

    def post(self, delivery: Delivery) -> Delivered:
        """Meta calls our webhook."""
        address = f"/hooks/whatsapp/{self.channel.uuid}/"
        return self.providers.deliver(delivery, to=address, client=Client())

    def hear(self, *values: dict[str, Any]) -> list[str]:
        """Meta posts these in one call, and they are applied: what became of each."""
        before = set(InboundEvent.objects.values_list("pk", flat=True))
        answer = self.post(self.meta.delivery(*values))
        assert (answer.status, answer.body) == (200, b"")
        apply_due()
        apply_due()
        rows = InboundEvent.objects.exclude(pk__in=before).order_by("pk")
        return list(rows.values_list("outcome", flat=True))

    def ask(self, **args: Any) -> dict[str, Any]:
        return self.desk.call(
            "handoff_request",
            factories.arguments(self.channel, **args),
            conversation=self.conversation,
        )

    def ana_says(self, text: str) -> dict[str, Any]:
        body = {"client_id": text, "author": "subscriber", "text": text}
        reply = self.desk.post(f"conversations/{self.conversation.public_id}/messages", body)
        assert reply.status_code in (200, 201)
        said: dict[str, Any] = reply.json()["message"]
        return said

    def chat(self) -> list[tuple[str, str]]:
        """Author and text of each line that the visitor's chat shows."""
        found = self.desk.get(f"conversations/{self.conversation.public_id}/messages").json()
        return [(row["author"], row["text"]) for row in found["data"]]

    def sent(self) -> list[Sent]:
        """What Mia has on her telephone, once all that is due was sent."""
        couriers.look()
        assert couriers.wait(10)
        return self.meta.sent

    def session(self) -> Session:
        return Session.objects.get()

    def progress(self) -> str:
        return self.session().attempts.get().delivery


@pytest.fixture
def story(providers: Providers) -> Story:
    meta: FakeWhatsApp = providers.fakes["whatsapp"]
    meta.templates = documented()
    agent: Agent = factories.AgentFactory.create()
    return _story(
        agent, meta, providers, {key: SETTINGS[key] for key in SETTINGS if key != "verify_token"}
    )


@pytest.fixture
def story_with_template(story: Story) -> Story:
    settings = {**story.channel.opened_settings(), **TEMPLATE}
    story.channel.keep_settings(settings)
    story.channel.save()
    return story


def _story(agent: Agent, meta: FakeWhatsApp, providers: Providers, config: dict[str, Any]) -> Story:
    out = StringIO()
    call_command(
        "new_channel", "--agent", agent.name, "--kind", "whatsapp", "--label", "Mia on duty",
        "--config", json.dumps(config), "--json", stdout=out,
    )  # fmt: skip
    made = json.loads(out.getvalue())
    channel = Channel.objects.get(pk=made["channel_id"])
    assert made["webhook_url"].endswith(f"/hooks/whatsapp/{channel.uuid}/")
    conversation = factories.conversation(agent, name="Ana")
    return Story(Desk(agent), channel, made["verify_token"], conversation, meta, providers)


def test_the_whole_story(story: Story) -> None:
    answer = story.post(story.meta.verification(story.verify_token))
    assert (answer.status, answer.body) == (200, b"1158201444")
    assert answer.headers["content-type"].startswith("text/plain")
    assert story.hear(story.meta.says("On duty from now on.")) == ["unmatched"]

    result = story.ask()["result"]
    [asked] = story.sent()
    session = story.session()
    assert result["channel_kind"] == "whatsapp"
    assert result["channel_message_id"] == asked.wamid
    assert result["human_notified"] is True
    assert asked.type == "interactive"
    assert f"/r/{factories.link_of(session).link_id}." in asked.url
    assert f"`/release {session.release_token}`" in asked.text
    assert "| Look up order 1234 and fill in its status." in asked.text

    reports = [
        story.meta.reports(asked.wamid, "delivered", "sent"),
        story.meta.reports(asked.wamid, "read"),
    ]
    assert story.hear(*reports) == ["delivery", "no_news", "delivery"]
    assert story.progress() == "read"
    assert story.hear(*reports) == []
    assert session.status == story.session().status == "active"

    reply = story.meta.says("Good morning! It left on Monday. 😀", quotes=asked.wamid)
    assert story.hear(reply, reply) == ["replied"]
    assert story.chat()[-1] == ("person", "Good morning! It left on Monday. 😀")

    assert story.ana_says("And when does it *arrive*?")["routed_to"] == "recipient"
    line = story.sent()[-1]
    assert line.text.endswith("| And when does it \u200d*arrive*?")
    assert line.quotes == asked.wamid
    assert story.hear(story.meta.says("Tomorrow.", quotes=line.wamid)) == ["replied"]

    release = story.meta.says(f"/release {session.release_token} Shipped on Monday.")
    assert story.hear(release) == ["released"]
    session = story.session()
    assert (session.release, session.message) == ("token", "Shipped on Monday.")
    author, note = story.chat()[-1]
    assert author == "system"
    assert note.startswith("[Bot resumed — ")
    assert "Shipped on Monday." in note.splitlines()[0]
    assert story.sent()[-1].text == "Released. The assistant has been told."
    assert story.sent()[-1].quotes == release["messages"][0]["id"]
    assert story.ana_says("Thanks!")["routed_to"] == "agent"


def test_a_reply_without_a_quote_means_the_one_that_is_open(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    assert story.hear(story.meta.says("It left on Monday.")) == ["replied"]


def test_with_two_open_the_person_is_asked_which(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    other = factories.conversation(story.desk.agent, "visitor-2", name="Ben")
    story.desk.call("handoff_request", factories.arguments(story.channel), conversation=other)
    assert story.hear(story.meta.says("It left on Monday.")) == ["which"]
    *_, second, asked_which = story.sent()
    assert asked_which.text.startswith("More than one handoff is open here")
    assert story.hear(story.meta.says("It left.", quotes=second.wamid)) == ["replied"]
    assert Session.objects.exclude(joined_name="").get().conversation == other


def test_somebody_else_is_not_listened_to(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    session = story.session()
    stranger = story.meta.says(f"/release {session.release_token}", person="4915100000000")
    assert story.hear(stranger) == ["unmatched"]
    assert story.session().status == "active"
    assert len(story.sent()) == 1


def test_who_was_on_duty_before_speaks_in_their_own_handoffs_only(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    mias = story.session()
    config = {**story.channel.opened_settings(), "to": "+49 151 00000000"}
    change_channel(story.channel, config=config, actor="admin")
    other = factories.conversation(story.desk.agent, "visitor-2", name="Ben")
    story.hear(story.meta.says("Ben's telephone.", person="4915100000000"))
    story.desk.call("handoff_request", factories.arguments(story.channel), conversation=other)
    assert story.hear(story.meta.says("It left on Monday.")) == ["replied"]
    assert story.chat()[-1] == ("person", "It left on Monday.")
    assert story.hear(story.meta.says(f"/release {mias.release_token}")) == ["released"]
    assert story.hear(story.meta.says("By the way.")) == ["unmatched"]
    assert story.hear(story.meta.says("On it.", person="4915100000000")) == ["replied"]
    assert list(other.messages.filter(author="person").values_list("text", flat=True)) == ["On it."]


def test_a_message_that_fails_after_it_was_accepted_ends_it_as_undeliverable(
    story: Story,
) -> None:
    story.hear(story.meta.says("Here."))
    assert story.ask()["result"]["human_notified"] is True
    [asked] = story.sent()
    assert story.hear(story.meta.reports(asked.wamid, "sent", "failed")) == ["no_news", "delivery"]
    session = story.session()
    assert (session.status, session.release) == ("released", "undeliverable")
    author, note = story.chat()[-1]
    assert author == "system"
    assert note == "[Bot resumed — the message to Mia on duty could not be delivered.]"
    bounced = AuditEvent.objects.get(action="handoff.bounced")
    assert bounced.reason == "recipient_unreachable"
    assert bounced.details["provider_code"] == "131026"
    assert bounced.failure.startswith("Meta 131026: Message undeliverable")
    assert "4915123456789" not in bounced.failure
    assert story.ana_says("Hello?")["routed_to"] == "agent"


def test_a_failure_after_the_person_spoke_ends_nothing(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    [asked] = story.sent()
    story.hear(story.meta.says("I am on it.", quotes=asked.wamid))
    story.hear(story.meta.reports(asked.wamid, "failed"))
    assert story.session().status == "active"


def test_a_line_that_fails_later_is_told_in_the_chat(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    message = story.ana_says("Are you there?")
    line = story.sent()[-1]
    assert story.hear(story.meta.reports(line.wamid, "failed", code=131047)) == ["delivery"]
    session = story.session()
    assert session.messages.get(undelivered=True).public_id == message["id"]
    assert session.deliveries.get().failure_kind == "window_closed"
    assert session.status == "active"


def test_outside_the_window_without_a_template_nobody_is_asked(story: Story) -> None:
    answer = story.ask()
    assert answer["isError"] is True
    assert answer["result"]["code"] == "dispatch_failed"
    assert answer["result"]["details"]["kind"] == "window_closed"
    assert "hint" in answer["result"]["details"]
    assert story.providers.requests("whatsapp") == []
    assert story.session().status == "failed"
    story.channel.refresh_from_db()
    assert story.channel.healthy
    assert "name one in the channel" in story.channel.last_error_hint
    assert story.ana_says("Hello?")["routed_to"] == "agent"


def test_outside_the_window_the_template_reaches_the_person_and_a_reply_opens_it(
    story_with_template: Story,
) -> None:
    story = story_with_template
    assert story.ask()["result"]["human_notified"] is True
    story.ana_says("It is\nurgent.")
    asked, line = story.sent()
    session = story.session()
    assert [asked.type, line.type] == ["template", "template"]
    assert f"/r/{factories.link_of(session).link_id}." in asked.url
    assert f"begin a reply with /release {session.release_token} and a note" in asked.text
    assert "The visitor: Ana\n\nIt is urgent.\n" in line.text

    assert story.hear(story.meta.says("On it.", quotes=asked.wamid)) == ["replied"]
    story.ana_says("Thank you.")
    assert story.sent()[-1].type == "text"


def test_when_metas_clock_differs_the_template_goes(story_with_template: Story) -> None:
    story = story_with_template
    story.hear(story.meta.says("Here."))
    story.meta.wrote(ago=dt.timedelta(hours=25))
    assert story.ask()["result"]["human_notified"] is True
    assert [sent.type for sent in story.sent()] == ["template"]
    assert len(story.providers.requests("whatsapp", path="/messages")) == 2


def test_a_status_may_come_before_we_know_the_id(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    outcomes: list[list[str]] = []

    def deliver_first(sent: Sent) -> None:
        """On the provider's thread, while our own call still waits for its answer."""
        try:
            outcomes.append(story.hear(story.meta.reports(sent.wamid, "delivered")))
        finally:
            connections.close_all()

    story.meta.before_answering = deliver_first
    assert story.ask()["result"]["human_notified"] is True
    assert outcomes == [[""]]
    assert story.progress() == ""
    InboundEvent.objects.filter(processed_at=None).update(next_attempt_at=Now())
    apply_due()
    assert story.progress() == "delivered"


def test_a_failure_that_overtakes_the_acceptance_is_not_lost(story: Story) -> None:
    story.hear(story.meta.says("Here."))

    def fail_first(sent: Sent) -> None:
        try:
            story.hear(story.meta.reports(sent.wamid, "failed"))
        finally:
            connections.close_all()

    story.meta.before_answering = fail_first
    story.ask()
    InboundEvent.objects.filter(processed_at=None).update(next_attempt_at=Now())
    apply_due()
    assert story.session().release == "undeliverable"


def test_a_refusal_says_why_to_the_operator_and_not_to_the_agent(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.providers.script("whatsapp", [MetaError(190, "Session has expired").answer()])
    answer = story.ask()
    assert answer["result"]["code"] == "dispatch_failed"
    assert "expired" not in json.dumps(answer)
    story.channel.refresh_from_db()
    assert not story.channel.healthy
    assert "use a system user token" in story.channel.last_error_hint
    failed = AuditEvent.objects.get(action="handoff.dispatch_failed")
    assert failed.failure.startswith("Meta 190: (#190) Session has expired")


def test_two_channels_of_one_app_share_an_address(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    other_agent: Agent = factories.AgentFactory.create()
    config = {**story.channel.opened_settings(), "to": "+49 151 00000000"}
    other = _story(other_agent, story.meta, story.providers, config)
    other.conversation = factories.conversation(other_agent, "v-9", name="Ben")
    assert story.hear(story.meta.says("Ben's here.", person="4915100000000")) == ["unmatched"]
    other.ask()
    assert story.hear(story.meta.says("On it.", person="4915100000000")) == ["replied"]
    assert other.chat()[-1] == ("person", "On it.")
    assert story.chat() == []


def test_a_number_that_is_nobodys_is_answered_200_and_named_on_the_trail(story: Story) -> None:
    value = story.meta.says("Hi")
    value["metadata"]["phone_number_id"] = "999"
    assert story.hear(value) == []
    assert AuditEvent.objects.filter(action="inbound.unmatched", reason="unknown_account").exists()


def test_the_door_answers_with_the_codes_that_meta_needs(story: Story) -> None:
    delivery = story.meta.delivery(story.meta.says("Hi"))
    wrong = story.meta.delivery(story.meta.says("Hi"), secret="another")
    unreadable = Delivery(body=b"{", headers=_signed(story, b"{"))
    assert story.post(wrong).status == 403
    assert story.post(dataclasses.replace(delivery, headers={})).status == 403
    assert story.post(story.meta.verification("wrong")).status == 403
    assert story.post(unreadable).status == 200
    assert story.post(delivery).status == 200
    long = b"[" + b" " * 2_900_000 + b"]"
    assert story.post(Delivery(body=long, headers=_signed(story, long))).status == 200
    over = b"[" + b" " * (3 * 1024 * 1024) + b"]"
    assert story.post(Delivery(body=over, headers=_signed(story, over))).status == 413
    unknown = f"/hooks/whatsapp/{story.conversation.agent_id:032x}/"
    assert story.providers.deliver(delivery, to=unknown, client=Client()).status == 404
    Channel.objects.update(enabled=False)
    assert story.post(wrong).status == 403
    assert story.post(story.meta.delivery(story.meta.says("Hi again"))).status == 200


def test_a_file_is_not_carried_and_the_person_is_told(story: Story) -> None:
    story.hear(story.meta.says("Here."))
    story.ask()
    image = story.meta.says("", type="image", image={"id": "1", "caption": "The parcel"})
    assert story.hear(image) == ["replied"]
    assert story.chat()[-1] == ("person", "The parcel")
    assert story.sent()[-1].text == "Files are not passed on, only text."


def _signed(story: Story, body: bytes) -> dict[str, str]:
    secret = story.channel.opened_settings()["app_secret"]
    return {"X-Hub-Signature-256": signature(secret, body)}
