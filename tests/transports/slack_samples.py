"""Slack channels, and Slack's calls to us, signed as Slack signs them."""

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from handoff.transports.base import Outgoing, Receipt
from handoff.transports.inbound import HookCall, Received, Said
from handoff.transports.slack import Slack
from handoff.transports.slack_hook import SlackHook
from handoff.transports.slack_settings import SlackSettings
from tests.fakes.providers import FakeRequest, Providers
from tests.fakes.slack import BOT_TOKEN, SIGNING_SECRET, signature

NOW = 1_796_040_000
SECRET = "handoff-test-signing-secret"
FORM = "application/x-www-form-urlencoded"
CHANNEL = "C0SUPPORT"
ROOT = "1796039000.000100"
BOT = "U0BOT"
TOKEN = "h7abcdefghijklmnop"


def settings(**changes: Any) -> SlackSettings:
    given = {"bot_token": "xoxb-1", "channel_id": CHANNEL, "signing_secret": SECRET}
    return SlackSettings.model_validate({**given, **changes})


def channel(**changes: Any) -> Slack:
    """The one that the fake knows."""
    given = {"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET, **changes}
    return Slack(settings(**given))


def send(message: Outgoing, seconds: float = 5, **changes: Any) -> Receipt:
    return channel(**changes).send(message, deadline=time.monotonic() + seconds)


def posted(providers: Providers) -> list[FakeRequest]:
    return providers.requests("slack", path="chat.postMessage")


def signed(
    body: bytes,
    content_type: str = "application/json",
    *,
    secret: str = SECRET,
    at: float = NOW,
    headers: Mapping[str, str] | None = None,
) -> HookCall:
    """A call that arrives at NOW and was signed `at`."""
    timestamp = str(int(at))
    given = {
        "content-type": content_type,
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": signature(secret, timestamp, body),
        **(headers or {}),
    }
    return HookCall(method="POST", headers=given, query={}, body=body, at=NOW)


def received(call: HookCall, **changes: Any) -> Received:
    return SlackHook(settings(**changes)).receive(call)


def message(**changes: Any) -> dict[str, Any]:
    """A person's reply in the thread of a handoff; None takes a key out."""
    whole = {
        "type": "message",
        "channel": CHANNEL,
        "channel_type": "channel",
        "user": "U1",
        "text": "It is on its way.",
        "ts": "1796039990.000200",
        "thread_ts": ROOT,
        "event_ts": "1796039990.000200",
        "client_msg_id": "4f1a9dd0-0000-4000-8000-000000000000",
        "team": "T1",
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def event(found: dict[str, Any], **changes: Any) -> bytes:
    whole = {
        "type": "event_callback",
        "team_id": "T1",
        "api_app_id": "A1",
        "event_id": "Ev0001",
        "event_time": NOW,
        "authorizations": [{"team_id": "T1", "user_id": BOT, "is_bot": True}],
        "event": found,
        **changes,
    }
    return json.dumps(whole).encode()


def heard(found: dict[str, Any], **changes: Any) -> Said | None:
    """What is made of a message event; it is acknowledged in any case."""
    got = received(signed(event(found, **changes)))
    assert (got.answer.status, got.answer.body, got.refused) == (200, b"", "")
    assert not got.at_once
    if not got.events:
        return None
    [said] = got.events
    assert isinstance(said, Said)
    return said


def slash(text: str, **changes: str) -> HookCall:
    fields = {
        "token": "old-verification-token",
        "team_id": "T1",
        "channel_id": CHANNEL,
        "channel_name": "support",
        "user_id": "U1",
        "user_name": "mia",
        "command": "/release",
        "text": text,
        "response_url": "https://hooks.slack.com/commands/T1/1/abc",
        "trigger_id": "13345224609.738474920.8088930838d88f008e0",
        "api_app_id": "A1",
        **changes,
    }
    return signed(urlencode(fields).encode(), FORM)
