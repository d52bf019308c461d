"""What leaves is what the reference library of Standard Webhooks takes, and addresses are read."""

import datetime as dt
import json

import pytest
from standardwebhooks.webhooks import Webhook as Receiver
from standardwebhooks.webhooks import WebhookVerificationError

from handoff.contract.webhooks import (
    checked_url,
    envelope,
    headers,
    message_id,
    new_secret,
)

NOW = dt.datetime.now(dt.UTC)
BODY = json.dumps(envelope("handoff.released", NOW, {"note": "Grüße, é"})).encode()


def signed(*keys: str, minutes_ago: int = 0) -> dict[str, str]:
    at = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=minutes_ago)
    return headers(list(keys), message="msg_1", at=at, body=BODY)


def test_the_reference_library_reads_it_with_either_of_two_secrets() -> None:
    old, new, other = new_secret(), new_secret(), new_secret()
    for key in (old, new):
        assert Receiver(key).verify(BODY, signed(new, old)) == json.loads(BODY)
    with pytest.raises(WebhookVerificationError):
        Receiver(other).verify(BODY, signed(new, old))


def test_a_changed_byte_id_or_time_is_noticed() -> None:
    key = new_secret()
    whole = signed(key)
    with pytest.raises(WebhookVerificationError):
        Receiver(key).verify(BODY.replace(b"released", b"started!"), whole)
    later = str(int(whole["webhook-timestamp"]) + 1)
    for change in ({"webhook-id": "msg_2"}, {"webhook-timestamp": later}):
        with pytest.raises(WebhookVerificationError):
            Receiver(key).verify(BODY, whole | change)


def test_a_call_that_is_kept_back_for_six_minutes_is_too_old() -> None:
    key = new_secret()
    with pytest.raises(WebhookVerificationError):
        Receiver(key).verify(BODY, signed(key, minutes_ago=6))


def test_a_secret_has_256_bits_and_the_published_form() -> None:
    key = new_secret()
    assert key.startswith("whsec_")
    assert len(key) == len("whsec_") + 44
    assert new_secret() != key


def test_the_id_of_an_event_is_stable_and_tells_nothing() -> None:
    mine = message_id(1, 7, NOW)
    assert mine == message_id(1, 7, NOW.astimezone(dt.timezone(dt.timedelta(hours=3))))
    others = {message_id(1, 8, NOW), message_id(17, 7, NOW)}
    others |= {message_id(1, 7, NOW + dt.timedelta(microseconds=1))}
    assert mine not in others
    assert len(others) == 3
    assert "." not in mine


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/hook",
        "http://10.0.0.1:8000/hook?x=1",
        "https://[2001:db8::1]:8443/",
        "https://xn--bcher-kva.example/a%20b",
    ],
)
def test_an_address_stays_as_it_was_entered(url: str) -> None:
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example/hook",
        "ftp://shop.example/",
        "javascript:alert(1)",
        "https://",
        "https:///hook",
        "https://user:password@shop.example/",
        "https://user@shop.example/",
        "https://shop.example/#part",
        "https://shop.example:0/",
        "https://shop.example:99999/",
        "https://shop.example:port/",
        "https://[::1/",
        "https://shop.example/a b",
        "https://shop.example/\n",
        "https://shop.example/\u202e",
        "https://bücher.example/",
        "https://shop.example/" + "x" * 2048,
    ],
)
def test_an_address_that_cannot_be_called_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        checked_url(url)
