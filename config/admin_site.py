"""The admin as one site: its name, the order of its lists, the numbers on its first page.

It is here and not in `handoff.admin`, which registers with it while it is being made.
"""

import datetime as dt
from typing import Any, Final

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.timesince import timesince
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from handoff import login as signing_in
from handoff.selectors.dashboards import dashboard

APPS: Final = ("handoff", "audit", "auth")
MODELS: Final = (
    "Agent",
    "Channel",
    "Session",
    "Attempt",
    "ReturnLink",
    "Conversation",
    "Message",
    "Delivery",
    "Event",
    "Webhook",
    "WebhookCall",
)
"""The order in which people look for them; what is not named comes last."""


class DeskSite(AdminSite):
    site_header = "Handoff Desk"
    site_title = "Handoff Desk"
    index_title = gettext_lazy("The desk")
    site_url = "/inbox/"
    login_form = signing_in.AdminLoginForm

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        apps = super().get_app_list(request, app_label)
        for app in apps:
            app["models"].sort(key=lambda model: _place(MODELS, model["object_name"]))
        return sorted(apps, key=lambda app: _place(APPS, app["app_label"]))

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().login(request, extra_context)
        context = getattr(response, "context_data", None) or {}
        return signing_in.too_fast(response, context.get("form"))

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        context = dict(extra_context or {})
        if request.user.has_perm("handoff.view_session"):
            numbers = dashboard()
            context |= {
                "dashboard": numbers,
                "median_answer": in_words(numbers.median_answer),
                "links_to_channels": request.user.has_perm("handoff.view_channel"),
                "links_to_webhooks": request.user.has_perm("handoff.view_webhook"),
            }
        return super().index(request, context)


def _place(order: tuple[str, ...], name: str) -> int:
    return order.index(name) if name in order else len(order)


def in_words(span: dt.timedelta | None) -> str:
    """Such as “2 hours, 5 minutes”; seconds under a minute; a dash for None."""
    if span is None:
        return "–"
    if span < dt.timedelta(minutes=1):
        return _("%(seconds)d s") % {"seconds": round(span.total_seconds())}
    moment = now()
    return timesince(moment - span, moment)
