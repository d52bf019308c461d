"""`extra_context` of a request: an object of strings, or a list of pairs."""

from handoff.contract.request import parse_request
from tests.contract.test_request import GOOD, problems


def test_context_is_an_object_or_a_list_of_pairs() -> None:
    pairs = [{"key": "order", "value": "1234"}, {"key": "vip", "value": None}, {"key": "gone"}]
    assert parse_request(GOOD | {"extra_context": pairs}).extra_context == (("order", "1234"),)
    assert parse_request(GOOD | {"extra_context": []}).extra_context == ()


def test_every_bad_entry_of_the_context_is_named() -> None:
    bad = [
        "x",
        {"key": "a"},
        {"key": "a", "value": 1},
        {"key": "b", "value": "1", "note": "x"},
        {"key": "c", "value": "1"},
        {"key": " c", "value": "2"},
    ]
    assert problems(extra_context=bad) == {
        "extra_context.0": "must be an object with key and value",
        "extra_context.2": "must be a string, not a number",
        "extra_context.3": "must be an object with key and value",
        "extra_context.5": "has the same key as an earlier one",
    }
    assert problems(extra_context="order 1234") == {
        "extra_context": "must be an object of strings, not a string"
    }


def test_context_of_4096_bytes_is_taken_and_one_more_is_not() -> None:
    around = len('{"k":""}')
    fits = {"k": "x" * (4096 - around)}
    assert parse_request(GOOD | {"extra_context": fits}).extra_context[0][0] == "k"
    assert problems(extra_context={"k": "x" * (4097 - around)}) == {
        "extra_context": "must have at most 4096 bytes as JSON; it has 4097"
    }
    assert problems(extra_context={"k": "é" * 2500}) == {
        "extra_context": "must have at most 4096 bytes as JSON; it has 5008"
    }
    assert set(problems(extra_context={"k": "x" * 5000})) == {"extra_context.k"}
