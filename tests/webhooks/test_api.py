"""`/api/v1/webhooks` as an agent calls it."""

import datetime as dt
import json
import logging
import re
from typing import Any

import pytest
from django.db.models import Value
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.contract.webhooks import WEBHOOKS_MAX
from handoff.models import Agent, Conversation, Event, Webhook, WebhookCall
from tests import factories
from tests.api.conftest import Reply
from tests.api.test_openapi import assert_declared
from tests.webhooks.conftest import call_due, happen, register
from tests.webhooks.receiver import Receiver, status

pytestmark = pytest.mark.django_db
SECRET = re.compile(r"^whsec_[A-Za-z0-9+/]{43}=$")


_documents: list[dict[str, Any]] = []


def _document(client: Client) -> dict[str, Any]:
    """The OpenAPI document, made once: it is the same for every agent."""
    if not _documents:
        _documents.append(json.loads(client.get("/api/v1/openapi.json").content))
    return _documents[0]


class Door:
    """The routes of webhooks as one agent calls them; every answer is one that is declared."""

    def __init__(self, agent: Agent) -> None:
        token = factories.token_of(agent).text
        self._client = Client(headers={"authorization": f"Bearer {token}"})
        self._document = _document(self._client)

    def __call__(self, method: str, path: str = "", body: object = None) -> Reply:
        sent = "" if body is None else json.dumps(body)
        found = self._client.generic(
            method, f"/api/v1/webhooks{path}", sent, content_type="application/json"
        )
        reply = Reply(found.status_code, found.headers, found.content)
        if reply.status_code != 204:
            declared = "/api/v1/webhooks" + re.sub(r"wh_\w+", "{public_id}", path.partition("?")[0])
            assert_declared(self._document, declared, method.lower(), reply)
        return reply

    def made(self, url: str, **fields: Any) -> dict[str, Any]:
        reply = self("POST", "", {"url": url, **fields})
        assert reply.status_code == 201, reply.content
        made: dict[str, Any] = reply.json()
        return made


@pytest.fixture
def door(agent: Agent) -> Door:
    return Door(agent)


def trail(action: str) -> AuditEvent:
    return AuditEvent.objects.get(action=action)


def test_its_whole_life(door: Door, receiver: Receiver, talk: Conversation) -> None:
    made = door.made(receiver.url, label="Shop", event_types=["message.created"], payload="thin")
    receiver.secrets = [made.pop("secret")]
    assert SECRET.match(receiver.secrets[0])
    path = f"/{made['id']}"
    assert door("GET", path).json() == made
    assert door("GET").json() == {"data": [made]}

    tested = door("POST", f"{path}/test").json()
    assert (tested["fate"], tested["status"], tested["type"]) == ("delivered", 204, "webhook.test")
    assert receiver.came[0].verified
    assert receiver.came[0].json["type"] == "webhook.test"
    assert receiver.came[0].id == tested["webhook_id"]

    happened = happen(talk, "one", "two")
    call_due()
    page = door("GET", f"{path}/calls?after={tested['id']}&limit=1").json()
    assert (page["data"][0]["event"], page["has_more"]) == (happened[0], True)

    turned = door("POST", f"{path}/rotate").json()
    assert SECRET.match(turned["secret"])
    assert turned["secret"] not in receiver.secrets
    assert turned["previous_secret_until"] is not None

    off = door("PATCH", path, {"enabled": False}).json()
    assert (off["enabled"], off["stopped"], off["problem"]) == (False, None, "")
    on = door("PATCH", path, {"enabled": True, "label": "", "event_types": []}).json()
    assert (on["enabled"], on["label"], on["event_types"]) == (True, "", [])

    assert door("DELETE", path).status_code == 204
    assert door("GET", path).status_code == 404
    assert WebhookCall.objects.count() == 0


def test_every_change_is_on_the_trail_and_no_secret_or_address_with_it(
    door: Door, receiver: Receiver, talk: Conversation
) -> None:
    made = door.made(receiver.url)
    path = f"/{made['id']}"
    [number] = happen(talk, "one")
    door("PATCH", path, {"payload": "thin"})
    turned = door("POST", f"{path}/rotate").json()
    door("POST", f"{path}/test")
    door("POST", f"{path}/replay", {"event": number})
    door("PATCH", path, {"enabled": False})
    door("DELETE", path)
    actions = ("created", "changed", "rotated", "tested", "replayed", "disabled", "deleted")
    for action in actions:
        row = trail(f"webhook.{action}")
        assert (row.actor, row.agent) == ("agent:shop", "shop")
        assert row.details["webhook"] == made["id"]
    written = str(list(AuditEvent.objects.values()))
    for secret in (made["secret"], turned["secret"], receiver.url):
        assert secret not in written
    assert trail("webhook.changed").details["fields"] == ["payload"]


