"""Lines with files: however many there are, their files come in one query."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from handoff.actions import files as actions
from handoff.models import Conversation, Delivery, File, Session
from handoff.selectors import conversations, events, letters, threads
from tests import factories
from tests.files.test_storing import said, stored

pytestmark = pytest.mark.django_db(transaction=True)
FEW: Final = 2
MORE: Final = 7


@pytest.fixture
def session() -> Session:
    """Handed to people by mail; nothing is sent until a courier looks."""
    agent = factories.owned_agent(factories.UserFactory.create(), name="shop")
    place = factories.conversation(agent)
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    mail = factories.email_channel(agent)
    Session.objects.filter(pk=session.pk).update(channel=mail, transcript_until=10**6)
    return Session.objects.get(pk=session.pk)


def place_of(session: Session) -> Conversation:
    return Conversation.objects.select_related("agent").get(sessions=session)


def messages(session: Session, place: Conversation) -> object:
    return conversations.messages(place, after=0, limit=50)


def agents_log(session: Session, place: Conversation) -> object:
    return events.page(place.agent, after=0, limit=50)


def frames(session: Session, place: Conversation) -> object:
    return events.frames_after(place.pk, after=0, limit=50, audience="subscriber")


def inbox_page(session: Session, place: Conversation) -> object:
    return threads.of_conversation(place.agent.owners.get().pk, place.public_id)


def dispatch(session: Session, place: Conversation) -> object:
    return letters.request(letters.sessions().get(pk=session.pk), number=1)


def relayed(session: Session, place: Conversation) -> object:
    rows = Delivery.objects.select_related("message").order_by("pk")
    return letters.delivery(letters.sessions().get(pk=session.pk), list(rows))


@pytest.mark.parametrize(
    "read", [messages, agents_log, frames, inbox_page, dispatch, relayed], ids=lambda f: f.__name__
)
def test_files_of_many_lines_cost_what_those_of_a_few_cost(
    session: Session, read: Callable[[Session, Conversation], object]
) -> None:
    place = place_of(session)
    said(place, text="Without one")
    for number in range(FEW):
        said(place, stored(place), stored(place), text=f"Line {number}")
    with CaptureQueriesContext(connection) as few:
        read(session, place)
    for number in range(FEW, MORE):
        said(place, stored(place), stored(place), text=f"Line {number}")
    with CaptureQueriesContext(connection) as more:
        found = read(session, place)
    assert len(more) == len(few)
    assert sum('FROM "handoff_file"' in query["sql"] for query in more) == 1
    ids = [row.public_id for row in File.objects.all()]
    if read in (dispatch, relayed):
        assert str(found).count("/files/") == len(ids)
    else:
        assert all(found_id in str(found) for found_id in ids)


@pytest.mark.parametrize("read", [messages, agents_log, frames, inbox_page, relayed])
def test_lines_without_files_cost_no_query_for_them(
    session: Session, read: Callable[[Session, Conversation], Any]
) -> None:
    place = place_of(session)
    said(place, text="Without one")
    with CaptureQueriesContext(connection) as queries:
        read(session, place)
    assert not any('"handoff_file"' in query["sql"] for query in queries)


def test_a_recipient_is_given_no_address_of_a_file_that_went(session: Session) -> None:
    place = place_of(session)
    gone, kept = stored(place, name="gone.pdf"), stored(place, name="kept.pdf")
    said(place, gone, kept)
    actions.delete(gone, actor="agent:shop")
    for told in (dispatch(session, place), relayed(session, place)):
        assert ("kept.pdf" in str(told), "gone.pdf" in str(told)) == (True, False)
