"""What an agent's calls may keep the web server's threads waiting for."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from handoff.actions import webhook_addresses, webhook_calls
from handoff.contract.webhooks import WEBHOOKS_MAX
from handoff.errors import Invalid
from handoff.models import Agent, Bucket, Webhook
from tests import factories
from tests.webhooks.conftest import register
from tests.webhooks.receiver import ACCEPT, CUT, Receiver
from tests.webhooks.test_api import Door

pytestmark = pytest.mark.django_db
HANGS = "https://hangs.example/"


class Resolver:
    """The machine's own, in which one name hangs until it is let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._let_go = threading.Event()
        self._began = threading.Semaphore(0)
        self._real = socket.getaddrinfo

    def __call__(self, host: str, *args: Any, **kwargs: Any) -> list[Any]:
        self.asked.append(host)
        if host in HANGS:
            self._began.release()
            self._let_go.wait(20)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return self._real(host, *args, **kwargs)

    @contextmanager
    def looking_up(self, *agents: int) -> Iterator[None]:
        """While each of these agents has a look-up that hangs."""
        self._let_go.clear()
        threads = [threading.Thread(target=_look_up, args=(agent,)) for agent in agents]
        for thread in threads:
            thread.start()
            assert self._began.acquire(timeout=10)
        try:
            yield
        finally:
            self._let_go.set()
            for thread in threads:
                thread.join(10)


def _look_up(agent: int) -> None:
    with pytest.raises(Invalid):
        webhook_addresses.check_url(HANGS, agent=agent)


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    made = Resolver()
    monkeypatch.setattr(socket, "getaddrinfo", made)
    return made


def test_an_agent_whose_look_up_hangs_waits_for_it_alone(
    agent: Agent, receiver: Receiver, resolver: Resolver
) -> None:
    other = factories.AgentFactory.create()
    mine, theirs = Door(agent), Door(other)
    made = mine.made(receiver.url)
    with resolver.looking_up(agent.pk):
        refused = mine("POST", "", {"url": receiver.url})
        assert refused.status_code == 429
        assert refused.json()["code"] == "too_fast"
        assert refused.json()["error"] == (
            "The address of another webhook is being looked up. This call did nothing; "
            "call again in 5 seconds."
        )
        assert refused.headers["Retry-After"] == "5"
        path = f"/{made['id']}"
        assert mine("PATCH", path, {"url": receiver.url + "2"}).status_code == 429
        assert mine("PATCH", path, {"url": receiver.url, "label": "Shop"}).status_code == 200
        theirs.made(receiver.url)
    mine.made(receiver.url)


def test_two_look_ups_that_hang_leave_the_other_threads_to_the_others(
    agent: Agent, receiver: Receiver, resolver: Resolver
) -> None:
    third = Door(factories.AgentFactory.create())
    with resolver.looking_up(agent.pk, factories.AgentFactory.create().pk):
        assert third("POST", "", {"url": receiver.url}).status_code == 429
        entered = {"agent": agent.pk, "url": receiver.url, "payload": "full"}
        page = _boss().post(reverse("admin:handoff_webhook_add"), entered)
        assert "It cannot be looked up now, as others are; try again in a moment." in page.text
    assert Webhook.objects.count() == 0
    third.made(receiver.url)


def test_one_too_many_is_refused_before_anything_is_looked_up(
    agent: Agent, receiver: Receiver, resolver: Resolver
) -> None:
    door = Door(agent)
    for _ in range(WEBHOOKS_MAX):
        register(agent, receiver)
    resolver.asked.clear()
    refused = door("POST", "", {"url": HANGS})
    assert refused.status_code == 400
    assert "one too many" in refused.json()["error"]
    assert resolver.asked == []


def test_making_and_changing_has_a_limit_of_its_own(
    agent: Agent, receiver: Receiver, settings: Settings
) -> None:
    settings.CALLS_PER_MINUTE = 3 * webhook_addresses.CALLS_A_CHANGE
    door = Door(agent)
    path = f"/{door.made(receiver.url)['id']}"
    for label in ("one", "two"):
        assert door("PATCH", path, {"label": label}).status_code == 200
    refused = door("PATCH", path, {"label": "three"})
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) in range(1, 21)
    assert door("POST", "", {"url": receiver.url}).status_code == 429
    assert door("GET").status_code == 200
    assert Door(factories.AgentFactory.create()).made(receiver.url)
    settings.CALLS_PER_MINUTE = 0
    Bucket.objects.all().delete()
    assert all(door("PATCH", path, {"label": str(n)}).status_code == 200 for n in range(5))


def test_a_test_takes_no_place_from_those_who_contact_people(
    agent: Agent, receiver: Receiver, settings: Settings
) -> None:
    settings.DISPATCH_SLOTS = 0
    made = Door(agent).made(receiver.url)
    assert Door(agent)("POST", f"/{made['id']}/test").json()["fate"] == "delivered"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_receiver_that_hangs_in_a_test_keeps_its_agent_s_others_waiting_alone(
    agent: Agent, receiver: Receiver
) -> None:
    let_go = threading.Event()
    mine, theirs = Door(agent), Door(factories.AgentFactory.create())
    path = f"/{mine.made(receiver.url)['id']}/test"
    with Receiver().running() as silent:
        silent.always = lambda _came: ACCEPT if let_go.wait(8) else CUT
        hanging = register(agent, silent)
        thread = threading.Thread(target=_test, args=(hanging,))
        thread.start()
        silent.wait_for(1)
        refused = mine("POST", path)
        other = theirs("POST", f"/{theirs.made(receiver.url)['id']}/test")
        page = _boss().post(reverse("admin:handoff_webhook_test", args=[hanging.pk]), follow=True)
        let_go.set()
        thread.join(20)
    assert (refused.status_code, other.status_code) == (429, 200)
    assert refused.json()["error"].startswith("Another test of a webhook is under way.")
    assert "Another test is under way." in page.text
    assert len(silent.came) == 1
    assert mine("POST", path).json()["fate"] == "delivered"


def _test(webhook: Webhook) -> None:
    try:
        webhook_calls.test(webhook, actor="test")
    finally:
        connections.close_all()


def _boss() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss", "boss@example.com", "x"))
    return client