def test_no_secret_is_in_a_row_a_log_or_a_later_answer(
    door: Door, receiver: Receiver, talk: Conversation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = door.made(receiver.url)
    path = f"/{made['id']}"
    turned = door("POST", f"{path}/rotate").json()
    secrets = [made["secret"], turned["secret"]]

    def echo(came: Any) -> bytes:
        return status(500, f"{came.headers} {' '.join(secrets)}".encode())

    receiver.always = echo
    happen(talk, "one")
    call_due()
    door("POST", f"{path}/test")
    rows = [str(list(model.objects.values())) for model in (Webhook, WebhookCall, AuditEvent)]
    later = [door("GET", end).content.decode() for end in ("", path, f"{path}/calls")]
    for said in (*rows, *later, caplog.text):
        for secret in secrets:
            assert secret not in said
            assert secret.removeprefix("whsec_") not in said
    assert "500" in WebhookCall.objects.all()[0].failure


def test_what_a_receiver_says_is_not_told_to_the_agent(
    door: Door, receiver: Receiver, talk: Conversation
) -> None:
    made = door.made(receiver.url)
    receiver.always = status(500, b"<script>alert(1)</script> inner words")
    happen(talk, "one")
    call_due()
    assert "inner words" in WebhookCall.objects.get().failure
    for path in ("", f"/{made['id']}", f"/{made['id']}/calls"):
        assert b"inner words" not in door("GET", path).content
    assert b"inner words" not in door("POST", f"/{made['id']}/test").content


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 1}, "url"),
        ({"url": "ftp://x.example/"}, "url"),
        ({"url": "https://user:pw@x.example/"}, "url"),
        ({"url": "https://x.example/", "event_types": ["order.paid"]}, "event_types.0"),
        ({"url": "https://x.example/", "payload": "fat"}, "payload"),
        ({"url": "https://x.example/", "label": "x" * 101}, "label"),
        ({"url": "https://x.example/", "secret": "whsec_mine"}, "secret"),
    ],
)
def test_what_cannot_be_used_is_named(door: Door, body: dict[str, Any], field: str) -> None:
    reply = door("POST", "", body)
    assert reply.status_code == 400
    assert [item["field"] for item in reply.json()["details"]["problems"]] == [field]
    assert Webhook.objects.count() == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data/",
        "https://nobody.invalid/",
        "https://localhost/",
    ],
)
def test_every_address_that_is_not_public_gets_the_same_words(
    door: Door, receiver: Receiver, settings: Settings, url: str
) -> None:
    mine = door.made(receiver.url)
    settings.PRIVATE_TARGETS = []
    made = door("POST", "", {"url": url})
    changed = door("PATCH", f"/{mine['id']}", {"url": url})
    assert (made.status_code, changed.status_code) == (400, 400)
    assert made.json() == changed.json()
    assert "must lead to a public address" in made.json()["error"]
    assert Webhook.objects.get().url == receiver.url


