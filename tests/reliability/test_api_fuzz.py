"""Row 10: no input makes the API fail, write a traceback or answer in an undeclared shape."""

import collections
import json
import time
from typing import Any, Final

import pytest
from django.test import Client
from hypothesis import HealthCheck, Phase, given, note
from hypothesis import settings as examples
from pytest_django import Settings

from handoff.models import Channel
from tests import factories
from tests.reliability.calls import Call, Known, calls
from tests.reliability.declared import Declared
from tests.reliability.figures import report
from tests.reliability.logs import errors_logged
from tests.reliability.quick import unsynced
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

UNLIMITED: Final = ("CALLS_PER_MINUTE", "HANDOFFS_PER_MINUTE", "TURNS_PER_SECOND")


class Desk:
    """The API in this process, called raw, as an agent that has what the calls name."""

    def __init__(self) -> None:
        agent = factories.AgentFactory.create()
        channel = factories.inbox_channel(agent)
        Channel.objects.update(contact_limit_per_hour=10**6)
        talk = factories.conversation(agent)
        session = factories.requested(agent, channel, talk)
        self.known = Known(talk.public_id, session.public_id, channel.pk)
        self._right = {"authorization": f"Bearer {factories.token_of(agent).text}"}
        self._client = Client(raise_request_exception=False)
        self.document: dict[str, Any] = json.loads(self.send(_get("/api/v1/openapi.json"))[2])

    def send(self, call: Call) -> tuple[int, str, bytes]:
        """Status, content type and body."""
        headers = self._right | dict(call.headers)
        kind = headers.pop("content-type", "application/json")
        answer = self._client.generic(
            call.method,
            call.path,
            call.body,
            content_type=kind,
            headers=headers,
            QUERY_STRING=call.query.encode().decode("latin-1"),  # as WSGI has it
        )
        return answer.status_code, answer.headers.get("content-type", ""), answer.content


def _get(path: str) -> Call:
    return Call("GET", path, path, "", b"", {})


@sizes(quick=1_000, full=50_000)
def test_no_input_makes_the_api_fail(size: int, settings: Settings) -> None:
    """Half of the inputs on each database."""
    for name in UNLIMITED:
        setattr(settings, name, 0)
    unsynced()
    desk = Desk()
    declared = Declared(desk.document)
    statuses: collections.Counter[int] = collections.Counter()
    began = time.monotonic()

    @given(calls(desk.document, desk.known))
    @examples(
        max_examples=size,
        derandomize=size < 10_000,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    def check(call: Call) -> None:
        errors.clear()
        status, kind, body = desk.send(call)
        note(f"{call}\n{status} {kind} {body[:1000]!r}")
        statuses[status] += 1
        assert status < 500, (status, body[:300])
        assert errors == []
        assert b"Traceback" not in body
        if call.method in ("HEAD", "OPTIONS"):
            return
        problem = declared.problem(call.template, call.method, status=status, kind=kind, body=body)
        assert problem == ""

    with errors_logged() as errors:
        check()
    counted = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    seconds = time.monotonic() - began
    report(10, f"{statuses.total()} fuzzed calls in {seconds:.0f} s: 0 x 5xx ({counted})")
