"""The shapes of what every channel has besides its settings, checked by name and all at once."""

from typing import Annotated, Any

import pydantic
from django.core.exceptions import ValidationError

from handoff.contract.wording import problems_of


class ChannelOptions(pydantic.BaseModel):
    """Shapes only: ranges and lists of choices are the model's own checks."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)

    estimated_response: str = ""
    idle_minutes: int = 0
    link_hours: int = 0
    contact_limit_per_hour: int = 0
    redispatch: str = ""
    language: str = ""
    timezone: str = ""
    share_values_with_subscriber: bool = True
    claim_minutes: int = 0
    paused_until: Annotated[pydantic.AwareDatetime, pydantic.Strict(strict=False)] | None = None
    enabled: bool = True


OPTIONS = tuple(ChannelOptions.model_fields)


def checked_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options that are given, typed; raises ValidationError naming every bad one."""
    try:
        typed = ChannelOptions.model_validate(given)
    except pydantic.ValidationError as error:
        raise ValidationError(
            [f"{item['field']}: {item['problem']}" for item in problems_of(error)]
        ) from error
    return typed.model_dump(exclude_unset=True)
