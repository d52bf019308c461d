"""What an admin does at the provider: the address to paste, secrets made by us, buttons."""

import json
from io import StringIO
from typing import Any, ClassVar

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from audit.models import Event
from handoff.contract.kinds import TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Agent, Channel
from handoff.transports.base import (
    Outgoing,
    Receipt,
    SetUp,
    TestReport,
    Transport,
    TransportSettings,
)
from handoff.transports.inbound import Hook, HookAnswer, HookCall, Received
from tests.admin.conftest import staff
from tests.admin.test_channels import ADD, OPTIONS, change


class LampSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"key"})
    made_keys: ClassVar[frozenset[str]] = frozenset({"webhook_secret"})

    key: str
    """What opens the lamp."""
    webhook_secret: str = ""
    """What the lamp shows with each call."""


class LampHook(Hook[LampSettings]):
    def receive(self, call: HookCall) -> Received:
        return Received(answer=HookAnswer(status=200))


class Lamp(Transport[LampSettings]):
    kind = "lamp"
    settings_model = LampSettings
    hook = LampHook
    set_ups = (SetUp(key="plug_in", label="Plug it in", explanation="Once is enough."),)

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        return Receipt()

    def set_up(self, key: str, *, hook_url: str, deadline: float) -> TestReport:
        if self.settings.key == "wrong":
            raise TransportError(TransportErrorKind.AUTH, "no such key", hint="Enter the key.")
        return TestReport(works=True, lines=(f"It will call {hook_url}.",))

    @classmethod
    def manifest(cls, *, hook_url: str, label: str) -> str:
        return f"name: {label}\nurl: {hook_url}"


@pytest.fixture(autouse=True)
def _lamps(settings: Settings) -> None:
    settings.TRANSPORTS = {"lamp": f"{__name__}.Lamp"}
    settings.PUBLIC_BASE_URL = "https://desk.example"


@pytest.fixture
def lamp(agent: Agent, _lamps: None) -> Channel:
    out = StringIO()
    call_command(
        "new_channel",
        *("--agent", agent.name, "--kind", "lamp", "--label", "Lamp", "--json"),
        *("--config", json.dumps({"key": "k3y-of-lamp"})),
        stdout=out,
    )
    return Channel.objects.get(pk=json.loads(out.getvalue())["channel_id"])


def set_up(channel: Channel, key: str = "plug_in") -> str:
    return reverse("admin:handoff_channel_set_up", args=[channel.pk, key])


def entered(**more: Any) -> dict[str, Any]:
    return {"label": "Lamp", **OPTIONS, **more}


def test_the_command_prints_what_the_provider_needs_once(agent: Agent) -> None:
    out = StringIO()
    options = ["--agent", agent.name, "--kind", "lamp", "--label", "Lamp", "--json"]
    call_command("new_channel", *options, "--config", '{"key": "k"}', stdout=out)
    said = json.loads(out.getvalue())
    channel = Channel.objects.get()
    assert said == {
        "channel_id": channel.pk,
        "webhook_secret": channel.opened_settings()["webhook_secret"],
        "webhook_url": f"https://desk.example/hooks/lamp/{channel.uuid}/",
    }
    assert len(said["webhook_secret"]) >= 40


def test_a_new_channel_shows_its_secret_once(admin: Client, agent: Agent) -> None:
    page = admin.post(f"{ADD}?kind=lamp", entered(agent=str(agent.pk), setting_key="k"))
    channel = Channel.objects.get()
    secret = channel.opened_settings()["webhook_secret"]
    assert (page.status_code, secret in page.text) == (200, True)
    assert f"https://desk.example/hooks/lamp/{channel.uuid}/" in page.text
    assert "no-store" in page.headers["Cache-Control"]
    again = admin.get(change(channel)).text
    assert secret not in again
    assert f"https://desk.example/hooks/lamp/{channel.uuid}/" in again
    assert "name: Lamp" in again


def test_a_secret_of_ours_is_kept_until_a_new_one_is_asked_for(
    admin: Client, lamp: Channel
) -> None:
    first = lamp.opened_settings()
    answer = admin.post(change(lamp), entered(label="Lamp 2"))
    assert answer.status_code == 302
    lamp.refresh_from_db()
    assert (lamp.label, lamp.opened_settings()) == ("Lamp 2", first)
    page = admin.post(change(lamp), entered(remove_webhook_secret="on"))
    lamp.refresh_from_db()
    second = lamp.opened_settings()
    assert second["webhook_secret"] != first["webhook_secret"]
    assert second["key"] == first["key"]
    assert second["webhook_secret"] in page.text
    assert "k3y-of-lamp" not in page.text


def test_without_a_public_address_the_page_says_what_is_missing(
    admin: Client, lamp: Channel, settings: Settings
) -> None:
    settings.PUBLIC_BASE_URL = ""
    page = admin.get(change(lamp)).text
    assert "PUBLIC_BASE_URL is not set" in page
    assert "/hooks/lamp/" not in page


def test_a_kind_without_webhook_has_no_such_section(admin: Client, mail: Channel) -> None:
    assert "At the provider" not in admin.get(change(mail)).text


def test_a_button_does_one_thing_at_the_provider(admin: Client, lamp: Channel) -> None:
    assert f'action="{set_up(lamp)}"' in admin.get(change(lamp)).text
    page = admin.post(set_up(lamp)).text
    assert f"It will call https://desk.example/hooks/lamp/{lamp.uuid}/." in page
    row = Event.objects.filter(action="channel.changed").latest("pk")
    assert row.details == {"kind": "lamp", "set_up": "plug_in", "works": True}


def test_a_button_that_fails_says_what_to_do(admin: Client, lamp: Channel) -> None:
    lamp.keep_settings({**lamp.opened_settings(), "key": "wrong"})
    lamp.save()
    page = admin.post(set_up(lamp)).text
    assert "The provider did not do it." in page
    assert "Enter the key." in page
    lamp.refresh_from_db()
    assert (lamp.healthy, lamp.last_error_hint) == (False, "Enter the key.")


def test_a_look_does_nothing_and_only_who_may_change_it_presses(
    admin: Client, lamp: Channel
) -> None:
    assert admin.get(set_up(lamp)).status_code == 302
    assert admin.post(set_up(lamp, "unplug")).status_code == 404
    assert staff("view_channel").post(set_up(lamp)).status_code == 403
    assert not Event.objects.filter(action="channel.changed").exists()


def test_a_kind_of_the_deployment_is_offered(admin: Client, agent: Agent) -> None:
    assert "?kind=lamp" in admin.get(f"{ADD}?agent={agent.pk}").text
