"""Who works on a handoff: taking it on, handing it over, taking it over."""

import re
import threading
from collections.abc import Callable
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.actions import claims
from handoff.errors import NotFound
from handoff.models import Event, Session
from tests import factories
from tests.inbox.conftest import Desk
from tests.inbox.test_buttons import path


@pytest.fixture
def bea(desk: Desk) -> User:
    """A second owner of the agent of `desk`."""
    owner = factories.UserFactory.create(username="bea", first_name="Bea", last_name="<Brave>")
    desk.agent.owners.add(owner)
    return owner


@pytest.fixture
def second(bea: User) -> Client:
    client = Client()
    client.force_login(bea)
    return client


def said(client: Client, session: Session, button: str, **sent: object) -> str:
    """What the page says after a button."""
    page = client.post(path(session, button), sent, follow=True).content.decode()
    return " ".join(re.findall(r'class="notice[^>]*>(.*?)</p>', page, re.DOTALL))


def holder(session: Session) -> User | None:
    return Session.objects.get(pk=session.pk).holder


def claimed(session: Session) -> list[tuple[str, object, object]]:
    """Each change of the holder on the trail: by whom, to whom, from whom."""
    rows = AuditEvent.objects.filter(action="handoff.claimed", session=session.public_id)
    return [
        (row.actor, row.details["holder"], row.details["before"]) for row in rows.order_by("pk")
    ]


def test_the_first_owner_to_take_it_on_holds_it(desk: Desk, inbox: Client, second: Client) -> None:
    session = desk.requested()

    assert said(inbox, session, "claim") == "You hold this handoff now."
    assert said(inbox, session, "claim") == ""
    late = said(second, session, "claim")

    assert late == "Nothing changed: Ada Owner holds it by now, or it has ended."
    page = second.get(desk.page).content.decode()
    assert "held by <bdi>Ada Owner</bdi>" in page
    assert "Take it on" not in page
    assert "Take over from <bdi>Ada Owner</bdi>" in page
    owner = f"owner:{desk.owner.pk}"
    assert claimed(session) == [(owner, owner, None)]
    assert Event.objects.filter(session=session, type="handoff.claimed").count() == 1


def test_it_is_handed_to_an_owner_by_name_and_everybody_sees_it(
    desk: Desk, inbox: Client, second: Client, bea: User
) -> None:
    session = desk.requested()
    said(inbox, session, "claim")
    page = inbox.get(desk.page).content.decode()
    assert f'<option value="{bea.pk}">Bea &lt;Brave&gt;</option>' in page
    assert f'<option value="{desk.owner.pk}">' not in page

    words = said(inbox, session, "hand-over", to=bea.pk, held_by=desk.owner.pk)

    assert words == "Bea &lt;Brave&gt; holds this handoff now."
    assert holder(session) == bea
    assert "held by <bdi>Bea &lt;Brave&gt;</bdi>" in second.get("/inbox/").content.decode()
    ada = f"owner:{desk.owner.pk}"
    assert claimed(session)[1:] == [(ada, f"owner:{bea.pk}", ada)]
    assert Event.objects.filter(session=session, type="handoff.claimed").count() == 2


def test_what_nobody_holds_can_be_handed_to_somebody(desk: Desk, inbox: Client, bea: User) -> None:
    session = desk.requested()
    said(inbox, session, "hand-over", to=bea.pk)
    assert holder(session) == bea


@pytest.mark.parametrize("field", ["to", "held_by"])
@pytest.mark.parametrize("number", [2**63, 2**64, 10**30])
def test_a_number_that_no_row_can_have_is_refused(
    desk: Desk, inbox: Client, bea: User, field: str, number: int
) -> None:
    session = desk.requested()
    form = {"to": bea.pk, "held_by": desk.owner.pk, field: number}
    answer = inbox.post(f"/inbox/h/{session.public_id}/hand-over/", form)
    assert answer.status_code == 422
    assert holder(session) is None
    form[field] = 2**63 - 1
    assert inbox.post(f"/inbox/h/{session.public_id}/hand-over/", form).status_code in (302, 422)


