"""Row 15: what is forged, skewed or altered is never believed; what is replayed, duplicated or out
of order has its effect once.
"""

import collections
import random

import pytest
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from handoff.actions.inbound_apply import apply_due
from handoff.actions.refusals import write_folds
from handoff.models import Channel, Event, InboundEvent, Message, Session
from handoff.transports import transport_class
from tests import factories
from tests.fakes.providers import BASES, Delivered, Delivery
from tests.fakes.toy_desk import Toys, address
from tests.reliability.figures import report
from tests.reliability.forgeries import PROVIDERS, Provider, forged, sent_as
from tests.reliability.quick import unsynced
from tests.reliability.sizes import sizes

pytestmark = pytest.mark.django_db
WORDS = 12
"""How many messages each handoff is sent, each of them several times."""


class Line:
    """One channel of a kind, and whoever calls its webhook."""

    def __init__(self, provider: Provider, toys: Toys) -> None:
        self.provider = provider
        self.toys = toys
        self.agent = factories.AgentFactory.create()
        self.channel = provider.channel(self.agent)
        self.client = Client()
        self._talks = 0
        # the provider lets us write first
        Channel.objects.filter(pk=self.channel.pk).update(last_inbound_at=Now())
        if provider.kind == "whatsapp":
            toys.providers.fakes["whatsapp"].wrote()

    def talk(self) -> Session:
        self._talks += 1
        conversation = factories.conversation(self.agent, f"visitor-{self._talks}")
        return factories.requested(self.agent, self.channel, conversation)

    def said(self, session: Session, text: str) -> Delivery:
        return self.provider.said(self.toys.providers, session, text)

    def post(self, delivery: Delivery) -> Delivered:
        return self.toys.providers.deliver(delivery, to=address(self.channel), client=self.client)


def effects() -> dict[str, object]:
    """All that an event could change."""
    return {
        "events": InboundEvent.objects.count(),
        "messages": Message.objects.count(),
        "log": Event.objects.count(),
        "sessions": list(Session.objects.order_by("pk").values("status", "joined_name", "release")),
        "heard": list(Channel.objects.order_by("pk").values_list("last_inbound_at", flat=True)),
    }


def throw(line: Line, count: int, rng: random.Random) -> collections.Counter[str]:
    """Post so many forgeries; which kinds of them were let in."""
    session = line.talk()
    good = [line.said(session, text) for text in ("It left.", f"/release {session.release_token}")]
    before = effects()
    let_in: collections.Counter[str] = collections.Counter()
    for _ in range(count):
        name, delivery = forged(line.provider, rng.choice(good), rng)
        answer = line.post(delivery)
        if answer.status not in (401, 403):
            let_in[f"{line.provider.kind}: {name}"] += 1
        assert answer.status < 500, (name, delivery.headers)
        assert answer.body == b""
    apply_due()
    if effects() != before:
        let_in[f"{line.provider.kind}: an effect"] += 1
    return let_in


def replay(line: Line, count: int, rng: random.Random) -> tuple[int, int]:
    """Post genuine events again and again, in any order, with forgeries between; how many calls,
    and how many effects too many or too few.
    """
    calls = faults = 0
    while calls < count:
        session = line.talk()
        texts = [f"line {number}" for number in range(WORDS)]
        deliveries = [line.said(session, text) for text in texts]
        if line.provider.reports is not None:
            deliveries += [
                line.provider.reports(line.toys.providers, sent_as(session), word)
                for word in ("sent", "delivered", "read")
            ]
        due = [one for one in deliveries for _ in range(rng.randint(1, 5))]
        rng.shuffle(due)
        for delivery in due:
            fresh = rng.random() < 0.5
            answer = line.post(line.provider.resigned(delivery) if fresh else delivery)
            assert answer.status == 200
            if rng.random() < 0.2:
                line.post(forged(line.provider, delivery, rng)[1])
            if rng.random() < 0.3:
                apply_due()
        settle()
        said = Message.objects.filter(session=session, author="person")
        faults += sorted(said.values_list("text", flat=True)) != sorted(texts)
        if line.provider.reports is not None:
            faults += session.attempts.get().delivery != "read"
        release = line.said(session, f"/release {session.release_token}")
        for _ in range(3):
            line.post(release)
            settle()
        ends = Event.objects.filter(session=session, type="handoff.released").count()
        faults += ends != 1
        calls += len(due) + 3
    return calls, faults


def settle() -> None:
    InboundEvent.objects.filter(processed_at=None).update(next_attempt_at=Now())
    apply_due()


@sizes(quick=1_000, full=10_000)
def test_no_forged_event_is_believed_and_no_repeat_counts(
    size: int, toys: Toys, settings: Settings
) -> None:
    settings.HANDOFFS_PER_MINUTE = settings.CALLS_PER_MINUTE = settings.REPLIES_PER_HOUR = 0
    settings.RELEASE_GUESSES_PER_MINUTE = 0
    for kind, name in BASES.items():
        setattr(settings, name, toys.providers.base(kind))
    unsynced()
    rng = random.Random(15 if size < 10_000 else None)
    share = size // len(PROVIDERS) // 2
    let_in: collections.Counter[str] = collections.Counter()
    replayed = faults = 0
    for provider in PROVIDERS:
        line = Line(provider, toys)
        let_in += throw(line, share, rng)
        calls, wrong = replay(line, share, rng)
        replayed += calls
        faults += wrong
    write_folds(unfinished=True)
    assert let_in == {}
    assert faults == 0
    kinds = ", ".join(provider.kind for provider in PROVIDERS)
    report(
        15,
        f"{share * len(PROVIDERS)} forged, altered or skewed calls for {kinds}: 0 believed; "
        f"{replayed} genuine ones repeated and out of order: {faults} effects too many or too few",
    )


def test_the_test_finds_a_hook_that_does_not_check(
    toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way of forging is a way in somewhere, so a test that throws it can fail."""
    hook = transport_class("toy").hook
    monkeypatch.setattr(hook, "_refused", lambda self, call: "")
    let_in = throw(Line(PROVIDERS[0], toys), 100, random.Random(1))
    assert let_in["toy: an effect"] == 1
    assert len(let_in) > 10
    report(15, f"a hook that does not check lets {let_in.total() - 1} of 100 forgeries in")
