"""Channels in the admin: the fields of the kind, secrets write-only, the test, the health."""

import datetime as dt
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from audit.models import Event
from handoff.actions.channels import change_channel, create_channel
from handoff.admin.setting_fields import Stored, setting_fields
from handoff.models import Agent, Channel
from handoff.transports import TRANSPORTS, transport_class
from tests import factories
from tests.admin.conftest import SECRET, staff

OPTIONS = {
    "estimated_response": "",
    "idle_minutes": "30",
    "link_hours": "72",
    "contact_limit_per_hour": "20",
    "paused_until_0": "",
    "paused_until_1": "",
    "redispatch": "never",
    "language": "en",
    "timezone": "UTC",
    "share_values_with_subscriber": "on",
    "enabled": "on",
}
ADD = "/admin/handoff/channel/add/"


def change(channel: Channel) -> str:
    return reverse("admin:handoff_channel_change", args=[channel.pk])


def try_out(channel: Channel) -> str:
    return reverse("admin:handoff_channel_test", args=[channel.pk])


def entered(**changes: str) -> dict[str, Any]:
    return {"label": "Sales support", "setting_to": "sales@example.com", **OPTIONS, **changes}


def errors(page: Any) -> dict[str, list[str]]:
    problems = page.context["adminform"].form.errors
    return {name: list(map(str, said)) for name, said in problems.items()}


def test_the_kind_is_chosen_first(admin: Client, agent: Agent) -> None:
    page = admin.get(f"{ADD}?agent={agent.pk}").text
    assert f"?kind=email&amp;agent={agent.pk}" in page
    assert all(f"?kind={kind}" in page for kind in TRANSPORTS)
    assert "?kind=email" in admin.get(ADD, {"kind": "carrier pigeon"}).text


@pytest.mark.parametrize("kind", list(TRANSPORTS))
def test_every_kind_has_a_form(kind: str, admin: Client, agent: Agent) -> None:
    fields = setting_fields(transport_class(kind).settings_model, Stored({}))
    page = admin.get(f"{ADD}?kind={kind}&agent={agent.pk}")
    assert set(fields) <= set(page.context["adminform"].form.fields)
    assert all(field.help_text for field in fields.values())


def test_a_form_has_the_fields_of_its_kind_only(admin: Client, inbox: Channel) -> None:
    fields = admin.get(change(inbox)).context["adminform"].form.fields
    own = [name for name in fields if name.startswith("setting_")]
    assert own == ["setting_notify_after_minutes"]
    assert "claim_minutes" not in fields


def test_a_channel_is_made_and_sealed(admin: Client, agent: Agent, boss: User) -> None:
    more = {"agent": str(agent.pk), "setting_smtp_url": SECRET, "language": "de"}
    answer = admin.post(
        f"{ADD}?kind=email", entered(setting_to="a@example.com, b@example.com\n", **more)
    )
    made = Channel.objects.get()
    assert answer.headers["Location"] == change(made)
    assert (made.kind, made.language, made.agent) == ("email", "de", agent)
    assert made.opened_settings()["to"] == ["a@example.com", "b@example.com"]
    assert made.opened_settings()["smtp_url"] == SECRET
    assert "s3cr3t" not in made.sealed_settings
    trail = Event.objects.get(action="channel.created")
    assert (trail.actor, trail.channel) == (f"admin:{boss.pk}", made.pk)


def test_all_problems_are_said_at_once_beside_their_fields(admin: Client, agent: Agent) -> None:
    page = admin.post(
        f"{ADD}?kind=email",
        entered(
            label="",
            agent=str(agent.pk),
            setting_to="a@example.com, nobody",
            setting_from_email="me",
            setting_smtp_url="ftp://user:s3cr3t-w0rd@mail.example.org",
            idle_minutes="0",
            link_hours="soon",
        ),
    )
    said = errors(page)
    assert set(said) == {
        "label",
        "setting_to",
        "setting_from_email",
        "setting_smtp_url",
        "idle_minutes",
        "link_hours",
    }
    assert said["setting_to"][0].startswith("Entry 2 must be one mail address")
    assert "s3cr3t" not in page.text
    assert Channel.objects.count() == 0


