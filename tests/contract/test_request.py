"""The arguments of `handoff_request`."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handoff.contract.kinds import Urgency
from handoff.contract.request import ArgumentProblems, Problem, canonical, parse_request
from tests.contract.hostile import JSON_VALUES

GOOD: dict[str, Any] = {
    "channel_id": 12,
    "summary": "Ana asks where order 1234 is.",
    "expected_action": "Look up the order.",
}


def problems(**changes: object) -> dict[str, str]:
    with pytest.raises(ArgumentProblems) as caught:
        parse_request(GOOD | changes)
    return {item.field: item.problem for item in caught.value.problems}


def field(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "type": "string", **more}


def test_defaults_stand_where_optional_arguments_are_absent_or_null() -> None:
    optional = (
        "urgency",
        "contact_back_email",
        "include_transcript",
        "extra_context",
        "expected_return",
    )
    request = parse_request(GOOD)
    assert request == parse_request(GOOD | dict.fromkeys(optional))
    assert request.urgency is Urgency.NORMAL
    assert request.include_transcript is True
    assert (request.contact_back_email, request.extra_context, request.expected_return) == (
        "",
        (),
        (),
    )


def test_everything_given_is_taken() -> None:
    request = parse_request(
        GOOD
        | {
            "urgency": "high",
            "contact_back_email": " ana@example.com ",
            "include_transcript": False,
            "extra_context": {"order": " 1234 ", "empty": "", "none": None},
            "expected_return": [field("a"), field("b", required=True)],
        }
    )
    assert request.urgency is Urgency.HIGH
    assert request.contact_back_email == "ana@example.com"
    assert request.extra_context == (("order", "1234"), ("empty", ""))
    assert [asked.name for asked in request.expected_return] == ["a", "b"]
    assert parse_request(request.model_dump()) == request
    assert parse_request(json.loads(request.model_dump_json())) == request


@pytest.mark.parametrize(
    ("argument", "least", "most"), [("summary", 20, 2000), ("expected_action", 10, 1000)]
)
def test_lengths_are_counted_after_trimming_at_both_ends(
    argument: str, least: int, most: int
) -> None:
    for length in (least, most):
        request = parse_request(GOOD | {argument: f"  {'x' * length} \n"})
        assert len(getattr(request, argument)) == length
    for length in (least - 1, most + 1):
        said = f"must have {least} to {most} characters; it has {length}"
        assert problems(**{argument: f"  {'x' * length} \n"}) == {argument: said}
    assert problems(**{argument: " " * least}) == {
        argument: f"must have {least} to {most} characters; it has 0"
    }


def test_decomposed_letters_count_once() -> None:
    assert len(parse_request(GOOD | {"summary": "e\u0301" * 2000}).summary) == 2000


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\ud800", "\uffff"])
def test_characters_that_cannot_be_kept_are_a_problem_of_their_argument(char: str) -> None:
    found = problems(
        summary=f"{GOOD['summary']}{char}",
        expected_return=[field("a", label=char)],
        extra_context={"k": char, f"key{char}": "v"},
        contact_back_email=char,
    )
    assert len(found) == 5
    assert {name.split(".")[0] for name in found} == {
        "summary",
        "expected_return",
        "extra_context",
        "contact_back_email",
    }
    assert all("holds" in said for said in found.values())


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (True, "a boolean"),
        ("12", "a string"),
        (12.5, "a fraction"),
        (float("nan"), "a fraction"),
        (float("inf"), "a fraction"),
        ([12], "a list"),
    ],
)
def test_a_channel_id_is_a_whole_number_and_nothing_like_it(value: object, what: str) -> None:
    assert problems(channel_id=value) == {"channel_id": f"must be a whole number, not {what}"}


@pytest.mark.parametrize("value", [0, -1, 2**63, pytest.param(10**5000, id="5001 digits")])
def test_a_channel_id_that_no_row_can_have_is_refused(value: int) -> None:
    assert problems(channel_id=value) == {"channel_id": "must be the id of one of your channels"}


def test_a_whole_float_is_an_integer_as_in_json_schema() -> None:
    assert parse_request(GOOD | {"channel_id": 12.0}).channel_id == 12


def test_null_for_a_required_argument_is_its_absence() -> None:
    assert problems(channel_id=None, summary=None) == {
        "channel_id": "is required",
        "summary": "is required",
    }


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ArgumentProblems) as caught:
        parse_request(
            {
                "summary": "short",
                "urgency": "asap",
                "contact_back_email": "Ana <ana@example.com>",
                "include_transcript": "yes",
                "extra_context": {"a": 1, "": "x"},
                "expected_return": [field("a"), {"name": "1", "type": "enum"}, field("A"), None],
                "priority": None,
                "[Bot resumed\n": 1,
            }
        )
    assert caught.value.problems == (
        Problem("channel_id", "is required"),
        Problem("summary", "must have 20 to 2000 characters; it has 5"),
        Problem("expected_action", "is required"),
        Problem("urgency", "must be one of low, normal, high"),
        Problem("contact_back_email", "must be one plain email address, such as ana@example.com"),
        Problem("include_transcript", "must be true or false, not a string"),
        Problem("extra_context.a", "must be a string, not a number"),
        Problem("extra_context.(blank)", "has a key that must have 1 to 4096 characters; it has 0"),
        Problem(
            "expected_return.1.name",
            "must have 1 to 64 characters, only A-Z, a-z, 0-9 and underscore, and must not begin "
            "with a digit",
        ),
        Problem("expected_return.1.enum_values", "must list 1 to 50 choices for an enum; it has 0"),
        Problem("expected_return.2.name", "is the name of field 0 too; names differ ignoring case"),
        Problem("expected_return.3", "must be an object, not null"),
        Problem(
            "priority",
            "is not an argument of this tool; known are channel_id, summary, expected_action, "
            "urgency, contact_back_email, include_transcript, extra_context, expected_return",
        ),
        Problem(
            "(Bot resumed",
            "is not an argument of this tool; known are channel_id, summary, expected_action, "
            "urgency, contact_back_email, include_transcript, extra_context, expected_return",
        ),
    )
    assert str(caught.value).startswith(
        "channel_id is required. summary must have 20 to 2000 characters; it has 5. "
    )


def test_a_flood_of_problems_is_cut_and_counted() -> None:
    with pytest.raises(ArgumentProblems) as caught:
        parse_request(GOOD | {f"x{n}": 1 for n in range(1000)})
    assert len(caught.value.problems) == 101
    assert caught.value.problems[-1].sentence == "arguments have 1000 problems in all."


@pytest.mark.parametrize("value", [[], "x", None, 5])
def test_arguments_that_are_no_object_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentProblems, match="arguments must be an object, not"):
        parse_request(value)


def test_twenty_fields_are_taken_and_twenty_one_are_not() -> None:
    fields = [field(f"f{n}") for n in range(21)]
    assert len(parse_request(GOOD | {"expected_return": fields[:20]}).expected_return) == 20
    assert problems(expected_return=fields) == {
        "expected_return": "must have at most 20 fields; it has 21"
    }
    assert problems(expected_return={"a": "string"}) == {
        "expected_return": "must be a list of fields, not an object"
    }


def test_names_that_repeat_are_found_beside_other_problems() -> None:
    found = problems(expected_return=[field("eta"), field(" ETA ", type="when"), field("Eta")])
    assert set(found) == {
        "expected_return.1.name",
        "expected_return.1.type",
        "expected_return.2.name",
    }


@pytest.mark.parametrize(
    "address",
    [
        "ana@example.com",
        "a.b+c@sub.example.co.uk",
        "ana@münchen.example",
        "o'hara@xn--bcher-kva.example",
    ],
)
def test_plain_addresses_are_taken(address: str) -> None:
    assert parse_request(GOOD | {"contact_back_email": address}).contact_back_email == address


@pytest.mark.parametrize(
    "address",
    [
        "ana",
        "ana@",
        "@example.com",
        "ana@localhost",
        "a@b.example, c@d.example",
        "a@b.example\nBcc: c@d.example",
        "Ana <ana@example.com>",
        "a..b@example.com",
        ".a@example.com",
        "ana@-example.com",
        "ana@example..com",
        "mailto:ana@example.com",
        "ana@exa\u202emple.com",
        '"a b"@example.com',
        f"{'a' * 250}@example.com",
    ],
)
def test_anything_but_one_plain_address_is_refused(address: str) -> None:
    assert set(problems(contact_back_email=address)) == {"contact_back_email"}


def test_a_blank_address_is_an_absent_one() -> None:
    assert parse_request(GOOD | {"contact_back_email": "  "}).contact_back_email == ""


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "channel_id": JSON_VALUES,
            "summary": JSON_VALUES,
            "contact_back_email": JSON_VALUES,
            "extra_context": JSON_VALUES,
            "expected_return": JSON_VALUES,
            "nonsense": JSON_VALUES,
        },
    )
)
@settings(max_examples=300, deadline=None)
def test_no_json_at_all_ends_in_anything_but_problems(args: dict[str, Any]) -> None:
    with pytest.raises(ArgumentProblems) as caught:
        parse_request(args | {"expected_return": [args.get("expected_return")]})
    for item in caught.value.problems:
        assert len(item.sentence.splitlines()) == 1
        item.sentence.encode()
    canonical(args)


def test_the_canonical_text_ignores_order_and_nulls_at_every_level() -> None:
    one = {"b": 1, "a": {"y": [None, {"z": None, "é": "é"}], "x": None}, "c": None}
    two = {"a": {"y": [None, {"é": "é"}]}, "b": 1}
    assert canonical(one) == canonical(two) == '{"a":{"y":[null,{"\\u00e9":"\\u00e9"}]},"b":1}'
    assert canonical({"a": "\ud800"}) == '{"a":"\\ud800"}'
    assert canonical({"a": 1}) != canonical({"a": "1"})
