"""The JSON Schema of an answer."""

import json

import pytest

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from handoff.contract.schema import return_schema

MCP_STRING = {"type", "title", "description", "minLength", "maxLength", "format", "enum"}
MCP_FORMATS = {"email", "uri", "date", "date-time"}


def test_all_seven_types_are_flat_properties_in_the_order_of_the_fields() -> None:
    schema = return_schema(
        [
            ReturnField(
                name=f"f_{kind}",
                type=kind,
                enum_values=("b", "a") if kind is FieldType.ENUM else (),
                required=kind in {FieldType.DATE, FieldType.STRING},
            )
            for kind in FieldType
        ]
    )
    assert schema == {
        "type": "object",
        "properties": {
            "f_string": {"type": "string", "maxLength": 4000},
            "f_multiline": {"type": "string", "maxLength": 20_000},
            "f_number": {"type": "number"},
            "f_boolean": {"type": "boolean"},
            "f_enum": {"type": "string", "enum": ["b", "a"]},
            "f_date": {"type": "string", "format": "date"},
            "f_url": {"type": "string", "format": "uri", "maxLength": 2048},
        },
        "required": ["f_string", "f_date"],
    }
    assert list(schema["properties"]) == [f"f_{kind}" for kind in FieldType]
    json.dumps(schema)


@pytest.mark.parametrize("kind", FieldType)
def test_a_property_uses_only_what_mcp_elicitation_knows(kind: FieldType) -> None:
    asked = ReturnField(
        name="a",
        type=kind,
        enum_values=("x",) if kind is FieldType.ENUM else (),
        label="Label",
        description="What it is.",
        placeholder="x",
    )
    described = return_schema([asked])["properties"]["a"]
    assert set(described) <= MCP_STRING
    assert described.get("format", "uri") in MCP_FORMATS
    assert described["title"] == "Label"
    assert described["description"] == "What it is.\nFor example, x"


def test_no_fields_are_an_empty_object() -> None:
    assert return_schema([]) == {"type": "object", "properties": {}, "required": []}
