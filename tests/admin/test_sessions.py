"""Sessions in the admin: read-only, and three things that may be done to them."""

from urllib.parse import urlencode

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.models import Event
from handoff.admin.sessions import MAX_AT_ONCE
from handoff.models import Agent, Channel, Session
from tests import factories
from tests.admin.conftest import staff

LIST = "/admin/handoff/session/"
READ_ONLY = ("session", "attempt", "returnlink", "conversation", "message", "event", "delivery")


def end(verb: str, *sessions: Session) -> str:
    address = reverse("admin:handoff_session_end", args=[verb])
    return f"{address}?{urlencode([('pk', session.pk) for session in sessions])}"


def change(session: Session) -> str:
    return reverse("admin:handoff_session_change", args=[session.pk])


@pytest.mark.parametrize("name", READ_ONLY)
def test_nothing_can_be_added_changed_or_deleted(
    name: str, admin: Client, session: Session
) -> None:
    base = f"/admin/handoff/{name}/"
    row = {"session": session.pk, "conversation": session.conversation_id}.get(name, 1)
    assert admin.get(f"{base}add/").status_code == 403
    assert admin.post(f"{base}add/", {}).status_code == 403
    for address in (f"{base}{row}/change/", f"{base}{row}/delete/"):
        assert admin.post(address, {"status": "released", "post": "yes"}).status_code in (302, 403)
    assert "delete_selected" not in admin.get(base).text
    session.refresh_from_db()
    assert session.status == "active"


def test_a_session_is_released_with_an_outcome(admin: Client, session: Session, boss: User) -> None:
    assert end("release", session) in admin.get(change(session)).text
    assert session.public_id in admin.get(end("release", session)).text
    answer = admin.post(end("release", session), {"outcome": "declined", "message": "Not us."})
    assert answer.headers["Location"] == change(session)
    session.refresh_from_db()
    assert (session.status, session.release) == ("released", "owner")
    assert (session.outcome, session.message) == ("declined", "Not us.")
    trail = Event.objects.get(action="handoff.released")
    assert trail.actor == f"owner:{boss.pk}"
    assert LogEntry.objects.get().object_repr == session.public_id
    assert end("release", session) not in admin.get(change(session)).text


def test_a_session_is_cancelled_with_a_reason(admin: Client, session: Session, boss: User) -> None:
    admin.post(end("cancel", session), {"reason": "Asked by mistake."})
    session.refresh_from_db()
    assert (session.release, session.message) == ("cancelled", "Asked by mistake.")
    assert Event.objects.get(action="handoff.cancelled").actor == f"admin:{boss.pk}"


def test_links_are_revoked_and_the_handoff_goes_on(admin: Client, session: Session) -> None:
    link = session.links.get()
    admin.post(end("revoke-links", session))
    link.refresh_from_db()
    session.refresh_from_db()
    assert link.revoked_at is not None
    assert session.status == "active"
    assert Event.objects.get(action="link.revoked").details == {"links": 1}
    again = admin.post(end("revoke-links", session), follow=True)
    assert "had nothing to revoke" in again.text
    assert Event.objects.filter(action="link.revoked").count() == 1


def test_the_second_release_says_that_it_had_ended(admin: Client, session: Session) -> None:
    entered = {"outcome": "resolved", "message": ""}
    admin.post(end("release", session), entered)
    again = admin.post(end("release", session), entered, follow=True)
    assert "1 session had ended already" in again.text
    assert LogEntry.objects.count() == 1


def test_a_bad_entry_is_said_and_nothing_is_done(admin: Client, session: Session) -> None:
    page = admin.post(end("release", session), {"outcome": "won", "message": "x" * 1001})
    assert "Select a valid choice" in page.text
    assert "at most 1000 characters" in page.text
    session.refresh_from_db()
    assert session.status == "active"


def test_several_are_chosen_in_the_list(
    admin: Client, agent: Agent, inbox: Channel, session: Session
) -> None:
    other = factories.requested(agent, inbox, factories.conversation(agent, "visitor-2"))
    chosen = {"action": "cancel_selected", "_selected_action": [session.pk, other.pk]}
    asked = admin.post(LIST, chosen)
    assert asked.status_code == 302
    done = admin.post(asked.headers["Location"], {"reason": ""}, follow=True)
    assert "Done for 2 sessions." in done.text
    assert set(Session.objects.values_list("release", flat=True)) == {"cancelled"}


def test_not_too_many_at_once(admin: Client, agent: Agent, inbox: Channel) -> None:
    for number in range(MAX_AT_ONCE + 1):
        Session.objects.create(
            agent=agent, channel=inbox, summary=f"{number}", expected_action="", status="unknown"
        )
    everything = {
        "action": "cancel_selected",
        "_selected_action": [Session.objects.all()[0].pk],
        "select_across": "1",
    }
    page = admin.post(LIST, everything, follow=True)
    assert f"Choose at most {MAX_AT_ONCE} at once." in page.text


def test_a_verb_or_a_session_that_is_not_there_is_not_found(
    admin: Client, session: Session
) -> None:
    assert admin.get(end("explode", session)).status_code == 404
    assert admin.get(end("release")).status_code == 404
    assert admin.get(f"{end('release')}pk=x").status_code == 404


def test_who_may_only_look_may_not_end(session: Session) -> None:
    looker = staff("view_session")
    page = looker.get(change(session)).text
    assert "Release without values" not in page
    assert "cancel_selected" not in looker.get(LIST).text
    for verb in ("release", "cancel", "revoke-links"):
        assert looker.post(end(verb, session), {"outcome": "resolved"}).status_code == 403
    session.refresh_from_db()
    assert session.status == "active"
    assert (
        "Release without values"
        in staff("view_session", "change_session").get(change(session)).text
    )
