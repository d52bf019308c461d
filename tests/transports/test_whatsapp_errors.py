"""What Meta's refusals mean, row by row, and what an answer means that says nothing."""

import time

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from tests.fakes.providers import FakeAnswer, Providers, Taken
from tests.fakes.rude import Rude
from tests.fakes.whatsapp import PERSON, FakeWhatsApp
from tests.fakes.whatsapp_rules import MetaError
from tests.transports.mail_samples import LINK
from tests.transports.whatsapp_samples import channel, posted_messages, refused, request, send

ROWS: dict[Kind, tuple[int, ...]] = {
    Kind.AUTH: (0, 190),
    Kind.PERMISSION: (
        3, 10, 200, 250, 299, 131005, 131031, 368, 130497, 131042, 131037, 131045,
    ),
    Kind.NOT_FOUND: (33, 132001, 132015, 132016),
    Kind.BAD_FORMAT: (100, 131008, 131009, 131051, 132000, 132007, 132012),
    Kind.TOO_LONG: (132005,),
    Kind.RATE_LIMITED: (4, 80007, 130429, 131048, 131056, 133016),
    Kind.TRANSIENT: (1, 2, 131000, 131016, 131057, 135000),
    Kind.RECIPIENT_UNREACHABLE: (131026, 131021, 131030, 130472, 131049, 131050),
    Kind.WINDOW_CLOSED: (131047, 470),
}  # fmt: skip
"""The table of channels.md 6.3; its last row, the template's, by what each code says."""


@pytest.mark.parametrize(
    ("kind", "code"), [(kind, code) for kind, codes in ROWS.items() for code in codes]
)
@pytest.mark.parametrize("status", [400, 500])
def test_the_code_decides_what_a_refusal_means(
    providers: Providers, meta: FakeWhatsApp, kind: Kind, code: int, status: int
) -> None:
    answer = FakeAnswer(status, json=MetaError(code, "Said by Meta").answer().json)
    providers.script("whatsapp", [answer, answer])
    error = refused(channel(), request())
    assert (error.kind, error.provider_code) == (kind, str(code))
    assert error.operator_detail == f"Meta {code}: (#{code}) Said by Meta / Said by Meta"
    assert error.retry_after is None


def test_an_id_that_is_not_there_is_not_a_matter_of_form(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    error = refused(channel(phone_number_id="7"), request())
    assert (error.kind, error.provider_code) == (Kind.NOT_FOUND, "100")
    assert "phone number ID" in error.hint
    assert len(posted_messages(providers)) == 1


def test_an_expired_token_asks_for_a_system_user(meta: FakeWhatsApp) -> None:
    error = refused(channel(access_token="EAAG-old"), request())
    assert error.kind is Kind.AUTH
    assert "use a system user token" in error.hint


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (FakeAnswer(500, json={"error": {"code": 999_999, "message": "?"}}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(400, json={"error": {"code": 999_999, "message": "?"}}), Kind.BAD_FORMAT),
        (FakeAnswer(502, body=b"<html>Bad gateway</html>"), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(403, body=b"<html>No</html>"), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"messages": []}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"messages": [{"id": 7}]}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"error": {"code": 190}}), Kind.AUTH),
        (FakeAnswer(200, json={"error": "what"}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(400, json={"error": {"code": "190"}}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(302, headers={"Location": "/elsewhere"}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(429, body=b"slow down", headers={"Retry-After": "7"}), Kind.RATE_LIMITED),
    ],
)
def test_what_says_nothing_may_have_been_sent(
    providers: Providers, meta: FakeWhatsApp, answer: FakeAnswer, kind: Kind
) -> None:
    providers.script("whatsapp", [answer, answer])
    error = refused(channel(), request())
    assert error.kind is kind
    if kind is Kind.UNKNOWN_OUTCOME:
        assert len(posted_messages(providers)) == 1
    if answer.status == 429:
        assert error.retry_after == 7


@pytest.mark.parametrize("how", [Rude.SILENT, Rude.RESET_BEFORE, Rude.EMPTY])
def test_an_answer_that_is_lost_leaves_the_outcome_unknown(
    providers: Providers, meta: FakeWhatsApp, how: Rude
) -> None:
    providers.script("whatsapp", [Taken(how)])
    started = time.monotonic()
    with pytest.raises(TransportError) as caught:
        send(channel(), request(), seconds=1)
    assert caught.value.kind is Kind.UNKNOWN_OUTCOME
    assert time.monotonic() - started < 2
    assert len(meta.sent) == 1


def test_metas_words_keep_no_number_and_no_address(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    words = f"{PERSON} and +{PERSON} cannot open {LINK}\n" + "x" * 900
    providers.script("whatsapp", [MetaError(131026, words).answer()])
    error = refused(channel(), request())
    assert PERSON not in error.operator_detail
    assert "desk.example.org" not in error.operator_detail
    assert len(error.operator_detail) <= 400
