"""`/release TOKEN`, which a recipient gave to an owner, in the inbox of that owner."""

import datetime as dt

import pytest
from django.db.models import F
from django.test import Client

from audit.models import Event
from handoff.actions.answer import Received
from handoff.actions.endings import back_to_bot
from handoff.models import Message, ReturnLink, Session
from tests import factories
from tests.inbox.conftest import Desk, new_desk
from tests.inbox.test_buttons import notes, path, said_by_people

NOT_FILLED = "Not filled: order_status (required), tracking_url, eta_date, notes."
RESUMED = "[Bot resumed — the recipient (Shop team) has handed control back. Outcome: resolved.]"
UNKNOWN = "That release line is not recognised. Nothing was released or sent."


def typed(inbox: Client, session: Session, text: str, **more: str) -> tuple[int, str]:
    answer = inbox.post(path(session, "reply"), {"client_id": "1", "text": text, **more})
    return answer.status_code, answer.get("Location", "") or answer.content.decode()


def again(session: Session) -> Session:
    return Session.objects.get(pk=session.pk)


def denied() -> list[tuple[str, str]]:
    rows = Event.objects.filter(action="access.denied")
    return list(rows.values_list("actor", "reason"))


@pytest.mark.parametrize("spelling", ["/release", "!release", "release", "\n> quoted\n `/Release"])
def test_a_reply_that_begins_with_the_line_releases_the_handoff(
    desk: Desk, inbox: Client, spelling: str
) -> None:
    session = desk.requested()
    end = "`" if "`" in spelling else ""
    assert typed(inbox, session, f"{spelling} {session.release_token}{end}") == (302, desk.page)

    done = again(session)
    assert (done.status, done.release, done.outcome) == ("released", "token", "resolved")
    assert (done.answered_by, done.late) == ("Ada Owner", False)
    assert notes(desk) == [f"{RESUMED}\n{NOT_FILLED}"]
    assert said_by_people(desk) == []
    row = Event.objects.get(action="handoff.released")
    assert (row.actor, row.reason) == (f"owner:{desk.owner.pk}", "token")
    assert denied() == []


