"""Reading numbers."""

import math

import pytest
from hypothesis import given, settings

from handoff.contract.kinds import FieldType
from tests.contract.hostile import NUMBERS
from tests.contract.reading import one


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("5", 5),
        (" 5 ", 5),
        ("+5", 5),
        ("-5", -5),
        ("\u22125", -5),
        ("-0", 0),
        ("0.50", 0.5),
        (".5", 0.5),
        ("5.", 5),
        ("007", 7),
        ("1234.5", 1234.5),
        ("1,234.50", 1234.5),
        ("1,234,567", 1234567),
        ("999999999999999", 999999999999999),
        ("0.0123456789", 0.0123456789),
        ("1.500000000000000000000", 1.5),
        (5, 5),
        (5.0, 5),
        (-0.0, 0),
        (1e14, 10**14),
        (0.1, 0.1),
        (1e-10, 1e-10),
    ],
)
def test_numbers_in_plain_form_are_read(raw: object, value: float) -> None:
    read = one(FieldType.NUMBER, raw)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "raw",
    [
        "1,234",
        "-1,234",
        "1_000",
        "١٢٣",
        "1e5",
        "0x10",
        "NaN",
        "inf",
        "five",
        "1 234",
        "1.234,5",
        "12,34",
        "1,2345",
        ",5",
        "--5",
        "5 kg",
        "-",
        ".",
        True,
        False,
        [5],
        {"a": 5},
        math.nan,
        math.inf,
        -math.inf,
    ],
)
def test_what_is_not_plainly_a_number_stays_raw(raw: object) -> None:
    assert one(FieldType.NUMBER, raw) == "not a number"


@pytest.mark.parametrize(
    "raw",
    [
        "1234567890123456",
        "0.00000000001",
        "12345.12345678901",
        "1" * 400,
        "1" * 4000,
        1e15,
        1e300,
        0.1 + 0.2,
        10**15,
        -(10**15),
        pytest.param(10**800, id="801 digits"),
    ],
)
def test_numbers_beyond_15_digits_or_10_decimals_are_too_long(raw: object) -> None:
    assert one(FieldType.NUMBER, raw) == "too long"


@pytest.mark.parametrize(
    ("locale", "raw", "value"),
    [
        ("de", "1,5", 1.5),
        ("de-AT", "1.234,50", 1234.5),
        ("de", "1.234.567", 1234567),
        ("de", "1.5", 1.5),
        ("de", "0,123", 0.123),
        ("de", "1.234", "not a number"),
        ("de", "1,234", "not a number"),
        ("pt_BR", "1.234,56", 1234.56),
        ("es", "12,34", 12.34),
        ("fr", "1\u202f234,5", 1234.5),
        ("fr", "1 234", 1234),
        ("fr", "1.234", 1.234),
        ("fr", "1,234", "not a number"),
        ("ja", "1,234.5", 1234.5),
        ("ar", "1,234.5", 1234.5),
        ("ar", "١٢٣", "not a number"),
        ("en", "1,5", "not a number"),
        ("tlh", "1.5", 1.5),
    ],
)
def test_numbers_in_the_form_of_the_page_are_read_and_ambiguous_ones_are_not(
    locale: str, raw: str, value: object
) -> None:
    assert one(FieldType.NUMBER, raw, locale=locale) == value


@given(NUMBERS)
@settings(max_examples=1000, deadline=None)
def test_numbers_within_the_limits_keep_every_digit(number: float) -> None:
    read = one(FieldType.NUMBER, number)
    assert read == number or read == "too long"
    if isinstance(number, int):
        assert read == number
        assert one(FieldType.NUMBER, str(number)) == number
