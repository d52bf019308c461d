"""What a subscriber's socket may carry: this list, and nothing else."""

import io
from typing import Any

import pytest
from pytest_django import Settings

from handoff.actions import endings
from handoff.actions.events import emit, locked
from handoff.actions.files import store
from handoff.actions.relay import deliver_due
from handoff.actions.reply import reply
from handoff.actions.turns import post_turn
from handoff.actions.writing import writing
from handoff.contract.kinds import Author, EventType
from handoff.contract.turns import TurnBody
from handoff.models import Channel, Conversation, Message, Session
from handoff.selectors import events
from tests import factories
from tests.factories import form
from tests.fakes.smtp import SmtpServer

pytestmark = pytest.mark.django_db

ENVELOPE = {"v", "id", "type", "at", "conversation", "handoff", "data"}
MESSAGE = {
    "id",
    "event_id",
    "client_id",
    "author",
    "name",
    "text",
    "routed_to",
    "handoff",
    "at",
    "files",
}
FILE = {"id", "name", "type", "size", "kept"}
HANDOFF = {
    "id",
    "status",
    "release",
    "channel_kind",
    "channel_label",
    "idle_at",
    "late",
    "undelivered",
    "estimated_response",
}
PERMITTED: dict[str, dict[str, set[str]]] = {
    "message.created": {"message": MESSAGE},
    "message.routed": {"message": MESSAGE},
    "message.relay_failed": {"message": MESSAGE},
    "participant.joined": {"name": set()},
    "participant.left": {"name": set()},
    "handoff.started": {"handoff": HANDOFF},
    "handoff.failed": {"handoff": HANDOFF},
    "handoff.released": {"handoff": HANDOFF},
    "handoff.cancelled": {"handoff": HANDOFF},
    "handoff.late_return": {"handoff": HANDOFF},
}
SECRET = "only the recipient may read this"


@pytest.fixture
def story(db: None) -> Conversation:
    """A conversation in which everything happened."""
    agent = factories.AgentFactory.create()
    channel = factories.inbox_channel(agent)
    conversation = factories.conversation(agent, name="Ana")
    for index in range(3):
        session = factories.requested(
            agent,
            channel,
            conversation,
            summary=f"{SECRET} {SECRET}",
            expected_action=SECRET,
            extra_context={SECRET: SECRET},
            contact_back_email="secret@example.com",
        )
        file = stored(conversation)
        body = TurnBody(client_id=f"s{index}", author="subscriber", text="Hello?", files=[file])
        post_turn(conversation, body)
        bot = TurnBody(client_id=f"a{index}", author="agent", text=SECRET)
        post_turn(conversation, bot)
        reply(session.pk, text="Hello!", name="Mia", actor="owner:1")
        if index == 0:
            endings.cancel(session, reason="", actor="agent:x")
        elif index == 1:
            endings.back_to_bot(conversation.pk)
            factories.answer(session, form(session, "late"))
        else:
            factories.answer(session, form(session, "sent"))
    return conversation


def stored(conversation: Conversation) -> str:
    """The id of a file that waits for its line."""
    content = io.BytesIO(b"Hello.")
    how = {"name": "hello.txt", "content_type": "text/plain", "content": content}
    return store(conversation, by=Author.SUBSCRIBER, actor="test", **how).public_id  # type: ignore[arg-type]


def frames(conversation: Conversation, audience: Any) -> list[dict[str, Any]]:
    return events.frames_after(conversation.pk, after=0, limit=1000, audience=audience)[0]


def test_a_subscribers_frames_carry_only_permitted_keys(story: Conversation) -> None:
    found = frames(story, "subscriber")
    check(found)
    assert any(frame["data"].get("message", {}).get("files") for frame in found)
    assert {frame["type"] for frame in found} == set(PERMITTED) - {
        "handoff.failed",
        "message.relay_failed",
    }
    for secret in (SECRET, "secret@example.com", "sales@example.com"):
        assert secret not in str(found)


