"""The arguments of `handoff_release` and `handoff_reply`, checked all at once."""

from collections.abc import Mapping
from typing import Annotated, Any

import pydantic

from handoff.contract import limits
from handoff.contract.kinds import Outcome
from handoff.contract.turns import Clean, FileIds, Said

_SESSION = Annotated[Said, pydantic.Field(max_length=40)]


def _by_name(value: object) -> object:
    pairs = value if isinstance(value, list) else ()
    if pairs and all(isinstance(pair, dict) and set(pair) == {"key", "value"} for pair in pairs):
        return {str(pair["key"]): pair["value"] for pair in pairs}
    return {} if value == [] else value


class _Arguments(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)

    handoff_session_id: _SESSION


class ReleaseArguments(_Arguments):
    outcome: Annotated[Outcome, pydantic.Strict(strict=False)]
    message: Annotated[Clean, pydantic.Field(max_length=limits.MESSAGE_MAX)] | None = None
    return_values: Annotated[dict[str, Any], pydantic.BeforeValidator(_by_name)] | None = None
    """Cleaned as a form is: whatever it holds, nothing in it blocks the release. Also taken as a
    list of `{key, value}`, which is what strict schemas make of it.
    """


class ReplyArguments(_Arguments):
    text: Annotated[Said, pydantic.Field(max_length=limits.TURN_TEXT_MAX)]
    files: FileIds = []


def parse[A: _Arguments](model: type[A], args: Mapping[str, Any]) -> A:
    """Raises pydantic.ValidationError with every problem. A null optional argument is absent."""
    return model.model_validate({key: value for key, value in args.items() if value is not None})