def test_secrets_never_come_back(admin: Client, mail: Channel) -> None:
    page = admin.get(change(mail)).text
    assert "s3cr3t" not in page
    assert "mailer" not in page
    assert "Leave empty to keep it" in page
    assert 'type="password" name="setting_smtp_url"' in page


def test_an_empty_secret_stays_and_history_names_only_fields(admin: Client, mail: Channel) -> None:
    admin.post(change(mail), entered(label="Sales", setting_from_name="Desk"))
    mail.refresh_from_db()
    assert mail.label == "Sales"
    assert mail.opened_settings()["from_name"] == "Desk"
    assert mail.opened_settings()["smtp_url"] == SECRET
    new = SECRET.replace("s3cr3t", "n3w")
    admin.post(change(mail), entered(setting_smtp_url=new))
    mail.refresh_from_db()
    assert mail.opened_settings()["smtp_url"] == new
    history = "".join(
        f"{entry.change_message}{entry.get_change_message()}{entry.object_repr}"
        for entry in LogEntry.objects.all()
    )
    assert "SMTP URL" in history
    for word in ("s3cr3t", "n3w", "mailer"):
        assert word not in history
        assert word not in admin.get(f"/admin/handoff/channel/{mail.pk}/history/").text
        assert word not in "".join(str(event.details) for event in Event.objects.all())


def test_a_secret_that_may_be_absent_can_be_removed(admin: Client, mail: Channel) -> None:
    admin.post(change(mail), entered(remove_smtp_url="on"))
    mail.refresh_from_db()
    assert "smtp_url" not in {k for k, v in mail.opened_settings().items() if v}
    assert "remove_smtp_url" not in admin.get(change(mail)).text


def test_a_field_that_has_no_place_in_the_form_keeps_what_is_in_it(
    admin: Client, agent: Agent
) -> None:
    settings = {"bot_token": f"123456:{'a' * 35}", "chat_id": "-100123", "bot_username": "deskbot"}
    channel = create_channel(agent, kind="telegram", label="Chat", config=settings, actor="test")
    kept = {f"setting_{key}": settings[key] for key in ("bot_token", "chat_id")}
    admin.post(change(channel), {"label": "Chat", **kept, **OPTIONS})
    channel.refresh_from_db()
    assert channel.opened_settings()["bot_username"] == "deskbot"


def test_how_replies_by_mail_are_read_is_entered_as_any_setting(
    admin: Client, mail: Channel
) -> None:
    page = admin.get(change(mail)).text
    for name in ("inbound", "inbound_domain", "inbound_local_part", "imap_url", "imap_folder"):
        assert f'name="setting_{name}"' in page
    refused = admin.post(change(mail), entered(setting_inbound="imap"))
    assert set(errors(refused)) == {"setting_inbound_domain", "setting_imap_url"}
    admin.post(
        change(mail),
        entered(
            setting_inbound="imap",
            setting_inbound_domain="in.example.org",
            setting_inbound_local_part="support+{token}",
            setting_imap_url="imaps://desk:s3cret@mail.example.org",
            setting_imap_folder="Handoffs",
        ),
    )
    mail.refresh_from_db()
    assert mail.opened_settings()["imap_folder"] == "Handoffs"
    assert "s3cret" not in admin.get(change(mail)).text


def test_agent_and_kind_are_for_good(admin: Client, mail: Channel) -> None:
    other = factories.AgentFactory.create()
    admin.post(f"{change(mail)}?kind=owner_inbox", entered(agent=str(other.pk), kind="owner_inbox"))
    mail.refresh_from_db()
    assert (mail.agent.name, mail.kind) == ("demo", "email")


