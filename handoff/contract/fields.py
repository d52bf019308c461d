"""One field of the answer that an agent asks for (`expected_return`)."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from handoff.contract.checks import Place, all_of, choice, closed, flag, problem, text, type_name
from handoff.contract.kinds import FieldType
from handoff.contract.limits import (
    ENUM_VALUE_MAX,
    ENUM_VALUES,
    FIELD_LABEL_MAX,
    FIELD_TEXT_MAX,
)

NAME_PATTERN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""A field name; match the whole of it."""


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise problem(f"must be a string, not {type_name(value)}")
    name = value.strip()
    if NAME_PATTERN.fullmatch(name) is None:
        raise problem(
            "must have 1 to 64 characters, only A-Z, a-z, 0-9 and underscore, and must not begin "
            "with a digit"
        )
    return name


class ReturnField(BaseModel):
    """A typed field. A null optional attribute is an absent one; texts are cleaned and trimmed.

    Names are compared ignoring case; the list that holds the fields checks that they differ.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, BeforeValidator(_name)]
    type: Annotated[FieldType, BeforeValidator(choice(FieldType))]
    enum_values: tuple[str, ...] = Field(default=(), validate_default=True)
    label: Annotated[str, BeforeValidator(text(most=FIELD_LABEL_MAX))] = ""
    description: Annotated[str, BeforeValidator(text(most=FIELD_TEXT_MAX))] = ""
    required: Annotated[bool, BeforeValidator(flag)] = False
    placeholder: Annotated[str, BeforeValidator(text(most=FIELD_TEXT_MAX))] = ""

    @model_validator(mode="wrap")
    @classmethod
    def _closed(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return closed(cls, data, handler, owner="an attribute of a field")

    @field_validator("enum_values", mode="before")
    @classmethod
    def _choices(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise problem(f"must be a list of strings, not {type_name(value)}")
        kind = info.data.get("type")
        least, most = ENUM_VALUES
        if kind is not FieldType.ENUM:
            # Strict-schema frameworks send an empty list where others send nothing.
            if value and kind is not None:
                raise problem("belongs to the type enum only: leave it out or make the type enum")
            return ()
        if not least <= len(value) <= most:
            raise problem(f"must list {least} to {most} choices for an enum; it has {len(value)}")
        return _choices_of(value)

    @property
    def title(self) -> str:
        """What a person reads: the label, else the name in words."""
        return self.label or self.name.replace("_", " ").strip().capitalize() or self.name


def _choices_of(items: Sequence[object]) -> tuple[str, ...]:
    check = text(least=1, most=ENUM_VALUE_MAX)
    found: list[tuple[Place, str]] = []
    choices: list[str] = []
    for place, item in enumerate(items):
        try:
            cleaned = check(item)
        except PydanticCustomError as error:
            found.append(((place,), error.message()))
            continue
        if cleaned in choices:
            found.append(((place,), "must not repeat an earlier choice"))
        choices.append(cleaned)
    if found:
        raise all_of(found)
    return tuple(choices)
