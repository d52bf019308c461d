"""Agents, their owners, and their tokens: shown once when issued, revoked for good."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from handoff.actions.agents import create_agent
from handoff.actions.change_agent import AgentFacts, change_agent
from handoff.actions.tokens import issue_token, revoke_token
from handoff.actions.writing import writing
from handoff.admin.agent_forms import AgentForm, TokenForm
from handoff.admin.desk import DeskAdmin, ReadOnlyInline, actor_of, page, seen
from handoff.models import Agent, Token
from handoff.selectors import channels

LIVE = Q(tokens__revoked_at=None) & (Q(tokens__expires_at=None) | Q(tokens__expires_at__gt=Now()))


class TokenInline(ReadOnlyInline):
    model = Token
    verbose_name_plural = gettext_lazy("API tokens")
    fields = ("seen_label", "created_at", "expires_at", "last_used_at", "revoked_at", "revoke")
    readonly_fields = fields
    seen_label = seen("label", gettext_lazy("label"))

    @admin.display(description="")
    def revoke(self, token: Token) -> str:
        if token.revoked_at is not None:
            return _("Revoked")
        url = reverse("admin:handoff_token_revoke", args=[token.agent_id, token.pk])
        return format_html('<a href="{}">{}</a>', url, _("Revoke …"))


@admin.register(Agent)
class AgentAdmin(DeskAdmin):
    form = AgentForm
    inlines = (TokenInline,)
    list_display = ("name", "seen_name", "enabled", "live_tokens", "owner_names")
    list_filter = ("enabled",)
    search_fields = ("name", "display_name")
    filter_horizontal = ("owners",)
    fields = ("name", "display_name", "enabled", "owners", "allowed_origins")
    seen_name = seen("display_name", gettext_lazy("display name"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        agents: QuerySet[Agent] = super().get_queryset(request)
        return agents.prefetch_related("owners").annotate(live=Count("tokens", filter=LIVE))

    @admin.display(description=gettext_lazy("live tokens"), ordering="live")
    def live_tokens(self, agent: Any) -> int:
        return int(agent.live)

    @admin.display(description=gettext_lazy("owners"))
    def owner_names(self, agent: Agent) -> str:
        return ", ".join(user.get_username() for user in agent.owners.all()) or "–"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("name",) if obj else ()

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: Any) -> None:
        entered = form.cleaned_data
        actor = actor_of(request)
        agent = obj if change else create_agent(obj.name, actor=actor)
        change_agent(
            agent,
            AgentFacts(
                display_name=entered["display_name"],
                enabled=entered["enabled"],
                owners=list(entered["owners"]),
                allowed_origins=entered["allowed_origins"],
            ),
            actor=actor,
        )
        obj.pk = agent.pk
        if channels.has_deserted_inbox(agent):
            self.message_user(request, channels.NO_OWNER, messages.WARNING)

    def response_add(
        self, request: HttpRequest, obj: Agent, post_url_continue: str | None = None
    ) -> HttpResponse:
        """On to the first token, which is what a new agent needs."""
        if "_addanother" in request.POST or not request.user.has_perm("handoff.add_token"):
            return super().response_add(request, obj, post_url_continue)
        return HttpResponseRedirect(reverse("admin:handoff_agent_issue_token", args=[obj.pk]))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path(
                "<int:agent_pk>/issue-token/",
                view(self.issue_token),
                name="handoff_agent_issue_token",
            ),
            path(
                "<int:agent_pk>/tokens/<int:token_pk>/revoke/",
                view(self.revoke_token),
                name="handoff_token_revoke",
            ),
            *super().get_urls(),
        ]

    def issue_token(self, request: HttpRequest, agent_pk: int) -> HttpResponse:
        """Asks for a label; the answer to the POST is the only place where the token stands."""
        agent = get_object_or_404(Agent, pk=agent_pk)
        if not request.user.has_perm("handoff.add_token"):
            raise PermissionDenied
        form = TokenForm(request.POST if request.method == "POST" else None)
        title = _("Issue a token for %(agent)s") % {"agent": agent}
        if request.method != "POST" or not form.is_valid():
            template = "admin/handoff/agent/issue_token.html"
            return page(request, self, template, title=title, agent=agent, form=form)
        with writing():
            issued = issue_token(
                agent,
                label=form.cleaned_data["label"],
                expires_at=form.cleaned_data["expires_at"],
                actor=actor_of(request),
            )
            self._note(request, agent, issued.row, "added")
        template = "admin/handoff/agent/token_issued.html"
        return page(request, self, template, title=title, agent=agent, token=issued.text)

    def revoke_token(self, request: HttpRequest, agent_pk: int, token_pk: int) -> HttpResponse:
        token = get_object_or_404(
            Token.objects.select_related("agent"), pk=token_pk, agent=agent_pk
        )
        if not request.user.has_perm("handoff.change_token"):
            raise PermissionDenied
        if request.method != "POST":
            template = "admin/handoff/agent/revoke_token.html"
            title = _("Revoke a token of %(agent)s") % {"agent": token.agent}
            return page(request, self, template, title=title, agent=token.agent, token=token)
        with writing():
            if revoke_token(token, actor=actor_of(request)):
                self._note(request, token.agent, token, "deleted")
        self.message_user(request, _("The token %(token)s is revoked.") % {"token": token})
        return HttpResponseRedirect(reverse("admin:handoff_agent_change", args=[agent_pk]))

    def _note(self, request: HttpRequest, agent: Agent, token: Token, what: str) -> None:
        self.log_change(request, agent, [{what: {"name": "token", "object": str(token)}}])
