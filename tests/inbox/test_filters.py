"""What an owner looks for in the list, and how many of its handoffs wait for them."""

from itertools import count

import pytest
from django.test import Client

from handoff.actions import claims
from handoff.actions.endings import back_to_bot
from handoff.actions.reply import reply
from handoff.models import Agent, Channel, Session
from handoff.selectors import inboxes, inboxlists
from tests import factories
from tests.fakes.smtp import SmtpServer
from tests.inbox.conftest import Desk, new_desk
from tests.inbox.test_list import groups, subjects

NUMBERS = count()


def ask(desk: Desk, subject: str, **args: object) -> Session:
    return desk.asked(f"visitor {next(NUMBERS)}", expected_action=f"Please do {subject}.", **args)


def found(client: Client, **query: str | int) -> list[str]:
    page = client.get("/inbox/", query).content.decode()
    return [line.removeprefix("Please do ").removesuffix(".") for line in subjects(page)]


@pytest.fixture
def second_agent(desk: Desk) -> Desk:
    """Another agent of the same owner."""
    agent = factories.owned_agent(desk.owner)
    channel = factories.inbox_channel(agent, label="Order desk")
    return Desk(desk.owner, agent, channel, factories.conversation(agent))


def test_it_can_be_narrowed_by_agent_channel_urgency_holder_and_state(
    desk: Desk, second_agent: Desk, inbox: Client
) -> None:
    one, two = ask(desk, "one", urgency="high"), ask(desk, "two")
    ask(second_agent, "three", urgency="high")
    claims.claim(one.pk, user_pk=desk.owner.pk)
    inbox.post(f"/inbox/h/{two.public_id}/cancel/")

    assert found(inbox) == ["one", "three", "two"]
    assert found(inbox, agent=desk.agent.pk) == ["one", "two"]
    assert found(inbox, channel=second_agent.channel.pk) == ["three"]
    assert found(inbox, urgency="high") == ["one", "three"]
    assert found(inbox, who="mine") == ["one"]
    assert found(inbox, who="nobody") == ["three", "two"]
    assert found(inbox, group="done") == ["two"]
    assert found(inbox, group="active", urgency="high", agent=second_agent.agent.pk) == ["three"]
    assert found(inbox, who="nobody", q="two") == ["two"]
    assert found(inbox, who="mine", q="two") == []


def test_the_form_shows_what_is_chosen_and_every_link_keeps_it(
    desk: Desk, second_agent: Desk, inbox: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxlists, "OVERVIEW_ROWS", 1)
    monkeypatch.setattr(inboxlists, "PAGE_ROWS", 1)
    for subject in ("one", "two"):
        ask(desk, subject, urgency="high")
    query: dict[str, str | int] = {
        "q": "Please",
        "urgency": "high",
        "agent": desk.agent.pk,
    }

    page = inbox.get("/inbox/", query).content.decode()
    assert '<option value="high" selected>' in page
    assert f'<option value="{desk.agent.pk}" selected>' in page
    assert '<option value="">' in page
    kept = f"?q=Please&amp;urgency=high&amp;agent={desk.agent.pk}&amp;group=active"
    assert f'href="{kept}"' in page
    group = inbox.get("/inbox/", {**query, "group": "active"}).content.decode()
    assert f'href="{kept}&amp;page=2"' in group
    assert "Only what the filter lets through is shown." in group


@pytest.mark.parametrize(
    "query",
    [
        {"agent": "x"},
        {"channel": "9" * 30},
        {"urgency": "\x00"},
        {"who": "me"},
        {"group": "all"},
        {"agent": "\u0661"},
    ],
)
def test_nonsense_in_the_address_filters_nothing(
    desk: Desk, inbox: Client, query: dict[str, str]
) -> None:
    ask(desk, "one")
    assert found(inbox, **query) == ["one"]


