"""The audit trail in the admin: filters, search and export; nothing there can be changed."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import URLPattern, path
from django.utils.timezone import now

from audit.export import lines
from audit.models import Event
from audit.readonly import ReadOnlyAdmin


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    actions = None
    list_display = ("at", "action", "actor", "agent", "channel", "reason", "failure", "session")
    list_filter = ("at", "action", "agent")
    search_fields = ("=session", "=conversation", "=attempt", "=token", "=actor", "action")
    search_help_text = (
        "An id such as hs_…, c_… or he_…, a token’s public id, an actor or an action."
    )

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(self.export)
        return [path("export/", export, name="audit_event_export"), *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """The filtered list as CSV, every page of it, the newest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        events: Any = self.get_changelist_instance(request).get_queryset(request)
        return StreamingHttpResponse(
            lines(events),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="audit-{now():%Y-%m-%d}.csv"',
                "Cache-Control": "no-store",
            },
        )
