"""Rivals that end the same session at the same moment."""

import threading
from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection

from handoff.actions import endings
from handoff.actions.answer import answer_form
from handoff.contract.kinds import Outcome
from handoff.models import Agent, Channel, Event, Session, Submission
from tests import factories
from tests.factories import form, link_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def channel(agent: Agent) -> Channel:
    return factories.inbox_channel(agent, contact_limit_per_hour=1000)


def _race(*rivals: Callable[[], object]) -> list[object]:
    start = threading.Barrier(len(rivals))
    results: list[object] = [None] * len(rivals)

    def run(index: int, rival: Callable[[], object]) -> None:
        start.wait()
        try:
            results[index] = rival()
        finally:
            connection.close()

    threads = [
        threading.Thread(target=run, args=(index, rival)) for index, rival in enumerate(rivals)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _types(session: Session) -> list[str]:
    return list(
        Event.objects.filter(session=session).order_by("number").values_list("type", flat=True)
    )


def test_of_four_rivals_exactly_one_releases(agent: Agent, channel: Channel) -> None:
    for number in range(25):
        conversation = factories.conversation(agent, f"race-{number}")
        session = factories.requested(agent, channel, conversation)
        owner = session.agent.owners.get()
        sent = form(session)
        link = link_of(session)
        _race(
            partial(answer_form, link, sent),
            partial(endings.cancel, session, reason="", actor="agent:x"),
            partial(
                endings.release_as_owner,
                session,
                user_pk=owner.pk,
                name="O",
                outcome=Outcome.RESOLVED,
                message="",
            ),
            partial(endings.back_to_bot, conversation.pk),
        )
        ends = [t for t in _types(session) if t in ("handoff.released", "handoff.cancelled")]
        assert len(ends) == 1
        assert (
            conversation.messages.filter(
                note_type__in=["handoff.released", "handoff.cancelled"]
            ).count()
            == 1
        )
        returned = Session.objects.get(pk=session.pk)
        assert Submission.objects.filter(session=session).exclude(kind="amendment").count() == 1
        assert returned.returned_at is not None


def test_the_same_form_twice_at_once_is_one_return(agent: Agent, channel: Channel) -> None:
    for number in range(8):
        session = factories.requested(agent, channel)
        sent = form(session, f"s{number}")
        results = _race(*[partial(answer_form, link_of(session), sent)] * 3)
        assert sorted(map(str, results)) == ["repeated", "repeated", "returned"]


def test_of_parallel_forms_one_counts_and_the_others_are_kept(
    agent: Agent, channel: Channel
) -> None:
    conversation = factories.conversation(agent)
    session = factories.requested(agent, channel, conversation)
    link = link_of(session)
    forms = [form(session, f"s{n}", answered_by=f"P{n}") for n in range(6)]
    results = _race(*[partial(answer_form, link, sent) for sent in forms])
    assert sorted(map(str, results)) == ["kept"] * 5 + ["returned"]
    assert conversation.messages.exclude(note_type="").count() == 1
    assert Submission.objects.count() == 6
