"""Best-effort cleaning of what comes back."""

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from handoff.contract.values import Invalid, Missing, Returned, clean_values
from tests.contract.hostile import JSON_VALUES, TEXTS, fields


def test_a_number_that_python_refuses_to_print_is_not_a_crash() -> None:
    returned = clean_values(
        [ReturnField(name="a", type=FieldType.NUMBER)], {"a": 10**5000, "b": [10**5000]}
    )
    assert returned.invalid == (Invalid("a", "a number too long to keep", "not a number"),)
    assert returned.unknown == {"b": ["a number too long to keep"]}


def test_what_was_sent_is_sorted_into_four_places_in_the_order_of_the_fields() -> None:
    asked = [
        ReturnField(name="notes", type=FieldType.STRING, required=True),
        ReturnField(name="weight", type=FieldType.NUMBER),
        ReturnField(name="order", type=FieldType.STRING),
        ReturnField(name="refund_by", type=FieldType.DATE),
        ReturnField(name="phone", type=FieldType.STRING),
        ReturnField(name="eta", type=FieldType.DATE),
    ]
    raw = {
        "colour": " blue ",
        "Order": None,
        "eta": "2026-06-10",
        "order": 12,
        "weight": "1,234",
        "refund_by": " next week",
    }
    assert clean_values(asked, raw) == Returned(
        values={"order": "12", "eta": "2026-06-10"},
        missing=(Missing("notes", required=True), Missing("phone", required=False)),
        invalid=(
            Invalid("weight", "1,234", "not a number"),
            Invalid("refund_by", " next week", "not a date"),
        ),
        unknown={"colour": " blue ", "Order": None},
    )


def test_the_json_of_a_return_has_the_shape_of_the_contract() -> None:
    returned = Returned(
        {"a": 1}, (Missing("b", required=True),), (Invalid("c", [1], "too long"),), {"d": None}
    )
    shape = {
        "values": {"a": 1},
        "missing": [{"name": "b", "required": True}],
        "invalid": [{"name": "c", "raw": [1], "reason": "too long"}],
        "unknown": {"d": None},
    }
    assert returned.as_json() == shape
    assert Returned.from_json(json.loads(json.dumps(shape))) == returned
    assert Returned.from_json({}) == Returned()


def test_odd_objects_and_endless_nesting_are_kept_as_something_storable() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    endless: list[Any] = []
    endless.append(endless)
    returned = clean_values([], {"broken": Broken(), "endless": endless, "nan": math.nan})
    assert returned.unknown["broken"] == "Broken"
    assert returned.unknown["nan"] == "nan"
    json.dumps(returned.as_json(), allow_nan=False)


@pytest.mark.slow
@given(fields(), JSON_VALUES, TEXTS)
@settings(max_examples=500, deadline=None)
def test_cleaning_never_raises_and_puts_each_field_in_exactly_one_place(
    asked: list[ReturnField], raw: object, locale: str
) -> None:
    sent = {item.name: raw for item in asked[::2]} | {"not asked": raw}
    returned = clean_values(asked, sent, locale=locale)
    places = [
        list(returned.values),
        [item.name for item in returned.missing],
        [item.name for item in returned.invalid],
    ]
    assert sorted(itertools.chain(*places)) == sorted(item.name for item in asked)
    for names in places:
        assert names == [item.name for item in asked if item.name in names]
    assert list(returned.unknown) == ["not asked"]
    stored = json.dumps(returned.as_json(), allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in stored.replace("\\\\", "")
    stored.encode()
    assert Returned.from_json(json.loads(stored)) == returned
