"""What the first start of the demo makes, and what later starts leave alone."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import override_settings

from handoff.actions.tokens import revoke_token
from handoff.models import Agent, Channel, Token
from handoff.selectors.tokens import caller_for
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(tmp_path: Path) -> Iterator[Path]:
    with override_settings(
        DEMO=True, DATA_DIR=tmp_path, EMAIL_URL="", PUBLIC_BASE_URL="http://127.0.0.1:8000"
    ):
        yield tmp_path


def setup() -> str:
    said = io.StringIO()
    call_command("demo_setup", stdout=said)
    return said.getvalue()


def kept_token(data: Path) -> str:
    return str(json.loads((data / "demo.json").read_text())["token"])


def test_the_first_start_makes_an_admin_whose_printed_password_works() -> None:
    said = re.search(r"user (\S+), password (\S+) ", setup())
    assert said is not None
    user = authenticate(username=said[1], password=said[2])
    assert user is not None
    assert user.is_superuser


def test_the_first_start_makes_the_agent_with_an_owner_a_token_and_two_channels(
    data: Path,
) -> None:
    said = setup()
    agent = Agent.objects.get(name="demo")
    assert str(agent) == "Demo shop assistant"
    assert [user.username for user in agent.owners.all()] == ["admin"]
    assert caller_for(f"Bearer {kept_token(data)}").agent == agent
    assert kept_token(data) in said
    channels = {channel.label: channel for channel in Channel.objects.filter(agent=agent)}
    assert {label: channel.kind for label, channel in channels.items()} == {
        "Shop team": "owner_inbox",
        "Sales support": "email",
    }
    mail = channels["Sales support"]
    assert mail.estimated_response == "within 1 business day"
    assert mail.opened_settings()["to"] == ["sales@example.com"]


def test_the_token_is_kept_where_only_its_owner_reads_it(data: Path) -> None:
    setup()
    assert (data / "demo.json").stat().st_mode & 0o777 == 0o600


def test_it_says_what_to_open() -> None:
    said = setup()
    for path in ("/demo/", "/demo/mail/", "/inbox/", "/admin/"):
        assert f"http://127.0.0.1:8000{path}\n" in said
    assert "PUBLIC_BASE_URL" in said


def test_a_second_start_changes_nothing_and_shows_no_password(data: Path) -> None:
    setup()
    token = kept_token(data)
    assert "shown this once" not in setup()
    assert kept_token(data) == token
    assert (Agent.objects.count(), Channel.objects.count(), Token.objects.count()) == (1, 2, 1)
    assert User.objects.count() == 1


def test_what_somebody_took_away_is_not_made_again() -> None:
    setup()
    Channel.objects.filter(kind="email").delete()
    setup()
    assert Channel.objects.count() == 1


def test_a_revoked_token_is_replaced_at_the_next_start(data: Path) -> None:
    setup()
    before = kept_token(data)
    revoke_token(Token.objects.get(), actor="test")
    setup()
    assert kept_token(data) != before
    assert caller_for(f"Bearer {kept_token(data)}").agent.name == "demo"


def test_a_disabled_agent_gets_no_further_token(data: Path) -> None:
    setup()
    Agent.objects.update(enabled=False)
    setup()
    assert Token.objects.count() == 1


def test_an_admin_who_was_there_before_becomes_the_owner() -> None:
    boss = factories.UserFactory.create(username="boss", is_superuser=True, is_staff=True)
    assert "shown this once" not in setup()
    assert list(Agent.objects.get(name="demo").owners.all()) == [boss]
