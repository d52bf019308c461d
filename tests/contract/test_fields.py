"""One field of `expected_return`."""

from typing import Any

import pytest
from pydantic import ValidationError

from handoff.contract.checks import problems_of
from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType


def problems(data: object) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        ReturnField.model_validate(data)
    return {".".join(map(str, place)): said for place, said in problems_of(caught.value)}


def enum(values: object) -> dict[str, Any]:
    return {"name": "a", "type": "enum", "enum_values": values}


def test_null_attributes_are_absent_ones() -> None:
    nulls = dict.fromkeys(("enum_values", "label", "description", "required", "placeholder"))
    assert ReturnField.model_validate(
        {"name": "eta", "type": "date", **nulls}
    ) == ReturnField.model_validate({"name": "eta", "type": "date"})


def test_a_stored_field_reads_back_as_itself() -> None:
    asked = ReturnField.model_validate(
        enum(["é", "b"]) | {"label": " L ", "description": "d", "required": True}
    )
    assert asked.label == "L"
    assert ReturnField.model_validate(asked.model_dump(mode="json")) == asked
    assert ReturnField.model_validate(asked) is asked


@pytest.mark.parametrize("name", ["a", "_", "A1_b", "x" * 64, " padded "])
def test_good_names_are_taken(name: str) -> None:
    assert ReturnField(name=name, type=FieldType.STRING).name == name.strip()


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "é", "x" * 65, "a\nb", "a\x00", "\ud800"])
def test_other_names_are_a_problem_of_the_name(name: str) -> None:
    said = problems({"name": name, "type": "string"})["name"]
    assert said.startswith("must have 1 to 64 characters, only A-Z")


def test_every_problem_of_a_field_is_reported_at_once() -> None:
    assert problems(
        {
            "name": 5,
            "type": "text",
            "label": "x" * 201,
            "description": "\ud800",
            "required": "yes",
            "placeholder": ["x"],
            "colour\ud800": None,
        }
    ) == {
        "name": "must be a string, not a number",
        "type": "must be one of string, multiline, number, boolean, enum, date, url",
        "label": "must have at most 200 characters; it has 201",
        "description": "must be plain text; it holds half of a surrogate pair (U+D800)",
        "required": "must be true or false, not a string",
        "placeholder": "must be a string, not a list",
        "colour": "is not an attribute of a field; known are name, type, enum_values, label, "
        "description, required, placeholder",
    }


def test_name_and_type_are_required() -> None:
    assert problems({}) == {"name": "is required", "type": "is required"}
    assert problems({"name": None, "type": None}) == {"name": "is required", "type": "is required"}


@pytest.mark.parametrize(
    ("data", "what"), [(None, "null"), (5, "a number"), ("x", "a string"), ([], "a list")]
)
def test_a_field_that_is_no_object_is_refused_in_words(data: object, what: str) -> None:
    assert problems(data) == {"": f"must be an object, not {what}"}


def test_limits_of_label_description_and_placeholder_hold_after_trimming() -> None:
    asked = ReturnField(
        name="a",
        type=FieldType.STRING,
        label=f"  {'x' * 200}  ",
        description="y" * 500,
        placeholder="z" * 500,
    )
    assert len(asked.label) == 200
    found = problems(
        {"name": "a", "type": "string", "description": "y" * 501, "placeholder": "z" * 501}
    )
    assert set(found) == {"description", "placeholder"}


def test_an_enum_has_one_to_fifty_choices_of_at_most_200_characters() -> None:
    assert len(ReturnField.model_validate(enum(["x" * 200])).enum_values) == 1
    assert len(ReturnField.model_validate(enum([f"c{n}" for n in range(50)])).enum_values) == 50
    for values, count in ((None, 0), ([], 0), ([f"c{n}" for n in range(51)], 51)):
        said = f"must list 1 to 50 choices for an enum; it has {count}"
        assert problems(enum(values)) == {"enum_values": said}
    assert problems(enum(["x" * 201])) == {
        "enum_values.0": "must have 1 to 200 characters; it has 201"
    }


def test_every_bad_choice_is_named() -> None:
    assert problems(enum(["a", "a ", 5, " ", "\x00", "A"])) == {
        "enum_values.1": "must not repeat an earlier choice",
        "enum_values.2": "must be a string, not a number",
        "enum_values.3": "must have 1 to 200 characters; it has 0",
        "enum_values.4": "must be plain text; it holds a NUL character",
    }
    assert problems(enum("a,b")) == {"enum_values": "must be a list of strings, not a string"}


def test_choices_without_an_enum_are_refused_and_an_empty_list_is_nothing() -> None:
    said = "belongs to the type enum only: leave it out or make the type enum"
    assert problems({"name": "a", "type": "string", "enum_values": ["x"]}) == {"enum_values": said}
    asked = ReturnField.model_validate({"name": "a", "type": "url", "enum_values": []})
    assert asked.enum_values == ()


@pytest.mark.parametrize(
    ("name", "label", "title"),
    [("order_status", "", "Order status"), ("eta", "When?", "When?"), ("__", "", "__")],
)
def test_a_field_always_has_a_title(name: str, label: str, title: str) -> None:
    assert ReturnField(name=name, type=FieldType.STRING, label=label).title == title
