"""What a webhook must not hold up, and where one that fails is seen."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from handoff import push, tasks
from handoff.actions import webhook_calls
from handoff.actions.webhook_queue import claim
from handoff.actions.webhooks import change_webhook
from handoff.contract.webhooks import WebhookChange
from handoff.management.findings import State, findings
from handoff.models import Agent, Conversation, Webhook
from tests import factories
from tests.webhooks import receiver as answers
from tests.webhooks.conftest import call_due, happen, pass_time, register
from tests.webhooks.receiver import Receiver, status

HANGS_SECONDS = 3.0


@pytest.fixture
def hanging(settings: Settings) -> Iterator[list[Receiver]]:
    """As many receivers as one process has places, each of which keeps silent."""
    settings.DISPATCH_SECONDS = HANGS_SECONDS
    with ExitStack() as stack:
        found = [stack.enter_context(Receiver().running()) for _ in range(settings.WEBHOOK_PLACES)]
        for receiver in found:
            receiver.always = answers.slow(HANGS_SECONDS + 1)
        yield found
        Webhook.objects.update(enabled=False)
        assert webhook_calls.wait(2 * HANGS_SECONDS)


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_receivers_that_hang_leave_room_for_the_others_and_hold_no_clock(
    hanging: list[Receiver], receiver: Receiver, agent: Agent, talk: Conversation
) -> None:
    for one in hanging:
        register(agent, one)
    happen(talk, "one")
    began = time.monotonic()
    tasks.run_due()
    assert time.monotonic() - began < HANGS_SECONDS / 2, "the worker waited for a receiver"
    other = factories.AgentFactory.create()
    register(other, receiver)
    [number] = happen(factories.conversation(other), "two")
    tasks.run_due()
    began = time.monotonic()
    assert [came.event for came in receiver.wait_for(1)] == [number]
    assert time.monotonic() - began < HANGS_SECONDS / 2
    assert sum(len(one.came) for one in hanging) == 1  # none of them took anything yet


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_agent_whose_receivers_worked_and_hang_now_has_half_of_the_places(
    hanging: list[Receiver], receiver: Receiver, agent: Agent, talk: Conversation
) -> None:
    for one in hanging:
        one.answers.append(answers.ACCEPT)
        register(agent, one)
    happen(talk, "one")
    assert call_due() == len(hanging)
    other = factories.AgentFactory.create()
    register(other, receiver)
    happen(talk, "two")
    assert webhook_calls.look() == len(hanging) // 2
    [number] = happen(factories.conversation(other), "three")
    assert webhook_calls.look() == 1
    assert [came.event for came in receiver.wait_for(1)] == [number]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_event_wakes_the_worker_and_a_desk_that_stops_begins_nothing(
    receiver: Receiver, agent: Agent, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "_signals", {})
    signal = push.thread_signal("work")
    register(agent, receiver)
    assert webhook_calls.look() == 0
    signal.clear()
    happen(talk, "one")
    assert signal.is_set()
    monkeypatch.setattr(push, "stopping", True)
    assert webhook_calls.look() == 0
    monkeypatch.setattr(push, "stopping", False)
    assert webhook_calls.look() == 1
    assert webhook_calls.wait(10)
    assert len(receiver.came) == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_processes_never_call_about_the_same_event(
    receiver: Receiver, agent: Agent, talk: Conversation
) -> None:
    register(agent, receiver)
    numbers = happen(talk, *(str(number) for number in range(12)))
    both = [webhook_calls.Callers() for _ in range(2)]
    start = threading.Barrier(2)

    def race(callers: webhook_calls.Callers) -> None:
        start.wait()
        try:
            callers.look()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race, args=(callers,)) for callers in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert all(callers.wait(20) for callers in both)
    assert [came.event for came in receiver.came] == numbers


@pytest.mark.django_db
def test_one_that_failed_is_left_for_later_when_only_easy_ones_may_go(
    receiver: Receiver, agent: Agent, talk: Conversation
) -> None:
    row = register(agent, receiver)
    receiver.answers.append(status(500))
    happen(talk, "one")
    call_due()
    pass_time(60)
    assert claim(easy_only=True) is None
    works = {"tries": 0, "last_seconds": 0.1, "last_success_at": Now()}
    for hard in ({"last_seconds": 9.0}, {"last_success_at": None}):
        Webhook.objects.filter(pk=row.pk).update(**{**works, **hard})
        assert claim(easy_only=True) is None
        assert claim(easy_of=[agent.pk]) is None
    assert claim(none_of=[agent.pk]) is None
    taken = claim(easy_of=[agent.pk + 1], none_of=[agent.pk + 1])
    assert taken is not None
    assert (taken.hard, taken.agent) == (True, agent.pk)
    Webhook.objects.filter(pk=row.pk).update(**works, lease=None, lease_until=None)
    easy = claim(easy_only=True, easy_of=[agent.pk])
    assert easy is not None
    assert not easy.hard


@pytest.mark.django_db
def test_a_new_address_has_to_prove_itself(
    receiver: Receiver, agent: Agent, talk: Conversation
) -> None:
    row = register(agent, receiver)
    happen(talk, "one")
    assert call_due() == 1
    change_webhook(row, WebhookChange(label="Shop"), actor="test")
    row.refresh_from_db()
    assert row.last_success_at is not None
    change_webhook(row, WebhookChange(url=receiver.url + "2"), actor="test")
    happen(talk, "two")
    assert claim(easy_only=True) is None
    assert call_due() == 1
    row.refresh_from_db()
    assert row.last_success_at is not None


@pytest.mark.django_db
def test_doctor_and_the_first_page_say_what_to_do(
    receiver: Receiver, agent: Agent, talk: Conversation
) -> None:
    receiver.answers.extend([status(500), status(410)])
    row = register(agent, receiver, label="Shop, production")
    happen(talk, "one")
    call_due()
    said = {found.sentence: found.state for found in findings() if "Webhook " in found.sentence}
    [(sentence, state)] = said.items()
    assert state is State.LOOK
    assert sentence.startswith(f"Webhook {row.public_id} of shop (Shop, production): it fails")
    admin = Client()
    admin.force_login(User.objects.create_superuser("boss", "boss@example.com", "x"))
    assert "Shop, production" not in admin.get(reverse("admin:index")).text
    pass_time(60)
    call_due()
    [found] = [found for found in findings() if "Webhook " in found.sentence]
    assert found.state is State.BAD
    assert "410 Gone" in found.sentence
    page = admin.get(reverse("admin:index")).text
    assert "shop: Shop, production" in page
    assert "Set its new address" in page


@pytest.mark.django_db
def test_rotate_keys_seals_secrets_too_and_names_what_it_cannot_open(
    receiver: Receiver, agent: Agent, settings: Settings
) -> None:
    old, new, lost = (Fernet.generate_key().decode() for _ in range(3))
    settings.ENCRYPTION_KEYS = [lost]
    deaf = register(factories.AgentFactory.create(), receiver)
    settings.ENCRYPTION_KEYS = [old]
    row = register(agent, receiver)
    settings.ENCRYPTION_KEYS = [new, old]
    with pytest.raises(CommandError) as error:
        call_command("rotate_keys", stdout=StringIO())
    assert str(error.value).splitlines()[1:] == [f"Webhook {deaf.public_id}: {deaf}"]
    settings.ENCRYPTION_KEYS = [new]
    row.refresh_from_db()
    assert row.opened_secrets(both=False) == receiver.secrets[1:]
