"""Reads request bodies and queries into typed values, with every problem at once."""

from typing import Any

import pydantic
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from handoff.contract import jsontext, limits
from handoff.contract.wording import problems_of
from handoff.errors import Invalid, Malformed, TooLarge


def check_size(request: Request) -> None:
    """Raises TooLarge before anything else is looked at."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.CALL_BYTES:
        raise TooLarge
    if len(request._request.body) > limits.CALL_BYTES:
        raise TooLarge


def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object; raises Malformed."""
    try:
        value = jsontext.loads(request._request.body)
    except jsontext.JSONProblem as problem:
        raise Malformed("The call is not readable JSON.") from problem
    if not isinstance(value, dict):
        raise Malformed("The call is not readable JSON.")
    return value


def parsed[T: pydantic.BaseModel](
    model: type[T], value: dict[str, Any], *, what: str = "body"
) -> T:
    """A typed body or query; raises Invalid with all problems."""
    try:
        return model.model_validate(value)
    except pydantic.ValidationError as error:
        problems = problems_of(error)
        listed = "; ".join(f"{item['field']} {item['problem']}" for item in problems)
        raise Invalid(f"The {what} can't be used: {listed}.", details={"problems": problems}) from (
            error
        )


class PageQuery(pydantic.BaseModel):
    """`?after=&limit=` of every page."""

    model_config = pydantic.ConfigDict(frozen=True, extra="ignore")

    after: int = pydantic.Field(default=0, ge=0, le=limits.EVENT_ID_MAX)
    limit: int = pydantic.Field(default=limits.PAGE_DEFAULT, ge=1, le=limits.PAGE_MAX)


def page_query(request: Request) -> PageQuery:
    return parsed(PageQuery, dict(request.query_params.items()), what="query")


class OneFormat(BaseContentNegotiation):
    """Answers are JSON whatever a client accepts; a refusal is never hidden behind a 406."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
