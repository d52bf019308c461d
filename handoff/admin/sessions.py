"""Handoff sessions and their attempts and links, read-only; what may be done is three actions."""

from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from audit.readonly import ReadOnlyAdmin
from handoff.actions.writing import writing
from handoff.admin.desk import ReadOnlyInline, page, seen
from handoff.admin.session_verbs import VERBS
from handoff.contract.kinds import RELEASE_EDGES, ReleaseKind
from handoff.contract.note import data_lines
from handoff.contract.text import visible
from handoff.models import Attempt, ReturnLink, Session
from handoff.selectors import payloads

MAX_AT_ONCE: Final = 50
"""Their ids stand in one address, and each is a transaction of its own."""


class AttemptInline(ReadOnlyInline):
    model = Attempt
    fields = ("status", "at", "finished_at", "failure_kind", "failure", "delivery")


class LinkInline(ReadOnlyInline):
    model = ReturnLink
    fields = ("minted_for", "created_at", "expires_at", "opened_at", "revoked_at")


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at", "status", "release", "outcome", "agent", "channel_label", "urgency",
        "public_id",
    )  # fmt: skip
    list_filter = ("status", "release", "late", "urgency", "agent", "created_at")
    list_select_related = ("agent", "channel")
    search_fields = ("=public_id", "=conversation__public_id", "=attempts__public_id")
    search_help_text = gettext_lazy("The id of a session (hs_…), an attempt or a conversation.")
    actions = ("release_selected", "cancel_selected", "revoke_links_of_selected")
    inlines = (AttemptInline, LinkInline)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("public_id", "status"),
                    ("agent", "channel"),
                    ("conversation", "holder"),
                )
            },
        ),
        (
            gettext_lazy("Asked for"),
            {
                "fields": (
                    "seen_expected_action",
                    "seen_summary",
                    "expected_fields",
                    ("urgency", "created_at"),
                )
            },
        ),
        (
            gettext_lazy("Ended"),
            {
                "fields": (
                    ("release", "outcome", "late"),
                    "seen_message",
                    "returned_data",
                    ("seen_answered_by", "released_at", "returned_at"),
                )
            },
        ),
    )

    seen_expected_action = seen("expected_action", gettext_lazy("expected action"))
    seen_summary = seen("summary", gettext_lazy("summary"))
    seen_message = seen("message", gettext_lazy("message"))
    seen_answered_by = seen("answered_by", gettext_lazy("answered by"))

    @admin.display(description=gettext_lazy("channel"), ordering="channel__label")
    def channel_label(self, session: Session) -> str:
        return visible(session.channel.label)

    @admin.display(description=gettext_lazy("expected return"))
    def expected_fields(self, session: Session) -> str:
        fields = payloads.fields_of(session)
        return "\n".join(
            f"{item.name} ({item.type}{', ' + _('required') if item.required else ''})"
            for item in fields
        )

    @admin.display(description=gettext_lazy("returned"))
    def returned_data(self, session: Session) -> str:
        if session.returned is None:
            return "–"
        fields = payloads.fields_of(session)
        return visible(data_lines(fields, payloads.returned_of(session))) or "–"

    def has_end_permission(self, request: HttpRequest) -> bool:
        """Whether the user may release, cancel and revoke; the page itself stays read-only."""
        return request.user.has_perm("handoff.change_session")

    @admin.action(permissions=["end"], description=gettext_lazy("Release without values …"))
    def release_selected(self, request: HttpRequest, chosen: QuerySet[Session]) -> Any:
        return self._ask(request, chosen, "release")

    @admin.action(permissions=["end"], description=gettext_lazy("Cancel …"))
    def cancel_selected(self, request: HttpRequest, chosen: QuerySet[Session]) -> Any:
        return self._ask(request, chosen, "cancel")

    @admin.action(permissions=["end"], description=gettext_lazy("Revoke the return links …"))
    def revoke_links_of_selected(self, request: HttpRequest, chosen: QuerySet[Session]) -> Any:
        return self._ask(request, chosen, "revoke-links")

    def _ask(
        self, request: HttpRequest, chosen: QuerySet[Session], verb: str
    ) -> HttpResponse | None:
        pks = list(chosen.values_list("pk", flat=True)[: MAX_AT_ONCE + 1])
        if len(pks) > MAX_AT_ONCE:
            self.message_user(
                request,
                _("Choose at most %(number)d at once.") % {"number": MAX_AT_ONCE},
                messages.WARNING,
            )
            return None
        address = reverse("admin:handoff_session_end", args=[verb])
        return HttpResponseRedirect(f"{address}?{urlencode([('pk', pk) for pk in pks])}")

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        context["may_end"] = obj.status in RELEASE_EDGES[ReleaseKind.OWNER]
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self) -> list[URLPattern]:
        end = self.admin_site.admin_view(self.end)
        return [path("end/<slug:verb>/", end, name="handoff_session_end"), *super().get_urls()]

    def end(self, request: HttpRequest, verb: str) -> HttpResponse:
        """Asks for what the verb needs, then does it to each session that `?pk=` names."""
        if not self.has_end_permission(request):
            raise PermissionDenied
        if verb not in VERBS:
            raise Http404
        asked = VERBS[verb]
        pks = [pk for pk in request.GET.getlist("pk")[:MAX_AT_ONCE] if pk.isdecimal()]
        chosen = list(payloads.sessions().filter(pk__in=pks))
        if not chosen:
            raise Http404
        form = asked.form(request.POST if request.method == "POST" else None)
        if request.method != "POST" or not form.is_valid():
            return page(
                request,
                self,
                "admin/handoff/session/end.html",
                title=asked.title,
                sentence=asked.sentence,
                form=form,
                chosen=chosen,
            )
        done = 0
        for session in chosen:
            with writing():
                if asked.act(request, session, form.cleaned_data):
                    done += 1
                    self.log_change(request, session, str(asked.title))
        self._report(request, done, nothing=len(chosen) - done)
        if len(chosen) == 1:
            where = reverse("admin:handoff_session_change", args=[chosen[0].pk])
            return HttpResponseRedirect(where)
        return HttpResponseRedirect(reverse("admin:handoff_session_changelist"))

    def _report(self, request: HttpRequest, done: int, *, nothing: int) -> None:
        if done:
            said = ngettext("Done for %(n)d session.", "Done for %(n)d sessions.", done)
            self.message_user(request, said % {"n": done}, messages.SUCCESS)
        if nothing:
            said = ngettext(
                "%(n)d session had ended already, or had nothing to revoke.",
                "%(n)d sessions had ended already, or had nothing to revoke.",
                nothing,
            )
            self.message_user(request, said % {"n": nothing}, messages.WARNING)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    actions = None
    list_display = ("at", "status", "failure_kind", "failure", "delivery", "session", "public_id")
    list_filter = ("status", "failure_kind", "delivery", "at")
    list_select_related = ("session",)
    search_fields = ("=public_id", "=session__public_id", "=provider_message_id")
    fields = (
        "public_id", "session", "number", "status", "failure_kind", "failure",
        "provider_message_id", "delivery", "delivery_at", "at", "finished_at",
    )  # fmt: skip


@admin.register(ReturnLink)
class ReturnLinkAdmin(ReadOnlyAdmin):
    """Without the link itself: whoever holds it may answer."""

    actions = None
    list_display = ("created_at", "minted_for", "expires_at", "opened_at", "revoked_at", "session")
    list_filter = ("created_at", "opened_at", "revoked_at")
    list_select_related = ("session",)
    search_fields = ("=session__public_id",)
    fields = ("session", "minted_for", "created_at", "expires_at", "opened_at", "revoked_at")
