"""Webhooks: registered, watched, tested, rotated, and fed again with what happened before."""

from typing import Any, Final

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from handoff.actions import webhook_addresses, webhook_calls, webhooks
from handoff.actions.webhook_places import Busy
from handoff.actions.writing import writing
from handoff.admin.desk import DeskAdmin, actor_of, page
from handoff.admin.webhook_calls import in_words
from handoff.admin.webhook_forms import ReplayForm, WebhookForm
from handoff.contract.text import visible
from handoff.contract.webhooks import Fate, Payload, WebhookBody, WebhookChange, checked_url
from handoff.errors import Invalid, NotFound
from handoff.models import Webhook
from handoff.selectors import webhooks as reading

_UNREACHABLE: Final = "handoff.unreachable"
"""In META: what the look-up of a posted address said, before any transaction."""


@admin.register(Webhook)
class WebhookAdmin(DeskAdmin):
    list_display = ("seen_name", "agent", "state", "behind", "last_success_at", "set_up_by")
    list_filter = ("agent", "enabled", "stopped", ("token", admin.EmptyFieldListFilter))
    list_select_related = ("agent", "token")
    search_fields = ("label", "url", "agent__name", "=public_id")
    entered = ("agent", "label", "url", "event_types", "payload")
    health = ("state", "last_success_at", "problem", "last_call", "behind", "old_secret")
    health_rows = (("state", "last_success_at"), "problem", "last_call", ("behind", "old_secret"))
    read_only = ("agent", "set_up_by", *health)

    @admin.display(description=gettext_lazy("webhook"), ordering="label")
    def seen_name(self, webhook: Webhook) -> str:
        return str(webhook)

    @admin.display(description=gettext_lazy("set up by"), ordering="token")
    def set_up_by(self, webhook: Webhook) -> str:
        if webhook.token is None:
            return _("A person, here")
        named = f"{webhook.token} {visible(webhook.token.label)}".strip()
        return _("The API, with %(token)s") % {"token": named}

    @admin.display(description=gettext_lazy("state"))
    def state(self, webhook: Webhook) -> str:
        if not webhook.enabled:
            return _("Stopped by the desk") if webhook.stopped else _("Off")
        if not webhook.agent.enabled:
            return _("Waits: its agent is off")
        if webhook.failing_since:
            when = f"{webhook.next_attempt_at:%Y-%m-%d %H:%M}"
            return _("Fails; next try at %(when)s UTC") % {"when": when}
        return _("Works") if webhook.last_success_at else _("Nothing sent yet")

    @admin.display(description=gettext_lazy("what to do"))
    def problem(self, webhook: Webhook) -> str:
        if webhook.enabled and webhook.failing_since:
            return _("Nothing: it is tried again by itself. See what the receiver said.")
        why = reading.problem(webhook)
        return _(why) if why else "–"

    @admin.display(description=gettext_lazy("last call"))
    def last_call(self, webhook: Webhook) -> str:
        call = webhook.calls.exclude(fate=Fate.SENDING).last()
        if call is None:
            return "–"
        return f"{in_words(call)}\n{visible(call.failure)}".strip()

    @admin.display(description=gettext_lazy("old secret signs until"))
    def old_secret(self, webhook: Webhook) -> str:
        until = webhook.previous_until
        return f"{until:%Y-%m-%d %H:%M} UTC" if until else "–"

    @admin.display(description=gettext_lazy("events that wait"))
    def behind(self, webhook: Webhook) -> int:
        return reading.behind(webhook)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.read_only if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return [(None, {"fields": self.entered})]
        fields = ["agent", "set_up_by", *self.entered[1:], "enabled"]
        if self.has_change_permission(request, obj):
            fields.append("skip")
        return [(None, {"fields": fields}), (_("Health"), {"fields": self.health_rows})]

    def get_form(
        self, request: HttpRequest, obj: Any | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        found = {"unreachable": request.META.get(_UNREACHABLE, ""), "__module__": __name__}
        kwargs["form"] = type("Form", (WebhookForm,), found)
        return super().get_form(request, obj, change, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "enabled":  # the desk may switch it off while its page is open
            kwargs["show_hidden_initial"] = True
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"agent": request.GET.get("agent", "")}

    @method_decorator(sensitive_post_parameters())
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Where an address leads is asked here: the form is read inside a transaction."""
        if request.method == "POST" and self._may(request, object_id):
            request.META[_UNREACHABLE] = _unreachable(request.POST, object_id)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _may(self, request: HttpRequest, object_id: str | None) -> bool:
        return (
            self.has_change_permission(request) if object_id else self.has_add_permission(request)
        )

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: Any) -> None:
        entered, actor = form.cleaned_data, actor_of(request)
        facts = {name: entered[name] for name in ("label", "url", "event_types", "payload")}
        facts["payload"] = Payload(facts["payload"])
        if not change:
            body = WebhookBody.model_validate(facts)
            obj.pk = webhooks.create_webhook(obj.agent, body, actor=actor).row.pk
            return
        if entered["skip"]:
            facts["after"] = (
                Webhook.objects.select_related("agent").get(pk=obj.pk).agent.last_event_id
            )
        if "enabled" in form.changed_data:
            facts["enabled"] = entered["enabled"]
        webhooks.change_webhook(obj, WebhookChange.model_validate(facts), actor=actor)

    def response_add(
        self, request: HttpRequest, obj: Webhook, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The answer to the POST is the only place where the secret stands."""
        return self._show_once(request, Webhook.objects.get(pk=obj.pk))

    def _show_once(self, request: HttpRequest, webhook: Webhook) -> HttpResponse:
        return page(
            request,
            self,
            "admin/handoff/webhook/secret.html",
            title=_("Secret of %(webhook)s") % {"webhook": webhook},
            webhook=webhook,
            secret=webhook.opened_secrets(both=False)[0],
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
            "may_act": bool(obj) and self.has_change_permission(request, obj),
            "show_save_and_add_another": False,
        }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        verbs = (("test", self.test), ("rotate", self.rotate), ("replay", self.replay))
        return [
            *(
                path(f"<int:webhook_pk>/{verb}/", view(does), name=f"handoff_webhook_{verb}")
                for verb, does in verbs
            ),
            *super().get_urls(),
        ]

    def test(self, request: HttpRequest, webhook_pk: int) -> HttpResponse:
        """POST: calls the receiver, outside any transaction, and shows what it said."""
        webhook = self._chosen(request, webhook_pk)
        if request.method != "POST":
            return self._back(webhook)
        try:
            call = webhook_calls.test(webhook, actor=actor_of(request))
        except Busy:
            busy = _("Another test is under way. Try again in a moment.")
            self.message_user(request, busy, messages.WARNING)
            return self._back(webhook)
        except NotFound as gone:  # its agent deleted it meanwhile
            raise Http404 from gone
        return page(
            request,
            self,
            "admin/handoff/webhook/test.html",
            title=_("Test of %(webhook)s") % {"webhook": webhook},
            webhook=webhook,
            call=call,
            became=in_words(call),
            works=call.fate == Fate.DELIVERED,
            said=visible(call.failure),
        )

    def rotate(self, request: HttpRequest, webhook_pk: int) -> HttpResponse:
        """Asks; the answer to the POST is the only place where the new secret stands."""
        webhook = self._chosen(request, webhook_pk)
        if request.method != "POST":
            title = _("Rotate the secret of %(webhook)s") % {"webhook": webhook}
            template = "admin/handoff/webhook/rotate.html"
            return page(request, self, template, title=title, webhook=webhook)
        with writing():
            made = webhooks.rotate_secret(webhook, actor=actor_of(request))
            self.log_change(request, webhook, _("Rotated the secret."))
        return self._show_once(request, made.row)

    def replay(self, request: HttpRequest, webhook_pk: int) -> HttpResponse:
        webhook = self._chosen(request, webhook_pk)
        form = ReplayForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                count = self._replayed(request, webhook, form.cleaned_data)
            except (NotFound, Invalid) as problem:
                form.add_error(None, _refused(problem))
            else:
                self.message_user(request, _("Events to be sent again: %(n)d.") % {"n": count})
                return self._back(webhook)
        title = _("Send again to %(webhook)s") % {"webhook": webhook}
        template = "admin/handoff/webhook/replay.html"
        return page(request, self, template, title=title, webhook=webhook, form=form)

    def _replayed(self, request: HttpRequest, webhook: Webhook, entered: dict[str, Any]) -> int:
        actor = actor_of(request)
        with writing():
            self.log_change(request, webhook, _("Sent again."))
            if entered["event"] is not None:
                return webhooks.replay_event(webhook, entered["event"], actor=actor)
            return webhooks.replay_since(webhook, entered["since"], actor=actor)

    def _chosen(self, request: HttpRequest, pk: int) -> Webhook:
        webhook = get_object_or_404(Webhook.objects.select_related("agent"), pk=pk)
        if not self.has_change_permission(request, webhook):
            raise PermissionDenied
        return webhook

    def _back(self, webhook: Webhook) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:handoff_webhook_change", args=[webhook.pk]))


def _unreachable(entered: QueryDict, object_id: str | None) -> str:
    """Why a new address cannot be called; "" when it can, is no address, or stays as it is."""
    url = entered.get("url", "").strip()
    known = Webhook.objects.filter(pk=_number(object_id)).first()
    if known is not None and known.url == url:
        return ""
    agent = known.agent_id if known is not None else _number(entered.get("agent"))
    try:
        webhook_addresses.check_url(checked_url(url), agent=agent)
    except Busy:
        return _("cannot be looked up now, as others are; try again in a moment")
    except Invalid:
        return _(webhook_addresses.UNREACHABLE)
    except ValueError:
        return ""  # the form says so itself
    return ""


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


def _refused(error: NotFound | Invalid) -> str:
    """Why nothing is sent again, in the words of whoever reads it."""
    if isinstance(error, NotFound):
        return _("There is no such event.")
    most = {"most": settings.WEBHOOK_BACKLOG}
    if error.details["problems"][0]["field"] == "event":
        return _("%(most)d events wait to be sent again already.") % most
    return _("That is too long ago: %(most)d events are sent again at most.") % most
