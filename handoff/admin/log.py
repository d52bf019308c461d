"""The event log and the outbox, read-only."""

from django.contrib import admin

from audit.readonly import ReadOnlyAdmin
from handoff.models import Delivery, Event


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    actions = None
    ordering = ("-pk",)
    list_display = ("at", "agent", "number", "type", "session", "conversation")
    list_filter = ("agent", "type", "at")
    list_select_related = ("agent", "conversation", "session")
    search_fields = ("=session__public_id", "=conversation__public_id")
    fields = ("agent", "number", "type", "conversation", "conversation_number", "session",
              "message", "at")  # fmt: skip


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    actions = None
    ordering = ("-pk",)
    list_display = ("created_at", "kind", "status", "attempts", "next_attempt_at", "failure_kind",
                    "session")  # fmt: skip
    list_filter = ("status", "kind", "failure_kind", "created_at")
    list_select_related = ("session",)
    search_fields = ("=session__public_id",)
    fields = (
        "session", "kind", "message", "status", "attempts", "next_attempt_at", "lease_until",
        "failure_kind", "failure", "provider_message_id", "created_at", "finished_at",
    )  # fmt: skip