def test_a_subscriber_hears_which_line_did_not_arrive_and_never_why(
    db: None, settings: Settings
) -> None:
    settings.COLLECT_SECONDS = 0
    agent = factories.AgentFactory.create()
    conversation = factories.conversation(agent, name="Ana")
    with SmtpServer() as smtp:
        channel = factories.email_channel(agent, smtp_url=smtp.url)
        factories.requested(agent, channel, conversation)
        smtp.recipients["sales@example.com"] = f"550 5.1.1 {SECRET}"
        lost = [
            post_turn(
                conversation, TurnBody(client_id=name, author="subscriber", text=name)
            ).message.public_id
            for name in ("first", "second")
        ]
        deliver_due()
    endings.back_to_bot(conversation.pk)
    found = frames(conversation, "subscriber")
    failed = [frame["data"] for frame in found if frame["type"] == "message.relay_failed"]
    assert [set(data) for data in failed] == [{"message"}] * 2
    assert [data["message"]["id"] for data in failed] == lost
    assert all(set(data["message"]) <= MESSAGE for data in failed)
    [ended] = [frame["data"]["handoff"] for frame in found if frame["type"] == "handoff.released"]
    assert ended["undelivered"] == lost
    for secret in (SECRET, "5.1.1", "sales@example.com"):
        assert secret not in str(found)


def test_an_event_of_each_type_is_listed_or_not_for_a_subscriber(story: Conversation) -> None:
    """Whatever the types of the product are: one that nobody listed fails here or is not sent."""
    story.refresh_from_db()
    sessions = Session.objects.select_related("channel")
    for type_ in EventType:
        for session in sessions:
            happen(story, type_, session)
    found = [frame for frame in frames(story, "subscriber") if frame["id"] > story.last_event_id]
    assert [frame["type"] for frame in found] == [
        type_ for type_ in EventType if type_ in PERMITTED for _ in sessions
    ]
    check(found)
    for secret in (SECRET, "secret@example.com", "sales@example.com", "order_status", "shipped"):
        assert secret not in str(found)


def happen(conversation: Conversation, type_: EventType, session: Session) -> None:
    line = Message.objects.filter(session=session, author="subscriber").first()
    with writing():
        row = locked(conversation.pk)
        emit(
            type_,
            agent=row.agent,
            conversation=row,
            session=session,
            message=line if type_.startswith("message.") else None,
        )


def check(found: list[dict[str, Any]]) -> None:
    """Only what is listed."""
    for frame in found:
        assert set(frame) == ENVELOPE
        permitted = PERMITTED[frame["type"]]
        assert set(frame["data"]) <= set(permitted)
        for key, value in frame["data"].items():
            assert not isinstance(value, dict) or set(value) <= permitted[key]
        for file in frame["data"].get("message", {}).get("files", []):
            assert set(file) == FILE


def test_numbers_go_up_and_a_reader_knows_how_far_it_read(story: Conversation) -> None:
    numbers = [frame["id"] for frame in frames(story, "subscriber")]
    assert numbers == sorted(set(numbers))
    story.refresh_from_db()
    assert events.frames_after(story.pk, after=0, limit=1000, audience="subscriber")[1] == (
        story.last_event_id
    )
    pieces: list[int] = []
    after = 0
    while after < story.last_event_id:
        some, after = events.frames_after(story.pk, after=after, limit=2, audience="subscriber")
        pieces += [frame["id"] for frame in some]
    assert pieces == numbers


def test_the_agents_own_front_end_sees_the_whole_handoff(story: Conversation) -> None:
    released = [f for f in frames(story, "agent") if f["type"] == EventType.RELEASED][-1]
    assert released["data"]["handoff"]["values"]["order_status"] == "shipped"


def test_a_superseded_line_is_shown_to_nobody(story: Conversation) -> None:
    assert not any(
        frame["data"].get("message", {}).get("author") == "agent"
        for audience in ("subscriber", "agent")
        for frame in frames(story, audience)
    )


def test_a_channel_may_keep_the_values_from_the_subscriber(story: Conversation) -> None:
    assert "  • order_status: shipped" in str(frames(story, "subscriber"))
    Channel.objects.update(share_values_with_subscriber=False)
    hidden = frames(story, "subscriber")
    assert "order_status" not in str(hidden)
    notes = [
        frame["data"]["message"]["text"]
        for frame in hidden
        if frame["type"] == "message.created" and frame["data"]["message"]["author"] == "system"
    ]
    assert all(note.startswith(("[Bot resumed — ", "[Late return — ")) for note in notes)
    assert "order_status" in str(frames(story, "agent"))