def test_another_owner_takes_it_over_from_who_holds_it(
    desk: Desk, inbox: Client, second: Client, bea: User
) -> None:
    session = desk.requested()
    said(inbox, session, "claim")
    words = said(second, session, "hand-over", to=bea.pk, held_by=desk.owner.pk)
    assert words == "You hold this handoff now."
    assert holder(session) == bea


def test_a_page_that_shows_the_wrong_holder_changes_nothing_and_says_who_it_is(
    desk: Desk, inbox: Client, second: Client, bea: User
) -> None:
    session = desk.requested()
    said(second, session, "claim")
    words = said(inbox, session, "hand-over", to=desk.owner.pk)
    assert words == "Nothing changed: Bea &lt;Brave&gt; holds it by now, or it has ended."
    assert holder(session) == bea


@pytest.mark.parametrize("who", ["stranger", "former", "switched off", "nonsense", "nobody"])
def test_it_goes_to_nobody_who_does_not_look_after_the_agent(
    desk: Desk, inbox: Client, bea: User, who: str
) -> None:
    session = desk.requested()
    to: object = bea.pk
    if who == "stranger":
        to = factories.UserFactory.create().pk
    elif who == "former":
        desk.agent.owners.remove(bea)
    elif who == "switched off":
        User.objects.filter(pk=bea.pk).update(is_active=False)
    else:
        to = {"nonsense": "x" * 50, "nobody": ""}[who]

    answer = inbox.post(path(session, "hand-over"), {"to": to})

    assert answer.status_code == 422
    assert "<title>Error: " in answer.content.decode()
    assert holder(session) is None
    assert claimed(session) == []


def test_a_handoff_that_has_ended_moves_to_nobody(desk: Desk, inbox: Client, bea: User) -> None:
    session = desk.requested()
    inbox.post(path(session, "cancel"))
    assert "or it has ended" in said(inbox, session, "hand-over", to=bea.pk)
    assert holder(session) is None
    assert "Hand over" not in inbox.get(desk.page).content.decode()


def test_whoever_takes_it_on_keeps_the_bypass_alive(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    before = Session.objects.get(pk=session.pk).recipient_active_at
    said(inbox, session, "claim")
    assert Session.objects.get(pk=session.pk).recipient_active_at > before


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_owners_who_reach_for_it_at_once_one_gets_it() -> None:
    owner = factories.UserFactory.create()
    agent = factories.owned_agent(owner)
    others = factories.UserFactory.create_batch(4)
    agent.owners.add(*others)
    channel = factories.inbox_channel(agent, contact_limit_per_hour=1000)
    for number in range(12):
        session = factories.requested(agent, channel, factories.conversation(agent, str(number)))
        first = [partial(claims.claim, session.pk, user_pk=one.pk) for one in others]
        assert sorted(at_once(*first)) == [False, False, False, True]
        held = Session.objects.get(pk=session.pk).holder_id
        move = partial(claims.hand_over, session.pk, held_by=held, by=owner.pk)
        rest = [one.pk for one in others if one.pk != held]
        assert sorted(at_once(*(partial(move, to=pk) for pk in rest))) == [False, False, True]
        assert len(claimed(session)) == 2
        assert Event.objects.filter(session=session, type="handoff.claimed").count() == 2


def at_once(*rivals: Callable[[], bool]) -> list[bool]:
    start = threading.Barrier(len(rivals))
    won: list[bool] = []

    def run(rival: Callable[[], bool]) -> None:
        start.wait()
        try:
            won.append(rival())
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(rival,)) for rival in rivals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return won


def test_no_stranger_is_made_a_holder_by_the_action_either(desk: Desk) -> None:
    session = desk.requested()
    stranger = factories.UserFactory.create()
    with pytest.raises(NotFound):
        claims.claim(session.pk, user_pk=stranger.pk)
