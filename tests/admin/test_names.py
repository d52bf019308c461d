"""Names that people see: cleaned when they are entered, and shown as what they are."""

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client

from handoff.actions.agents import create_agent
from handoff.actions.tokens import issue_token
from handoff.models import Agent, Channel, Session
from tests import factories
from tests.admin.test_agents import ADD, NO_INLINES, change, issue

BIDI = "Sales \u202eevil\u2066"
SHOWN = "Sales \\u202eevil\\u2066"
BROKEN = "Sales\r\n\u2028support\t now"


@pytest.fixture
def turned(agent: Agent, inbox: Channel) -> Session:
    """A handoff of which every name turns the direction of what follows it."""
    Agent.objects.update(display_name=BIDI)
    Channel.objects.update(label=BIDI)
    agent.refresh_from_db()
    inbox.refresh_from_db()
    issue_token(agent, label=BIDI, actor="admin:1")
    talk = factories.conversation(agent, name=BIDI, external_id=BIDI)
    return factories.requested(agent, inbox, talk)


def test_no_page_lets_a_name_turn_what_stands_beside_it(admin: Client, turned: Session) -> None:
    agent, channel, talk = turned.agent_id, turned.channel_id, turned.conversation_id
    pages = [
        "/admin/",
        "/admin/handoff/agent/",
        "/admin/handoff/channel/",
        "/admin/handoff/session/",
        f"/admin/handoff/session/{turned.pk}/change/",
        f"/admin/handoff/session/end/cancel/?pk={turned.pk}",
        "/admin/handoff/conversation/",
        f"/admin/handoff/conversation/{talk}/change/",
        "/admin/handoff/message/",
        "/admin/handoff/event/",
        f"/admin/handoff/agent/{agent}/issue-token/",
        f"/admin/handoff/agent/{agent}/history/",
    ]
    for address in pages:
        page = admin.get(address).content.decode()
        assert not {"\u202e", "\u2066"} & {*page}, address
    tested = admin.post(f"/admin/handoff/channel/{channel}/test/").content.decode()
    assert SHOWN in tested
    assert "\u202e" not in tested


def test_where_a_name_is_edited_it_stands_as_it_is_in_its_field_alone(
    admin: Client, turned: Session
) -> None:
    for kind, pk in (("agent", turned.agent_id), ("channel", turned.channel_id)):
        page = admin.get(f"/admin/handoff/{kind}/{pk}/change/").content.decode()
        assert page.count("\u202e") == page.count(f'value="{BIDI}"') == 1


def test_what_is_entered_is_cleaned_to_one_line(admin: Client, agent: Agent) -> None:
    entered = {"display_name": " Cafe\u0301\t\u2028shop ", "enabled": "on", **NO_INLINES}
    assert admin.post(change(agent), entered).status_code == 302
    agent.refresh_from_db()
    assert agent.display_name == "Caf\u00e9 shop"


@pytest.mark.parametrize("bad", ["Shop\x1b[2J", "Sh\x85op", "Shop \ufffe"])
def test_what_no_text_may_hold_is_refused_beside_the_field(admin: Client, bad: str) -> None:
    page = admin.post(ADD, {"name": "shop", "display_name": bad, "enabled": "on"})
    assert "This name holds" in page.content.decode()
    assert not Agent.objects.exists()


def test_a_token_with_such_a_label_is_not_issued(admin: Client, agent: Agent) -> None:
    page = admin.post(issue(agent), {"label": "production\x1b"})
    assert "This name holds" in page.content.decode()
    assert not agent.tokens.exists()


@pytest.mark.django_db
def test_the_actions_and_their_commands_clean_and_refuse_the_same() -> None:
    agent = create_agent("shop", display_name=BROKEN, actor="shell")
    assert agent.display_name == "Sales support now"
    call_command("new_channel", "--agent=shop", "--kind=owner_inbox", f"--label={BROKEN}")
    assert Channel.objects.get().label == "Sales support now"
    assert issue_token(agent, label=BROKEN, actor="admin:1").row.label == "Sales support now"
    with pytest.raises(ValidationError):
        issue_token(agent, label="Shop\x00", actor="admin:1")
    with pytest.raises(ValidationError):
        create_agent("other", display_name="Shop\x00", actor="shell")
