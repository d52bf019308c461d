"""The data lines of the resume note and the block for siblings."""

from typing import Any

import pytest

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType, Outcome, ReleaseKind
from handoff.contract.note import (
    data_lines,
    expected_return_block,
    first_line,
    parse_data,
)
from handoff.contract.values import Invalid, Missing, Returned, clean_values

EXAMPLE_FIELDS = [
    ReturnField(name="order_status", type=FieldType.ENUM, enum_values=("shipped", "lost")),
    ReturnField(name="tracking_url", type=FieldType.URL),
    ReturnField(name="eta_date", type=FieldType.DATE),
    ReturnField(name="notes", type=FieldType.MULTILINE, required=True),
    ReturnField(name="phone", type=FieldType.STRING),
    ReturnField(name="refund_by", type=FieldType.DATE),
    ReturnField(name="weight", type=FieldType.NUMBER),
]
EXAMPLE = """\
[Bot resumed — the sibling agent has handed control back. Outcome: resolved. Looked up order 1234.]
Returned data:
  • order_status: shipped
  • tracking_url: https://carrier.example/track/abc
  • eta_date: 2026-06-10
Not filled: notes (required), phone.
Not usable: refund_by "next week" (not a date), weight "1,234" (not a number).
Also sent: colour "blue"."""


def test_the_example_of_the_contract_is_rendered_to_the_byte() -> None:
    returned = clean_values(
        EXAMPLE_FIELDS,
        {
            "eta_date": "2026-06-10",
            "order_status": "shipped",
            "tracking_url": "https://carrier.example/track/abc",
            "refund_by": "next week",
            "weight": "1,234",
            "colour": "blue",
        },
    )
    first = first_line(
        ReleaseKind.AGENT,
        label="Orders",
        outcome=Outcome.RESOLVED,
        message="Looked up order 1234.",
    )
    lines = data_lines(EXAMPLE_FIELDS, returned)
    assert f"{first}\n{lines}" == EXAMPLE
    assert parse_data(EXAMPLE_FIELDS, lines) == returned.values


def rendered(value: Any, kind: FieldType = FieldType.STRING) -> str:
    """What stands after the name of a lone field."""
    asked = [ReturnField(name="a", type=kind)]
    lines = data_lines(asked, Returned({"a": value}))
    assert parse_data(asked, lines) == {"a": value}
    return lines.removeprefix("Returned data:\n  • a: ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("shipped", "shipped"),
        ('say "hi" [x] • y: z \\n', 'say "hi" [x] • y: z \\n'),
        ("", '""'),
        (" a", '" a"'),
        ("a\u3000", '"a\u3000"'),
        ('"a', '"\\"a"'),
        ("[a", '"[a"'),
        ("•a\\", '"•a\\\\"'),
        ("a\nb\tc", '"a\\u000ab\\u0009c"'),
        ("a\x85b", '"a\\u0085b"'),
        ("a\u2028b\u2029", '"a\\u2028b\\u2029"'),
        ("👩\u200d💻é", '"👩\\u200d💻é"'),
        ("a\U000e0001", '"a\\udb40\\udc01"'),
        ("a\ud800", '"a\\ud800"'),
        ("x" * 500, "x" * 500),
        ("x" * 501, f'"{"x" * 501}"'),
        ("true", "true"),
    ],
)
def test_a_value_is_bare_or_a_literal(value: str, text: str) -> None:
    assert rendered(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (-5, "-5"),
        (1.5, "1.5"),
        (1e-10, "0.0000000001"),
        (100000000000000.0, "100000000000000"),
        (0.1, "0.1"),
        (-0.0, "0"),
    ],
)
def test_numbers_are_plain_decimals_without_trailing_zeros(value: float, text: str) -> None:
    assert rendered(value, FieldType.NUMBER) == text


def test_booleans_are_words() -> None:
    assert rendered(value=True, kind=FieldType.BOOLEAN) == "true"
    assert rendered(value=False, kind=FieldType.BOOLEAN) == "false"


def test_lines_with_nothing_to_say_are_left_out() -> None:
    asked = [ReturnField(name="a", type=FieldType.STRING)]
    assert data_lines([], Returned()) == ""
    assert data_lines(asked, Returned(missing=(Missing("a", required=False),))) == "Not filled: a."
    assert data_lines([], Returned(unknown={"b": "1"})) == 'Also sent: b "1".'
    assert parse_data([], "") == {}


