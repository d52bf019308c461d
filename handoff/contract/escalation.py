"""The argument of `ask_a_person`."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from handoff.contract.checks import closed, text
from handoff.contract.limits import QUESTION
from handoff.contract.request import argument_problems


class Escalation(BaseModel):
    """A checked call: the question is cleaned and trimmed, and nothing unknown is in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[str, BeforeValidator(text(least=QUESTION[0], most=QUESTION[1]))]

    @model_validator(mode="wrap")
    @classmethod
    def _closed(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return closed(cls, data, handler, owner="an argument of this tool")


def parse_escalation(args: Mapping[str, object]) -> Escalation:
    """The arguments of a call; raises ArgumentProblems with every problem at once."""
    try:
        return Escalation.model_validate(args)
    except ValidationError as error:
        raise argument_problems(error) from None
