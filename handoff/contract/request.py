"""The arguments of `handoff_request`, checked again whatever a framework enforced."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from handoff.contract.checks import (
    Place,
    all_of,
    choice,
    closed,
    flag,
    problem,
    problems_of,
    shown,
    text,
    type_name,
)
from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Urgency
from handoff.contract.limits import EXPECTED_ACTION, EXTRA_CONTEXT_BYTES, FIELDS_MAX, SUMMARY

_ID_MAX: Final = 2**63 - 1
_EMAIL_MAX: Final = 254
_EMAIL: Final = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?=.{4,253}\Z)(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_](?:[\w-]{0,61}[^\W_])"
)
"""One plain address (RFC 5321 dot-string, no quoting, no display name); the host may be IDN."""

_PROBLEMS_MAX: Final = 100
_TEXT: Final = text(most=EXTRA_CONTEXT_BYTES)


@dataclass(frozen=True)
class Problem:
    """What is wrong with one argument: `summary`, `expected_return.2.name`."""

    field: str
    problem: str
    """Continues the name: `must have 20 to 2000 characters; it has 19`."""

    @property
    def sentence(self) -> str:
        return f"{self.field} {self.problem}."


class ArgumentProblems(ValueError):
    """Everything that is wrong with a call at once; the message is all the sentences."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(" ".join(item.sentence for item in problems))
        self.problems = problems


def _channel_id(value: object) -> int:
    # JSON Schema counts 12.0 as an integer, and some callers send every number as a float.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise problem(f"must be a whole number, not {_not_whole(value)}")
    if not 1 <= value <= _ID_MAX:
        raise problem("must be the id of one of your channels")
    return value


def _not_whole(value: object) -> str:
    return "a fraction" if isinstance(value, float) else type_name(value)


def _email(value: object) -> str:
    address = text(most=_EMAIL_MAX)(value)
    if address and _EMAIL.fullmatch(address) is None:
        raise problem("must be one plain email address, such as ana@example.com")
    return address


def _context(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping | list | tuple):
        raise problem(f"must be an object of strings, not {type_name(value)}")
    found: list[tuple[Place, str]] = []
    context: dict[str, str] = {}
    for place, item in _entries(value):
        try:
            key, said = _pair(item)
            if said is None:
                continue
            name, text_said = _key(key), _TEXT(said)
        except PydanticCustomError as error:
            found.append(((place,), error.message()))
            continue
        if name in context:
            found.append(((place,), "has the same key as an earlier one"))
        context[name] = text_said
    size = len(json.dumps(context, ensure_ascii=False, separators=(",", ":")).encode())
    if size > EXTRA_CONTEXT_BYTES:
        found.append(((), f"must have at most {EXTRA_CONTEXT_BYTES} bytes as JSON; it has {size}"))
    if found:
        raise all_of(found)
    return tuple(context.items())


def _entries(value: Mapping[Any, object] | Sequence[object]) -> list[tuple[int | str, object]]:
    if isinstance(value, Mapping):
        return [(shown(key), (key, item)) for key, item in value.items()]
    return list(enumerate(value))


def _pair(item: object) -> tuple[object, object]:
    if isinstance(item, Mapping) and "key" in item and set(item) <= {"key", "value"}:
        return item["key"], item.get("value")
    if isinstance(item, list | tuple) and len(item) == 2:
        return item[0], item[1]
    raise problem("must be an object with key and value")


def _key(key: object) -> str:
    try:
        return text(least=1, most=EXTRA_CONTEXT_BYTES)(key)
    except PydanticCustomError as error:
        raise problem(f"has a key that {error.message()}") from error


def _fields(value: object) -> tuple[ReturnField, ...]:
    if not isinstance(value, list | tuple):
        raise problem(f"must be a list of fields, not {type_name(value)}")
    found: list[tuple[Place, str]] = []
    if len(value) > FIELDS_MAX:
        found.append(((), f"must have at most {FIELDS_MAX} fields; it has {len(value)}"))
    fields: list[ReturnField] = []
    names: dict[str, int] = {}
    for place, item in enumerate(value[:FIELDS_MAX]):
        try:
            fields.append(ReturnField.model_validate(item))
        except ValidationError as error:
            found += [((place, *inner), said) for inner, said in problems_of(error)]
        name = _name_of(item)
        if name and (first := names.setdefault(name, place)) != place:
            found.append(
                ((place, "name"), f"is the name of field {first} too; names differ ignoring case")
            )
    if found:
        raise all_of(found)
    return tuple(fields)


def _name_of(item: object) -> str:
    name = item.get("name") if isinstance(item, Mapping) else getattr(item, "name", "")
    return name.strip().lower() if isinstance(name, str) else ""


class HandoffRequest(BaseModel):
    """A checked request: texts cleaned and trimmed, nulls absent, nothing unknown in it.

    `contact_back_email` is empty when the agent gave none. Whether the channel exists, is the
    agent's and is available is for the action to say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel_id: Annotated[int, BeforeValidator(_channel_id)]
    summary: Annotated[str, BeforeValidator(text(least=SUMMARY[0], most=SUMMARY[1]))]
    expected_action: Annotated[
        str, BeforeValidator(text(least=EXPECTED_ACTION[0], most=EXPECTED_ACTION[1]))
    ]
    urgency: Annotated[Urgency, BeforeValidator(choice(Urgency))] = Urgency.NORMAL
    contact_back_email: Annotated[str, BeforeValidator(_email)] = ""
    include_transcript: Annotated[bool, BeforeValidator(flag)] = True
    extra_context: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_context)] = ()
    expected_return: Annotated[tuple[ReturnField, ...], BeforeValidator(_fields)] = ()

    @model_validator(mode="wrap")
    @classmethod
    def _closed(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return closed(cls, data, handler, owner="an argument of this tool")


def parse_request(args: Mapping[str, object]) -> HandoffRequest:
    """The request of a tool call; raises ArgumentProblems with every problem at once."""
    try:
        return HandoffRequest.model_validate(args)
    except ValidationError as error:
        raise argument_problems(error) from None


def argument_problems(error: ValidationError) -> ArgumentProblems:
    """Everything that a tool's model found; over 100 are cut there, with how many there are."""
    found = problems_of(error)
    problems = [
        Problem(".".join(map(str, place)) or "arguments", said)
        for place, said in found[:_PROBLEMS_MAX]
    ]
    if len(found) > _PROBLEMS_MAX:
        problems.append(Problem("arguments", f"have {len(found)} problems in all"))
    return ArgumentProblems(tuple(problems))


def canonical(args: Mapping[str, object]) -> str:
    """Arguments as one JSON text to hash: names sorted, null members absent, ASCII, compact."""
    return json.dumps(_without_nulls(args), sort_keys=True, separators=(",", ":"))


def _without_nulls(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list | tuple) else value
