"""The sentences of the return form that depend on data; the others stand in its templates."""

from collections.abc import Sequence
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType, ReleaseKind
from handoff.contract.limits import MESSAGE_MAX, MULTILINE_MAX, NAME_MAX, URL_MAX, VALUE_MAX
from handoff.contract.scalars import Reason
from handoff.contract.text import visible
from returnforms.form import Checked

_ASKS: Final[dict[FieldType, Promise]] = {
    FieldType.STRING: _("Fill in “%(title)s”."),
    FieldType.MULTILINE: _("Fill in “%(title)s”."),
    FieldType.NUMBER: _("Give a number for “%(title)s”."),
    FieldType.BOOLEAN: _("Choose yes or no for “%(title)s”."),
    FieldType.ENUM: _("Choose one for “%(title)s”."),
    FieldType.DATE: _("Give a date for “%(title)s”."),
    FieldType.URL: _("Give a web address for “%(title)s”."),
}
_CORRECTS: Final[dict[Reason, Promise]] = {
    Reason.NOT_A_NUMBER: _(
        "“%(title)s” must be a number that can be read in only one way. Write it like 1234 or "
        "1234.5."
    ),
    Reason.NOT_A_BOOLEAN: _("Choose yes or no for “%(title)s”."),
    Reason.NOT_A_CHOICE: _("Choose one of the given answers for “%(title)s”."),
    Reason.NOT_A_DATE: _(
        "“%(title)s” must be a date. Write it as year-month-day, such as 2026-06-10."
    ),
    Reason.NOT_A_URL: _(
        "“%(title)s” must be a web address, such as https://example.com/page, without spaces."
    ),
}
_LIMITS: Final[dict[FieldType, int]] = {
    FieldType.STRING: VALUE_MAX,
    FieldType.MULTILINE: MULTILINE_MAX,
    FieldType.URL: URL_MAX,
}

CLOSED: Final[dict[ReleaseKind, Promise]] = {
    ReleaseKind.IDLE_TIMEOUT: _("Nothing was heard for a while, so the request was closed."),
    ReleaseKind.CANCELLED: _("The request was withdrawn."),
    ReleaseKind.OWNER: _("A colleague closed the request without an answer."),
    ReleaseKind.SUBSCRIBER: _("The visitor asked to be back with the assistant."),
    ReleaseKind.UNDELIVERABLE: _("The message with this request could not be delivered."),
    ReleaseKind.LOST: _("The request was closed because nobody could be reached."),
    ReleaseKind.EXPIRED: _("The time for an answer ran out."),
}
"""Why a request ended without an answer; kinds that bring one are not here."""


def field_problems(fields: Sequence[ReturnField], checked: Checked) -> dict[str, str]:
    """Field name -> what is wrong with its entry, in schema order."""
    found = {}
    for field in fields:
        if field.name in checked.missing:
            found[field.name] = str(_ASKS[field.type]) % {"title": visible(field.title)}
        elif reason := checked.invalid.get(field.name):
            found[field.name] = _correction(field, Reason(reason))
    return found


def _correction(field: ReturnField, reason: Reason) -> str:
    title = visible(field.title)
    if reason is not Reason.TOO_LONG:
        return str(_CORRECTS[reason]) % {"title": title}
    if field.type is FieldType.NUMBER:
        return gettext("“%(title)s” has too many digits; 15 are the most.") % {"title": title}
    most = _LIMITS[field.type]
    sentence = gettext("“%(title)s” is too long; %(most)d characters are the most.")
    return sentence % {"title": title, "most": most}


def note_problem(checked: Checked) -> str:
    if not checked.note_too_long:
        return ""
    return gettext("The note is too long; %(most)d characters are the most.") % {
        "most": MESSAGE_MAX
    }


def name_problem(checked: Checked) -> str:
    if not checked.name_too_long:
        return ""
    return gettext("The name is too long; %(most)d characters are the most.") % {"most": NAME_MAX}
