"""Whether an answer is one that the OpenAPI document declares, in its shape."""

import functools
import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs


class Declared:
    """The document as a judge of answers."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def problem(self, template: str, method: str, *, status: int, kind: str, body: bytes) -> str:
        """What is wrong with an answer, in words; "" when it is declared."""
        operation = self._document["paths"][template].get(method.lower())
        if operation is None:
            shape = "ProblemDetails" if "problem" in kind else "Problem"
            refused = status in (401, 405, 413, 429)
            return self._shape_problem(shape, body) if refused else f"{method} gave {status}"
        response = operation["responses"].get(str(status))
        if response is None:
            return f"{status} is not declared: {body[:200]!r}"
        if kind not in response["content"]:
            return f"{kind} is not declared for {status}"
        schema = response["content"][kind]["schema"]
        return self._shape_problem(schema["$ref"].rpartition("/")[2], body)

    def _shape_problem(self, name: str, body: bytes) -> str:
        try:
            value = json.loads(body)
        except ValueError:
            return f"not JSON: {body[:200]!r}"
        found = next(iter(self._validator(name).iter_errors(value)), None)
        return "" if found is None else f"not a {name}: {found}"

    @functools.cache  # noqa: B019  (one judge a test)
    def _validator(self, name: str) -> jsonschema_rs.Validator:
        reference = {"$ref": f"#/components/schemas/{name}"}
        return jsonschema_rs.validator_for(
            {**reference, "components": self._document["components"]}
        )
