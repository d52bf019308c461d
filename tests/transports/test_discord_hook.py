"""Discord's calls to us: who is believed, what a command means, what is answered."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from handoff.transports.discord_hook import DiscordHook
from handoff.transports.discord_settings import DiscordSettings
from handoff.transports.inbound import HookCall, Received, Said
from tests.fakes.discord import CHANNEL, OTHER_CHANNEL, WEBHOOK_URL
from tests.fakes.discord_calls import MIA, PUBLIC_KEY, SEED, command, interaction, signed
from tests.fakes.discord_channels import CATEGORY
from tests.fakes.discord_markdown import read
from tests.fakes.providers import Delivery
from tests.transports.discord_samples import settings

NOW = 1_796_040_000
TOKEN = "h7abcdefghijklmnop"
THREAD = "7777777777777777777"
[VECTOR] = json.loads((Path(__file__).parents[1] / "vectors.json").read_text())["discord"]
IN_CHANNEL = {"id": CHANNEL, "type": 0, "parent_id": CATEGORY, "name": "support"}
IN_THREAD = {"id": THREAD, "type": 11, "parent_id": CHANNEL, "name": "Nova asks"}


def received(call: Delivery | HookCall, *, at: float = NOW, **changes: Any) -> Received:
    if isinstance(call, Delivery):
        headers = {name.lower(): value for name, value in call.headers.items()}
        call = HookCall(method=call.method, headers=headers, query={}, body=call.body, at=at)
    return DiscordHook(settings(**changes)).receive(call)


def said(body: dict[str, Any]) -> Said:
    found = received(signed(body, at=NOW))
    [event] = found.events
    assert isinstance(event, Said)
    assert found.at_once
    assert not found.refused
    return event


def typed(name: str, channel: dict[str, Any] = IN_THREAD, **options: Any) -> dict[str, Any]:
    return command(name, options, channel=channel)


def vector(**headers: str) -> HookCall:
    given = {
        "x-signature-ed25519": VECTOR["signature"],
        "x-signature-timestamp": VECTOR["timestamp"],
        **headers,
    }
    return HookCall(method="POST", headers=given, query={}, body=VECTOR["body"].encode(), at=NOW)


def test_the_vector_is_believed_and_answered_with_a_pong() -> None:
    assert VECTOR["public_key"] == PUBLIC_KEY
    assert VECTOR["signature"] == (
        "021339551120f8eaf11f81275a2854b07b4346e7dbac96ba8447faf0d835b5cde432cfcdfbc12aecc8a7b8f8682"
        "ad448619305d0a99b7340fd8680031b64260d"
    )
    found = received(vector())
    assert (found.answer.status, found.answer.content_type) == (200, "application/json")
    assert json.loads(found.answer.body) == {"type": 1}
    assert found.events == ()


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"x-signature-ed25519": ""}, "unsigned"),
        ({"x-signature-timestamp": ""}, "unsigned"),
        ({"x-signature-ed25519": "zz" * 64}, "malformed_signature"),
        ({"x-signature-ed25519": "ab" * 63}, "malformed_signature"),
        ({"x-signature-ed25519": VECTOR["signature"] + "00"}, "malformed_signature"),
        ({"x-signature-ed25519": "ä" * 128}, "malformed_signature"),
        ({"x-signature-timestamp": "soon"}, "malformed_signature"),
        ({"x-signature-timestamp": "-1796040000"}, "malformed_signature"),
        ({"x-signature-timestamp": "١٧٩٦٠٤٠٠٠٠"}, "malformed_signature"),
        ({"x-signature-timestamp": "9" * 400}, "malformed_signature"),
        ({"x-signature-ed25519": "00" * 64}, "bad_signature"),
        ({"x-signature-timestamp": "1796040001"}, "bad_signature"),
    ],
)
def test_what_is_not_signed_by_discord_is_refused(headers: dict[str, str], why: str) -> None:
    found = received(vector(**headers))
    assert (found.answer.status, found.answer.body, found.refused) == (401, b"", why)
    assert found.events == ()


def test_a_signature_is_over_the_bytes_as_they_came() -> None:
    body = json.dumps(typed("reply", text="J’ai mangé")).encode()
    assert received(signed(body, at=NOW)).events
    sent = signed(body, at=NOW)
    for other in (body + b" ", json.dumps(json.loads(body), ensure_ascii=False).encode()):
        found = received(Delivery(body=other, headers=sent.headers))
        assert (found.answer.status, found.refused) == (401, "bad_signature")


def test_no_change_of_a_bit_is_believed() -> None:
    chance = random.Random(54)
    good = signed(typed("reply", text="Send the refund."), at=NOW)
    assert received(good).events
    whole = [
        good.body,
        bytes.fromhex(good.headers["X-Signature-Ed25519"]),
        good.headers["X-Signature-Timestamp"].encode(),
    ]
    for _ in range(3000):
        parts = [bytearray(part) for part in whole]
        part = chance.choice(parts)
        part[chance.randrange(len(part))] ^= 1 << chance.randrange(8)
        body, signature, timestamp = map(bytes, parts)
        headers = {
            "X-Signature-Ed25519": signature.hex(),
            "X-Signature-Timestamp": timestamp.decode("latin-1"),
        }
        found = received(Delivery(body=body, headers=headers))
        assert (found.answer.status, found.events) == (401, ())


def test_another_key_is_not_believed_and_no_key_believes_nothing() -> None:
    assert received(signed(typed("reply", text="x"), at=NOW, seed=b"x" * 32)).refused == (
        "bad_signature"
    )
    call = signed(typed("reply", text="x"), at=NOW)
    assert received(call, public_key="").refused == "no_public_key"
    assert received(call, public_key="").answer.status == 401


def test_a_call_is_fresh_for_five_minutes_and_may_come_from_a_clock_ahead() -> None:
    call = signed(typed("reply", text="x"), at=NOW)
    assert not received(call, at=NOW + 300).refused
    assert received(call, at=NOW + 301).refused == "too_old"
    assert not received(call, at=NOW - 3000).refused


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"type": "x"}',
        b'{"type": 2}',
        b'{"type": 2, "id": "1", "channel_id": "2", "data": {"name": "reply"}}',
        b'{"type":2, "id":"../1", "channel_id":"2", "data":{"name":"reply"}, "user":{"id":"3"}}',
        b'{"type": 2, "id": "1", "channel_id": 2, "data": {"name": "reply"}, "user": {"id": "3"}}',
        b'{"type": 2, "id": "1", "channel_id": "2", "data": [], "member": {"user": null}}',
    ],
)
def test_what_is_signed_and_cannot_be_read_is_a_400(body: bytes) -> None:
    found = received(signed(body, at=NOW))
    assert (found.answer.status, found.answer.body, found.refused) == (400, b"", "unreadable")


def test_a_reply_in_a_thread_names_its_handoff_by_the_thread() -> None:
    event = said(typed("reply", text="It left <@5> yesterday :truck:"))
    assert event.text == "It left @5 yesterday :truck:"
    assert event.thread_key == event.place == THREAD
    assert event.replies_to == (THREAD,), "the thread hangs on the message of that id"
    assert event.account == CHANNEL
    assert (event.sender_id, event.sender_name) == (MIA["id"], "Mia")
    assert len(event.keys) == 1
    assert event.at is not None
    assert not event.only_one


def test_the_parent_of_a_plain_channel_is_its_category() -> None:
    event = said(typed("reply", IN_CHANNEL, text="Hello"))
    assert event.account == event.place == CHANNEL
    assert event.thread_key == ""
    assert event.replies_to == ()
    assert event.only_one


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "/release"),
        ({"note": "Shipped today."}, "/release\nShipped today."),
        ({"token": TOKEN}, f"/release {TOKEN}"),
        ({"token": f" /release {TOKEN} ", "note": "Done"}, f"/release {TOKEN}\nDone"),
        ({"token": f"`/release {TOKEN}`"}, f"/release {TOKEN}"),
        ({"token": "all is well"}, "/release all is well"),
        ({"token": "x\ny"}, "/release x y"),
        ({"token": 7, "note": None}, "/release"),
    ],
)
def test_a_release_is_the_line_that_somebody_could_have_typed(
    options: dict[str, Any], text: str
) -> None:
    assert said(typed("release", **options)).text == text


def test_names_are_those_of_the_server_then_those_of_everywhere() -> None:
    body = typed("reply", text="Hi")
    body["member"] = {"user": {**MIA, "global_name": "Mia\n\u202eM."}, "nick": None}
    assert said(body).sender_name == "Mia  M."
    body["member"] = {"user": {"id": "5", "username": "mia_m"}}
    assert said(body).sender_name == "mia_m"
    del body["member"]
    assert said({**body, "user": {"id": "5", "username": "in_private"}}).sender_name == "in_private"


def test_a_command_without_its_channel_may_stand_in_a_thread() -> None:
    body = typed("reply", text="Hi")
    del body["channel"]
    event = said(body)
    assert event.thread_key == event.account == THREAD
    assert event.only_one


def test_mentions_are_shown_by_name() -> None:
    body = typed("reply", text="Ask <@9>, please")
    body["data"]["resolved"] = {
        "users": {"9": {"id": "9", "username": "ana", "global_name": "Ana"}}
    }
    assert said(body).text == "Ask @Ana, please"


@pytest.mark.parametrize("kind", [3, 4, 5, 99])
def test_an_interaction_that_is_no_command_is_told_so(kind: int) -> None:
    found = received(signed(interaction(type=kind, locale="de"), at=NOW))
    answer = json.loads(found.answer.body)
    assert (found.answer.status, answer["type"], answer["data"]["flags"]) == (200, 4, 64)
    assert answer["data"]["content"]
    assert found.events == ()


def test_a_command_of_somebody_else_is_told_so() -> None:
    body = typed("reply", text="x")
    for data in ({"name": "ban"}, {"name": "reply", "type": 3}):
        found = received(signed({**body, "data": {**body["data"], **data}}, at=NOW))
        assert json.loads(found.answer.body)["data"]["content"] == "This is not supported here."
        assert found.events == ()


def test_words_are_shown_to_one_person_and_ping_nobody() -> None:
    hook = DiscordHook(settings())
    words = "@everyone <@1> **Released.** " * 400
    answer = hook.saying(words)
    assert (answer.status, answer.content_type) == (200, "application/json")
    body = json.loads(answer.body)
    assert body["type"] == 4
    assert body["data"]["flags"] == 64
    assert body["data"]["allowed_mentions"] == {"parse": []}
    content = body["data"]["content"]
    assert len(content.encode("utf-16-le")) // 2 <= 2000
    [row] = read(content)
    assert row.effects == ()
    assert row.words.startswith("@everyone <@1> **Released.**")


def test_channels_of_one_app_share_its_address() -> None:
    hook = DiscordHook(settings())
    assert hook.account() == CHANNEL
    assert hook.shares_secret(settings(channel_id=OTHER_CHANNEL))
    other_key = Ed25519PrivateKey.from_private_bytes(b"y" * 32).public_key().public_bytes_raw()
    assert not hook.shares_secret(settings(public_key=other_key.hex()))
    assert not DiscordHook(settings(public_key="")).shares_secret(settings(public_key=""))
    assert not hook.shares_secret(DiscordSettings(webhook_url=WEBHOOK_URL))


def test_only_a_post_is_read_and_an_outage_is_a_500() -> None:
    call = vector()
    got = received(HookCall(method="GET", headers=call.headers, query={}, body=call.body, at=NOW))
    assert got.answer.status == 405
    assert DiscordHook.unavailable == 500


def test_nothing_of_a_call_is_echoed() -> None:
    body = typed("reply", text="My secret words")
    for call in (signed(body, at=NOW, seed=b"z" * 32), signed(b'{"secret words', at=NOW)):
        found = received(call)
        assert not re.search(rb"secret", found.answer.body)
    assert SEED.hex() not in repr(DiscordHook(settings()).settings)
