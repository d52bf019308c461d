"""What the Test button asks Meta: whether the number may send, and whether the template fits."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from handoff.contract.kinds import TransportErrorKind
from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.transports.base import TestReport
from handoff.transports.whatsapp_settings import WhatsAppSettings
from handoff.transports.whatsapp_text import body_values

_FIELDS: Final = (
    "display_phone_number,verified_name,quality_rating,code_verification_status,status,"
    "name_status,platform_type,throughput"
)
_CANNOT_SEND: Final = frozenset({"BANNED", "DELETED", "DISCONNECTED", "MIGRATED"})
_VARIABLE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_MENTIONED_MAX: Final = 100


class Ask(Protocol):
    """Asks Meta; raises TransportError for anything but a good answer."""

    def __call__(self, method: str, path: str, *, deadline: float) -> dict[str, Any]: ...


def check(chosen: WhatsAppSettings, ask: Ask, *, deadline: float) -> TestReport:
    """Look up the number, then the template, and say what each step found."""
    number = ask("GET", f"{chosen.phone_number_id}?fields={_FIELDS}", deadline=deadline)
    lines = list(_number_lines(number))
    works = number.get("status") not in _CANNOT_SEND
    if not works:
        lines.append("This number cannot send: connect it again in the WhatsApp Manager.")
    if not chosen.app_secret:
        lines.append("app_secret is empty: replies and delivery reports are refused.")
    if not chosen.template_name:
        lines.append(
            "No template is named: a person is asked only within 24 hours of their own words."
        )
    elif not chosen.waba_id:
        lines.append("waba_id is empty, so the template was not looked up.")
    else:
        problem = _looked_up(chosen, ask, deadline=deadline)
        works = works and not problem
        lines.append(
            problem
            or f"The template {chosen.template_name} is approved in "
            f"{chosen.template_language}, and its variables fit."
        )
    return TestReport(works=works, lines=tuple(lines))


def _number_lines(number: Mapping[str, Any]) -> Iterable[str]:
    name, shown = _word(number, "verified_name"), _word(number, "display_phone_number")
    yield f"The number is {shown or '?'}, shown as {name or '?'}."
    for key, words in (
        ("status", "Its status is"),
        ("quality_rating", "Its quality rating is"),
        ("code_verification_status", "Its verification is"),
        ("name_status", "Its name is"),
        ("platform_type", "Its platform is"),
    ):
        if value := _word(number, key):
            yield f"{words} {value}."
    throughput = number.get("throughput")
    if isinstance(throughput, Mapping) and (level := _word(throughput, "level")):
        yield f"Its throughput is {level}."


def _looked_up(chosen: WhatsAppSettings, ask: Ask, *, deadline: float) -> str:
    """The problem with the template, or with looking it up: messages may still go without it."""
    path = f"{chosen.waba_id}/message_templates?name={chosen.template_name}&limit=100"
    try:
        return _template_problem(ask("GET", path, deadline=deadline), chosen)
    except TransportError as error:
        if error.kind is TransportErrorKind.NOT_FOUND:
            return "There is no such WhatsApp Business Account for this token: correct waba_id."
        return f"The template could not be looked up. {error.hint or error.operator_detail}"


def _template_problem(listed: Mapping[str, Any], chosen: WhatsAppSettings) -> str:
    """What keeps the template from being sent; "" when nothing does."""
    rows = listed.get("data")
    # Meta's filter finds names that only contain the asked one
    named = [
        row
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, Mapping) and row.get("name") == chosen.template_name
    ]
    if not named:
        return (
            f"The account has no template {chosen.template_name}: submit it, or correct "
            "template_name and waba_id."
        )
    spoken = [row for row in named if row.get("language") == chosen.template_language]
    if not spoken:
        languages = ", ".join(sorted(filter(None, (_word(row, "language") for row in named))))
        return (
            f"The template is not there in {chosen.template_language}, but in {languages}: "
            "correct template_language."
        )
    status = _word(spoken[0], "status")
    if status != "APPROVED":
        return f"Meta has not approved the template; its status is {status or '?'}."
    return _unfitting(spoken[0], chosen)


def _unfitting(template: Mapping[str, Any], chosen: WhatsAppSettings) -> str:
    parts = template.get("components")
    parts = [part for part in parts if isinstance(part, Mapping)] if parts else []
    if not parts:
        return ""
    if template.get("parameter_format") == "NAMED":
        return "The template's variables have names: make it with numbers, {{1}} to {{3}}."
    wanted = body_values(with_link=not chosen.template_has_button)
    body = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "BODY")
    found = len(set(_VARIABLE.findall(body)))
    if found != wanted:
        return (
            f"The template's text has {found} variables; with template_has_button "
            f"{'on' if chosen.template_has_button else 'off'} it needs {wanted}."
        )
    if chosen.template_has_button and not _has_button(parts):
        return "The template's first button is no web address that ends with {{1}}."
    return ""


def _has_button(parts: list[Mapping[str, Any]]) -> bool:
    for part in parts:
        buttons = part.get("buttons")
        if part.get("type") == "BUTTONS" and isinstance(buttons, list) and buttons:
            first = buttons[0]
            return isinstance(first, Mapping) and str(first.get("url", "")).endswith("{{1}}")
    return False


def _word(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    return one_line(value)[:_MENTIONED_MAX] if isinstance(value, str) else ""
