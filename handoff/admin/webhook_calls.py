"""The log of what webhooks were called with and what came of it, read-only."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.readonly import ReadOnlyAdmin
from handoff.admin.desk import seen
from handoff.contract.text import visible
from handoff.contract.webhooks import Fate
from handoff.models import WebhookCall

FATES: Final = {
    Fate.SENDING: gettext_lazy("Under way"),
    Fate.DELIVERED: gettext_lazy("Delivered"),
    Fate.STATUS: gettext_lazy("Not taken"),
    Fate.REDIRECT: gettext_lazy("Sent elsewhere, which is not followed"),
    Fate.GONE: gettext_lazy("Gone for good"),
    Fate.NOT_CONNECTED: gettext_lazy("No connection"),
    Fate.NO_ANSWER: gettext_lazy("No whole answer in time"),
    Fate.NOT_ALLOWED: gettext_lazy("Not called: the address is out of bounds"),
    Fate.NOT_SIGNED: gettext_lazy("Not called: its secret cannot be read"),
    Fate.LOST: gettext_lazy("Not known: the desk was stopped meanwhile"),
}


def in_words(call: WebhookCall) -> str:
    """What became of a call, such as “No answer, after 10.0 s”."""
    words = str(FATES[Fate(call.fate)])
    if call.status:
        words = _("%(what)s (status %(status)d)") % {"what": words, "status": call.status}
    if call.seconds is None:
        return words
    return _("%(what)s, after %(seconds).1f s") % {"what": words, "seconds": call.seconds}


@admin.register(WebhookCall)
class WebhookCallAdmin(ReadOnlyAdmin):
    """What became of each call, for thirty days."""

    actions = None
    ordering = ("-pk",)
    list_display = ("at", "became", "heard", "type", "number", "webhook")
    list_filter = ("fate", "kind", "webhook__agent", "at")
    list_select_related = ("webhook",)
    search_fields = ("=message_id", "=webhook__public_id")
    seen_failure = seen("failure", gettext_lazy("what was heard"))
    fields = (
        "webhook", "kind", "type", "event", "message_id", "number", "became", "seen_failure", "at",
    )  # fmt: skip

    @admin.display(description=gettext_lazy("what became of it"), ordering="fate")
    def became(self, call: WebhookCall) -> str:
        return in_words(call)

    @admin.display(description=gettext_lazy("what was heard"))
    def heard(self, call: WebhookCall) -> str:
        return visible(call.failure[:80])

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookCall]:
        calls: QuerySet[WebhookCall] = super().get_queryset(request)
        return calls.select_related("event")

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        own = lookup == "webhook__id__exact"
        return own or super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]
