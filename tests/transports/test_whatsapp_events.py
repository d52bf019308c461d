"""Every message and status that a signed call of Meta's holds becomes one event."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.transports.inbound import READER, Progress, Said, Status
from handoff.transports.whatsapp_hook import WhatsAppHook
from tests.fakes.whatsapp import NUMBER_ID, PERSON
from tests.transports.whatsapp_samples import payload, posted, said, settings_of, status, value

BSUID = "DE.13491208655302741918"


def read(*values: dict[str, Any]) -> tuple[Any, ...]:
    return read_call(payload(*values))


def read_call(body: object) -> tuple[Any, ...]:
    received = WhatsAppHook(settings_of()).receive(posted(body))
    assert (received.answer.status, received.answer.body, received.refused) == (200, b"", "")
    return received.events


def one_said(message: dict[str, Any], **parts: Any) -> Said:
    [event] = read(value(messages=[message], **parts))
    assert isinstance(event, Said)
    return event


def test_a_message_says_who_where_what_and_when() -> None:
    event = one_said(said("It was shipped.\r\n– Mia", context={"id": "wamid.OURS1"}))
    assert event == Said(
        keys=("wamid.FROMTHEM1",),
        account=NUMBER_ID,
        at=dt.datetime.fromtimestamp(1796040000, dt.UTC),
        sender_id=PERSON,
        sender_name="Mia",
        text="It was shipped.\n– Mia",
        place=PERSON,
        message_id="wamid.FROMTHEM1",
        replies_to=("wamid.OURS1",),
        recent_one=True,
    )


def test_all_entries_changes_messages_and_statuses_are_read() -> None:
    first = value(messages=[said("1", id="wamid.A"), said("2", id="wamid.B")])
    second = value(messages=[said("3", id="wamid.C")], statuses=[status("sent"), status("read")])
    body = payload(first, second)
    body["entry"][0]["changes"].append(
        {"field": "messages", "value": value(messages=[said("4", id="wamid.D")])}
    )
    keys = [event.keys for event in read_call(body)]
    assert keys == [
        ("wamid.A",), ("wamid.B",), ("wamid.D",), ("wamid.C",),
        ("wamid.OURS1:sent",), ("wamid.OURS1:read",),
    ]  # fmt: skip


def test_one_unreadable_message_does_not_take_the_others_along() -> None:
    unreadable = {**said(), "text": {"body": ["no text"]}}
    events = read(value(messages=[unreadable, {"x": 1}, said("Here.", id="wamid.B")]))
    assert [event.text for event in events] == ["Here."]


@pytest.mark.parametrize(
    ("message", "text", "attachments"),
    [
        (said(type="button", button={"text": "On it", "payload": "x"}), "On it", 0),
        (
            said(
                type="interactive",
                interactive={"type": "button_reply", "button_reply": {"id": "1", "title": "Yes"}},
            ),
            "Yes",
            0,
        ),
        (
            said(
                type="interactive",
                interactive={"type": "list_reply", "list_reply": {"id": "1", "title": "Two"}},
            ),
            "Two",
            0,
        ),
        (said(type="image", image={"id": "77", "caption": "The parcel"}), "The parcel", 1),
        (said(type="document", document={"id": "77", "caption": None}), "", 1),
        (said(type="audio", audio={"id": "77", "voice": True}), "", 1),
        (said(type="location", location={"latitude": 1.5}), "", 1),
        (said(type="unsupported", errors=[{"code": 131051}]), "", 1),
        (said(type="a_type_of_next_year"), "", 1),
        (said(type="interactive", interactive={"type": "nfm_reply", "nfm_reply": {}}), "", 1),
    ],
)
def test_buttons_are_words_and_files_are_counted(
    message: dict[str, Any], text: str, attachments: int
) -> None:
    event = one_said(message)
    assert (event.text, event.attachments) == (text, attachments)


@pytest.mark.parametrize(
    "message",
    [
        said(type="reaction", reaction={"message_id": "wamid.OURS1", "emoji": "👍"}),
        said(type="system", system={"type": "user_changed_number", "wa_id": "4915199999999"}),
        said(""),
    ],
)
def test_what_says_nothing_to_us_is_no_event(message: dict[str, Any]) -> None:
    assert read(value(messages=[message])) == ()


def test_a_person_without_a_number_is_known_by_the_business_scoped_id() -> None:
    message = said()
    del message["from"]
    contact = {"profile": {"name": "Mia", "username": "@mia"}, "user_id": BSUID}
    event = one_said({**message, "from_user_id": BSUID}, contacts=[contact])
    assert (event.sender_id, event.place, event.sender_name) == (BSUID, BSUID, "Mia")
    assert one_said(message, contacts=[contact]).sender_id == BSUID
    both = one_said(said(from_user_id=BSUID), contacts=[{**contact, "wa_id": PERSON}])
    assert (both.sender_id, both.place) == (BSUID, PERSON)
    assert read(value(messages=[message], contacts=[])) == ()


def test_a_name_is_that_of_the_sender_in_a_batch() -> None:
    contacts = [
        {"profile": {"name": "Mallory"}, "wa_id": "4915100000000"},
        {"profile": {"name": "Mia"}, "wa_id": PERSON},
    ]
    assert one_said(said(), contacts=contacts).sender_name == "Mia"
    assert one_said(said(), contacts=contacts[:1]).sender_name == "Mallory"


@pytest.mark.parametrize("timestamp", ["", "soon", "9" * 30, None, "-1e9"])
def test_a_time_that_cannot_be_read_is_none(timestamp: str | None) -> None:
    assert one_said(said(timestamp=timestamp)).at is None


@pytest.mark.parametrize(
    ("word", "progress"),
    [
        ("sent", Progress.SENT),
        ("delivered", Progress.DELIVERED),
        ("read", Progress.READ),
        ("played", Progress.READ),
    ],
)
def test_a_status_says_how_far_a_message_got(word: str, progress: Progress) -> None:
    [event] = read(value(statuses=[status(word)]))
    assert event == Status(
        keys=(f"wamid.OURS1:{word}",),
        account=NUMBER_ID,
        at=dt.datetime.fromtimestamp(1796040001, dt.UTC),
        message_id="wamid.OURS1",
        progress=progress,
    )


def test_a_failed_status_says_why_by_its_code_and_without_the_number() -> None:
    error = {
        "code": 131026,
        "title": "Message undeliverable",
        "message": "Message undeliverable",
        "error_data": {"details": f"+{PERSON} has no WhatsApp, see https://desk.example.org/r/x/"},
        "href": "https://developers.facebook.com/",
    }
    [event] = read(value(statuses=[status("failed", errors=[error])]))
    assert event.progress is Progress.FAILED
    assert event.failure_kind is Kind.RECIPIENT_UNREACHABLE
    assert event.failure == "Meta 131026: Message undeliverable / … has no WhatsApp, see …"
    assert event.provider_code == "131026"
    assert event.hint


@pytest.mark.parametrize("errors", [None, [], [7], [{"code": "x"}], [{"title": "no code"}]])
def test_a_failed_status_without_a_reason_has_failed_all_the_same(errors: Any) -> None:
    [event] = read(value(statuses=[status("failed", errors=errors)]))
    assert (event.progress, event.failure_kind) == (Progress.FAILED, None)


def test_a_warning_on_a_status_that_went_well_is_no_failure() -> None:
    [event] = read(value(statuses=[status("delivered", errors=[{"code": 131026}])]))
    assert (event.failure_kind, event.failure) == (None, "")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(_JSON, st.sampled_from(sorted(said())), st.sampled_from(sorted(value(statuses=1))))
def test_no_shape_that_is_signed_breaks_the_reader(odd: Any, key: str, part: str) -> None:
    body = payload(
        value(messages=[{**said(), key: odd}], statuses=[{**status("failed"), "errors": odd}]),
        value(**{part: odd}, messages=[said(id="wamid.B")]),
    )
    for event in read_call(body):
        assert READER.validate_json(event.model_dump_json()) == event
