"""Channels: choose a kind, fill in what that kind needs, see its health, test it."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import BooleanField, ExpressionWrapper, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from handoff.actions.channels import change_channel, create_channel, run_set_up, run_test
from handoff.admin import channel_kinds
from handoff.admin.channel_form import channel_form
from handoff.admin.channel_provider import AtProvider, at_provider, once
from handoff.admin.desk import DeskAdmin, actor_of, page, seen
from handoff.admin.setting_fields import made_anew, setting_fields, stored_settings
from handoff.contract.kinds import ChannelKind
from handoff.contract.text import visible
from handoff.models import Channel
from handoff.selectors.channels import DESERTED, NO_OWNER, deserted
from handoff.transports import carried, transport_class

HEALTH = ("state", "last_success_at", "last_error_at", "last_error", "last_inbound_at", "reading")
HEALTH_ROWS = (
    ("state", "last_success_at"),
    ("last_error_at", "last_error"),
    ("last_inbound_at", "reading"),
)


@admin.register(Channel)
class ChannelAdmin(DeskAdmin):
    list_display = (
        "seen_label",
        "agent",
        "kind_name",
        "state",
        "last_success_at",
        "last_error_kind",
    )
    list_filter = ("agent", "kind", "enabled", "healthy")
    list_select_related = ("agent",)
    search_fields = ("label", "agent__name")
    seen_label = seen("label", gettext_lazy("label"))

    @admin.display(description=gettext_lazy("kind"), ordering="kind")
    def kind_name(self, channel: Channel) -> str:
        return channel_kinds.name_of(channel.kind)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Channel]:
        channels: QuerySet[Channel] = super().get_queryset(request)
        there = ExpressionWrapper(~DESERTED, output_field=BooleanField())
        return channels.annotate(somebody=there)

    @admin.display(description=gettext_lazy("state"))
    def state(self, channel: Any) -> str:
        if not channel.enabled:
            return _("Off")
        if channel.paused_until and channel.paused_until > now():
            return _("Paused")
        if not channel.healthy:
            return _("Out of order")
        if not channel.somebody:
            return _("Reaches nobody: its agent has no owner")
        tried, failed = channel.last_success_at, channel.last_error_at
        if failed and (tried is None or tried < failed):
            return _("Last try failed")
        return _("Works") if tried else _("Not tried yet")

    @admin.display(description=gettext_lazy("last error"))
    def last_error(self, channel: Channel) -> str:
        said = (channel.last_error_kind, channel.last_error_detail, channel.last_error_hint)
        return "\n".join(filter(None, said)) or "–"

    @admin.display(description=gettext_lazy("replies"))
    def reading(self, channel: Channel) -> str:
        """What keeps replies from being read."""
        return channel.poll_hint or "–"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        known = obj is None or obj.kind in carried()
        return known and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("agent", "kind_name", *HEALTH) if obj else ("kind_name",)

    def get_form(
        self, request: HttpRequest, obj: Any | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        kind = self._kind(request, obj)
        if kind in carried():
            kwargs["form"] = channel_form(kind, stored_settings(obj))
        return super().get_form(request, obj, change, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"agent": request.GET.get("agent", "")}

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        kind = self._kind(request, obj)
        sets: list[tuple[Any, dict[str, Any]]] = [
            (
                None,
                {"fields": ("agent", "kind_name", "label", "estimated_response", "enabled")},
            )
        ]
        if obj:
            sets.append((_("Health"), {"fields": HEALTH_ROWS}))
        if obj is None or self.has_change_permission(request, obj):
            model = transport_class(kind).settings_model
            fields = tuple(setting_fields(model, stored_settings(obj)))
            if fields:
                sets.append((channel_kinds.name_of(kind), {"fields": fields}))
        clocks = ["idle_minutes", "link_hours", "contact_limit_per_hour", "paused_until"]
        if kind == ChannelKind.AGENT:
            clocks.insert(2, "claim_minutes")
        shown = ("language", "timezone", "share_values_with_subscriber", "redispatch")
        return [
            *sets,
            (_("Clocks and limits"), {"fields": tuple(clocks)}),
            (_("What people see"), {"fields": shown}),
        ]

    def _kind(self, request: HttpRequest, obj: Channel | None) -> str:
        return obj.kind if obj else request.GET.get("kind", "")

    def save_model(self, request: HttpRequest, obj: Channel, form: Any, change: Any) -> None:
        if change:
            change_channel(obj, config=form.config(), actor=actor_of(request))
            return
        made = create_channel(
            obj.agent,
            kind=obj.kind,
            label=obj.label,
            config=form.config(),
            actor=actor_of(request),
        )
        obj.pk = made.pk

    def response_add(
        self, request: HttpRequest, obj: Channel, post_url_continue: str | None = None
    ) -> HttpResponse:
        """To its own page: the next thing to do is to press Test channel."""
        self.message_user(
            request,
            _("%(channel)s is made. Press “Test channel” to see whether it works.")
            % {"channel": visible(obj.label)},
        )
        if deserted(Channel.objects.filter(pk=obj.pk)).exists():
            self.message_user(request, NO_OWNER, messages.WARNING)
        made = once(obj, tuple(sorted(transport_class(obj.kind).settings_model.made_keys)))
        return self._show_once(request, obj, made) or HttpResponseRedirect(
            reverse("admin:handoff_channel_change", args=[obj.pk])
        )

    def response_change(self, request: HttpRequest, obj: Channel) -> HttpResponse:
        model = transport_class(obj.kind).settings_model
        made = once(obj, made_anew(model, request.POST))
        return self._show_once(request, obj, made) or super().response_change(request, obj)

    def _show_once(
        self, request: HttpRequest, channel: Channel, made: list[tuple[str, str]]
    ) -> HttpResponse | None:
        """The answer to the POST is the only place where a secret that we made stands."""
        if not made:
            return None
        channel = Channel.objects.get(pk=channel.pk)  # the form's own object was never saved
        return page(
            request,
            self,
            "admin/handoff/channel/made.html",
            title=_("Secrets of %(channel)s") % {"channel": visible(channel.label)},
            channel=channel,
            made=made,
            provider=at_provider(channel),
        )

    @method_decorator(sensitive_post_parameters())
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if object_id is None and request.GET.get("kind") not in carried():
            return self._choose_kind(request)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _choose_kind(self, request: HttpRequest) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return page(
            request,
            self,
            "admin/handoff/channel/choose_kind.html",
            title=_("Add a channel: how is the person reached?"),
            kinds=channel_kinds.offered(),
            agent=request.GET.get("agent", ""),
        )

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        context |= {
            "may_test": bool(obj) and self.has_change_permission(request, obj),
            "unreadable": stored_settings(obj).unreadable,
            "provider": at_provider(obj) if obj and obj.kind in carried() else AtProvider(),
            "show_save_and_add_another": False,
        }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self) -> list[URLPattern]:
        test = self.admin_site.admin_view(self.test)
        return [
            path("<int:channel_pk>/test/", test, name="handoff_channel_test"),
            path(
                "<int:channel_pk>/set-up/<slug:key>/",
                self.admin_site.admin_view(self.set_up),
                name="handoff_channel_set_up",
            ),
            *super().get_urls(),
        ]

    def test(self, request: HttpRequest, channel_pk: int) -> HttpResponse:
        """POST: asks the provider, outside any transaction, and shows what it said."""
        channel = get_object_or_404(Channel.objects.select_related("agent"), pk=channel_pk)
        if not self.has_change_permission(request, channel):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(reverse("admin:handoff_channel_change", args=[channel_pk]))
        report = run_test(channel, actor=actor_of(request))
        return page(
            request,
            self,
            "admin/handoff/channel/test.html",
            title=_("Test of %(channel)s") % {"channel": visible(channel.label)},
            channel=channel,
            report=report,
        )

    def set_up(self, request: HttpRequest, channel_pk: int, key: str) -> HttpResponse:
        """POST: does one thing at the provider, outside any transaction, and shows what it said."""
        channel = get_object_or_404(Channel.objects.select_related("agent"), pk=channel_pk)
        if not self.has_change_permission(request, channel):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(reverse("admin:handoff_channel_change", args=[channel_pk]))
        wanted = {item.key: item for item in transport_class(channel.kind).set_ups}
        if key not in wanted:
            raise Http404
        return page(
            request,
            self,
            "admin/handoff/channel/set_up.html",
            title=wanted[key].label,
            channel=channel,
            report=run_set_up(channel, key, actor=actor_of(request)),
        )
