"""Sending through the Cloud API: free words in the window, the template outside it."""

import datetime as dt
import json
from typing import Any

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.transports import transport_class
from handoff.transports.base import Notice
from handoff.transports.inbound import Said
from handoff.transports.whatsapp import WhatsApp
from tests.environment import PUBLIC_BASE_URL
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.whatsapp import NUMBER_ID, PERSON, TOKEN, FakeWhatsApp
from tests.fakes.whatsapp_rules import MetaError
from tests.transports import mail_samples
from tests.transports.mail_samples import LINK, closed, line
from tests.transports.whatsapp_samples import (
    TEMPLATE,
    channel,
    heard,
    posted_messages,
    refused,
    request,
    send,
)

BSUID = "DE.13491208655302741918"
OURS = f"{PUBLIC_BASE_URL}/r/bGlua2lk.c2lnbmF0dXJl/"


def test_the_kind_is_carried_by_this_transport() -> None:
    assert transport_class("whatsapp") is WhatsApp


def test_a_message_goes_to_the_configured_number_by_its_version(
    providers: Providers, meta: FakeWhatsApp, settings: Settings
) -> None:
    settings.WHATSAPP_API_VERSION = "v26.0"
    receipt = send(channel(), request(transcript=()))
    [got] = providers.requests("whatsapp")
    assert (got.method, got.path) == ("POST", f"/v26.0/{NUMBER_ID}/messages")
    body = got.json()
    assert body["messaging_product"] == "whatsapp"
    assert body["recipient_type"] == "individual"
    assert body["to"] == PERSON
    assert "context" not in body
    [sent] = meta.sent
    assert (sent.type, sent.url) == ("interactive", LINK)
    assert receipt.provider_message_id == sent.wamid
    assert receipt.thread_key == PERSON
    assert receipt.raw_excerpt == "message_status accepted"


def test_replies_come_from_the_id_that_meta_answers_with(meta: FakeWhatsApp) -> None:
    meta.wa_ids["5511987654321"] = "551187654321"  # an old Brazilian number
    meta.wrote("551187654321")
    chosen = channel(to="+55 11 98765-4321")
    receipt = send(chosen, request())
    assert receipt.thread_key == "551187654321"
    said = Said(keys=("k",), sender_id="551187654321", text="Hi", place="551187654321")
    assert chosen.accepts(said, recipients=frozenset({receipt.thread_key}))
    assert not chosen.accepts(said, recipients=frozenset({"4915100000000"}))
    assert chosen.accepts(
        said.model_copy(update={"sender_id": "5511987654321"}), recipients=frozenset()
    )


