"""Renders each page of the return form; the views decide which."""

import dataclasses
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.translation import gettext

from handoff.contract.limits import MESSAGE_MAX
from handoff.models import SubmissionKind
from handoff.selectors.returnpages import ReturnPage, Sent, Stage
from returnforms import words
from returnforms.controls import PREFIX, controls
from returnforms.form import Checked, Posted, answered_count


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """Where the form stands: behind a link, or signed in as an owner."""

    path: str
    """The cookie's path: the address without its last slash."""
    signed_in: bool = False
    known_name: str = ""


def form(
    request: HttpRequest,
    page: ReturnPage,
    posted: Posted,
    *,
    place: Place,
    checked: Checked | None = None,
) -> HttpResponse:
    """The form, empty (`checked` is None) or with what is wrong with it and all that was typed."""
    untouched = checked is not None and checked.untouched
    wrong = checked is not None and checked.has_problems and not untouched
    problems = words.field_problems(page.fields, checked) if checked and wrong else {}
    note_problem = words.note_problem(checked) if checked and wrong else ""
    name_problem = words.name_problem(checked) if checked and wrong else ""
    drawn = controls(page.fields, entries=posted.entries, problems=problems)
    context: dict[str, Any] = {
        "page": page,
        "place": place,
        "posted": posted,
        "controls": drawn,
        "has_required": any(control.required for control in drawn),
        "answered": answered_count(page.fields, posted.entries),
        "untouched": untouched,
        "wrong": wrong,
        "note_limit": MESSAGE_MAX,
        "note_limit_words": number_format(MESSAGE_MAX, force_grouping=True),
        "note_problem": note_problem,
        "name_problem": name_problem,
        "prefix": PREFIX,
        "closed_because": words.CLOSED.get(page.release) if page.release else None,
    }
    if checked is not None:
        named = {control.name.removeprefix(PREFIX): control for control in drawn}
        empty = untouched and {item.name for item in checked.returned.missing if item.required}
        context["told_missing"] = [
            control.title for name, control in named.items() if name in (empty or checked.missing)
        ]
        context["told_unusable"] = [
            control.title for name, control in named.items() if name in checked.invalid
        ]
    status = HTTPStatus.OK if checked is None else HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, "returnforms/form.html", context, status=status)


def received(request: HttpRequest, page: ReturnPage, sent: Sent) -> HttpResponse:
    """The confirmation, or for entries that came second: who was first, and the entries to copy."""
    if sent.kind == SubmissionKind.AMENDMENT:
        lines = [(line.title, line.text) for line in sent.lines if line.text]
        copy = copied(lines, note=sent.note, answered_by=sent.answered_by)
        context = {"page": page, "sent": sent, "kept": True, "copy": copy}
        return render(request, "returnforms/answered.html", context)
    return render(request, "returnforms/confirmation.html", {"page": page, "sent": sent})


def ended(request: HttpRequest, page: ReturnPage, *, posted: Posted | None = None) -> HttpResponse:
    """A genuine link whose form is gone: answered, expired, switched off or never begun.

    What was posted all the same is offered for copying.
    """
    template = {
        Stage.ANSWERED: "returnforms/answered.html",
        Stage.REVOKED: "returnforms/revoked.html",
        Stage.NOT_STARTED: "returnforms/not_started.html",
    }.get(page.stage, "returnforms/expired.html")
    copy = _posted(page, posted) if posted is not None else ""
    context = {"page": page, "copy": copy, "kept": False}
    return render(request, template, context, status=HTTPStatus.GONE)


def _posted(page: ReturnPage, posted: Posted) -> str:
    titles = {field.name: field.title for field in page.fields}
    lines = [(titles.get(name, name), text) for name, text in posted.entries.items() if text]
    return copied(lines, note=posted.note, answered_by=posted.answered_by)


def copied(lines: list[tuple[str, str]], *, note: str, answered_by: str) -> str:
    """What was typed, as one text: a line for each pair of title and entry."""
    extra = ((gettext("Note"), note), (gettext("Name"), answered_by))
    told = [*lines, *(line for line in extra if line[1])]
    return "\n".join(f"{title}: {text}" for title, text in told)


def unknown(request: HttpRequest) -> HttpResponse:
    """One neutral page for whatever is not a link of ours."""
    return render(request, "returnforms/unknown.html", status=HTTPStatus.NOT_FOUND)


def too_fast(
    request: HttpRequest,
    seconds: int,
    *,
    page: ReturnPage | None = None,
    posted: Posted | None = None,
    place: Place | None = None,
) -> HttpResponse:
    """Nothing was done; what was posted is offered for copying, and for sending again."""
    context: dict[str, Any] = {"seconds": seconds, "place": place, "copy": ""}
    if page is not None and posted is not None:
        context |= {"copy": _posted(page, posted), "posted": posted}
        context["entries"] = [(PREFIX + name, text) for name, text in posted.entries.items()]
    status = HTTPStatus.TOO_MANY_REQUESTS
    response = render(request, "returnforms/too_fast.html", context, status=status)
    response.headers["Retry-After"] = str(seconds)
    return response


def unreadable(request: HttpRequest) -> HttpResponse:
    """A body over the limits, or none that a form can send."""
    return render(request, "returnforms/unreadable.html", status=HTTPStatus.BAD_REQUEST)
