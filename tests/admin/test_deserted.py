"""An owner inbox whose agent has no owner reaches nobody: everywhere it says so."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from handoff.management.findings import findings
from handoff.models import Agent, Channel
from handoff.selectors import channels
from tests import factories
from tests.admin.test_agents import NO_INLINES, change

STATE = "Reaches nobody: its agent has no owner"
MAKE = {
    "label": "Shop team", "idle_minutes": "30", "link_hours": "72", "contact_limit_per_hour": "20",
    "redispatch": "never", "language": "en", "timezone": "UTC", "enabled": "on",
    "share_values_with_subscriber": "on",
}  # fmt: skip


def made(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("new_channel", "--agent=demo", "--label=Team", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_command_says_so_on_stderr_and_nothing_else_changes(agent: Agent) -> None:
    out, err = made("--kind=owner_inbox", "--json")
    assert json.loads(out) == {"channel_id": Channel.objects.get().pk}
    assert err.strip() == channels.NO_OWNER
    assert made("--kind=email", '--config={"to": "a@example.com"}')[1] == ""


def test_with_an_owner_there_is_nothing_to_say(agent: Agent, boss: User) -> None:
    agent.owners.add(boss)
    assert made("--kind=owner_inbox")[1] == ""


def test_the_admin_says_so_when_it_is_made_and_wherever_it_is_shown(
    admin: Client, agent: Agent, boss: User
) -> None:
    answer = admin.post(
        f"/admin/handoff/channel/add/?kind=owner_inbox&agent={agent.pk}",
        {**MAKE, "agent": agent.pk},
        follow=True,
    )
    assert channels.NO_OWNER in answer.text
    channel = Channel.objects.get()
    address = f"/admin/handoff/channel/{channel.pk}"
    assert STATE in admin.get(f"{address}/change/").text
    assert STATE in admin.get("/admin/handoff/channel/").text
    assert channels.NO_OWNER in admin.post(f"{address}/test/").text
    agent.owners.add(boss)
    assert STATE not in admin.get(f"{address}/change/").text
    assert channels.NO_OWNER not in admin.post(f"{address}/test/").text
    boss.is_active = False
    boss.save()
    assert [offer.usable for offer in channels.offers(agent)] == [False]


def test_whoever_takes_the_last_owner_away_is_told(
    admin: Client, agent: Agent, inbox: Channel, boss: User
) -> None:
    entered = {"display_name": "Shop", "enabled": "on", **NO_INLINES}
    with_owner = admin.post(change(agent), {**entered, "owners": [boss.pk]}, follow=True)
    assert channels.NO_OWNER not in with_owner.text
    assert channels.NO_OWNER in admin.post(change(agent), entered, follow=True).text


@pytest.mark.django_db
def test_the_doctor_says_so(agent: Agent) -> None:
    made("--kind=owner_inbox")
    assert any(channels.NO_OWNER in finding.sentence for finding in findings())
    agent.owners.add(factories.UserFactory.create())
    assert not any(channels.NO_OWNER in finding.sentence for finding in findings())
