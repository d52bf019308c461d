"""The OpenAPI document as a page: read it without a script, an asset of others or an account."""

import dataclasses
import functools
import http
import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from drf_spectacular.generators import SchemaGenerator

from handoff.api.openapi_details import PROBLEM
from handoff.api.reference_shapes import Field, Words, fields, kind, limits, name_of, prose

type Node = Mapping[str, Any]

_ASIDE: Final = "/api/agent-tools/"
"""What few need comes last in its group."""
_SHOWN: Final = {"after": "0", "seconds": "25", "name": "photo.jpg"}
"""Query parameters that a call on the page shows, because it is about them."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body:
    media_type: str
    kind: Words
    fields: tuple[Field, ...]
    examples: tuple[str, ...]
    shared: tuple[str, ...]
    """Names of refusals that the page shows once."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    phrase: str
    said: Words
    headers: tuple[tuple[str, Words], ...]
    bodies: tuple[Body, ...]

    @property
    def is_good(self) -> bool:
        return self.status < 400


@dataclasses.dataclass(frozen=True, kw_only=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    said: Words
    needs_token: bool
    parameters: tuple[Field, ...]
    request: Body | None
    answers: tuple[Answer, ...]
    curl: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Group:
    name: str
    said: Words
    operations: tuple[Operation, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shape:
    """A schema that others point at."""

    name: str
    said: Words
    kind: Words
    """What it is when it is no object."""
    fields: tuple[Field, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal:
    name: str
    status: int
    phrase: str
    example: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reference:
    title: str
    version: str
    groups: tuple[Group, ...]
    refusals: tuple[Refusal, ...]
    shapes: tuple[Shape, ...]


@functools.cache
def document() -> dict[str, Any]:
    """The OpenAPI document. It is the same for everybody, and takes a while to make."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@functools.cache
def document_text() -> bytes:
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()


@functools.cache
def reference() -> Reference:
    return read(document())


def read(document: Node) -> Reference:
    """What the page shows of a document."""
    reader = _Reader(document)
    return Reference(
        title=document["info"]["title"],
        version=document["info"]["version"],
        groups=tuple(reader.groups()),
        refusals=tuple(reader.refusals()),
        shapes=tuple(
            Shape(
                name=name,
                said=prose(schema.get("description", "")),
                kind=() if "properties" in schema else kind(schema),
                fields=fields(schema),
            )
            for name, schema in sorted(document["components"]["schemas"].items())
        ),
    )


class _Reader:
    def __init__(self, document: Node) -> None:
        self._document = document
        self._schemas = document["components"]["schemas"]
        self._examples = document["components"]["examples"]

    def groups(self) -> Iterator[Group]:
        paths = sorted(self._document["paths"], key=lambda path: path.startswith(_ASIDE))
        for tag in self._document["tags"]:
            found = tuple(
                self._operation(method, path, operation)
                for path in paths
                for method, operation in self._document["paths"][path].items()
                if operation["tags"][0] == tag["name"]
            )
            yield Group(name=tag["name"], said=prose(tag["description"]), operations=found)

    def refusals(self) -> Iterator[Refusal]:
        for name, example in self._examples.items():
            refused = self._examples.get(name.replace("refusal", "problem", 1))
            if name.startswith("refusal") and refused is not None:
                status = refused["value"]["status"]
                yield Refusal(
                    name=name,
                    status=status,
                    phrase=http.HTTPStatus(status).phrase,
                    example=_pretty(example["value"]),
                )

    def _operation(self, method: str, path: str, operation: Node) -> Operation:
        parameters = operation.get("parameters", [])
        return Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=path,
            summary=operation["summary"],
            said=prose(operation.get("description", "")),
            needs_token=bool(operation["security"]),
            parameters=tuple(map(_parameter, parameters)),
            request=next(iter(self._bodies(operation.get("requestBody", {}))), None),
            answers=tuple(
                self._answer(int(status), answer)
                for status, answer in sorted(operation["responses"].items())
            ),
            curl=self._curl(method.upper(), path, operation),
        )

    def _answer(self, status: int, answer: Node) -> Answer:
        return Answer(
            status=status,
            phrase=http.HTTPStatus(status).phrase,
            said=prose(answer["description"]),
            headers=tuple(
                (name, prose(header.get("description", "")))
                for name, header in answer.get("headers", {}).items()
            ),
            bodies=tuple(body for body in self._bodies(answer) if body.media_type != PROBLEM),
        )

    def _bodies(self, described: Node) -> Iterator[Body]:
        for media_type, content in described.get("content", {}).items():
            schema = content["schema"]
            named = content.get("examples", {}).values()
            yield Body(
                media_type=media_type,
                kind=kind(schema),
                fields=fields(self._schemas.get(name_of(schema), schema)),
                examples=tuple(_pretty(one["value"]) for one in named if "value" in one),
                shared=tuple(one["$ref"].rpartition("/")[2] for one in named if "$ref" in one),
            )

    def _curl(self, method: str, path: str, operation: Node) -> str:
        """The call as a command for a POSIX shell."""
        query = {}
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                shown = quote(str(parameter.get("example", "…")))
                path = path.replace(f"{{{parameter['name']}}}", shown)
            elif parameter["in"] == "query" and parameter["name"] in _SHOWN:
                query[parameter["name"]] = _SHOWN[parameter["name"]]
        asked = f"?{urlencode(query)}" if query else ""
        lines = [f'curl "$DESK_URL{path}{asked}"']
        if method not in ("GET", "POST") or (method == "POST" and "requestBody" not in operation):
            lines[0] += f" --request {method}"
        if operation["security"]:
            lines.append('--header "Authorization: Bearer $DESK_TOKEN"')
        for body in self._bodies(operation.get("requestBody", {})):
            if body.examples:
                lines.append(f"--data {shlex.quote(body.examples[0])}")
            else:
                lines += ["--header 'Content-Type: image/jpeg'", "--data-binary @photo.jpg"]
            break
        return " \\\n  ".join(lines)


def _parameter(parameter: Node) -> Field:
    schema = parameter["schema"]
    return Field(
        name=parameter["name"],
        kind=kind(schema),
        is_required=parameter.get("required", False),
        limits=limits(schema),
        said=prose(parameter.get("description", "")),
        place=parameter["in"],
    )


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