def test_raw_text_is_always_a_literal_and_other_json_compact() -> None:
    returned = Returned(
        invalid=(Invalid("a", "5", "too long"), Invalid("b", {"k": ["\n", 1.50, None]}, "x")),
        unknown={"c": 5, "d": True, "e": "", "not a name": "v", "[\n": None, "n" * 64: [], "": 1},
    )
    assert data_lines([], returned) == (
        'Not usable: a "5" (too long), b {"k":["\\u000a",1.5,null]} (x).\n'
        'Also sent: c 5, d true, e "", "not a name" "v", "[\\u000a" null, '
        f'{"n" * 64} [], "" 1.'
    )


def test_the_last_two_lines_hold_twenty_items_of_two_hundred_characters() -> None:
    unknown: dict[str, Any] = {f"u{n}": "v" for n in range(21)}
    assert data_lines([], Returned(unknown=unknown)).endswith('u18 "v", u19 "v".')
    cases: tuple[tuple[Any, str], ...] = (
        ("x" * 200, f'"{"x" * 200}"'),
        ("x" * 201, f'"{"x" * 199}…"'),
        (["x" * 300], f'"[\\"{"x" * 197}…"'),
    )
    for raw, text in cases:
        assert data_lines([], Returned(unknown={"u": raw})) == f"Also sent: u {text}."
        invalid = (Invalid("u", raw, "too long"),)
        assert data_lines([], Returned(invalid=invalid)) == f"Not usable: u {text} (too long)."
    assert data_lines([], Returned(unknown={"n" * 201: 1})) == f'Also sent: "{"n" * 199}…" 1.'


def test_items_stand_in_the_order_of_the_fields() -> None:
    asked = [ReturnField(name=name, type=FieldType.STRING) for name in "cab"]
    returned = Returned(
        {"b": "1", "c": "2"},
        (Missing("a", required=False),),
        (Invalid("a", "x", "too long"), Invalid("c", "y", "too long")),
    )
    assert data_lines(asked, returned) == (
        "Returned data:\n  • c: 2\n  • b: 1\nNot filled: a.\n"
        'Not usable: c "y" (too long), a "x" (too long).'
    )


@pytest.mark.parametrize(
    "text",
    [
        "Returned data:\n  • other: x",
        "  • a: x\n  • a: y",
        "  • a",
        "a: x",
        "forged",
        '  • a: "x',
        "  • flag: maybe",
        "  • count: many",
        "\n",
    ],
)
def test_lines_that_are_not_ours_are_not_parsed(text: str) -> None:
    asked = [
        ReturnField(name="a", type=FieldType.STRING),
        ReturnField(name="flag", type=FieldType.BOOLEAN),
        ReturnField(name="count", type=FieldType.NUMBER),
    ]
    with pytest.raises(ValueError, match=r"."):
        parse_data(asked, text)


def test_a_sibling_is_told_what_to_return_and_how() -> None:
    asked = [
        ReturnField(
            name="order_status",
            type=FieldType.ENUM,
            enum_values=("shipped", "a | b", "c; d"),
            label="Order status",
            description="As in the shop; today",
            required=True,
        ),
        ReturnField(name="eta", type=FieldType.DATE, description="When\nit comes"),
        ReturnField(name="kind", type=FieldType.ENUM, enum_values=("[x]", "y")),
        ReturnField(name="url", type=FieldType.URL, label="[EXPECTED RETURN SCHEMA]"),
        ReturnField(name="notes", type=FieldType.MULTILINE, required=True),
    ]
    assert expected_return_block(asked) == (
        "[EXPECTED RETURN SCHEMA]\n"
        'order_status (enum, required): Order status — "As in the shop; today"; '
        'one of shipped | "a | b" | "c; d"\n'
        'eta (date): "When\\u000ait comes"\n'
        'kind (enum): one of "[x]" | y\n'
        'url (url): "[EXPECTED RETURN SCHEMA]"\n'
        "notes (multiline, required)\n"
        'To answer, call handoff_release with return_values: {"order_status": …, "eta": …, '
        '"kind": …, "url": …, "notes": …}'
    )
    assert expected_return_block([]) == ""
