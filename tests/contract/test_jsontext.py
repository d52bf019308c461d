"""The strict JSON reader."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handoff.contract.jsontext import JSONProblem, loads
from tests.contract.hostile import TEXTS


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (
            b'{"a": [1, 2.5, true, null, "\\u00e9 \\ud83d\\ude00"]}',
            {"a": [1, 2.5, True, None, "é 😀"]},
        ),
        ('"é"'.encode(), "é"),
        (b' {"a": {"a": 1}, "b": {"a": 1}} ', {"a": {"a": 1}, "b": {"a": 1}}),
        (b'{"a": "[[[[[[[[[[[[[[[[[[[[ \\" [[[ {"}', {"a": '[[[[[[[[[[[[[[[[[[[[ " [[[ {'}),
        (b"1e5", 1e5),
    ],
)
def test_good_json_is_read(body: bytes, value: object) -> None:
    assert loads(body) == value


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "The body is not JSON: line 1, column 1 cannot be read."),
        (b"{", "The body is not JSON: line 1, column 2 cannot be read."),
        (b"{'a': 1}", "The body is not JSON: line 1, column 2 cannot be read."),
        (b'{"a": 1} x', "The body is not JSON: line 1, column 10 cannot be read."),
        (b'["a\nb"]', "The body is not JSON: line 1, column 4 cannot be read."),
        (b'"\xff"', "The body is not UTF-8: byte 1 cannot be read."),
        (b'"\xed\xa0\x80"', "The body is not UTF-8: byte 1 cannot be read."),
        ('{"a": 1}'.encode("utf-16"), "The body is not UTF-8: byte 0 cannot be read."),
        (b'{"a": 1, "b": {"x": 1, "x": 2}}', "The name x stands twice in one object."),
        (b'{"a": 1, "\\u0061": 2}', "The name a stands twice in one object."),
        (b"[NaN]", "NaN is not a JSON number."),
        (b"[-Infinity]", "-Infinity is not a JSON number."),
        (b"1e400", "A number is too large."),
        (b"[-1e999]", "A number is too large."),
        (b"1" * 401, "A number has more than 400 digits."),
        (b"1" * 100_000, "A number has more than 400 digits."),
        (b'{"a": {"b": ["x", "\\u0000"]}}', "The text at a.b.1 holds a NUL character."),
        (b'"\\u0000"', "The text at the top holds a NUL character."),
        (b'{"a": "\\ud800"}', "The text at a holds half of a surrogate pair."),
        (b'{"a": {"b\\u0000": 1}}', "The name a.b holds a character that cannot be stored."),
        (b'{"\\udfff": 1}', "The name  holds a character that cannot be stored."),
    ],
)
def test_everything_else_is_refused_in_one_sentence(body: bytes, sentence: str) -> None:
    with pytest.raises(JSONProblem) as caught:
        loads(body)
    assert str(caught.value) == sentence


def test_sixteen_levels_are_read_and_seventeen_are_not() -> None:
    assert loads(b"[" * 16 + b"]" * 16)
    for body in (b"[" * 17 + b"]" * 17, b'{"a":' * 17 + b"1" + b"}" * 17):
        with pytest.raises(JSONProblem, match="nested more than 16 levels deep"):
            loads(body)
    assert loads(b"[" * 20 + b"]" * 20, depth=20)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 5000,
        b"[" * 200_000 + b"]" * 200_000,
        b'{"a":' * 50_000,
        b'"' + b'\\"' * 130_000,
        b'"a' * 130_000,
        b'"' + b"\\" * 260_001,
        b"]" * 260_000,
    ],
    ids=["5000 deep", "200000 deep", "objects", "quotes", "strings", "slashes", "closing"],
)
def test_no_body_of_the_allowed_size_takes_long(body: bytes) -> None:
    started = time.monotonic()
    with pytest.raises(JSONProblem):
        loads(body)
    assert time.monotonic() - started < 2


def test_a_depth_that_the_reader_cannot_take_is_still_a_sentence() -> None:
    with pytest.raises(JSONProblem, match="nested too deeply"):
        loads(b"[" * 500_000 + b"]" * 500_000, depth=10**6)


@given(st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=4), TEXTS)
@settings(max_examples=500, deadline=None)
def test_what_is_read_can_be_stored_and_the_rest_is_one_sentence(value: object, name: str) -> None:
    sent = {name: value}
    keepable = not any(mark in repr(sent) for mark in ("\\x00", "\\ud8", "\\udf"))
    try:
        read, said = loads(json.dumps(sent).encode()), ""
    except JSONProblem as refused:
        read, said = None, str(refused)
    assert len(said.splitlines()) == (read is None)
    said.encode()
    if keepable:
        assert read == sent
    if read is not None:
        assert read == sent
        json.dumps(read, ensure_ascii=False).encode()
