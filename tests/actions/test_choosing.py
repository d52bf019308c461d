"""A channel that is switched off, or paused, while a call waits for it reaches nobody.

SQLite has one writer at a time, so only PostgreSQL can show it.
"""

import datetime as dt
from typing import Any

import pytest
from django.db import transaction
from django.db.models.functions import Now

from handoff.models import Attempt, Channel
from tests import factories
from tests.actions.test_outbox_races import start_and_wait_until_blocked
from tests.api.conftest import Desk, refused
from tests.fakes.smtp import SmtpServer

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    "change",
    [{"enabled": False}, {"paused_until": Now() + dt.timedelta(hours=1)}],
    ids=["off", "paused"],
)
def test_what_an_admin_did_while_a_call_waited_holds(change: dict[str, Any]) -> None:
    agent = factories.AgentFactory.create()
    talk, desk = factories.conversation(agent), Desk(agent)
    answers: list[dict[str, Any]] = []
    with SmtpServer() as smtp:
        channel = factories.email_channel(agent, smtp_url=smtp.url)
        with transaction.atomic():
            Channel.objects.select_for_update().get(pk=channel.pk)
            args = factories.arguments(channel)
            call = start_and_wait_until_blocked(
                lambda: answers.append(desk.call("handoff_request", args, conversation=talk))
            )
            Channel.objects.filter(pk=channel.pk).update(**change)
        call.join()
        refused(answers[0], "no_channels")
        assert (smtp.messages, Attempt.objects.count()) == ([], 0)
