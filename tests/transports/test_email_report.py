"""What mail servers report about mails of ours."""

import pytest

from handoff.contract.kinds import TransportErrorKind
from handoff.transports.inbound import Dropped, Progress, Status
from tests.transports.inbound_samples import OURS, bounce, read, reason


def failed(content: bytes) -> Status:
    found = read(content)
    assert isinstance(found, Status), found
    return found


@pytest.mark.parametrize(
    "original", ["message/rfc822", "text/rfc822-headers", "message/rfc822-headers"]
)
def test_a_bounce_fails_the_mail_that_it_brings_along(original: str) -> None:
    found = failed(bounce(original=original))
    assert found.message_id == OURS
    assert found.progress is Progress.FAILED
    assert found.failure_kind is TransportErrorKind.RECIPIENT_UNREACHABLE
    assert found.provider_code == "5.1.1"
    assert found.failure == (
        "smtp; 550 5.1.1 <(address)>: Recipient address rejected: User unknown"
    )
    assert found.hint


def test_a_rewritten_message_id_is_found_in_the_references() -> None:
    rewritten = bounce("<0102018@email.amazonses.example>", references=f"<x@y.example> {OURS}")
    assert failed(rewritten).message_id == OURS


def test_a_report_that_brings_nothing_along_may_say_what_it_answers() -> None:
    bare = bounce(original="")
    assert reason(bare) == "bounce_of_another_mail"
    assert failed(b"In-Reply-To: " + OURS.encode() + b"\n" + bare).message_id == OURS


def test_the_newest_of_several_ids_of_ours_is_meant() -> None:
    second = OURS.replace(".1@", ".1002@")
    assert failed(bounce(second, references=f"{OURS} {second}")).message_id == second
    assert failed(bounce("<x@y.example>", references=f"{OURS} {second}")).message_id == second


@pytest.mark.parametrize(
    ("action", "status", "why"),
    [
        ("delayed", "4.4.1", "delivery_report"),
        ("delivered", "2.0.0", "delivery_report"),
        ("relayed", "2.0.0", "delivery_report"),
        ("", "4.2.2", "delivery_report"),
    ],
)
def test_a_server_that_still_tries_or_delivered_fails_nothing(
    action: str, status: str, why: str
) -> None:
    assert reason(bounce(action=action, status=status)) == why


@pytest.mark.parametrize(
    ("action", "status"), [("failed", "4.4.7"), ("Failed", "5.0.0"), ("", "5.2.1")]
)
def test_a_server_that_gave_up_fails_the_mail(action: str, status: str) -> None:
    assert failed(bounce(action=action, status=status)).provider_code == status


def test_one_of_several_recipients_who_got_it_is_enough() -> None:
    both = "jo@support.example, mia@support.example"
    assert reason(bounce(to=both)) == "bounced_in_part"
    assert failed(bounce(to="Jo <JO@support.example>")).message_id == OURS


def test_a_bounce_of_a_mail_that_is_not_ours_is_left_alone() -> None:
    assert reason(bounce("<newsletter@other.example>")) == "bounce_of_another_mail"


@pytest.mark.parametrize("kind", ["disposition-notification", "feedback-report"])
def test_other_reports_are_dropped(kind: str) -> None:
    content = bounce().replace(b"delivery-status", kind.encode())
    assert reason(content) == "report"


@pytest.mark.parametrize("end", range(300, len(bounce()), 60))
def test_a_report_that_was_cut_anywhere_is_read_or_dropped(end: int) -> None:
    assert isinstance(read(bounce()[:end]), Status | Dropped)