def test_a_change_does_not_undo_what_a_dispatch_learned(mail: Channel) -> None:
    """The form was opened before a failure, and is sent after it."""
    stale = Channel.objects.get(pk=mail.pk)
    Channel.objects.filter(pk=mail.pk).update(
        healthy=False, unhealthy_since=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    )
    stale.label = "Sales"
    change_channel(stale, config={"to": "sales@example.com"}, actor="test")
    mail.refresh_from_db()
    assert (mail.label, mail.healthy) == ("Sales", False)


def test_credentials_that_cannot_be_read_are_asked_for_again(
    admin: Client, mail: Channel, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    page = admin.get(change(mail))
    assert page.status_code == 200
    assert "Enter the credentials again." in page.text
    assert admin.get(reverse("admin:handoff_channel_changelist")).status_code == 200
    report = admin.post(try_out(mail)).text
    assert "It does not work yet." in report
    assert "enter them again" in report
    admin.post(change(mail), entered())
    mail.refresh_from_db()
    assert mail.opened_settings()["to"] == ["sales@example.com"]
    assert "Enter the credentials again." not in admin.get(change(mail)).text


def test_stored_settings_that_no_longer_fit_are_shown_for_correction(
    admin: Client, mail: Channel
) -> None:
    mail.keep_settings({"to": "sales@example.com", "retired": 1, "from_name": 5})
    mail.save()
    assert "sales@example.com" in admin.get(change(mail)).text
    assert admin.post(change(mail), entered()).status_code == 302


def test_the_test_says_what_is_wrong_and_what_to_do(admin: Client, mail: Channel) -> None:
    report = admin.post(try_out(mail)).text
    assert "It does not work yet." in report
    assert "s3cr3t" not in report
    assert admin.get(try_out(mail)).status_code == 302
    assert Event.objects.get(action="channel.tested").details == {"works": False}


def test_the_test_says_that_it_works(admin: Client, inbox: Channel) -> None:
    assert "It works." in admin.post(try_out(inbox)).text
    page = admin.get(change(inbox)).text
    assert "Works" in page


def test_the_health_of_a_channel_stands_on_its_page(admin: Client, mail: Channel) -> None:
    Channel.objects.filter(pk=mail.pk).update(
        healthy=False,
        unhealthy_since=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        last_error_kind="auth",
        last_error_detail="535 refused",
        last_error_hint="Check user and password.",
    )
    page = admin.get(change(mail)).text
    for words in ("Out of order", "auth", "535 refused", "Check user and password."):
        assert words in page


def test_a_kind_that_this_desk_does_not_carry_is_shown_and_not_changed(
    admin: Client, mail: Channel
) -> None:
    Channel.objects.filter(pk=mail.pk).update(kind="carrier_pigeon")
    page = admin.get(change(mail))
    assert page.status_code == 200
    assert "Test channel" not in page.text
    assert admin.post(change(mail), entered()).status_code == 403


def test_who_may_only_look_sees_no_settings(mail: Channel) -> None:
    looker = staff("view_channel")
    page = looker.get(change(mail)).text
    assert "Sales support" in page
    assert "sales@example.com" not in page
    assert "Test channel" not in page
    assert looker.post(try_out(mail)).status_code == 403
    assert looker.post(change(mail), entered()).status_code == 403
    assert looker.get(ADD).status_code == 403
    assert staff("view_agent").get(change(mail)).status_code == 403


def test_a_channel_is_not_deleted(admin: Client, mail: Channel) -> None:
    assert admin.post(f"/admin/handoff/channel/{mail.pk}/delete/").status_code == 403


def test_a_channel_whose_last_try_failed_does_not_say_that_it_works(
    admin: Client, mail: Channel
) -> None:
    assert "Not tried yet" in admin.get(change(mail)).text
    factories.requested(mail.agent, mail)
    assert "Last try failed" in admin.get(change(mail)).text