def test_no_filter_shows_what_is_not_the_owners(desk: Desk, inbox: Client) -> None:
    other = new_desk("bob")
    ask(other, "theirs")
    assert found(inbox, agent=other.agent.pk) == []
    assert found(inbox, channel=other.channel.pk) == []
    page = inbox.get("/inbox/").content.decode()
    agents = page.partition('id="filter-agent"')[2].partition("</select>")[0]
    assert f'<option value="{desk.agent.pk}"' in agents
    assert f'<option value="{other.agent.pk}"' not in agents
    session = Session.objects.get()
    assert found(inbox, q=session.public_id) == []


def test_a_reference_finds_its_handoff_and_its_conversation(desk: Desk, inbox: Client) -> None:
    session = ask(desk, "one")
    ask(desk, "two")
    assert session.conversation is not None
    assert found(inbox, q=session.public_id) == ["one"]
    assert found(inbox, q=session.public_id[:12].upper()) == ["one"]
    assert found(inbox, q=session.conversation.public_id) == ["one"]


@pytest.mark.parametrize("searched", ["ärger", "ÄRGER", "Ärger"])
def test_capitals_outside_ascii_are_as_good_as_small_letters(
    desk: Desk, inbox: Client, searched: str
) -> None:
    for subject in ("großer ärger", "GROẞER ÄRGER", "Ärger"):
        ask(desk, subject)
    assert len(found(inbox, q=searched)) == 3


def test_a_hostile_name_is_text_in_the_filter_as_well(desk: Desk, inbox: Client) -> None:
    Channel.objects.update(label="<b>x</b>\u202e")
    Agent.objects.update(display_name='"><script>')
    page = inbox.get("/inbox/").content.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "\u202e" not in page
    assert "<script>" not in page


# --- who waits -----------------------------------------------------------------------------------


def test_what_waits_is_counted_in_the_title(desk: Desk, inbox: Client) -> None:
    assert "<title>Inbox</title>" in inbox.get("/inbox/").content.decode()
    session = desk.requested()
    for page in ("/inbox/", desk.page):
        assert "<title>(1) " in inbox.get(page).content.decode()
    assert "1 waits for you" in inbox.get("/inbox/").content.decode()
    inbox.post(f"/inbox/h/{session.public_id}/cancel/")
    assert "<title>Inbox</title>" in inbox.get("/inbox/").content.decode()


def test_it_waits_until_somebody_replies_and_again_when_the_subscriber_does(desk: Desk) -> None:
    session = desk.requested()

    def waits() -> bool:
        return inboxes.waiting(desk.owner.pk) == (session.public_id,)

    assert waits()
    reply(session.pk, text="One moment.", name="Ada", actor="owner:1")
    assert not waits()
    desk.says("And?", client_id="1")
    assert waits()
    back_to_bot(desk.conversation.pk)
    assert not waits()


def test_what_somebody_else_holds_or_was_asked_waits_for_them(desk: Desk) -> None:
    bea = factories.UserFactory.create()
    desk.agent.owners.add(bea)
    mine = ask(desk, "one")
    claims.claim(mine.pk, user_pk=bea.pk)
    with SmtpServer() as server:
        channel = factories.email_channel(desk.agent, smtp_url=server.url)
        mailed = factories.requested(desk.agent, channel, desk.conversation)
    assert inboxes.waiting(desk.owner.pk) == ()
    assert inboxes.waiting(bea.pk) == (mine.public_id,)
    claims.claim(mailed.pk, user_pk=desk.owner.pk)
    assert inboxes.waiting(desk.owner.pk) == (mailed.public_id,)
    assert inboxes.waiting(new_desk("bob").owner.pk) == ()


def test_a_group_that_was_asked_for_stands_alone(desk: Desk, inbox: Client) -> None:
    ask(desk, "one")
    page = inbox.get("/inbox/?group=done").content.decode()
    assert groups(page) == []
    assert "Nothing is in this group." in page
