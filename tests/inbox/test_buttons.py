"""What the buttons do: reply, claim, release, cancel."""

import re

import pytest
from django.test import Client

from audit.models import Event
from handoff.actions.endings import back_to_bot
from handoff.models import Message, Session
from tests import factories
from tests.inbox.conftest import Desk


def path(session: Session, button: str) -> str:
    return f"/inbox/h/{session.public_id}/{button}/"


def notes(desk: Desk) -> list[str]:
    return list(desk.conversation.messages.filter(author="system").values_list("text", flat=True))


def said_by_people(desk: Desk) -> list[tuple[str, str]]:
    lines = Message.objects.filter(conversation=desk.conversation, author="person")
    return list(lines.values_list("name", "text"))


def test_the_same_reply_sent_twice_is_said_once(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    page = inbox.get(desk.page).content.decode()
    found = re.search(r'name="client_id"\s+value="([\w-]+)"', page)
    assert found is not None
    sent = {"client_id": found[1], "text": "  It left\r\nyesterday.  "}

    answers = [inbox.post(path(session, "reply"), sent) for _ in range(2)]

    assert [answer["Location"] for answer in answers] == [f"{desk.page}#reply-text"] * 2
    assert said_by_people(desk) == [("Ada Owner", "It left\nyesterday.")]
    page = inbox.get(desk.page).content.decode()
    assert page.count("It left\nyesterday.") == 1
    assert f'value="{found[1]}"' not in page


def test_two_replies_with_the_same_words_are_two(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    for name in ("first", "second"):
        inbox.post(path(session, "reply"), {"client_id": name, "text": "One moment."})
    assert len(said_by_people(desk)) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("   ", "Write something first."),
        ("x" * 8001, "at most 8000 characters (it has 8001)"),
    ],
)
def test_a_reply_that_cannot_be_taken_stands_on_the_page_again(
    desk: Desk, inbox: Client, text: str, problem: str
) -> None:
    session = desk.requested()
    answer = inbox.post(path(session, "reply"), {"client_id": "abc", "text": text})
    page = answer.content.decode()

    assert answer.status_code == 422
    assert "<title>Error: " in page
    assert problem in page
    assert text.strip() in page
    assert 'value="abc"' in page
    assert said_by_people(desk) == []


def test_a_character_that_cannot_be_stored_is_replaced(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    inbox.post(path(session, "reply"), {"client_id": "1", "text": "a\x00b\x07c"})
    assert said_by_people(desk) == [("Ada Owner", "a\ufffdb\ufffdc")]


def test_a_reply_without_its_hidden_id_can_be_sent_from_the_page_that_says_so(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    answer = inbox.post(path(session, "reply"), {"text": "Hello there"})
    page = answer.content.decode()

    assert answer.status_code == 422
    assert "Hello there" in page
    found = re.search(r'name="client_id"\s+value="([\w-]+)"', page)
    assert found is not None
    inbox.post(path(session, "reply"), {"client_id": found[1], "text": "Hello there"})
    assert said_by_people(desk) == [("Ada Owner", "Hello there")]


def test_a_reply_that_comes_too_late_is_not_lost(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    assert back_to_bot(desk.conversation.pk)

    answer = inbox.post(path(session, "reply"), {"client_id": "1", "text": "All my typing"})
    page = answer.content.decode()

    assert answer.status_code == 409
    assert "Not sent: the handoff has ended" in page
    assert re.search(r'id="unsent-text".*readonly>All my typing</textarea>', page)
    assert said_by_people(desk) == []


def test_a_reply_that_comes_too_late_can_go_to_the_next_handoff(desk: Desk, inbox: Client) -> None:
    over = desk.requested()
    back_to_bot(desk.conversation.pk)
    current = desk.requested()

    answer = inbox.post(path(over, "reply"), {"client_id": "1", "text": "All my typing"})

    page = answer.content.decode()
    assert answer.status_code == 409
    assert f'action="{path(current, "reply")}"' in page
    assert re.search(r'name="text"[^>]*>All my typing</textarea>', page)


def test_a_detached_handoff_takes_no_reply(desk: Desk, inbox: Client) -> None:
    session = factories.requested(desk.agent, desk.channel)
    answer = inbox.post(path(session, "reply"), {"client_id": "1", "text": "Hello"})
    assert answer.status_code == 409
    assert Message.objects.count() == 0


def test_a_release_writes_the_owners_first_line_of_the_resume_note(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    sent = {"outcome": "unresolved", "message": "Ask [again]\ntomorrow."}

    answer = inbox.post(path(session, "release"), sent, follow=True)

    assert "Released. The agent has been told." in answer.content.decode()
    assert notes(desk) == [
        (
            "[Bot resumed — the owner has handed control back. "
            "Outcome: unresolved. Ask (again) tomorrow.]\n"
            "Not filled: order_status (required), tracking_url, eta_date, notes."
        )
    ]
    session.refresh_from_db()
    assert (session.release, session.answered_by) == ("owner", "Ada Owner")
    assert Event.objects.get(action="handoff.released").actor == f"owner:{desk.owner.pk}"


def test_the_second_release_changes_nothing_and_says_what_was_first(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    inbox.post(path(session, "release"), {"outcome": "resolved"})
    answer = inbox.post(path(session, "release"), {"outcome": "declined"}, follow=True)

    said = "Nothing changed. It had ended before: Released by an owner: resolved."
    assert said in answer.content.decode()
    assert len(notes(desk)) == 1


@pytest.mark.parametrize(
    "sent", [{}, {"outcome": "perhaps"}, {"outcome": "resolved", "message": "x" * 1001}]
)
def test_a_release_that_cannot_be_taken_stands_on_the_page_again(
    desk: Desk, inbox: Client, sent: dict[str, str]
) -> None:
    session = desk.requested()
    answer = inbox.post(path(session, "release"), sent)
    page = answer.content.decode()

    assert answer.status_code == 422
    assert re.search(rf'id="release-{session.public_id}"\s+open', page)
    assert sent.get("message", "") in page
    session.refresh_from_db()
    assert session.status == "active"


def test_a_cancelled_handoff_says_why_to_the_agent(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    answer = inbox.post(path(session, "cancel"), {"reason": "Asked twice."}, follow=True)

    page = answer.content.decode()
    assert "Cancelled. The agent has been told." in page
    assert notes(desk) == ["[Bot resumed — the handoff was cancelled. Asked twice.]"]
    assert "[Bot resumed — the handoff was cancelled. Asked twice.]" in page


def test_a_reason_that_is_too_long_stands_on_the_page_again(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    answer = inbox.post(path(session, "cancel"), {"reason": "y" * 1001})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "y" * 1001 in page
    assert re.search(rf'id="cancel-{session.public_id}"\s+open', page)


def test_a_failed_handoff_is_final_for_every_button(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    Session.objects.filter(pk=session.pk).update(status="failed")

    for button in ("release", "cancel", "claim", "reply", "hand-over", "extend", "remind", "link"):
        sent = {"outcome": "resolved", "client_id": "1", "text": "hello", "to": str(desk.owner.pk)}
        inbox.post(path(session, button), sent)

    session.refresh_from_db()
    assert (session.status, session.holder) == ("failed", None)
    assert notes(desk) == []