def test_an_address_that_has_become_private_is_not_called(
    door: Door, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    door.made(receiver.url)
    settings.PRIVATE_TARGETS = []
    happen(talk, "one")
    call_due()
    assert receiver.came == []
    assert WebhookCall.objects.get().fate == "not_allowed"


def test_an_agent_has_ten_at_most(door: Door, receiver: Receiver) -> None:
    for _ in range(WEBHOOKS_MAX):
        door.made(receiver.url)
    assert door("POST", "", {"url": receiver.url}).status_code == 400
    assert Webhook.objects.count() == WEBHOOKS_MAX


def test_another_agent_s_webhook_is_out_of_reach(door: Door, receiver: Receiver) -> None:
    made = door.made(receiver.url)
    stranger = Door(factories.AgentFactory.create())
    path = f"/{made['id']}"
    for method, end, body in (
        ("GET", "", None),
        ("PATCH", "", {"enabled": False}),
        ("DELETE", "", None),
        ("POST", "/rotate", None),
        ("POST", "/test", None),
        ("POST", "/replay", {"event": 1}),
        ("GET", "/calls", None),
    ):
        assert stranger(method, path + end, body).status_code == 403, end
        assert stranger(method, f"/wh_{'a' * 26}{end}", body).status_code == 404, end
    assert stranger("GET").json() == {"data": []}
    assert Webhook.objects.get().enabled
    assert receiver.came == []


def test_one_event_is_sent_again_under_its_id_before_anything_newer(
    door: Door, receiver: Receiver, talk: Conversation
) -> None:
    made = door.made(receiver.url, event_types=["handoff.released"])
    numbers = happen(talk, "one", "two")
    path = f"/{made['id']}/replay"
    for _ in range(2):  # asked for twice, sent once
        assert door("POST", path, {"event": numbers[0]}).json() == {"events": 1}
    door("PATCH", f"/{made['id']}", {"event_types": []})
    [newer] = happen(talk, "three")
    Webhook.objects.update(after=newer - 1)
    call_due()
    assert [came.event for came in receiver.came] == [numbers[0], newer]
    door("POST", path, {"event": numbers[0]})
    call_due()
    assert receiver.came[0].id == receiver.came[2].id
    assert door("POST", path, {"event": 10_000}).status_code == 404


def test_everything_since_a_time_is_sent_again_in_order(
    door: Door, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    made = door.made(receiver.url)
    path = f"/{made['id']}/replay"
    numbers = happen(talk, "one", "two", "three")
    call_due()
    since = dt.datetime(2026, 11, 30, 12, 0, 0, 123_000, tzinfo=dt.UTC)
    for ahead, number in enumerate(numbers, start=-1):
        row = Event.objects.filter(number=number)
        row.update(at=Value(since + dt.timedelta(milliseconds=ahead)))
    receiver.came.clear()
    assert door("POST", path, {"since": since.isoformat()}).json() == {"events": 2}
    call_due()
    assert [came.event for came in receiver.came] == numbers[1:]
    assert door("POST", path, {"since": "2099-01-01T00:00:00Z"}).json() == {"events": 0}
    assert call_due() == 0
    for extreme in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        assert door("POST", path, {"since": extreme}).status_code == 202
    settings.WEBHOOK_BACKLOG = 2
    refused = door("POST", path, {"since": "2020-01-01T00:00:00Z"})
    assert refused.status_code == 400
    assert "too long ago" in refused.json()["error"]


@pytest.mark.parametrize(
    "body", [{}, {"event": 1, "since": "2026-01-01T00:00:00Z"}, {"since": "2026-01-01T00:00:00"}]
)
def test_a_replay_names_one_event_or_a_time_with_its_zone(
    door: Door, receiver: Receiver, body: dict[str, Any]
) -> None:
    made = door.made(receiver.url)
    assert door("POST", f"/{made['id']}/replay", body).status_code == 400


def test_what_waits_can_be_skipped(door: Door, receiver: Receiver, talk: Conversation) -> None:
    made = door.made(receiver.url)
    path = f"/{made['id']}"
    receiver.answers.append(status(500))
    numbers = happen(talk, "one", "two")
    call_due()
    failing = door("GET", path).json()
    assert (failing["tries"], failing["behind"]) == (1, 2)
    assert failing["next_attempt_at"] is not None
    at_once = door("PATCH", path, {"enabled": True}).json()
    assert (at_once["tries"], at_once["behind"], at_once["failing_since"]) == (0, 2, None)
    receiver.answers.append(status(500))
    assert call_due() == 1
    skipped = door("PATCH", path, {"after": numbers[1]}).json()
    assert (skipped["tries"], skipped["behind"], skipped["failing_since"]) == (0, 0, None)
    assert call_due() == 0
    assert door("PATCH", path, {"after": numbers[1] + 1}).status_code == 400


def test_one_that_the_desk_switched_off_says_what_to_do(
    door: Door, agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    row = register(agent, receiver)
    receiver.answers.append(status(410))
    happen(talk, "one")
    call_due()
    told = door("GET", f"/{row.public_id}").json()
    assert (told["enabled"], told["stopped"]) == (False, "gone")
    assert told["problem"].startswith("The receiver answered 410 Gone")
    assert Webhook.objects.filter(stopped_at__lte=Now()).exists()
    again = door("PATCH", f"/{row.public_id}", {"enabled": True}).json()
    assert (again["stopped"], again["problem"]) == (None, "")
