"""`manage.py new_channel`."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import Event
from handoff.models import Agent, Channel
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return factories.AgentFactory.create(name="demo")


def run(config: Any, *, kind: str = "email", name: str = "demo", label: str = "Sales") -> str:
    out = StringIO()
    text = config if isinstance(config, str) else json.dumps(config)
    call_command(
        "new_channel",
        *("--agent", name, "--kind", kind, "--label", label, "--config", text, "--json"),
        stdout=out,
    )
    return out.getvalue()


def refused(config: Any, **more: str) -> list[str]:
    with pytest.raises(CommandError) as error:
        run(config, **more)
    assert error.value.returncode == 1
    assert Channel.objects.count() == 0
    return str(error.value).splitlines()


def test_it_makes_a_channel_with_settings_and_options(agent: Agent) -> None:
    config = {
        "to": "sales@example.com",
        "smtp_url": "smtp://127.0.0.1:2525",
        "idle_minutes": 5,
        "language": "de",
        "timezone": "Europe/Berlin",
        "paused_until": "2026-12-01T10:00:00+01:00",
        "share_values_with_subscriber": False,
    }
    answer = json.loads(run(config))
    channel = Channel.objects.get()
    assert answer == {"channel_id": channel.pk}
    assert (channel.agent, channel.label, channel.idle_minutes) == (agent, "Sales", 5)
    assert channel.paused_until is not None
    assert channel.paused_until.isoformat() == "2026-12-01T09:00:00+00:00"
    assert not channel.share_values_with_subscriber
    assert channel.opened_settings()["smtp_url"] == "smtp://127.0.0.1:2525"
    assert Event.objects.get(action="channel.created").actor == "shell"


def test_without_settings_an_owner_inbox_needs_none(agent: Agent) -> None:
    run({}, kind="owner_inbox")
    assert Channel.objects.get().kind == "owner_inbox"


def test_all_problems_are_said_by_name_at_once(agent: Agent) -> None:
    lines = refused(
        {
            "to": "nobody",
            "colour": "blue",
            "from_email": 5,
            "idle_minutes": "soon",
            "enabled": "yes",
            "timezone": "Mars/Olympus",
            "paused_until": "2026-12-01T10:00:00",
        },
        label="",
    )
    names = {line.partition(":")[0] for line in lines}
    assert names == {
        "to.0",
        "colour",
        "from_email",
        "idle_minutes",
        "enabled",
        "paused_until",
        "label",
    }


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("idle_minutes", 0),
        ("idle_minutes", True),
        ("link_hours", 10_000),
        ("contact_limit_per_hour", 0),
        ("redispatch", "twice"),
        ("timezone", "Mars/Olympus"),
        ("estimated_response", {"within": "a day"}),
        ("estimated_response", "x" * 101),
        ("claim_minutes", -1),
        ("language", None),
    ],
)
def test_an_option_of_a_wrong_shape_is_named(agent: Agent, option: str, value: Any) -> None:
    assert [line.partition(":")[0] for line in refused({"to": "a@example.com", option: value})] == [
        option
    ]


def test_a_missing_key_is_named(agent: Agent) -> None:
    assert refused({})[0].startswith("to: ")


def test_an_unknown_kind_names_the_known_ones(agent: Agent) -> None:
    assert "email, owner_inbox" in refused({}, kind="carrier_pigeon")[0]


def test_an_unknown_agent_names_the_known_ones(agent: Agent) -> None:
    assert "demo" in refused({"to": "a@example.com"}, name="nobody")[0]


@pytest.mark.parametrize("text", ["{", "[]", '"to"', '{"to": 1, "to": 2}', ""])
def test_a_configuration_that_is_no_object_is_refused(agent: Agent, text: str) -> None:
    assert refused(text)[0].startswith("--config ")


def test_a_refusal_repeats_no_secret(agent: Agent) -> None:
    lines = refused({"to": "a@example.com", "smtp_url": "ftp://me:s3cr3t@mail.example.org"})
    assert "s3cr3t" not in "\n".join(lines)
