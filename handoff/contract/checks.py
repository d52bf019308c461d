"""Checks that contract models share: each raises one sentence fragment that a model can act on.

A fragment continues the name of the argument: `must have 20 to 2000 characters; it has 19`.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ModelWrapValidatorHandler, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from handoff.contract.text import TextProblem, clean, one_line

type Place = tuple[int | str, ...]
"""Where a problem is, from the validator that raises it: `(2, "name")`."""

_KEY_SHOWN = 64


def problem(fragment: str) -> PydanticCustomError:
    """The error to raise inside a validator; its message is exactly the fragment."""
    return PydanticCustomError("problem", "{fragment}", {"fragment": fragment})


def all_of(found: Iterable[tuple[Place, str]]) -> ValidationError:
    """One error for several problems: pydantic puts the place of the validator before each."""
    return ValidationError.from_exception_data(
        "contract",
        [InitErrorDetails(type=problem(said), loc=place, input=None) for place, said in found],
    )


def problems_of(error: ValidationError) -> list[tuple[Place, str]]:
    """What a validation error says, with pydantic's own words replaced by ours."""
    return [
        (item["loc"], "is required" if item["type"] == "missing" else item["msg"])
        for item in error.errors(include_url=False, include_input=False)
    ]


def shown(key: object) -> str:
    """A name that somebody else chose, safe and short enough to stand in a sentence."""
    return one_line(str(key))[:_KEY_SHOWN] or "(blank)"


def closed[M: BaseModel](
    model: type[M], data: Any, handler: ModelWrapValidatorHandler[M], *, owner: str
) -> M:
    """Validate an object with a closed set of names; null ones are absent, unknown ones refused.

    Unknown names never reach pydantic, which stops at the first one that is not UTF-8.
    """
    if isinstance(data, model):
        return handler(data)
    if not isinstance(data, Mapping):
        raise problem(f"must be an object, not {type_name(data)}")
    known = model.model_fields
    found: list[tuple[Place, str]] = []
    try:
        result = handler({k: data[k] for k in known if data.get(k) is not None})
    except ValidationError as error:
        found = problems_of(error)
    unknown = [key for key in data if key not in known]
    found += [((shown(key),), f"is not {owner}; known are {', '.join(known)}") for key in unknown]
    if found:
        raise all_of(found)
    return result


def type_name(value: object) -> str:
    """What a JSON reader calls it, with its article: `a number`, `null`."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (type(None), "null"),
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a string"),
        (Mapping, "an object"),
        ((list, tuple), "a list"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "something else")


def text(*, least: int = 0, most: int) -> Callable[[object], str]:
    """A validator for a cleaned text of `least` to `most` characters, counted after trimming."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise problem(f"must be a string, not {type_name(value)}")
        try:
            cleaned = clean(value)
        except TextProblem as error:
            raise problem(f"must be plain text; it {error.reason}") from error
        if least <= len(cleaned) <= most:
            return cleaned
        bounds = f"{least} to {most}" if least else f"at most {most}"
        raise problem(f"must have {bounds} characters; it has {len(cleaned)}")

    return check


def flag(value: object) -> bool:
    """A validator for true or false and nothing that merely looks like it."""
    if isinstance(value, bool):
        return value
    raise problem(f"must be true or false, not {type_name(value)}")


def choice[E: StrEnum](members: type[E]) -> Callable[[object], E]:
    """A validator for one member of a closed list."""

    def check(value: object) -> E:
        cleaned = value.strip() if isinstance(value, str) else None
        for member in members:
            if cleaned == member.value:
                return member
        raise problem(f"must be one of {', '.join(members)}")

    return check
