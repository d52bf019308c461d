"""Conversations and what was said in them, read-only."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.readonly import ReadOnlyAdmin
from handoff.admin.desk import seen
from handoff.contract.text import visible
from handoff.models import Conversation, Message

LINE_MAX = 120


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    actions = None
    list_display = ("created_at", "agent", "seen_name", "seen_external_id", "public_id")
    list_filter = ("agent", "created_at")
    list_select_related = ("agent",)
    search_fields = ("=public_id", "=external_id", "=subscriber_email", "subscriber_name")
    fields = (
        "public_id", "agent", "seen_external_id", "seen_name", "seen_email",
        "seen_locale", "created_at", "lines", "handoffs",
    )  # fmt: skip
    seen_external_id = seen("external_id", gettext_lazy("external id"))
    seen_name = seen("subscriber_name", gettext_lazy("subscriber"))
    seen_email = seen("subscriber_email", gettext_lazy("subscriber email"))
    seen_locale = seen("subscriber_locale", gettext_lazy("subscriber locale"))

    @admin.display(description=gettext_lazy("messages"))
    def lines(self, conversation: Conversation) -> str:
        url = reverse("admin:handoff_message_changelist")
        return format_html(
            '<a href="{}?conversation__id__exact={}">{}</a>',
            url,
            conversation.pk,
            _("Read its messages (%(number)d)") % {"number": conversation.messages.count()},
        )

    @admin.display(description=gettext_lazy("handoffs"))
    def handoffs(self, conversation: Conversation) -> str:
        url = reverse("admin:handoff_session_changelist")
        return format_html(
            '<a href="{}?conversation__id__exact={}">{}</a>',
            url,
            conversation.pk,
            _("See its handoffs (%(number)d)") % {"number": conversation.sessions.count()},
        )


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    actions = None
    ordering = ("-pk",)
    list_display = ("at", "author", "line", "routed_to", "superseded", "conversation")
    list_filter = ("author", "routed_to", "superseded", "undelivered", "at")
    list_select_related = ("conversation",)
    search_fields = ("=public_id", "=conversation__public_id")
    fields = (
        "public_id", "conversation", "session", "author", "seen_name", "seen_text", "routed_to",
        "superseded", "undelivered", "note_type", "event_id", "at",
    )  # fmt: skip
    seen_name = seen("name", gettext_lazy("name"))
    seen_text = seen("text", gettext_lazy("text"))

    @admin.display(description=gettext_lazy("text"))
    def line(self, message: Message) -> str:
        return Truncator(visible(message.text)).chars(LINE_MAX)