def test_a_person_without_a_number_is_written_to_by_their_id(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    meta.wrote(BSUID)
    chosen = channel(to=BSUID)
    providers.script("whatsapp", [_accepted(contacts=[{"input": BSUID, "user_id": BSUID}])])
    assert send(chosen, request()).thread_key == BSUID
    [body] = posted_messages(providers)
    assert (body["recipient"], "to" in body) == (BSUID, False)
    said = Said(keys=("k",), sender_id=BSUID, text="Hi", place=PERSON)
    assert chosen.accepts(said, recipients=frozenset())


def test_what_follows_quotes_the_request(meta: FakeWhatsApp) -> None:
    first = send(channel(), request())
    earlier = (first.provider_message_id, "wamid.LATER")
    send(channel(), line("Hello?", earlier_ids=earlier, heard_at=heard(hours=1)))
    send(channel(), closed(earlier_ids=earlier, heard_at=heard(hours=1)))
    assert [sent.quotes for sent in meta.sent] == ["", earlier[0], earlier[0]]
    assert [sent.type for sent in meta.sent][1:] == ["text", "interactive"]


def test_a_notice_goes_to_who_wrote_and_quotes_it(meta: FakeWhatsApp) -> None:
    meta.wrote("4915100000000")
    notice = Notice(place="4915100000000", text="Not known.", answers="wamid.THEIRS")
    receipt = send(channel(**TEMPLATE), notice)
    [sent] = meta.sent
    assert (sent.to, sent.text, sent.quotes) == ("4915100000000", "Not known.", "wamid.THEIRS")
    assert receipt.provider_message_id == sent.wamid


def test_a_notice_outside_the_window_has_no_template(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    error = refused(channel(**TEMPLATE), Notice(place="4915100000000", text="Not known."))
    assert error.kind is Kind.WINDOW_CLOSED
    assert len(posted_messages(providers)) == 1


@pytest.mark.parametrize("ago", [None, {"hours": 24}, {"days": 40}])
def test_outside_the_window_without_a_template_nobody_is_called(
    providers: Providers, meta: FakeWhatsApp, ago: dict[str, float] | None
) -> None:
    message = request(heard_at=heard(**ago) if ago else None)
    error = refused(channel(), message)
    assert error.kind is Kind.WINDOW_CLOSED
    assert "name one in the channel" in error.hint
    assert providers.requests("whatsapp") == []


def test_outside_the_window_the_template_says_it(meta: FakeWhatsApp) -> None:
    meta.wrote(ago=dt.timedelta(hours=30))
    chosen = channel(**TEMPLATE)
    first = send(chosen, request(heard_at=None, return_url=OURS, summary="Line one.\n\nAnd\ttwo."))
    earlier = {"earlier_ids": (first.provider_message_id,), "return_url": OURS}
    send(chosen, line("Are you\nthere?", **earlier))
    send(chosen, closed(**earlier))
    assert {sent.type for sent in meta.sent} == {"template"}
    assert {sent.url for sent in meta.sent} == {OURS}
    asked, relayed, over = (sent.text for sent in meta.sent)
    assert asked.startswith("Handoff desk: Nova, an AI agent, asks Sales support to take over.\n\n")
    assert "Look up order 1234 and say when it arrives. – Line one. And two.\n\n" in asked
    assert f"begin a reply with /release {mail_samples.TOKEN} and a note" in asked
    assert "Handoff desk: The visitor: Ada Lovelace\n\nAre you there?\n" in relayed
    assert "Handoff desk: This handoff has ended.\n\nThe agent withdrew its question." in over
    assert [sent.quotes for sent in meta.sent][1:] == [first.provider_message_id] * 2


def test_a_template_without_a_button_carries_the_address(meta: FakeWhatsApp) -> None:
    send(channel(template_name="handoff_plain"), request(heard_at=None, return_url=OURS))
    [sent] = meta.sent
    assert (sent.type, sent.url) == ("template", "")
    assert f"fill the form at {OURS} – it needs no account." in sent.text


def test_metas_clock_counts_and_the_template_is_tried_once(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    meta.wrote(ago=dt.timedelta(hours=25))
    receipt = send(channel(**TEMPLATE), request(heard_at=heard(hours=23), return_url=OURS))
    assert [body["type"] for body in posted_messages(providers)] == ["text", "template"]
    [sent] = meta.sent
    assert receipt.provider_message_id == sent.wamid

    providers.script("whatsapp", [MetaError(131047).answer(), MetaError(131047).answer()])
    error = refused(channel(**TEMPLATE), request(return_url=OURS))
    assert error.kind is Kind.WINDOW_CLOSED
    assert len(posted_messages(providers)) == 4


def test_metas_clock_without_a_template_is_said(meta: FakeWhatsApp, providers: Providers) -> None:
    meta.wrote(ago=dt.timedelta(hours=25))
    error = refused(channel(), request())
    assert (error.kind, error.provider_code) == (Kind.WINDOW_CLOSED, "131047")
    assert len(posted_messages(providers)) == 1


@pytest.mark.parametrize("code", [100, 131008, 131009, 131051])
def test_a_message_of_a_refused_form_goes_once_more_without_any(
    providers: Providers, meta: FakeWhatsApp, code: int
) -> None:
    providers.script("whatsapp", [MetaError(code, "Param is wrong").answer()])
    send(channel(), request(transcript=()))
    assert [body["type"] for body in posted_messages(providers)] == ["interactive", "text"]
    [sent] = meta.sent
    assert LINK in sent.text
    assert "*" not in sent.text

    providers.script("whatsapp", [MetaError(code).answer()] * 2)
    assert refused(channel(), request()).provider_code == str(code)
    assert len(posted_messages(providers)) == 4


def test_a_refused_template_is_not_sent_twice(providers: Providers, meta: FakeWhatsApp) -> None:
    meta.templates = []
    error = refused(channel(**TEMPLATE), request(heard_at=None))
    assert (error.kind, error.provider_code) == (Kind.NOT_FOUND, "132001")
    assert "press Test" in error.hint
    assert len(posted_messages(providers)) == 1


def test_a_wrong_count_of_variables_is_named(meta: FakeWhatsApp) -> None:
    chosen = channel(**{**TEMPLATE, "template_has_button": False})
    assert refused(chosen, request(heard_at=None)).provider_code == "132000"


def test_nothing_of_the_token_is_in_what_is_sent(providers: Providers, meta: FakeWhatsApp) -> None:
    send(channel(), request())
    [got] = providers.requests("whatsapp")
    assert TOKEN not in json.dumps(got.json())
    assert TOKEN not in got.path
    assert got.headers["authorization"] == f"Bearer {TOKEN}"


def _accepted(**changes: Any) -> FakeAnswer:
    answer = {"messaging_product": "whatsapp", "messages": [{"id": "wamid.ACCEPTED"}], **changes}
    return FakeAnswer(json=answer)
