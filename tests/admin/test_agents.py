"""Agents and their tokens in the admin."""

import datetime as dt
import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from audit.models import Event
from handoff.admin.agent_forms import OriginsField
from handoff.errors import NotAuthorised
from handoff.models import Agent, Token
from handoff.selectors.tokens import caller_for
from tests import factories
from tests.admin.conftest import staff

NO_INLINES = {"tokens-TOTAL_FORMS": "0", "tokens-INITIAL_FORMS": "0"}
ADD = "/admin/handoff/agent/add/"


def change(agent: Agent) -> str:
    return reverse("admin:handoff_agent_change", args=[agent.pk])


def issue(agent: Agent) -> str:
    return reverse("admin:handoff_agent_issue_token", args=[agent.pk])


def revoke(token: Token) -> str:
    return reverse("admin:handoff_token_revoke", args=[token.agent_id, token.pk])


def shown_token(page: str) -> str:
    return re.search(r'value="(hd_[^"]+)"', page)[1]  # type: ignore[index]


def test_a_new_agent_leads_to_its_first_token(admin: Client, boss: User) -> None:
    entered = {
        "name": "shop",
        "display_name": "Shop assistant",
        "enabled": "on",
        "owners": [boss.pk],
        "allowed_origins": "https://Shop.example/\nhttp://localhost:3000",
    }
    answer = admin.post(ADD, entered)
    made = Agent.objects.get(name="shop")
    assert answer.status_code == 302
    assert answer.headers["Location"] == issue(made)
    assert made.display_name == "Shop assistant"
    assert list(made.owners.all()) == [boss]
    assert made.allowed_origins == ["https://shop.example", "http://localhost:3000"]
    assert LogEntry.objects.get().object_repr == "Shop assistant"


def test_a_bad_agent_is_refused_field_by_field(admin: Client, agent: Agent) -> None:
    entered = {"name": "demo", "allowed_origins": "shop.example https://a.example/path"}
    page = admin.post(ADD, entered).text
    assert "Agent with this Name already exists." in page
    assert "“shop.example” is not an origin" in page
    assert Agent.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://Shop.example/", "https://shop.example"),
        ("https://shop.example:443", "https://shop.example"),
        ("http://shop.example:80/", "http://shop.example"),
        ("https://shop.example:8443", "https://shop.example:8443"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("http://[0:0::1]:3000", "http://[::1]:3000"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://a.example\n https://A.example/", "https://a.example"),
    ],
)
def test_an_origin_is_kept_as_browsers_send_it(typed: str, kept: str) -> None:
    assert OriginsField().clean(typed) == [kept]


@pytest.mark.parametrize(
    "typed",
    [
        "shop.example",
        "null",
        "//shop.example",
        "ftp://shop.example",
        "https://",
        "https://shop.example/path",
        "https://shop.example?query",
        "https://shop.example#part",
        "https://me@shop.example",
        "https://shop.example:0",
        "https://shop.example:99999",
        "https://.shop.example",
        "https://shop..example",
        "https://-shop.example",
        "https://straße.example",
        "https://[::1",
        "https://[fe80::zz]",
    ],
)
def test_what_no_browser_sends_is_no_origin(typed: str) -> None:
    with pytest.raises(ValidationError) as refused:
        OriginsField().clean(typed)
    assert refused.value.messages == [
        f"“{typed}” is not an origin: write it as https://shop.example, without a path."
    ]


def test_every_line_that_is_no_origin_is_named_and_a_wildcard_is_explained() -> None:
    with pytest.raises(ValidationError) as refused:
        OriginsField().clean("*\nhttps://good.example\nhttps://*.shop.example\nshop")
    assert [message.partition(":")[0] for message in refused.value.messages] == [
        "“*” stands for many sites",
        "“https",
        "“shop” is not an origin",
    ]


def test_an_agent_changes_but_keeps_its_name(admin: Client, agent: Agent, boss: User) -> None:
    entered = {"name": "other", "display_name": "Desk", "owners": [boss.pk], **NO_INLINES}
    assert admin.post(change(agent), entered).status_code == 302
    agent.refresh_from_db()
    assert (agent.name, agent.display_name, agent.enabled) == ("demo", "Desk", False)
    assert list(agent.owners.all()) == [boss]
    message = LogEntry.objects.get().get_change_message()
    assert "Display name" in message
    assert "Allowed origins" not in message


def test_an_agent_is_not_deleted(admin: Client, agent: Agent) -> None:
    assert "deletelink" not in admin.get(change(agent)).text
    assert admin.post(f"/admin/handoff/agent/{agent.pk}/delete/").status_code == 403


def test_a_token_is_shown_once_and_works(admin: Client, agent: Agent, boss: User) -> None:
    page = admin.post(issue(agent), {"label": "production bot", "expires_at": ""})
    token = shown_token(page.text)
    assert "no-store" in page.headers["Cache-Control"]
    assert caller_for(f"Bearer {token}").agent == agent
    row = Token.objects.get()
    assert row.label == "production bot"
    secret = token.rpartition(f"{row.public_id}_")[2]
    for later in (change(agent), issue(agent), f"/admin/handoff/agent/{agent.pk}/history/", ADD):
        assert secret not in admin.get(later).text
    entry = LogEntry.objects.get()
    assert row.public_id in entry.change_message
    assert secret not in entry.change_message
    trail = Event.objects.get(action="token.issued")
    assert (trail.actor, trail.token) == (f"admin:{boss.pk}", row.public_id)


def test_a_token_may_expire_but_not_in_the_past(admin: Client, agent: Agent) -> None:
    gone: dict[str, Any] = {"label": "", "expires_at": "2020-01-01T00:00"}
    assert "still to come" in admin.post(issue(agent), gone).text
    later = now() + dt.timedelta(days=30)
    admin.post(issue(agent), {"label": "", "expires_at": f"{later:%Y-%m-%dT%H:%M}"})
    expires_at = Token.objects.get().expires_at
    assert expires_at is not None
    assert abs(expires_at - later) < dt.timedelta(minutes=1)


def test_a_token_is_revoked_after_a_question(admin: Client, agent: Agent) -> None:
    issued = factories.token_of(agent)
    assert str(issued.row) in admin.get(revoke(issued.row)).text
    assert caller_for(f"Bearer {issued.text}").agent == agent
    assert admin.post(revoke(issued.row)).status_code == 302
    with pytest.raises(NotAuthorised):
        caller_for(f"Bearer {issued.text}")
    assert "Revoked" in admin.get(change(agent)).text
    assert LogEntry.objects.count() == 1
    admin.post(revoke(issued.row))
    assert LogEntry.objects.count() == 1


def test_a_token_is_found_only_under_its_own_agent(admin: Client, agent: Agent) -> None:
    issued = factories.token_of(agent)
    other = factories.AgentFactory.create()
    address = reverse("admin:handoff_token_revoke", args=[other.pk, issued.row.pk])
    assert admin.post(address).status_code == 404


def test_tokens_need_their_own_permissions(agent: Agent) -> None:
    issued = factories.token_of(agent)
    keeper = staff("view_agent", "change_agent")
    assert keeper.get(change(agent)).status_code == 200
    assert keeper.post(issue(agent), {"label": ""}).status_code == 403
    assert keeper.post(revoke(issued.row)).status_code == 403
    assert "Issue a token" not in keeper.get(change(agent)).text
    assert staff("view_agent", "add_token").get(issue(agent)).status_code == 200
    assert Client().get(issue(agent)).status_code == 302