def test_what_stands_after_the_token_is_the_message_to_the_agent(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    typed(inbox, session, f"/release {session.release_token} It left [Monday].\nAsk Ana.")
    assert "Outcome: resolved. It left (Monday). Ask Ana.]" in notes(desk)[0]
    assert again(session).note == "It left [Monday].\nAsk Ana."


def test_the_line_of_another_handoff_of_the_owner_ends_that_one(desk: Desk, inbox: Client) -> None:
    here, there = desk.requested(), desk.asked("Bo")
    assert there.conversation is not None
    status, where = typed(inbox, here, f"/release {there.release_token}")
    assert (status, where) == (302, f"/inbox/{there.conversation.public_id}/")
    assert again(there).release == "token"
    assert again(here).status == "active"


@pytest.mark.parametrize("wrong", ["/release", "/release h7aaaaaaaaaaaaaaaa thanks", "!release it"])
def test_a_line_that_is_not_right_gets_one_sentence_and_reaches_nobody(
    desk: Desk, inbox: Client, wrong: str
) -> None:
    session = desk.requested()
    status, page = typed(inbox, session, wrong)
    assert status == 422
    assert UNKNOWN in page
    assert f">{wrong}</textarea>" in page
    assert again(session).status == "active"
    assert not Message.objects.filter(author="person").exists()
    assert denied() == [(f"owner:{desk.owner.pk}", "release_token")]


def test_the_line_of_another_owners_handoff_is_as_good_as_none(desk: Desk, inbox: Client) -> None:
    other = new_desk("bob").requested()
    mine = desk.requested()
    foreign = typed(inbox, mine, f"/release {other.release_token}")
    nobodys = typed(inbox, mine, "/release h7aaaaaaaaaaaaaaaa")
    assert foreign[0] == nobodys[0] == 422
    assert UNKNOWN in foreign[1]
    assert again(other).status == "active"


def test_a_handoff_that_takes_no_answer_any_more_is_as_good_as_none(
    desk: Desk, inbox: Client
) -> None:
    over, here = desk.asked("Bo"), desk.requested()
    assert over.conversation_id is not None
    back_to_bot(over.conversation_id)
    ReturnLink.objects.filter(session=over).update(
        expires_at=F("expires_at") - dt.timedelta(days=30)
    )
    status, page = typed(inbox, here, f"/release {over.release_token}")
    assert status == 422
    assert UNKNOWN in page


def test_the_line_comes_late_and_is_a_late_return(desk: Desk, inbox: Client) -> None:
    over, here = desk.asked("Bo"), desk.requested()
    assert over.conversation_id is not None
    back_to_bot(over.conversation_id)
    page = inbox.post(
        path(here, "reply"),
        {"client_id": "1", "text": f"/release {over.release_token} Done."},
        follow=True,
    ).content.decode()
    assert "The agent has been told, as a late return." in page
    assert "[Late return — the recipient" in page
    assert again(over).late


def test_the_second_answer_changes_nothing_and_says_what_was_before(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    assert factories.answer(session, factories.form(session)) is Received.RETURNED
    page = inbox.post(
        path(session, "reply"),
        {"client_id": "1", "text": f"/release {session.release_token}"},
        follow=True,
    ).content.decode()
    assert "Nothing changed. It had ended before" in page
    assert again(session).release == "form"


def test_guessing_is_limited_and_a_good_line_does_not_count(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    other = desk.asked("Bo")
    good = [typed(inbox, session, f"/release {other.release_token}")[0] for _ in range(12)]
    assert good == [302] * 12
    statuses = [typed(inbox, session, "/release h7aaaaaaaaaaaaaaaa")[0] for _ in range(11)]
    assert statuses == [422] * 10 + [429]
    answer = inbox.post(
        path(session, "reply"), {"client_id": "1", "text": f"/release {session.release_token}"}
    )
    assert (answer.status_code, int(answer["Retry-After"]) > 0) == (429, True)
    assert "Too many release lines were not right. Try again in" in answer.content.decode()
    assert again(session).status == "active"


@pytest.mark.parametrize("prefix", ["/release ", "", "!RELEASE "])
def test_the_release_panel_of_a_detached_handoff_takes_the_line(
    desk: Desk, inbox: Client, prefix: str
) -> None:
    session = factories.requested(desk.agent, desk.channel)
    page = inbox.get(f"/inbox/h/{session.public_id}/").content.decode()
    assert f'id="line-{session.public_id}"' in page
    sent = {"outcome": "unresolved", "message": "No stock.", "line": prefix + session.release_token}
    assert inbox.post(path(session, "release"), sent).status_code == 302
    done = again(session)
    assert (done.release, done.outcome, done.message) == ("token", "unresolved", "No stock.")


def test_the_panel_ends_no_other_handoff_than_its_own(desk: Desk, inbox: Client) -> None:
    session = factories.requested(desk.agent, desk.channel)
    other = factories.requested(desk.agent, desk.channel)
    sent = {"outcome": "resolved", "message": "Kept.", "line": f"/release {other.release_token}"}
    answer = inbox.post(path(session, "release"), sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert UNKNOWN in page
    assert "Kept." in page
    assert {again(session).status, again(other).status} == {"active"}


def test_where_there_is_a_reply_box_the_panel_has_no_second_place_for_the_line(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    page = inbox.get(desk.page).content.decode()
    assert f'id="line-{session.public_id}"' not in page
    assert "A line that begins with /release ends the handoff" in page


def test_an_ordinary_sentence_about_a_release_is_a_reply(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    typed(inbox, session, "release confirmation sent")
    assert said_by_people(desk) == [("Ada Owner", "release confirmation sent")]
