"""Every page opens, for whom it should, and shows nothing that is a capability."""

import datetime as dt

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from pytest_django.fixtures import Settings

from config.admin_site import DeskSite, in_words
from handoff.actions.endings import release_as_owner
from handoff.contract.kinds import Outcome
from handoff.models import Agent, Channel, Conversation, Message, Session
from tests import factories
from tests.admin.conftest import staff


def models() -> list[type]:
    return list(django_admin.site._registry)


@pytest.mark.parametrize("model", models(), ids=lambda model: model._meta.label_lower)
def test_every_list_and_every_row_opens(
    model: type, admin: Client, session: Session, mail: Channel
) -> None:
    opts = model._meta  # type: ignore[attr-defined]
    base = f"admin:{opts.app_label}_{opts.model_name}"
    assert admin.get(reverse(f"{base}_changelist")).status_code == 200
    assert admin.get(reverse(f"{base}_changelist"), {"q": "demo"}).status_code == 200
    row = model._default_manager.first()  # type: ignore[attr-defined]
    if row is not None:
        assert admin.get(reverse(f"{base}_change", args=[row.pk])).status_code == 200
        assert admin.get(reverse(f"{base}_history", args=[row.pk])).status_code == 200


def test_the_site_is_ours_and_names_itself(client: Client, db: None) -> None:
    page = client.get(reverse("admin:login"))
    assert isinstance(django_admin.site._wrapped, DeskSite)  # type: ignore[attr-defined]
    assert "Handoff Desk" in page.text
    assert "handoff/admin.css" in page.text


def test_an_admin_signs_in_with_a_password(client: Client, boss: User) -> None:
    entered = {"username": "boss", "password": "correct horse battery", "next": "/admin/"}
    assert client.post(reverse("admin:login"), entered).status_code == 302
    assert client.get(reverse("admin:index")).status_code == 200


def test_the_dashboard_counts_what_is_open_and_what_failed(
    admin: Client, agent: Agent, session: Session, mail: Channel
) -> None:
    failed = factories.requested(agent, mail)
    assert failed.status == "failed"
    page = admin.get(reverse("admin:index")).text
    assert "?status__in=dispatching,active" in page
    assert "email: connect × " in page
    assert "of 0 answers" in page


def test_the_dashboard_names_a_channel_that_is_out_of_order(admin: Client, mail: Channel) -> None:
    Channel.objects.filter(pk=mail.pk).update(
        healthy=False,
        unhealthy_since=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        last_error_kind="auth",
        last_error_hint="Check the password.",
    )
    page = admin.get(reverse("admin:index")).text
    assert "demo: Sales support" in page
    assert "Check the password." in page


def test_the_dashboard_says_when_nobody_can_be_asked(admin: Client, settings: Settings) -> None:
    with_address = admin.get(reverse("admin:index")).text
    settings.PUBLIC_BASE_URL = ""
    without = admin.get(reverse("admin:index")).text
    assert "PUBLIC_BASE_URL" not in with_address
    assert "PUBLIC_BASE_URL is not set" in without


def test_the_dashboard_is_for_those_who_may_see_sessions(session: Session) -> None:
    assert "desk-cards" not in staff("view_agent").get(reverse("admin:index")).text
    assert "desk-cards" in staff("view_session").get(reverse("admin:index")).text


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (None, "–"),
        (dt.timedelta(seconds=41.6), "42 s"),
        (dt.timedelta(hours=2, minutes=5), "2\xa0hours, 5\xa0minutes"),
    ],
)
def test_a_median_is_said_in_words(span: dt.timedelta | None, words: str) -> None:
    with override("en"):
        assert in_words(span) == words


def test_no_page_shows_a_link_or_a_release_token(
    admin: Client, session: Session, mail: Channel
) -> None:
    link = session.links.get()
    for name in ("session", "returnlink", "conversation", "message", "event", "delivery"):
        model = {"session": session, "returnlink": link}.get(name)
        pages = [admin.get(reverse(f"admin:handoff_{name}_changelist")).text]
        if model is not None:
            pages.append(admin.get(reverse(f"admin:handoff_{name}_change", args=[model.pk])).text)
        for page in pages:
            assert link.link_id not in page
            assert session.release_token not in page


def test_what_others_wrote_is_escaped_and_cannot_turn_the_line(
    admin: Client, agent: Agent, inbox: Channel
) -> None:
    summary = "The visitor says <b>hello</b> \u202e and wants something."
    talk = factories.conversation(agent, name="Ana \u202e")
    session = factories.requested(agent, inbox, talk, summary=summary)
    release_as_owner(
        session, user_pk=1, name="Bo", outcome=Outcome.RESOLVED, message="<script>x</script>"
    )
    rows: list[tuple[str, int]] = [
        ("session", session.pk),
        ("conversation", talk.pk),
        ("message", Message.objects.order_by("-pk")[0].pk),
    ]
    pages = [
        admin.get(reverse(f"admin:handoff_{name}_change", args=[pk])).text for name, pk in rows
    ]
    pages += [admin.get(reverse(f"admin:handoff_{name}_changelist")).text for name, _ in rows]
    assert "&lt;b&gt;hello&lt;/b&gt; \\u202e" in pages[0]
    for page in pages:
        assert "\u202e" not in page
        assert "<script>x" not in page


def test_a_conversation_leads_to_its_messages(admin: Client, session: Session) -> None:
    talk = Conversation.objects.get()
    listed = admin.get(
        reverse("admin:handoff_message_changelist"), {"conversation__id__exact": talk.pk}
    )
    assert listed.status_code == 200
    assert (
        "conversation__id__exact"
        in admin.get(reverse("admin:handoff_conversation_change", args=[talk.pk])).text
    )


def test_a_group_offers_only_permissions_that_do_something(admin: Client) -> None:
    page = admin.get(reverse("admin:auth_group_add")).text
    assert "Can change channel" in page
    assert "Can delete session" not in page
    assert "Can add idempotency record" not in page
    person = factories.UserFactory.create()
    assert (
        "Can delete session"
        not in admin.get(reverse("admin:auth_user_change", args=[person.pk])).text
    )
