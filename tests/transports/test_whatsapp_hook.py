"""Meta's webhook: believed only with the app's signature over the bytes, and read to its end."""

import dataclasses
import hmac
import json
from typing import Any

import pytest

from handoff.transports.inbound import HookCall, Received
from handoff.transports.whatsapp_hook import WhatsAppHook
from tests.environment import ROOT
from tests.fakes.whatsapp import APP_SECRET, NUMBER_ID, signature, written
from tests.transports.whatsapp_samples import (
    VERIFY,
    payload,
    posted,
    said,
    settings_of,
    status,
    value,
)

VECTORS = json.loads((ROOT / "tests/vectors.json").read_text())["whatsapp"]


def receive(call: HookCall, **changes: Any) -> Received:
    return WhatsAppHook(settings_of(**changes)).receive(call)


def verifying(**query: str) -> HookCall:
    given = {f"hub.{key}": text for key, text in query.items()}
    return HookCall(method="GET", headers={}, query=given, body=b"", at=0)


def test_the_verification_is_answered_with_the_challenge_and_nothing_else() -> None:
    call = verifying(mode="subscribe", verify_token=VERIFY, challenge="123")
    answer = receive(call).answer
    assert (answer.status, answer.body) == (200, b"123")
    assert answer.content_type.startswith("text/plain")


@pytest.mark.parametrize(
    "query",
    [
        {"mode": "subscribe", "verify_token": "wrong", "challenge": "123"},
        {"mode": "subscribe", "verify_token": "", "challenge": "123"},
        {"mode": "subscribe", "challenge": "123"},
        {"mode": "subscribe", "verify_token": "täst\udcff", "challenge": "123"},
        {"mode": "unsubscribe", "verify_token": VERIFY, "challenge": "123"},
        {"mode": "subscribe", "verify_token": VERIFY, "challenge": "<script>"},
        {"mode": "subscribe", "verify_token": VERIFY},
        {},
    ],
)
def test_any_other_verification_is_refused_and_echoes_nothing(query: dict[str, str]) -> None:
    received = receive(verifying(**query))
    assert (received.answer.status, received.answer.body) == (403, b"")
    assert received.refused


def test_without_a_verify_token_nothing_is_verified() -> None:
    call = verifying(mode="subscribe", verify_token="", challenge="1")
    assert receive(call, verify_token="").answer.status == 403


def test_the_token_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[Any, Any]] = []
    real = hmac.compare_digest

    def watched(a: Any, b: Any) -> bool:
        compared.append((a, b))
        return real(a, b)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    receive(verifying(mode="subscribe", verify_token="x", challenge="1"))
    receive(posted(payload()))
    assert compared[0][0] == VERIFY.encode()
    assert len(compared) == 2


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_signature_is_over_the_bytes_as_they_came(vector: dict[str, str]) -> None:
    body = vector["body"].encode()
    call = posted(body, headers={"x-hub-signature-256": vector["signature"]})
    assert receive(call, app_secret=vector["secret"]).answer.status == 200
    assert signature(vector["secret"], body) == vector["signature"]
    again = json.dumps(json.loads(body), ensure_ascii=False).encode()
    assert again != body
    assert receive(dataclasses.replace(call, body=again)).answer.status == 403


GOOD = signature(APP_SECRET, written(payload()))


@pytest.mark.parametrize(
    "header",
    [
        None, "", "sha256=", GOOD.removeprefix("sha256="), GOOD.upper(), GOOD[:-1], GOOD + " ",
        GOOD.replace("sha256", "sha1"), "sha256=ü\udcff", "sha256=" + "0" * 64,
        signature("another-secret", written(payload())), signature("", written(payload())),
    ],
)  # fmt: skip
def test_what_is_not_signed_is_refused(header: str | None) -> None:
    headers = {} if header is None else {"x-hub-signature-256": header}
    received = receive(posted(payload(value(messages=[said()])), headers=headers))
    assert received.answer.status == 403
    assert received.events == ()
    assert received.refused == "bad_signature"


@pytest.mark.parametrize("key", ["", APP_SECRET])
def test_without_an_app_secret_nothing_is_believed(key: str) -> None:
    body = written(payload(value(messages=[said()])))
    call = posted(body, headers={"x-hub-signature-256": signature(key, body)})
    received = receive(call, app_secret="")
    assert (received.answer.status, received.events) == (403, ())
    assert received.refused == "no_app_secret"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b'{"entry":7}', b'{"entry":[7,null,{}]}',
        b'{"entry":[{"changes":7},{"changes":[7,{"field":"messages"}]}]}',
        b"[" * 100_000, b"1" * 10_000,
        written(payload(value(messages=7, statuses="x"))),
        written(payload(value(messages=[7, None, {}, {"id": 7}, said(id=""), said(id="x y")]))),
        written(payload(value(statuses=[7, {}, status("delivered", ""), status("sold")]))),
        written(payload(value(messages=[said()]), field="account_update")),
    ],
)  # fmt: skip
def test_what_is_signed_and_cannot_be_read_is_answered_200(body: bytes) -> None:
    received = receive(posted(body))
    assert (received.answer.status, received.answer.body) == (200, b"")
    assert received.events == ()


def test_the_channels_of_one_app_share_its_secret_and_no_others() -> None:
    hook = WhatsAppHook(settings_of())
    assert hook.account() == NUMBER_ID
    assert hook.shares_secret(settings_of(phone_number_id="7", to="4915100000000"))
    assert not hook.shares_secret(settings_of(app_secret="of-another-app"))
    without = settings_of(app_secret="")
    assert not WhatsAppHook(without).shares_secret(without)


def test_three_megabytes_are_taken() -> None:
    assert WhatsAppHook.body_max == 3 * 1024 * 1024
    assert WhatsAppHook.unavailable == 503
