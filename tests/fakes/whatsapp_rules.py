"""What Meta takes as a message, and the error that it answers otherwise (channels.md 6.1, 6.3).

Each rule returns the text as the person sees it, and where its button leads.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tests.fakes.providers import FakeAnswer

_VARIABLE: Final = re.compile(r"\{\{(\d+)\}\}")
_STOPPED: Final = {"PAUSED": 132015, "DISABLED": 132016}
_STATUS_OF: Final = {0: 401, 190: 401, 132001: 404, 80007: 429, 130429: 429, 131000: 500}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Template:
    name: str
    language: str
    body: str
    button_url: str = ""
    """With `{{1}}` at its end; "" for a template without a button."""
    status: str = "APPROVED"

    def as_json(self) -> dict[str, Any]:
        buttons = {
            "type": "BUTTONS",
            "buttons": [{"type": "URL", "text": "Fill return form", "url": self.button_url}],
        }
        return {
            "name": self.name,
            "parameter_format": "POSITIONAL",
            "components": [
                {"type": "BODY", "text": self.body},
                *([buttons] if self.button_url else []),
            ],
            "language": self.language,
            "status": self.status,
            "category": "UTILITY",
            "id": "594425479261596",
        }


class MetaError(Exception):
    def __init__(self, code: int, details: str = "", *, subcode: int = 0) -> None:
        super().__init__(code)
        self.code, self.details, self.subcode = code, details, subcode

    def answer(self) -> FakeAnswer:
        error = {
            "message": f"(#{self.code}) {self.details}",
            "type": "OAuthException",
            "code": self.code,
            "error_data": {"messaging_product": "whatsapp", "details": self.details},
            **({"error_subcode": self.subcode} if self.subcode else {}),
            "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
        }
        return FakeAnswer(_STATUS_OF.get(self.code, 400), json={"error": error})


def text(part: Mapping[str, Any]) -> tuple[str, str]:
    return _long("text.body", part.get("body"), 4096), ""


def interactive(part: Mapping[str, Any]) -> tuple[str, str]:
    if part.get("type") != "cta_url":
        raise MetaError(131009, "interactive.type is not valid.")
    text = _long("body", (part.get("body") or {}).get("text"), 1024)
    for place in ("header", "footer"):
        if place in part:
            _long(place, part[place].get("text"), 60)
    action = part.get("action") or {}
    parameters = action.get("parameters") or {}
    if action.get("name") != "cta_url":
        raise MetaError(131009, "action.name is not valid.")
    _long("display_text", parameters.get("display_text"), 20)
    url = str(parameters.get("url", ""))
    if not re.match(r"https?://[^/\s]+", url):
        raise MetaError(131009, f"{url} is not a valid URL.")
    return text, url


def template(part: Mapping[str, Any], known: Iterable[Template]) -> tuple[str, str]:
    language = (part.get("language") or {}).get("code")
    named = (row for row in known if row.name == part.get("name"))
    found = next((row for row in named if row.language == language), None)
    if found is None or found.status not in ("APPROVED", *_STOPPED):
        raise MetaError(132001, f"template name does not exist in {language}")
    if found.status in _STOPPED:
        raise MetaError(_STOPPED[found.status], "Template is paused or disabled")
    given: dict[str, list[str]] = {}
    for component in part.get("components", ()):
        given[component["type"]] = [_value_of(value) for value in component["parameters"]]
    text = _filled(found.body, given.get("body", []))
    if _units(text) > 1024:
        raise MetaError(132005, "Translated text too long")
    return text, _filled(found.button_url, given.get("button", []))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _long(name: str, text: object, most: int) -> str:
    if not isinstance(text, str) or not text.strip():
        raise MetaError(131008, f"The parameter {name} is required.")
    if _units(text) > most:
        raise MetaError(100, f"Param {name} must be at most {most} characters long.")
    return text


def _value_of(value: Mapping[str, Any]) -> str:
    text = value.get("text")
    if value.get("type") != "text" or not isinstance(text, str) or not text:
        raise MetaError(131008, "Parameter of type text is missing text value")
    if re.search(r"[\n\t]| {5}", text):
        raise MetaError(
            132018,
            "Param text cannot have new-line/tab characters or more than 4 consecutive spaces",
        )
    return text


def _filled(pattern: str, values: Sequence[str]) -> str:
    """The pattern with its numbered variables, all of which have to be there and no more."""
    expected = len(set(_VARIABLE.findall(pattern)))
    if expected != len(values):
        raise MetaError(132000, f"number of localizable_params ({len(values)}) is not {expected}")
    return _VARIABLE.sub(lambda found: values[int(found[1]) - 1], pattern)
