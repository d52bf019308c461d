"""Reading one value of each type but numbers."""

import pytest

from handoff.contract.kinds import FieldType
from tests.contract.hostile import PIECES
from tests.contract.reading import one


@pytest.mark.parametrize("kind", FieldType)
@pytest.mark.parametrize("blank", [None, "", "  ", "\n", "\u00a0", [], {}])
def test_null_and_blank_are_missing_for_every_type(kind: FieldType, blank: object) -> None:
    assert one(kind, blank) == "missing"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (True, True),
        (False, False),
        ("true", True),
        ("False ", False),
        *((raw, "not true or false") for raw in ("0", "1", "on", "maybe", 0, 1, 1.0, [True])),
    ],
)
def test_only_true_and_false_are_booleans(raw: object, value: object) -> None:
    assert one(FieldType.BOOLEAN, raw) is value or one(FieldType.BOOLEAN, raw) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("é one", "é one"),
        (" e\u0301 one ", "é one"),
        (5, "5"),
        (True, "true"),
        *((raw, "not one of the choices") for raw in ("É one", "6", ["5"], {"5": "5"}, "x" * 999)),
    ],
)
def test_only_listed_choices_are_kept(raw: object, value: str) -> None:
    assert one(FieldType.ENUM, raw) == value


@pytest.mark.parametrize(
    ("locale", "raw", "value"),
    [
        ("en", "2026-06-10", "2026-06-10"),
        ("en", " 2026/6/9 ", "2026-06-09"),
        ("en", "06/10/2026", "not a date"),
        ("en", "25/12/2026", "2026-12-25"),
        ("en", "12/25/2026", "2026-12-25"),
        ("en", "06/06/2026", "2026-06-06"),
        ("en-US", "06/10/2026", "2026-06-10"),
        ("en-us", "25/12/2026", "not a date"),
        ("en-GB", "06/10/2026", "2026-10-06"),
        ("de", "10.6.2026", "2026-06-10"),
        ("de", "10. 6. 2026", "2026-06-10"),
        ("fr", "10/06/2026", "2026-06-10"),
        ("pt-br", "10/06/2026", "2026-06-10"),
        ("ja", "2026年6月10日", "2026-06-10"),
        ("ar", "\u0661\u0660/\u0660\u0666/2026", "not a date"),
        *(
            ("en", raw, "not a date")
            for raw in (
                "next week",
                "2026-02-30",
                "2026-13-01",
                "20260610",
                "2026-W24-3",
                "10/06/26",
                "0000-01-01",
                "2026-06-10T12:00:00Z",
                "10.06/2026",
                20260610,
                ["2026-06-10"],
            )
        ),
    ],
)
def test_dates_are_read_from_iso_and_the_order_of_the_page(
    locale: str, raw: object, value: str
) -> None:
    assert one(FieldType.DATE, raw, locale=locale) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("https://carrier.example/track/abc", "https://carrier.example/track/abc"),
        ("HTTP://Carrier.example", "http://Carrier.example"),
        ("carrier.example/t?a=b#c", "https://carrier.example/t?a=b#c"),
        ("carrier.example:8443/t", "https://carrier.example:8443/t"),
        ("localhost:8000/x", "https://localhost:8000/x"),
        ("http://intranet/x", "http://intranet/x"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("https://münchen.example/ä?q=日本", "https://münchen.example/ä?q=日本"),
        ("https://a.example/[x]", "https://a.example/[x]"),
    ],
)
def test_http_and_https_addresses_are_kept(raw: str, value: str) -> None:
    assert one(FieldType.URL, raw) == value


@pytest.mark.parametrize(
    "raw",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:1",
        "data:text/html,x",
        "ftp://a.example",
        "mailto:ana@a.example",
        "tel:123",
        "//evil.example",
        "/path",
        "https:",
        "https://",
        "https:///x",
        "https:a.example",
        "https:/a.example",
        "http://a.b@127.0.0.1/",
        "https://user:pw@a.example/",
        "ana@a.example",
        "https://a.example\\@evil.example",
        "https://a.example/\u202egnp.exe",
        "https://a.example/\u200bx",
        "https://a.example/x y",
        "https://a.example/\nx",
        "https://a.example/\x00",
        "https://a.example/<b>",
        "https://a..example/",
        "https://a.example:99999/",
        "https://a.example:x/",
        "https://%61.example/",
        "https://[::1",
        "https://exa\u2100mple.com/",
        "yes",
        "3.14",
        "not sure",
        5,
        True,
        ["https://a.example"],
    ],
)
def test_anything_else_is_no_address(raw: object) -> None:
    assert one(FieldType.URL, raw) == "not an http or https address"


def test_text_limits_hold_after_trimming_at_both_ends() -> None:
    for kind, most in ((FieldType.STRING, 4000), (FieldType.MULTILINE, 20_000)):
        assert one(kind, f" {'x' * most} ") == "x" * most
        assert one(kind, "x" * (most + 1)) == "too long"
    address = "https://a.example/"
    assert one(FieldType.URL, address + "x" * (2048 - len(address))) != "too long"
    assert one(FieldType.URL, address + "x" * (2049 - len(address))) == "too long"
    assert one(FieldType.URL, "a.example/" + "x" * 2038) == "too long"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (" a\r\nb ", "a\nb"),
        (5, "5"),
        (1e20, "100000000000000000000"),
        (True, "true"),
        (["a", 1, None], '["a",1,null]'),
        ({"a": "b\n"}, '{"a":"b\\u000a"}'),
        ("a\x00\ud800b", "a\ufffd\ufffdb"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_a_text_field_keeps_whatever_was_sent_as_text(raw: object, value: str) -> None:
    assert one(FieldType.STRING, raw) == value
    assert one(FieldType.MULTILINE, raw) == value


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("kind", FieldType)
def test_hostile_text_is_read_or_named_by_every_type(kind: FieldType, piece: str) -> None:
    for raw in (piece, f"5{piece}", f"https://a.example/{piece}", f"2026-06-10{piece}"):
        read = one(kind, raw)
        assert isinstance(read, str | int | float | bool)
        str(read).encode()
